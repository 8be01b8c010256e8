"""The modules beside the estimators."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from orthant import ONMF, _orthant, datasets, metrics, plot


def test_scores_agree_with_scipy_and_scikit_learn():
    rng = np.random.default_rng(0)
    for classes, clusters in ((3, 3), (5, 2), (2, 6)):
        truth, labels = rng.integers(0, classes, 200), rng.integers(0, clusters, 200)
        table = contingency_matrix(truth, labels)
        rows, columns = linear_sum_assignment(-table)
        assert_allclose(metrics.clustering_accuracy(truth, labels), table[rows, columns].sum() / 200)
        assert_allclose(metrics.purity(truth, labels), table.max(axis=0).sum() / 200)
        scores = _orthant.scores(truth, labels.astype(np.int32))
        assert_allclose(scores["ari"], adjusted_rand_score(truth, labels))
        assert_allclose(scores["nmi"], normalized_mutual_info_score(truth, labels))


def test_scores_take_names_and_any_numbers_and_leave_out_samples_without_a_cluster():
    assert metrics.clustering_accuracy(["x", "x", "y", "y"], [7, 7, -1, 1000]) == 1
    assert metrics.purity([5.5, 5.5, 2, 2], [0, 0, 0, -1]) == 2 / 3
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.purity([1, 2], [1])
    with pytest.raises(ValueError, match="no sample a cluster"):
        metrics.purity([1, 2], [-1, -1])
    assert metrics.clustering_accuracy(["x", "x", "y"], ["left", "left", "right"]) == 1
    assert metrics.purity(np.array(["x", "x", "y"], dtype=object), np.array(["b", "a", "a"], dtype=object)) == 2 / 3
    with pytest.raises(ValueError, match="integers or names"):
        metrics.purity([1, 2], [0.5, 1])


@pytest.mark.parametrize("name", datasets.__all__)
def test_datasets_know_themselves(name):
    arguments = ([[1.0, 0], [0, 1]], [[1, 0.5], [0, 1], [0, 0]]) if name == "make_scene" else ()
    made = getattr(datasets, name)(*arguments)
    assert made.data.shape[0] == len(made.target) and (made.data >= 0).all()
    assert len(made.target_names) == made.n_clusters + (made.background is not None)
    X, y = getattr(datasets, name)(*arguments, return_X_y=True)
    assert_array_equal(X, made.data)
    assert_array_equal(y, made.target)
    if made.background is not None:
        assert not X[y == made.background].any()
    if made.shape is not None:
        assert y.reshape(made.shape, order=made.order).size == y.size


def test_datasets_take_their_parameters():
    made = datasets.make_synthetic(0.2, sizes=(3, 4), n_features=5, scaling=(1, 1), random_state=9)
    assert made.data.shape == (7, 5) and made.n_clusters == 2
    assert (made.data != datasets.make_synthetic(0.2, sizes=(3, 4), n_features=5, scaling=(1, 1)).data).any()
    models = datasets.make_models("scale", n_samples=31, n_features=4, n_clusters=3, noise=0.01, random_state=2)
    assert models.data.shape == (31, 4) and models.n_clusters == 3
    assert datasets.make_swimmer("32x32").shape == (32, 32)
    scene = datasets.make_scene(np.eye(2), np.eye(2)[[0, 1, 1, 0]], shape=(2, 2), order="F", dtype=np.float32)
    assert scene.data.dtype == np.float32 and scene.shape == (2, 2) and scene.order == "F"
    assert_array_equal(scene.target, [0, 1, 1, 0])
    for call, match in (
        (lambda: datasets.make_synthetic(-1), "noise"),
        (lambda: datasets.make_plane("round"), "separated"),
        (lambda: datasets.make_scene(np.eye(2), np.eye(3)), "materials differ"),
        (lambda: datasets.make_scene(np.eye(2), -np.eye(2)), "abundance"),
        (lambda: datasets.make_scene(np.eye(2), np.eye(2), shape=(5, 5)), "pixels"),
        (lambda: datasets.make_scene(np.eye(2), np.eye(2), dtype=int), "dtype"),
    ):
        with pytest.raises(ValueError, match=match):
            call()


def test_pictures(X):
    import matplotlib.pyplot as plt

    made = datasets.make_swimmer()
    model = ONMF(n_clusters=17).fit(made.data)
    image = plot.maps(model, made.shape, order=made.order).images[0].get_array()
    assert_array_equal(image.mask, (model.labels_ < 0).reshape(made.shape, order=made.order))
    assert plot.maps(model, made.shape, order=made.order, kind="weights").shape == (3, 6)
    with pytest.raises(ValueError, match="220 pixels"):
        plot.maps(model, (3, 3))
    ax = plot.spectra(ONMF(n_clusters=3).fit(X), x=np.arange(10) * 0.1, names=["a", "b", "c"])
    assert [line.get_label() for line in ax.lines] == ["a", "b", "c"]
    model = ONMF(n_clusters=3).fit(X)
    ax = plot.convergence(model)
    drawn = sum(len(line.get_xdata()) for line in ax.lines)
    assert drawn == model.n_iter_
    stages = {stage["method"] for stage in model.history_ if len(stage["objective"])}
    assert {text.get_text() for text in ax.get_legend().get_texts()} == stages and len(stages) > 1
    plt.close("all")


def test_pictures_go_where_they_are_asked_to(X):
    import matplotlib.pyplot as plt
    import pandas as pd

    names = [f"band{i}" for i in range(10)]
    model = ONMF(n_clusters=5).fit(pd.DataFrame(X, columns=names))
    made = datasets.make_telescope(noise=0.01)
    pixels = ONMF(n_clusters=8, method="em-onmf", init="residual").fit(made.data)
    figure, panels = plt.subplots(2, 3, layout="constrained")
    assert plot.spectra(model, ax=panels[0, 0], cmap="viridis", lw=3) is panels[0, 0]
    assert {line.get_linewidth() for line in panels[0, 0].lines} == {3}
    figure.canvas.draw()
    assert [text.get_text() for text in panels[0, 0].get_xticklabels() if text.get_text()][0].startswith("band")
    legend = panels[0, 0].get_legend().get_window_extent()
    assert legend.x0 >= panels[0, 0].get_window_extent().x1 - 1
    assert plot.convergence(model, ax=panels[0, 1], lw=2) is panels[0, 1]
    image = plot.maps(pixels, made.shape, order=made.order, ax=panels[0, 2], cmap="Set1").images[0]
    # The sky is noise alone: it is all but invisible, the telescope is not.
    sky = (made.target == made.background).reshape(made.shape, order=made.order)
    assert image.get_alpha()[sky].max() < 0.2 and np.median(image.get_alpha()[~sky]) == 1
    before = len(figure.axes)
    assert plot.maps(pixels, made.shape, order=made.order, kind="weights", ax=panels[1, 0]).shape == (2, 6)
    assert len(figure.axes) == before and len(panels[1, 0].child_axes) == 12
    display = pixels.plot("map", shape=made.shape, order=made.order, ax=panels[1, 1])
    assert display.ax_ is panels[1, 1] and display.figure_ is figure
    assert_array_equal(display.labels, pixels.labels_.reshape(made.shape, order=made.order))
    assert isinstance(model.plot(), plot.SpectraDisplay) and isinstance(model.plot("convergence"), plot.ConvergenceDisplay)
    for call in (
        lambda: plot.spectra(model, names=["a"]),
        lambda: plot.maps(pixels, made.shape, names=["a", "b"]),
        lambda: plot.spectra(model, x=[1, 2]),
        lambda: plot.maps(pixels, made.shape, kind="other"),
        lambda: plot.maps(pixels, made.shape, kind="weights", ax=panels[0]),
        lambda: model.plot("other"),
    ):
        with pytest.raises(ValueError, match="names were given for|a place for each|must be|axes were given"):
            call()
    plt.close("all")


def test_without_matplotlib_it_is_said_how_to_get_it():
    script = """
import sys
sys.modules["matplotlib"] = sys.modules["matplotlib.pyplot"] = None
import numpy as np, orthant
model = orthant.ONMF(2).fit(np.eye(3))
for draw in (model.plot, lambda: orthant.plot.maps(model, (1, 3)), lambda: orthant.plot.convergence(model)):
    try:
        draw()
    except ImportError as error:
        assert "pip install orthant[plot]" in str(error)
    else:
        raise SystemExit("drawn without matplotlib")
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_matplotlib_is_imported_only_when_it_draws():
    script = "import sys, orthant; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_stubs_name_everything_that_is_compiled():
    stub = Path(_orthant.__file__).parent / "_orthant.pyi"
    text = stub.read_text()
    for name in dir(_orthant):
        if not name.startswith("_"):
            assert f"def {name}(" in text or f"class {name}" in text, name
    assert (stub.parent / "py.typed").exists()

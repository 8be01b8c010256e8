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
    with pytest.raises(ValueError, match="integers"):
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
    lines = plot.convergence(model).lines
    # Lines of two points may be borders between stages.
    stages = [len(stage["objective"]) for stage in model.history_ if len(stage["objective"]) != 2]
    assert sum(len(line.get_xdata()) for line in lines if len(line.get_xdata()) != 2) >= sum(stages)
    plt.close("all")


def test_matplotlib_is_imported_only_when_it_draws():
    script = "import sys, orthant; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    done = subprocess.run([sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_examples():
    assert {path.stem for path in EXAMPLES} >= {"documents", "hyperspectral", "image_parts", "choosing"}


def test_stubs_name_everything_that_is_compiled():
    stub = Path(_orthant.__file__).parent / "_orthant.pyi"
    text = stub.read_text()
    for name in dir(_orthant):
        if not name.startswith("_"):
            assert f"def {name}(" in text or f"class {name}(" in text, name
    assert (stub.parent / "py.typed").exists()

"""The program and the estimators give the same answer: same labels, same bits of the error."""

import json
import os
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import orthant
from orthant import ONMF, SphericalKMeans

PROGRAM = Path(os.environ.get("ORTHANT_PROGRAM", Path(__file__).parents[3] / "target/release/orthant"))


def works():
    """Whether the program is there: it is built by cargo, not with this package."""
    return PROGRAM.exists() and subprocess.run([PROGRAM, "cluster", "--help"], capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(not works(), reason=f"there is no program at {PROGRAM}: cargo build --release")


def run(data, folder, *options):
    done = subprocess.run(
        [PROGRAM, "cluster", data, "--json", "--quiet", "--out", folder, *map(str, options)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), np.loadtxt(folder / "labels.txt", dtype=int), np.load(folder / "components.npy")


CASES = [
    (ONMF(n_clusters=6), "-k 6 -a best".split()),
    (ONMF(n_clusters=6, method="onp-mf", tol=1e-2, growth=1.05), "-k 6 -a onp-mf --tolerance 1e-2 --growth 1.05".split()),
    (ONMF(n_clusters=6, method="em-onmf", n_init=4, random_state=7), "-k 6 -a em-onmf --runs 4 --seed 7".split()),
    (ONMF(n_clusters=6, method="o-pnmf", max_iter=60, polish="em"), "-k 6 -a o-pnmf --max-iterations 60 --polish em --runs 1".split()),
    (ONMF(n_clusters=3, cluster="features"), "-k 3 -a best --cluster columns".split()),
    # The program's runs race unless they are told not to, Python's where they are told to.
    (SphericalKMeans(n_clusters=6, n_init=10, race=True, random_state=5), "-k 6 -a spherical-k-means --runs 10 --seed 5".split()),
    (SphericalKMeans(n_clusters=6, n_init=10, random_state=5), "-k 6 -a spherical-k-means --runs 10 --seed 5 --race-after 0".split()),
    (SphericalKMeans(n_clusters=6), "-k 6 -a spherical-k-means --runs 1".split()),
]
# The program's default: fits in Python are often repeated, and only asked for more.
for estimator, _ in CASES:
    estimator.set_params(certificate="auto")


@pytest.mark.parametrize("kind", ["float64", "float32", "sparse"])
@pytest.mark.parametrize("estimator, options", CASES, ids=[" ".join(map(str, options)) for _, options in CASES])
def test_the_same_answer(estimator, options, kind, X, counts, tmp_path):
    data = counts if kind == "sparse" else X.astype(kind)
    path = tmp_path / ("x.mtx" if kind == "sparse" else "x.npy")
    if kind == "sparse":
        scipy.io.mmwrite(path, data)
    else:
        np.save(path, data)
    summary, labels, centroids = run(path, tmp_path / "out", *options)
    model = estimator.fit(data)
    assert_array_equal(model.labels_, labels)
    assert model.relative_error_ == summary["relative_error"]
    assert model.lower_bound_ == summary["lower_bound"]
    assert model.energy_share_ == summary["energy_share"]
    assert model.n_iter_ == summary["iterations"]
    if not model._of_features():
        assert_array_equal(model.components_, centroids.astype(model.components_.dtype))


@pytest.mark.parametrize("kind", ["float64", "sparse"])
@pytest.mark.parametrize("estimator, options", CASES, ids=[" ".join(map(str, options)) for _, options in CASES])
def test_a_result_loads_as_a_fitted_estimator(estimator, options, kind, X, counts, tmp_path):
    data = counts if kind == "sparse" else X
    path = tmp_path / ("x.mtx" if kind == "sparse" else "x.npy")
    scipy.io.mmwrite(path, data) if kind == "sparse" else np.save(path, data)
    run(path, tmp_path / "out", *options)
    loaded, fitted = orthant.load(tmp_path / "out"), estimator.fit(data)
    assert type(loaded) is type(fitted)
    assert_array_equal(loaded.labels_, fitted.labels_)
    assert_allclose(loaded.components_, fitted.components_, atol=1e-15)
    assert_allclose(loaded.weights_, fitted.weights_)
    for name in ("relative_error_", "lower_bound_", "bound_", "energy_share_", "n_iter_", "converged_"):
        assert getattr(loaded, name) == getattr(fitted, name), name
    assert_allclose(loaded.reconstruction_err_, fitted.reconstruction_err_)
    for name in ("n_clusters", "method", "max_iter", "tol", "growth", "random_state", "cluster"):
        assert getattr(loaded, name, None) == getattr(fitted, name, None), name
    assert_allclose(loaded.transform(data), fitted.transform(data), atol=1e-12)
    assert_allclose(loaded.score(data), fitted.score(data))
    if not fitted._of_features():
        assert_array_equal(loaded.predict(data), fitted.predict(data))
    again = pickle.loads(pickle.dumps(loaded))
    assert_array_equal(again.labels_, loaded.labels_)
    orthant.report(loaded, data, tmp_path / "page.html")
    # With its parameters it can be fitted again.
    assert_array_equal(clone(loaded).fit(data).labels_, fitted.labels_)


def test_a_weighted_result_weights_new_samples(counts, tmp_path):
    scipy.io.mmwrite(tmp_path / "x.mtx", counts)
    run(tmp_path / "x.mtx", tmp_path / "out", "-k", 4, "-a", "best", "--weighting", "tf-idf,unit")
    model = orthant.load(tmp_path / "out")
    assert_array_equal(model.predict(counts), ONMF(n_clusters=4, weighting="tf-idf,unit").fit(counts).predict(counts))


def test_what_the_data_chose_is_loaded(X, counts, tmp_path):
    clouds = np.random.default_rng(0).normal(np.repeat([[1.0, 2.0], [5.0, 10.0], [9.0, 1.0]], 40, axis=0), 0.1)
    for name, data, k in (("x", X, 6), ("counts", counts.toarray(), 4), ("clouds", clouds, 3)):
        np.save(tmp_path / f"{name}.npy", data)
        summary, labels, _ = run(tmp_path / f"{name}.npy", tmp_path / name, "-k", k)
        loaded, found = orthant.load(tmp_path / name), orthant.cluster(data, k)
        assert loaded.model_ == found.model_ == summary["chosen"]["model"] and loaded.reason_ == found.reason_
        assert_array_equal(loaded.labels_, labels)
        assert_array_equal(loaded.labels_, found.labels_)
        assert_array_equal(loaded.predict(data), found.predict(data))
    assert found.model_ == "k-means"


def test_an_older_result_is_loaded(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    run(tmp_path / "x.npy", tmp_path / "out", "-k", 3)
    new = orthant.load(tmp_path / "out")
    summary = (tmp_path / "out" / "summary.json").read_text()
    for now, before in (("components.npy", "centroids.npy"), ("strengths.npy", "weights.npy")):
        (tmp_path / "out" / now).rename(tmp_path / "out" / before)
        summary = summary.replace(now, before)
    (tmp_path / "out" / "summary.json").write_text(summary)
    old = orthant.load(tmp_path / "out")
    assert_array_equal(old.components_, new.components_)
    assert_array_equal(old.predict(X), new.predict(X))


def test_what_is_no_result_is_refused(X, tmp_path):
    with pytest.raises(FileNotFoundError, match="is no result of orthant cluster --out"):
        orthant.load(tmp_path)
    np.save(tmp_path / "x.npy", X)
    run(tmp_path / "x.npy", tmp_path / "out", "-k", 3)
    whole = (tmp_path / "out" / "summary.json").read_text()
    for broken, match in (("{", "summary.json"), ("[]", "is not the summary"), ("{}", "'algorithm' is missing")):
        (tmp_path / "out" / "summary.json").write_text(broken)
        with pytest.raises(ValueError, match=match):
            orthant.load(tmp_path / "out")
    (tmp_path / "out" / "summary.json").write_text(whole)
    (tmp_path / "out" / "strengths.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match="strengths.npy: cannot be read"):
        orthant.load(tmp_path / "out")
    run(tmp_path / "x.npy", tmp_path / "means", "-k", 3, "-a", "k-means")
    with pytest.raises(ValueError, match="is a result of k-means"):
        orthant.load(tmp_path / "means")


def test_what_a_killed_run_left_is_finished_before_a_result_is_loaded(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    for k in (3, 4):
        run(tmp_path / "x.npy", tmp_path / f"of{k}", "-k", k)
    old, new = tmp_path / "of3", tmp_path / "of4"
    # Killed after its commit: some files have their place, others wait for it.
    ready = old / ".orthant-0123456789abcdef.part" / "replace"
    ready.mkdir(parents=True)
    (ready.parent / "drop").mkdir()
    for file in new.iterdir():
        (old if file.name in ("labels.txt", "components.npy") else ready).joinpath(file.name).write_bytes(file.read_bytes())
    loaded, whole = orthant.load(old), orthant.load(new)
    assert loaded.n_clusters == 4 and loaded.relative_error_ == whole.relative_error_
    assert_array_equal(loaded.labels_, whole.labels_)
    assert not ready.parent.exists()


def test_nothing_in_a_result_is_believed_unseen(counts, tmp_path):
    scipy.io.mmwrite(tmp_path / "x.mtx", counts)
    out = tmp_path / "out"
    run(tmp_path / "x.mtx", out, "-k", 4, "-a", "em-onmf", "--weighting", "tf-idf,unit")
    components, prepared = np.load(out / "components.npy"), (out / "preparation.json").read_text()
    for value in (-1.0, np.nan, np.inf):
        broken = components.copy()
        broken[1, 2] = value
        np.save(out / "components.npy", broken)
        with pytest.raises(ValueError, match="negative|not finite"):
            orthant.load(out)
    broken = components.copy()
    broken[3] = 0
    np.save(out / "components.npy", broken)
    with pytest.raises(ValueError, match="zero, which is no direction"):
        orthant.load(out)
    np.save(out / "components.npy", components[:3])
    with pytest.raises(ValueError, match="outside of -1 to 2|summary says 4"):
        orthant.load(out)
    np.save(out / "components.npy", components)
    steps = json.loads(prepared)
    for change, match in (
        (lambda s: s["steps"][0].update(weighting="bogus"), "not those of summary.json"),
        (lambda s: s["steps"][0].update(fitted=None), "tf-idf without its factors"),
        (lambda s: s.update(steps=[]), "not those of summary.json"),
    ):
        changed = json.loads(prepared)
        change(changed)
        assert changed != steps
        (out / "preparation.json").write_text(json.dumps(changed))
        with pytest.raises(ValueError, match=match):
            orthant.load(out)
    (out / "preparation.json").write_text(prepared)
    assert orthant.load(out).n_clusters == 4


def test_the_program_and_python_read_the_same_file(counts, tmp_path):
    words = [f"w{i}" for i in range(counts.shape[1])]
    dense = pd.DataFrame(counts.toarray(), columns=words, index=[f"d{i}" for i in range(counts.shape[0])])
    dense.to_csv(tmp_path / "x.csv")
    table = orthant.read(tmp_path / "x.csv")
    assert table.feature_names == words and table.sample_names == list(dense.index) and table.format == "csv"
    assert_array_equal(table.data, dense.to_numpy())
    assert table.target is None
    dump_svmlight_file(counts, np.arange(120) % 3, str(tmp_path / "x.svmlight"), zero_based=False)
    sparse = orthant.read(str(tmp_path / "x.svmlight"), dtype="float32")
    assert sparse.data.dtype == np.float32 and sparse.data.has_canonical_format
    assert_allclose(sparse.data.toarray(), counts.toarray()[:, : sparse.data.shape[1]])
    assert_array_equal(sparse.target, np.arange(120) % 3)
    assert len(sparse.target_names) == 3
    with pytest.raises(ValueError, match="format"):
        orthant.read(tmp_path / "x.csv", format="xls")
    with pytest.raises(OSError, match="nothing.mtx"):
        orthant.read(tmp_path / "nothing.mtx")

"""The program and the estimators give the same answer: same labels, same bits of the error."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from numpy.testing import assert_array_equal

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
    return json.loads(done.stdout), np.loadtxt(folder / "labels.txt", dtype=int), np.load(folder / "centroids.npy")


CASES = [
    (ONMF(n_clusters=6), ["-k", 6]),
    (ONMF(n_clusters=6, method="onp-mf", tol=1e-2, growth=1.05), "-k 6 -a onp-mf --tolerance 1e-2 --growth 1.05".split()),
    (ONMF(n_clusters=6, method="em-onmf", n_init=4, random_state=7), "-k 6 -a em-onmf --runs 4 --seed 7".split()),
    (ONMF(n_clusters=6, method="o-pnmf", max_iter=60, polish="em"), "-k 6 -a o-pnmf --max-iterations 60 --polish em".split()),
    (ONMF(n_clusters=3, cluster="features"), "-k 3 --cluster columns".split()),
    (SphericalKMeans(n_clusters=6, n_init=10, random_state=5), "-k 6 -a spherical-k-means --runs 10 --seed 5".split()),
    (SphericalKMeans(n_clusters=6), "-k 6 -a spherical-k-means".split()),
]


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

"""What runs agree on, against the plain definition."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import orthant
from orthant import ONMF


def by_definition(runs, labels):
    """Loops over all pairs."""
    n = len(labels)
    together = np.array([[np.mean([r[i] >= 0 and r[i] == r[j] for r in runs]) for j in range(n)] for i in range(n)])
    points = np.full(n, np.nan)
    clusters = np.full(labels.max() + 1, np.nan)
    for i in range(n):
        others = [j for j in range(n) if j != i and labels[j] == labels[i] >= 0]
        if others:
            points[i] = np.mean(together[i, others])
    for c in range(labels.max() + 1):
        pairs = [together[i, j] for i in range(n) for j in range(n) if i != j and labels[i] == labels[j] == c]
        if pairs:
            clusters[c] = np.mean(pairs)
    return together, points, clusters


@pytest.mark.parametrize("seed", range(5))
def test_stability_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    runs = rng.integers(-1, 4, (6, 25))
    labels = rng.integers(-1, 5, 25)
    found = orthant.consensus(runs, labels)
    together, points, clusters = by_definition(runs, labels)
    assert_allclose(found.co_assignment(), together, atol=1e-6)
    assert_allclose(found.co_assignment([3, 7]), together[np.ix_([3, 7], [3, 7])], atol=1e-6)
    assert_allclose(found.point_stability, points)
    assert_allclose(found.cluster_stability, clusters)


def test_runs_of_an_estimator(X):
    import matplotlib.pyplot as plt

    model = ONMF(n_clusters=6, method="em-onmf", init="random", n_init=8).fit(X)
    found = orthant.consensus(model)
    assert found.n_runs == 8 == len(model.runs_)
    assert_array_equal(found.labels, model.labels_)
    assert (found.point_stability > 0).all() and found.cluster_stability.max() <= 1
    same = orthant.consensus(np.tile(model.labels_, (3, 1)))
    assert_allclose(same.point_stability, 1)
    _, ax = plt.subplots()
    assert found.plot(ax, cmap="magma") is ax and len(ax.images) == 1
    assert len(ax.get_yticklabels()) == 6
    plt.close("all")


@pytest.mark.parametrize("model", [ONMF(6, method="em-onmf", init="random"), orthant.SphericalKMeans(6, init="random")])
def test_runs_that_race_are_some_of_those_that_do_not(X, model):
    sparse = scipy.sparse.csr_matrix(np.where(X > np.quantile(X, 0.6), X, 0))
    everyone = clone(model).set_params(n_init=24).fit(sparse)
    racing = clone(model).set_params(n_init=24, race=True).fit(sparse)
    assert len(everyone.runs_) == 24 and 2 <= len(racing.runs_) < 24
    known = {run["labels"].tobytes(): run["relative_error"] for run in everyone.runs_}
    for run in racing.runs_:
        assert known[run["labels"].tobytes()] == pytest.approx(run["relative_error"], rel=1e-9)
    assert pickle.loads(pickle.dumps(racing)).get_params()["race"]
    with pytest.raises(TypeError, match="race"):
        clone(model).set_params(race="fast").fit(X)


def test_what_says_nothing_is_refused(X):
    with pytest.raises(ValueError, match="n_init above 1"):
        orthant.consensus(ONMF(n_clusters=3).fit(X))
    with pytest.raises(ValueError, match="whole numbers"):
        orthant.consensus([[0.5, 1], [1, 0]])
    with pytest.raises(ValueError, match="choose points"):
        orthant.consensus(np.zeros((2, 6000), dtype=int)).co_assignment()
    with pytest.raises(ValueError, match="inconsistent"):
        orthant.consensus([[0, 1], [1, 0]], [0, 1, 2])

"""Spherical k-means against its definition, and k-means against scikit-learn's."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_clusterer
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from orthant import SphericalKMeans, _orthant


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(n_samples=300, n_features=5, centers=4, random_state=1)[0]


def test_centres_labels_and_inertia_are_those_of_the_definition(blobs):
    model = SphericalKMeans(n_clusters=4).fit(blobs)
    assert is_clusterer(model) and (blobs < 0).any() and model.converged_
    directions = normalize(blobs)
    sums = np.array([directions[model.labels_ == i].sum(axis=0) for i in range(4)])
    assert_allclose(model.cluster_centers_, normalize(sums))
    cosines = directions @ model.cluster_centers_.T
    assert_array_equal(model.labels_, cosines.argmax(axis=1))
    assert_array_equal(model.labels_, model.predict(blobs))
    assert_allclose(model.inertia_, (1 - cosines.max(axis=1)).sum())
    assert_allclose(model.score(blobs), -model.inertia_)
    assert_allclose(model.score(sp.csr_array(blobs)), -model.inertia_)


def test_factors_of_signed_data_point_along_their_clusters(blobs):
    model = SphericalKMeans(n_clusters=4).fit(blobs)
    assert ((model.components_ * model.cluster_centers_).sum(axis=1) > 0).all()
    W = model.transform(blobs)
    assert_array_equal(W, model.fit_transform(blobs))
    assert (W >= 0).all() and (np.count_nonzero(W, axis=1) <= 1).all()
    error = np.linalg.norm(blobs - W @ model.components_)
    assert_allclose(model.reconstruction_err_, error)
    assert_allclose(model.relative_error_, error / np.linalg.norm(blobs))


def test_norms_do_not_matter(blobs):
    factors = np.random.default_rng(0).uniform(0.1, 10, len(blobs))[:, None]
    one, other = SphericalKMeans(n_clusters=4).fit(blobs), SphericalKMeans(n_clusters=4).fit(blobs * factors)
    assert_allclose(one.inertia_, other.inertia_)
    # Clusters are numbered by their energy, in which norms do matter.
    assert adjusted_rand_score(one.labels_, other.labels_) == 1


@pytest.mark.parametrize("start", [name for name, _ in _orthant.starts()] + ["auto"])
def test_starts(blobs, start):
    best = SphericalKMeans(n_clusters=4).fit(blobs)
    model = SphericalKMeans(n_clusters=4, init=start, n_init=2).fit(blobs)
    assert model.converged_ and model.inertia_ >= best.inertia_ * (1 - 1e-9)
    again = SphericalKMeans(n_clusters=4, init=best.cluster_centers_).fit(blobs)
    assert_allclose(again.inertia_, best.inertia_)
    again = SphericalKMeans(n_clusters=4, init=best.labels_).fit(blobs)
    assert_array_equal(again.labels_, best.labels_)


def test_weights_are_repetitions_and_zero_samples_have_no_cluster(blobs):
    weights = np.random.default_rng(0).integers(0, 4, len(blobs))
    weighted = SphericalKMeans(n_clusters=4).fit(blobs, sample_weight=weights)
    repeated = SphericalKMeans(n_clusters=4).fit(blobs.repeat(weights, axis=0))
    assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_)
    assert_allclose(weighted.inertia_, repeated.inertia_)
    assert_allclose(weighted.score(blobs, sample_weight=weights), -weighted.inertia_)
    with_zero = np.vstack([blobs, np.zeros((2, 5))])
    model = SphericalKMeans(n_clusters=4).fit(with_zero)
    assert_array_equal(model.labels_[-2:], [-1, -1])
    assert_array_equal(model.predict(with_zero)[-2:], [-1, -1])
    assert_allclose(model.score(with_zero), -model.inertia_)


def test_k_means_of_the_library_is_that_of_scikit_learn(blobs):
    start = blobs[:4]
    theirs = KMeans(n_clusters=4, init=start, n_init=1, tol=0).fit(blobs)
    asked = dict(method="k-means", k=4, values=[], runs=1, race=False, seed=0, polish=[], time=None, certificate="singular")
    ours, *_ = _orthant.fit(blobs, asked, centroids=np.ascontiguousarray(start))
    assert_allclose(ours.objective, theirs.inertia_)
    order = np.lexsort(theirs.cluster_centers_.T)
    assert_allclose(ours.centroids[np.lexsort(ours.centroids.T)], theirs.cluster_centers_[order])
    assert_array_equal(ours.predict(blobs, signed=True), ours.labels)
    best, *_ = _orthant.fit(blobs, {**asked, "runs": 10}, start="residual")
    assert best.objective <= KMeans(n_clusters=4, n_init=10, random_state=0).fit(blobs).inertia_ * (1 + 1e-6)

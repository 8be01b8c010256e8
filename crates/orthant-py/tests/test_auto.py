"""cluster: the data choose the model."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import orthant
from orthant import metrics


def clouds(rng, n=300):
    centres = np.array([[1.0, 0.2, 0.1], [3.0, 0.6, 0.3], [0.2, 1.5, 0.4]])
    y = np.arange(n) % 3
    return np.maximum(centres[y] + 0.05 * rng.normal(size=(n, 3)), 0), y


def counts(rng, n=240):
    topics = rng.dirichlet(np.full(120, 0.1), 3)
    y = np.arange(n) % 3
    return np.vstack([rng.multinomial(rng.integers(30, 90), topics[c]) for c in y]).astype(float), y


@pytest.mark.parametrize("make, model", [(clouds, "k-means"), (counts, "kl-onmf")])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_the_model_is_chosen_and_its_clusters_are_found(make, model, form):
    X, y = make(np.random.default_rng(0))
    found = orthant.cluster(form(X), 3)
    assert found.model_ == model and model in str(found) and len(found.reason_) > 20
    assert metrics.clustering_accuracy(y, found.labels_) > 0.98
    assert (found.predict(form(X)) == found.labels_).mean() > 0.99
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.labels_, found.labels_) and again.model_ == model


def test_weights_weightings_and_refusals():
    X, y = counts(np.random.default_rng(1))
    assert orthant.cluster(X, 3, sample_weight=np.ones(len(X))).model_ == "kl-onmf"
    weighted = orthant.cluster(X, 3, weighting="tf-idf,unit")
    assert weighted.model_ != "kl-onmf" and metrics.clustering_accuracy(y, weighted.labels_) > 0.95
    assert np.array_equal(weighted.predict(X), weighted.labels_)
    with pytest.raises(ValueError, match="Negative"):
        orthant.cluster(-X, 3)
    with pytest.raises(ValueError, match="n_samples=2"):
        orthant.cluster(X[:2], 3)

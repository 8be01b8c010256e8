"""What ONMF promises: feasible factors, honest attributes, transform in closed form."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_clusterer
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from orthant import ONMF, SphericalKMeans, _orthant, metrics
from orthant._base import METHODS

ONMF_METHODS = ["best"] + [name for name, entry in METHODS.items() if not entry["signed"] and name != "best"]
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fitted(method, X, **options):
    return ONMF(n_clusters=6, method=method, max_iter=500 if "nmf" in method else None, **options).fit(X)


@pytest.mark.parametrize("method", ONMF_METHODS)
def test_factors_are_feasible_and_attributes_say_what_they_are(method, X):
    model = fitted(method, X)
    W = np.zeros((len(X), 6))
    W[np.arange(len(X)), model.labels_] = model.weights_
    assert (W >= 0).all() and (model.components_ >= 0).all()
    assert_allclose(W.T @ W, np.eye(6), atol=1e-12)
    assert_allclose(np.linalg.norm(model.cluster_centers_, axis=1), 1)
    error = np.linalg.norm(X - W @ model.components_)
    assert_allclose(model.reconstruction_err_, error)
    assert_allclose(model.relative_error_, error / np.linalg.norm(X))
    singular = np.linalg.svd(X, compute_uv=False)
    assert_allclose(model.lower_bound_, np.sqrt((singular[6:] ** 2).sum()) / np.linalg.norm(X))
    share = (np.linalg.norm(X) ** 2 - error**2) / (singular[:6] ** 2).sum()
    assert_allclose(model.energy_share_, share)
    assert model.n_iter_ == sum(len(stage["objective"]) for stage in model.history_)


@pytest.mark.parametrize("method", ONMF_METHODS)
def test_transform_is_the_closed_form_and_fit_transform_is_transform(method, X):
    model = fitted(method, X)
    W = model.transform(X)
    assert_array_equal(W, fitted(method, X).fit_transform(X))
    assert (np.count_nonzero(W, axis=1) == 1).all()
    directions = model.cluster_centers_
    if method == "kl-onmf":
        # A point goes where its counts are most likely; a tenth of the mean entry keeps logarithms finite.
        sums = np.array([X[model.labels_ == i].sum(axis=0) for i in range(6)])
        sums += 0.1 * sums.mean()
        directions = np.log(sums / sums.sum(axis=1, keepdims=True))
    scores = X @ directions.T
    assert_array_equal(W.argmax(axis=1), scores.argmax(axis=1))
    assert_array_equal(model.predict(X), scores.argmax(axis=1))
    assert model.n_relabelled_ == np.count_nonzero(model.predict(X) != model.labels_)
    assert_allclose(model.score(X), -np.linalg.norm(X - W @ model.components_) ** 2)
    assert_allclose(model.inverse_transform(W), W @ model.components_)


def test_a_polish_makes_labels_those_of_the_nearest_direction(X):
    for model in (ONMF(n_clusters=6), ONMF(n_clusters=6, method="o-pnmf", max_iter=50, polish="em")):
        model.fit(X)
        assert model.n_relabelled_ == 0
        assert_array_equal(model.labels_, model.predict(X))
        assert_allclose(model.reconstruction_err_**2, -model.score(X))
        assert [stage["method"] for stage in model.history_][-1] == "em"


def test_a_certificate_is_a_bound_and_the_dual_one_is_closer(X):
    plain = ONMF(n_clusters=6).fit(X)
    assert plain.bound_ == "singular"
    for model in (ONMF(n_clusters=6, certificate="quick"), SphericalKMeans(n_clusters=6, certificate="quick")):
        model.fit(X)
        assert model.bound_ == "dual"
        assert plain.lower_bound_ < model.lower_bound_ <= min(plain.relative_error_, model.relative_error_)
        assert_allclose(model.at_most_above_best_, model.relative_error_ / model.lower_bound_ - 1)
    exact = ONMF(n_clusters=2, certificate="quick").fit(np.eye(2))
    assert exact.lower_bound_ == 0 and exact.at_most_above_best_ is None
    with pytest.raises(ValueError, match="'certificate' parameter of ONMF must be a str among"):
        ONMF(certificate="slow").fit(X)
    seen = []
    ONMF(n_clusters=6, certificate="quick", callback=seen.append).fit(X)
    steps = [info for info in seen if info["method"] == "certificate"]
    assert len(steps) > 10 and 0 < steps[-1]["lower_bound"] < 1


def test_nmf_of_scikit_learn_is_a_lower_reference(X):
    nmf = NMF(n_components=6, init="nndsvda", max_iter=1000).fit(X)
    model = ONMF(n_clusters=6).fit(X)
    assert model.lower_bound_ * np.linalg.norm(X) <= nmf.reconstruction_err_ * (1 + 1e-9)
    assert nmf.reconstruction_err_ < model.reconstruction_err_ < 2 * nmf.reconstruction_err_


def test_clusters_are_found(made):
    assert metrics.clustering_accuracy(made.target, ONMF(n_clusters=6).fit_predict(made.data)) > 0.8


def test_zero_samples_have_no_cluster(X):
    X = X.copy()
    X[[3, 77]] = 0
    model = ONMF(n_clusters=6).fit(X)
    assert_array_equal(np.flatnonzero(model.labels_ == -1), [3, 77])
    assert_array_equal(np.flatnonzero(model.predict(X) == -1), [3, 77])
    assert not model.transform(X)[[3, 77]].any() and not model.weights_[[3, 77]].any()


def test_weights_are_repetitions(X):
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(X))
    weighted = ONMF(n_clusters=6).fit(X, sample_weight=weights)
    repeated = ONMF(n_clusters=6).fit(X.repeat(weights, axis=0))
    assert_allclose(weighted.components_, repeated.components_)
    assert_allclose(weighted.relative_error_, repeated.relative_error_)
    assert_array_equal(weighted.labels_.repeat(weights), repeated.labels_)
    assert_allclose(weighted.score(X, sample_weight=weights), repeated.score(X.repeat(weights, axis=0)))


def test_the_seed_decides_and_threads_do_not(X):
    def fit(**options):
        return ONMF(**{"n_clusters": 6, "method": "em-onmf", "n_init": 3, **options}).fit(X)

    one, other = fit(n_jobs=1), fit(n_jobs=2)
    assert_array_equal(one.components_, other.components_)
    assert one.relative_error_ == other.relative_error_
    assert_array_equal(one.history_[0]["objective"], other.history_[0]["objective"])
    errors = {ONMF(n_clusters=6, method="em-onmf", random_state=s).fit(X).relative_error_ for s in range(5)}
    assert len(errors) > 1
    state = np.random.RandomState(0)
    assert len({fit(random_state=state).history_[0]["objective"][0] for _ in range(3)}) > 1
    assert fit(n_init=1).relative_error_ >= one.relative_error_


def test_starts_from_labels_and_centroids(X):
    model = ONMF(n_clusters=6).fit(X)
    again = ONMF(n_clusters=6, method="em-onmf", init=model.labels_).fit(X)
    assert_array_equal(again.labels_, model.labels_)
    assert again.n_iter_ <= 3
    again = ONMF(n_clusters=6, method="em-onmf", init=model.cluster_centers_).fit(X)
    assert_array_equal(again.labels_, model.labels_)
    for start, _ in _orthant.starts():
        assert ONMF(n_clusters=6, method="em-onmf", init=start).fit(X).relative_error_ < 0.6


def test_every_parameter_of_the_table_can_be_set_and_reaches_the_method(X):
    for method in ONMF_METHODS:
        if method == "best" and "best" not in METHODS:
            continue
        for name, facts in METHODS[method]["parameters"].items():
            assert name in ONMF().get_params(), f"{name} of {method} is not a parameter of ONMF"
            with pytest.raises(ValueError, match=name):
                ONMF(n_clusters=2, method=method, **{name: -1 if facts["whole"] else -1e301}).fit(X)
    assert ONMF(n_clusters=6, method="onp-mf", growth=1.1).fit(X).n_iter_ < ONMF(n_clusters=6, method="onp-mf").fit(X).n_iter_
    assert ONMF(n_clusters=6, method="onp-mf", tol=0.1).fit(X).history_[0]["residual"][-1] > 1e-3


def test_an_iteration_limit_is_a_warning(X):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = ONMF(n_clusters=6, method="onp-mf", max_iter=5).fit(X)
    assert not model.converged_ and model.n_iter_ == 5
    assert ONMF(n_clusters=6).fit(X).converged_


@pytest.mark.parametrize("sparse", [False, True])
def test_clustering_features_finds_parts(made, sparse):
    images = np.ascontiguousarray(made.data.T)
    X = sp.csr_array(images) if sparse else images
    samples, features = ONMF(n_clusters=6).fit(made.data), ONMF(n_clusters=6, cluster="features").fit(X)
    assert_array_equal(samples.labels_, features.labels_)
    assert samples.relative_error_ == features.relative_error_ or sparse
    assert features.components_.shape == (6, images.shape[1])
    assert_allclose(features.components_ @ features.components_.T, np.eye(6), atol=1e-12)
    assert features.cluster_centers_.shape == (6, images.shape[0])
    W = features.fit_transform(X)
    assert W.shape == (images.shape[0], 6) and type(W) is np.ndarray
    assert_allclose(np.linalg.norm(images - W @ features.components_), features.reconstruction_err_)
    assert_allclose(features.score(X), -(features.reconstruction_err_**2))
    assert not hasattr(features, "predict")
    assert_array_equal(features.fit_predict(X), features.labels_)
    with pytest.raises(ValueError, match="sample_weight"):
        features.fit(X, sample_weight=np.ones(images.shape[0]))


def test_refusals_are_clear(X):
    def refused(match, X=X, error=ValueError, **options):
        with pytest.raises(error, match=match):
            ONMF(**{"n_clusters": 3, **options}).fit(X)

    refused(r"Negative values in data passed to ONMF \(input X\)", X - 1)
    row, column = np.argwhere(X == X.max())[0]
    place = f"at row {row}, column {column}, counted from 0"
    refused(f"contains NaN {place}. ONMF does not accept missing values: drop", np.where(X == X.max(), np.nan, X))
    refused(f"contains infinity {place}", np.where(X == X.max(), np.inf, X))
    refused(f"the first is -1 {place}. Set them to zero", np.where(X == X.max(), -1, X))
    refused(f"contains NaN {place}", np.where(X == X.max(), np.nan, X), cluster="features")
    refused(f"contains NaN {place}", sp.csc_array(np.where(X == X.max(), np.nan, X)))
    names = [f"f{i}" for i in range(X.shape[1])]
    refused(rf"column {column} \(f{column}\)", pd.DataFrame(np.where(X == X.max(), np.nan, X), columns=names))
    refused("n_samples=2 should be >= n_clusters=3", X[:2])
    refused("3 clusters need at least 3 nonzero points, there are 2", X * (np.arange(len(X)) < 2)[:, None])
    refused("n_clusters == 0, must be >= 1", n_clusters=0)
    refused("n_clusters must be an instance of int", error=TypeError, n_clusters=2.5)
    refused("'method' parameter of ONMF must be a str among {'best', 'onp-mf'", method="k-means")
    refused("'cluster' parameter", cluster="rows")
    refused("'polish' parameter", polish="yes")
    refused("'init' parameter of ONMF must be a str among {'auto', .* Got 'svdd' instead", init="svdd")
    refused("'init' parameter .* call it and pass what it returns", init=lambda X, k, random_state: X[:k])
    refused("tol is not a parameter of method='em-onmf'", method="em-onmf", tol=0.1)
    refused("init: 4 labels for 450 points", init=[0, 1, 2, 0])
    refused("labels from 0 to 7", init=np.arange(450) % 8)
    refused("init: 2 centroids of 10 features were given, 3 of 10 are needed", init=X[:2])
    refused("callback must be callable", error=TypeError, callback=3)
    refused("n_jobs == 0", n_jobs=0)
    refused("random_state == -1", random_state=-1)
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        ONMF(n_clusters=3).fit(X, sample_weight=-np.ones(len(X)))
    with pytest.raises(ValueError, match="sample_weight.shape"):
        ONMF(n_clusters=3).fit(X, sample_weight=np.ones(3))
    with pytest.raises(NotFittedError):
        ONMF().transform(X)
    model = ONMF(n_clusters=3).fit(X)
    with pytest.raises(ValueError, match="X has 4 features, but ONMF is expecting 10 features"):
        model.predict(X[:, :4])
    with pytest.raises(ValueError, match="Negative values"):
        model.transform(-X)
    for method in (model.predict, model.transform, model.score):
        with pytest.raises(ValueError, match="NaN at row 0, column 0"):
            method(np.full((2, 10), np.nan))
    parts = ONMF(n_clusters=3, cluster="features").fit(X)
    for method in (parts.transform, parts.score):
        with pytest.raises(ValueError, match="the first is -2 at row 1, column 3"):
            method(np.where(np.arange(20).reshape(2, 10) == 13, -2, 1))
    with pytest.raises(ValueError, match="2 columns"):
        model.inverse_transform(X[:, :2])


def test_it_is_a_transformer_of_positive_data_and_no_clusterer():
    tags = ONMF().__sklearn_tags__()
    assert tags.input_tags.positive_only and tags.input_tags.sparse
    assert not is_clusterer(ONMF())


@pytest.mark.parametrize("factor", [2.0**-200, 1e-20, 1e20, 2.0**200])
def test_the_scale_of_the_data_does_not_change_clusters(X, factor):
    def fit(X):
        return ONMF(n_clusters=6, method="em-onmf").fit(X)

    small, one = fit(X * factor), fit(X)
    assert_array_equal(small.labels_, one.labels_)
    assert_allclose(small.reconstruction_err_, one.reconstruction_err_ * factor)
    assert_allclose(small.score(X * factor), one.score(X) * factor**2)
    assert_allclose(small.transform(X * factor), one.transform(X))

"""Pipelines, searches, clones, pickles."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import orthant
from orthant import ONMF, SphericalKMeans, _base

TEXTS = [
    "the cat chased a mouse and the cat slept",
    "a dog and a cat are animals that people keep",
    "the mouse hid from the cat and the dog",
    "stocks fell as the bank raised rates",
    "the bank lent money and markets rose",
    "investors sold stocks when rates rose",
] * 5
estimators = pytest.mark.parametrize(
    "estimator", [ONMF(n_clusters=2), SphericalKMeans(n_clusters=2)], ids=lambda e: type(e).__name__
)


@estimators
@pytest.mark.parametrize("vectorizer", [CountVectorizer(stop_words="english"), TfidfVectorizer(stop_words="english")])
def test_texts_in_a_pipeline(estimator, vectorizer):
    pipeline = make_pipeline(vectorizer, clone(estimator))
    labels = pipeline.fit(TEXTS)[-1].labels_
    assert_array_equal(labels.reshape(-1, 6)[:, :3], labels[0])
    assert_array_equal(labels.reshape(-1, 6)[:, 3:], 1 - labels[0])
    assert_array_equal(pipeline.predict(["the dog chased the cat", "money in stocks", "xyzzy"]), [labels[0], 1 - labels[0], -1])
    assert pipeline.transform(TEXTS).shape == (30, 2)
    assert len(pipeline.get_feature_names_out()) == 2


@estimators
def test_grid_search(estimator, X):
    search = GridSearchCV(clone(estimator), {"n_clusters": [1, 3, 6]}, n_jobs=2, cv=3).fit(X)
    assert search.best_params_ == {"n_clusters": 6}
    assert search.predict(X).shape == (len(X),)
    pipeline = make_pipeline(MinMaxScaler(), ONMF())
    GridSearchCV(pipeline, {"onmf__n_clusters": [2, 3]}, cv=2, error_score="raise").fit(X)


@estimators
def test_constructors_only_store(estimator):
    parameters = estimator.get_params()
    assert vars(estimator) == parameters
    marker = object()
    for name in parameters:
        assert getattr(type(estimator)(**{name: marker}), name) is marker
    assert clone(estimator).get_params() == parameters
    assert repr(estimator) == f"{type(estimator).__name__}(n_clusters=2)"


@estimators
def test_pickles_and_copies(estimator, X, monkeypatch):
    model = clone(estimator).fit(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert_array_equal(other.transform(X), model.transform(X))
        assert "_orthant_version" not in vars(other)
    dumped = pickle.dumps(model)
    major, minor = orthant.__version__.split(".")[:2]
    monkeypatch.setattr(_base, "_VERSION", f"{major}.{minor}.999")
    assert_array_equal(pickle.loads(dumped).labels_, model.labels_)
    monkeypatch.setattr(_base, "_VERSION", "99.0.0")
    with pytest.raises(ValueError, match=f"pickled by orthant {orthant.__version__} .* orthant 99.0.0"):
        pickle.loads(dumped)


def test_metadata_routing(X):
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(ONMF(n_clusters=2).set_fit_request(sample_weight=True))
        pipeline.fit(X, sample_weight=np.ones(len(X)))


def test_pickles_hold_what_is_public(X):
    points = np.tile(X, (20, 1))
    model = ONMF(n_clusters=6, method="em-onmf", init="random", n_init=10).fit(points)
    public = model.labels_.nbytes + model.weights_.nbytes + sum(run["labels"].nbytes for run in model.runs_)
    assert {run["labels"].dtype for run in model.runs_} == {np.dtype(np.int8)}
    assert len(pickle.dumps(model)) < public + 60_000
    wide = ONMF(n_clusters=3, method="em-onmf").fit(np.random.default_rng(0).random((30, 20_000)))
    assert len(pickle.dumps(wide)) < wide.components_.nbytes + wide.cluster_centers_.nbytes + 60_000
    again = pickle.loads(pickle.dumps(model))
    for one, other in zip(model.runs_, again.runs_):
        assert_array_equal(one["labels"], other["labels"])
        assert one["relative_error"] == other["relative_error"]
    best = next(run for run in model.runs_ if (run["labels"] == model.labels_).all())
    assert best["relative_error"] == model.relative_error_
    assert_allclose(min(run["relative_error"] for run in model.runs_), model.relative_error_)


def test_representations_in_notebooks(X):
    model = ONMF(n_clusters=3)
    assert "explains" not in model._repr_html_() and "ONMF" in model._repr_html_()
    model.fit(X)
    page = model._repr_html_()
    assert f"relative error {model.relative_error_:.4f}" in page and page.count("<tr><td>") >= 3
    assert model._repr_mimebundle_()["text/html"].count("explains") == 1
    advice, choice = orthant.advise(X, 6, n_halves=2), orthant.choose_k(X, 2, 7, n_halves=2)
    assert advice.answer in advice._repr_html_() and "<table>" in advice._repr_html_()
    assert choice._repr_html_().count("<tr>") == 7

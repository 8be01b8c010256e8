"""The page of a fit."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import orthant
from orthant import ONMF, SphericalKMeans, datasets


def test_a_page_of_documents(counts, tmp_path):
    model = ONMF(n_clusters=4, method="em-onmf", n_init=3).fit(counts)
    words = [f"word{i}" for i in range(counts.shape[1])]
    path = orthant.report(
        model, counts, tmp_path / "r.html", y=np.arange(120) % 4, feature_names=words, title="made <texts>"
    )
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "made &lt;texts&gt;" in page
    assert "word" in page and "ONMF(" in page and "accuracy" in page
    assert f"{model.relative_error_:.4f}"[:6] in page
    assert list(tmp_path.iterdir()) == [path]
    again = orthant.report(pickle.loads(pickle.dumps(model)), counts, tmp_path / "s.html", y=np.arange(120) % 4,
                           feature_names=words, title="made <texts>")
    assert again.read_text(encoding="utf-8") == page


def test_pages_of_images_features_and_signed_data(tmp_path):
    made = datasets.make_swimmer()
    names = {"y": made.target, "target_names": made.target_names, "shape": made.shape, "order": made.order}
    orthant.report(ONMF(n_clusters=17).fit(made.data), made.data, tmp_path / "a.html", **names)
    parts = ONMF(n_clusters=17, cluster="features").fit(made.data.T)
    orthant.report(parts, made.data.T, tmp_path / "b.html", **names)
    X = sp.random_array((50, 8), density=0.5, format="csr", random_state=np.random.default_rng(0)) * -1.0
    weights = np.ones(50)
    model = SphericalKMeans(n_clusters=2, init=np.arange(50) % 2).fit(X, sample_weight=weights)
    page = orthant.report(model, X, tmp_path / "c.html", sample_weight=weights).read_text(encoding="utf-8")
    assert "spherical k-means" in page
    assert "data:image/png" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_what_does_not_fit_is_refused(X, tmp_path):
    model = ONMF(n_clusters=3).fit(X)
    with pytest.raises(ValueError, match="fitted to 450"):
        orthant.report(model, X[:10], tmp_path / "r.html")
    with pytest.raises(ValueError, match="names of points"):
        orthant.report(model, X, tmp_path / "r.html", sample_names=["a"])
    with pytest.raises(OSError):
        orthant.report(model, X, tmp_path / "nowhere" / "r.html")
    assert not list(tmp_path.iterdir())

"""Every public method over the whole range of floats: the same answer in another unit, dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import orthant
from orthant import ONMF, SphericalKMeans, datasets

DATA = datasets.make_synthetic(noise=0.02, sizes=(30, 25, 20, 15), n_features=6).data
ESTIMATORS = {
    "samples": ONMF(n_clusters=4, method="em-onmf", init="svd", n_jobs=1),
    "best": ONMF(n_clusters=4, n_jobs=1, effort="quick"),
    "features": ONMF(n_clusters=2, method="em-onmf", init="svd", cluster="features", n_jobs=1),
    "kl": ONMF(n_clusters=4, method="kl-onmf", n_jobs=1),
    "spherical": SphericalKMeans(n_clusters=4, init="svd", n_jobs=1),
}
RANGES = {np.float64: (-300, 300), np.float32: (-36, 36)}


def fresh(name):
    return type(ESTIMATORS[name])(**ESTIMATORS[name].get_params())


def unit(exponent, dtype):
    """A power of two near a power of ten: exact in every product."""
    return dtype(2.0 ** round(exponent / np.log10(2)))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", ESTIMATORS)
@settings(max_examples=12, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(share=st.floats(0, 1))
def test_the_unit_of_the_data_does_not_matter(name, dtype, sparse, share):
    low, high = RANGES[dtype]
    factor = unit(low + share * (high - low), dtype)
    base = DATA.astype(dtype)
    scaled = base * factor
    one, X = (sp.csr_array(base), sp.csr_array(scaled)) if sparse else (base, scaled)
    plain, model = fresh(name).fit(one), fresh(name).fit(X)
    rtol = 1e-9 if dtype is np.float64 else 1e-4
    assert_array_equal(model.labels_, plain.labels_)
    assert_allclose(model.relative_error_, plain.relative_error_, rtol=rtol)
    assert_allclose(model.cluster_centers_, plain.cluster_centers_, rtol=rtol, atol=rtol)
    assert_allclose(model.reconstruction_err_ / float(factor), plain.reconstruction_err_, rtol=rtol)
    W, expected = model.transform(X), plain.transform(one)
    if name == "features":
        W = W / factor
    else:
        assert_array_equal(model.predict(X), plain.predict(one))
        assert_allclose(model.components_ / np.float64(factor), plain.components_, rtol=rtol, atol=rtol)
    assert_allclose(W, expected, rtol=rtol, atol=rtol)
    assert_array_equal(model.fit_transform(X), model.transform(X))
    assert_array_equal(model.fit_predict(X), model.labels_)
    back = model.inverse_transform(model.transform(X)).astype(np.float64) / np.float64(factor)
    assert_allclose(back, plain.inverse_transform(expected), rtol=rtol, atol=10 * rtol)
    score = model.score(X)
    if name == "spherical":
        assert_allclose(score, plain.score(one), rtol=1e-6, atol=1e-5)
        assert_allclose(model.inertia_, plain.inertia_, rtol=1e-6, atol=1e-5)
    else:
        # What the square does not fit is 0 or infinite, and that is its rounding.
        with np.errstate(over="ignore", under="ignore"):
            squared = plain.score(one) * np.float64(factor) * np.float64(factor)
        assert_allclose(score, squared, rtol=max(rtol, 1e-6), atol=1e-300)
    for stage in model.history_:
        assert not np.isnan(stage["objective"]).any() and np.isfinite(stage["residual"]).all()
    assert model.runs_[0]["relative_error"] == model.relative_error_


@pytest.mark.parametrize("exponent", [-300, -150, 0, 150, 300])
def test_reports_and_studies_take_any_unit(exponent, tmp_path):
    X = DATA * unit(exponent, np.float64)
    page = orthant.report(fresh("best").fit(X), X, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "NaN" not in page and "inf</" not in page
    assert orthant.advise(X, 4, n_halves=2, n_init=3).answer == orthant.advise(DATA, 4, n_halves=2, n_init=3).answer
    assert orthant.choose_k(X, 2, 5, n_halves=2).candidates == orthant.choose_k(DATA, 2, 5, n_halves=2).candidates

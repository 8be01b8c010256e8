"""scikit-learn's own checks, with default parameters: none is expected to fail, none is skipped."""

import pytest
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from orthant import ONMF, SphericalKMeans


@parametrize_with_checks([ONMF(), SphericalKMeans()])
def test_sklearn_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", [ONMF(), SphericalKMeans()], ids=lambda e: type(e).__name__)
def test_no_check_is_skipped(estimator):
    results = check_estimator(estimator, on_skip=None, on_fail=None)
    assert {result["status"] for result in results} == {"passed"}
    assert len(results) > 50


# The order of the samples and their weights choose other random numbers, so that runs from a random start
# cannot be the same; scikit-learn expects this of its KMeans too.
RANDOM_START = {
    f"check_sample_weight_equivalence_on_{kind}_data": "random starts depend on the order of the samples"
    for kind in ("dense", "sparse")
}


@pytest.mark.parametrize(
    "estimator, expected",
    [
        (ONMF(method="onp-mf"), {}),
        (ONMF(method="em-onmf"), RANDOM_START),
        (ONMF(method="chnmf", max_iter=200), RANDOM_START),
        (ONMF(method="o-pnmf", max_iter=200), RANDOM_START),
        (SphericalKMeans(init="random", n_init=1), RANDOM_START),
    ],
    ids=lambda value: str(value) if value not in ({}, RANDOM_START) else "",
)
def test_sklearn_checks_of_other_methods(estimator, expected):
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None)
    bad = [(r["check_name"], r["exception"]) for r in results if r["status"] not in ("passed", "xfail")]
    assert bad == []

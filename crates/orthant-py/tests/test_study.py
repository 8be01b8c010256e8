"""advise and choose_k: the right model, the right k, whatever the kind of array."""

import numpy as np
import pytest
import scipy.sparse as sp

import orthant


def rays(rng, kind, n=400, d=8, k=4, noise=0.03):
    """Points written by hand, not by the package's generators."""
    U = rng.dirichlet(np.full(d, 0.5), k)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    y = np.arange(n) % k
    a = rng.uniform(0.2, 2, n)[:, None]
    E = rng.normal(size=(n, d))
    if kind == "spherical-k-means":
        X = a * (U[y] + noise * E)
    elif kind == "onmf":
        X = a * U[y] + noise * E
    else:
        X = (1 + 2 * (y % 2))[:, None] * U[y // 2] + noise * E
    return np.maximum(X, 0), y


@pytest.mark.parametrize("kind", ["k-means", "spherical-k-means", "onmf"])
def test_the_model_that_made_the_samples_is_advised(kind):
    for random_state in range(3):
        X, _ = rays(np.random.default_rng(random_state), kind)
        advice = orthant.advise(X, 4, n_halves=2)
        assert advice.answer == kind, advice
        assert advice.reasons and kind in repr(advice)
        assert len(advice.models[0]["labels"]) == len(advice.points)


def test_where_all_models_agree_nothing_is_decided():
    rng = np.random.default_rng(0)
    X = np.eye(4)[np.arange(200) % 4] + 0.02 * rng.random((200, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    advice = orthant.advise(X, 4, n_halves=2)
    assert advice.answer == "undecided" and advice.method is None and len(advice.between) == 3


def test_kinds_of_arrays_and_threads_do_not_matter():
    X, _ = rays(np.random.default_rng(1), "onmf")
    dense = orthant.advise(X, 4, n_halves=2, n_jobs=1)
    other = orthant.advise(sp.csr_matrix(X), 4, n_halves=2, n_jobs=2)
    assert dense.answer == other.answer
    assert dense.noise_slope == pytest.approx(other.noise_slope, abs=1e-6)
    assert orthant.advise(X.astype(np.float32), 4, n_halves=2).answer == dense.answer


def test_counts_ask_for_the_divergence_of_counts():
    rng = np.random.default_rng(2)
    P = rng.dirichlet(np.full(60, 0.1), 3)
    X = np.vstack([rng.multinomial(rng.integers(50, 400), P[j % 3]) for j in range(240)]).astype(float)
    advice = orthant.advise(X, 3, n_halves=2)
    assert advice.answer == "kl-onmf" and advice.counts[2]
    assert 0.7 < advice.counts[0] < 1.3


def test_the_true_number_of_clusters_is_a_candidate_and_pages_are_written(tmp_path):
    X, _ = rays(np.random.default_rng(3), "onmf", n=600, d=12, k=5)
    choice = orthant.choose_k(X, 2, 10, n_halves=3)
    assert 5 in [k for k, _ in choice.candidates] and 1 <= len(choice.candidates) <= 3
    assert (choice.lower_bound <= choice.relative_error + 1e-12).all()
    assert choice.report(tmp_path / "k.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "k = 5" in str(choice)
    advice = orthant.advise(X, n_halves=2)
    assert advice.k == 5 and advice.answer == "onmf"
    assert "<svg" in advice.report(tmp_path / "a.html").read_text(encoding="utf-8")


def test_bad_input_is_refused_in_words():
    with pytest.raises(ValueError, match="Negative"):
        orthant.advise(-np.ones((5, 3)), 2)
    with pytest.raises(ValueError, match="n_clusters: 9 clusters need"):
        orthant.advise(np.ones((5, 3)), 9)
    with pytest.raises(ValueError, match="k_max=2 should be >= k_min=8"):
        orthant.choose_k(np.ones((9, 3)), 8, 2)
    with pytest.raises(ValueError, match="nothing to cluster"):
        orthant.choose_k(np.zeros((5, 3)))
    assert orthant.advise(np.ones((30, 3)), 1).answer == "undecided"
    assert orthant.choose_k(np.ones((5, 3)), 2, 20).notes

"""The studies before a result: which model the data ask for, and how many clusters."""

from __future__ import annotations

import numbers
from pathlib import Path

import numpy as np
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import _check_sample_weight, check_non_negative

from . import _orthant
from ._base import parts, seed, threads


class _Study:
    """Facts as attributes, words as text, and a page."""

    def __init__(self, facts: dict):
        self._page = facts.pop("page")
        self._summary = facts.pop("summary")
        self.__dict__.update(facts)

    def __str__(self) -> str:
        return self._summary

    def summary(self) -> str:
        """The findings in words."""
        return self._summary

    def report(self, path) -> Path:
        """Write the findings as a page with pictures: one HTML file that loads nothing.

        Parameters
        ----------
        path : str or path-like
            Where to write it; an existing file is replaced.

        Returns
        -------
        path : pathlib.Path
            Where the page is.
        """
        path = Path(path)
        path.write_text(self._page, encoding="utf-8")
        return path


class Advice(_Study):
    """What `advise` found.

    Attributes
    ----------
    answer : {"k-means", "spherical-k-means", "onmf", "kl-onmf", "undecided"}
        The model that the data ask for.
    method : str or None
        The method to use for it; None where the data do not decide.
    between : list of str
        The models that the data do not decide between, where they do not.
    reasons : list of str
        Why, the decisive reason first.
    k : int
        Number of clusters.
    norm_spread : float
        Standard deviation of the logarithm of the norms within the clusters.
    noise_slope, noise_slope_error : float or None
        The noise grows as the norm to this power (0: independent, 1: proportional); its standard error.
    noise_dimensions : float
        In how many dimensions the noise is spread.
    counts : (float, float, bool) or None
        For whole numbers: the power of the mean that the variance grows with, the ratio of the two, and whether
        these are of counts.
    models : list of dict
        Name, mean log-density, stability and labels of every model.
    agreements : list of (str, str, float)
        Adjusted Rand index of the partitions of every two models.
    points : ndarray of int
        The samples used, to which the labels belong.
    disagreeing : int
        How many of them the models differ on.
    disagreements : list of int
        Some of those samples, the longest first.
    """

    def __repr__(self) -> str:
        return f"<Advice: {self.answer}, k={self.k}>"


class Choice(_Study):
    """What `choose_k` found.

    Attributes
    ----------
    candidates : list of (int, list of str)
        One to three numbers of clusters with the reasons, the most convincing first.
    k : ndarray of int
        The numbers that were looked at.
    relative_error, lower_bound, gain, stability, consensus : ndarray of float
        For each of them what is left, what any k clusters must leave, the gain over one less (NaN for a first k above 2), the
        agreement of two halves of the data, and of the halves with all of it.
    notes : list of str
        What else to know.
    """

    def __repr__(self) -> str:
        return f"<Choice: candidates {', '.join(str(k) for k, _ in self.candidates)}>"


def _checked(X, sample_weight, name):
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], order="C")
    check_non_negative(X, f"{name} (input X)")
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return X, weights


def advise(
    X, n_clusters=None, *, n_init=10, n_halves=5, sample_weight=None, random_state=0, n_jobs=None, title="X"
):
    """Advise which model the data ask for: k-means, spherical k-means, ONMF, or KL-ONMF for counts.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative samples.
    n_clusters : int, default=None
        Number of clusters; None takes the first candidate of `choose_k`.
    n_init : int, default=10
        Starts of every fit.
    n_halves : int, default=5
        Divisions into halves, for the stability.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in the fits.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None: one for each core.
    title : str, default="X"
        The name of the data on the page.

    Returns
    -------
    advice : Advice
        ``print(advice)`` says it in words, ``advice.report(path)`` in pictures.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.05, return_X_y=True)
    >>> orthant.advise(X, 6)
    <Advice: onmf, k=6>
    """
    if n_clusters is not None:
        check_scalar(n_clusters, "n_clusters", numbers.Integral, min_val=1)
    check_scalar(n_init, "n_init", numbers.Integral, min_val=1)
    check_scalar(n_halves, "n_halves", numbers.Integral, min_val=1)
    X, weights = _checked(X, sample_weight, "advise")
    facts = _orthant.advise(
        parts(X),
        None if n_clusters is None else int(n_clusters),
        runs=int(n_init),
        divisions=int(n_halves),
        seed=seed(random_state),
        weights=weights,
        threads=threads(n_jobs),
        title=str(title),
    )
    return Advice(dict(facts))


def choose_k(
    X, k_min=2, k_max=20, *, n_init=8, n_halves=5, sample_weight=None, random_state=0, n_jobs=None, title="X"
):
    """Look at several numbers of clusters and name one to three candidates with reasons.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative samples.
    k_min, k_max : int, default=2 and 20
        The numbers of clusters to look at, both ends included.
    n_init : int, default=8
        Starts for every number.
    n_halves : int, default=5
        Divisions into halves, for the stability.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None: one for each core.
    title : str, default="X"
        The name of the data on the page.

    Returns
    -------
    choice : Choice
        ``print(choice)`` says it in words, ``choice.report(path)`` in pictures.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.02, return_X_y=True)
    >>> choice = orthant.choose_k(X, 2, 9)
    >>> choice.candidates[0][0]
    6
    """
    for name, value in (("k_min", k_min), ("k_max", k_max), ("n_init", n_init), ("n_halves", n_halves)):
        check_scalar(value, name, numbers.Integral, min_val=1)
    X, weights = _checked(X, sample_weight, "choose_k")
    facts = _orthant.choose_k(
        parts(X),
        int(k_min),
        int(k_max),
        runs=int(n_init),
        divisions=int(n_halves),
        seed=seed(random_state),
        weights=weights,
        threads=threads(n_jobs),
        title=str(title),
    )
    return Choice(dict(facts))

"""The model without asking: the data choose it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _check_sample_weight

from . import _orthant
from ._base import Clustering, seed, threads
from ._inputs import OnDisk, parts
from ._typing import ArrayLike, Labels, MatrixLike, RandomState, Real, Weighting

Self = TypeVar("Self", bound="Clusters")


class Clusters(ClusterMixin, Clustering):
    """Clusters by the model that the data ask for.

    A fit looks at the data for seconds and chooses ONMF, KL-ONMF (counts), spherical or plain k-means, as `advise`
    would; then it runs the search for the best clusters of that model.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    weighting : {"tf-idf", "unit", "cpm", "log1p", "variable"}, sequence of them or None, default=None
        What happens to X first, as in `ONMF`.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it.
    memory : int or str, default=None
        Bytes that may be used for data that stay on disk, as in `ONMF`.
    verbose : int, default=0
        1 draws a bar.
    callback : callable, default=None
        Called after every iteration, as in `ONMF`.

    Attributes
    ----------
    model_ : {"onmf", "kl-onmf", "spherical-k-means", "k-means"}
        The model that was chosen.
    reason_ : str
        Why, in one sentence.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, -1 for none.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        What new samples are compared with: directions, distributions or centres, as the model has them.
    components_ : ndarray of shape (n_clusters, n_features)
        The best direction of each cluster in the sense of ONMF, scaled.
    weights_ : ndarray of shape (n_samples,)
        The one nonzero of each sample's row of the orthonormal factor.
    relative_error_ : float
        ``||X - W H||_F / ||X||_F`` of the factors of ONMF for these clusters, which other models do not aim at.

    See Also
    --------
    cluster : The same as a function.
    advise : The choice with all its evidence.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.02, return_X_y=True)
    >>> orthant.Clusters(6).fit(X).model_
    'onmf'
    """

    # What the models' own estimators let their users set.
    init = "auto"
    n_init = 10
    race = False
    max_iter = None
    certificate = "singular"
    cluster = "samples"

    model_: Literal["onmf", "kl-onmf", "spherical-k-means", "k-means"]
    reason_: str
    #: The method that searches for the clusters of the model.
    _chosen: str

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weighting: Weighting | str | Sequence[Weighting] | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighting = weighting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback

    def _method(self) -> str:
        return self._chosen

    def _centers(self) -> Real:
        return self._fitted.centroids

    def fit(self: Self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the model, and find its clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check_parameters()
        checked = self._check_X(X, reset=True)
        weights = None
        if sample_weight is not None:
            like = np.empty((checked.shape[0], 0)) if isinstance(checked, OnDisk) else checked
            weights = _check_sample_weight(sample_weight, like, dtype=np.float64, ensure_non_negative=True)
        if checked.shape[0] < self.n_clusters:
            raise ValueError(f"n_samples={checked.shape[0]} should be >= n_clusters={self.n_clusters}.")
        with self._named_entries():
            self.model_, self._chosen, self.reason_ = _orthant.choose_model(
                parts(self._weighted(checked, learn=True)),
                int(self.n_clusters),
                seed=seed(self.random_state),
                weights=weights,
                threads=threads(self.n_jobs),
            )
        return self._fit(X, sample_weight)

    def fit_predict(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> Labels:
        """Fit, and return `labels_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample, -1 for none.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def transform(self, X: MatrixLike) -> Real:
        """The strength of each sample along its cluster's row of `components_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.

        Returns
        -------
        W : ndarray of shape (n_samples, n_clusters)
            At most one nonzero in each row.
        """
        return self._transform(X)

    def predict(self, X: MatrixLike) -> Labels:
        """The cluster of each sample, by the rule of the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            Cluster of each sample, -1 for none.
        """
        return self._labels_of(X)

    def __str__(self) -> str:
        """The choice in words, once it was made."""
        return f"{self.model_}: {self.reason_}" if hasattr(self, "model_") else repr(self)


def cluster(
    X: MatrixLike,
    n_clusters: int,
    *,
    sample_weight: ArrayLike | None = None,
    weighting: Weighting | str | Sequence[Weighting] | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Clusters:
    """Cluster samples by the model that they ask for: ONMF, KL-ONMF, spherical or plain k-means.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative data.
    n_clusters : int
        Number of clusters.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.
    weighting : {"tf-idf", "unit", "cpm", "log1p", "variable"}, sequence of them or None, default=None
        What happens to X first, as in `ONMF`.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Number of threads; the result does not depend on it.
    verbose : int, default=0
        1 draws a bar.

    Returns
    -------
    clusters : Clusters
        The fitted estimator: `labels_`, the `model_` that was chosen and the `reason_`, `predict` for others;
        ``print(clusters)`` says the choice in words.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.02, return_X_y=True)
    >>> found = orthant.cluster(X, 6)
    >>> found.model_, len(set(found.labels_))
    ('onmf', 6)
    """
    made = Clusters(
        n_clusters, weighting=weighting, random_state=random_state, n_jobs=n_jobs, verbose=verbose
    )
    return made.fit(X, sample_weight=sample_weight)

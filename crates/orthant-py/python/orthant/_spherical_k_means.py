"""Spherical k-means as a scikit-learn clusterer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _orthant
from ._base import Clustering, threads
from ._inputs import parts
from ._typing import ArrayLike, Certificate, Labels, MatrixLike, Path, RandomState, Real, Start, Weighting

Self = TypeVar("Self", bound="SphericalKMeans")


class SphericalKMeans(ClusterMixin, Clustering):
    """Clustering by angle: k-means on the unit sphere.

    Maximises the sum of the cosines between samples and the centre of their cluster, so that every sample
    counts the same whatever its norm. Samples that are zero have no direction and no cluster: their label
    is -1.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.

    init : {"residual", "random", "svd", "nndsvd", "auto"} or array-like, default="auto"
        Where to start: "residual" draws samples far from one another, as k-means++; "random" takes any
        samples; "svd" lets each of the largest singular vectors claim the samples where it is largest, which
        suits nonnegative data; "auto" is "residual", as in the program. An array of shape
        (n_samples,) are labels to begin with (-1: none), one of shape (n_clusters, n_features) centres.

    n_init : int, default=1
        Number of runs with different random numbers, of which the best is kept; they share their passes over
        the data. Starts that are not random are run once.

    race : bool, default=False
        Whether many runs on sparse data race, as those of the program do: from eight on, the better half after 11
        iterations goes on, the best three of those after 33 go to their end, and the others are given up. `runs_`
        then holds those that went to their end.

    max_iter : int, default=None
        Limit of iterations; None is the method's own, 300.

    certificate : {"auto", "singular", "quick", "thorough"}, default="singular"
        Work on `lower_bound_`, as in `ONMF`.

    weighting : {"tf-idf", "unit", "cpm", "log1p", "variable"}, sequence of them or None, default=None
        What happens to X first, as in `ONMF`.

    random_state : int, RandomState instance or None, default=0
        An int is the seed (the program's ``--seed``): the same data then give the same bits. None draws one.

    n_jobs : int, default=None
        Number of threads, at most one for each processor; None is all processors (or OMP_NUM_THREADS). The
        result does not depend on it.

    memory : int or str, default=None
        Bytes that may be used for data that stay on disk, as in "512M" or "4G"; None is six tenths of what is free. A
        path (of a block folder, .npy, ENVI, .npz that is not compressed) is streamed, and so is a `numpy.memmap` that
        is larger. On a cluster: what samples of the data may take of the client.

    verbose : int, default=0
        1 draws a bar.

    callback : callable, default=None
        Called after every iteration with a dict (see `ONMF`); True stops the fit, which then keeps the best
        so far.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Unit centres of the clusters.

    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, -1 for none.

    inertia_ : float
        The (weighted) sum of ``1 - cosine`` over the samples that have a cluster.

    components_ : ndarray of shape (n_clusters, n_features)
        The best direction of each cluster in the sense of ONMF, scaled: ``transform(X) @ components_``
        approximates X.

    weights_ : ndarray of shape (n_samples,)
        The one nonzero of each sample's row of the orthonormal factor.

    reconstruction_err_ : float
        ``||X - W H||_F`` of the factors, as in `ONMF`.

    relative_error_ : float
        The same divided by ``||X||_F``.

    lower_bound_ : float
        No clusters have a smaller relative error; 0 says nothing.

    bound_ : {"singular", "dual", "dual-of-groups"}
        Where that comes from.

    at_most_above_best_ : float or None
        The share by which the error exceeds the best possible one at most.

    energy_share_ : float
        What the factors explain of X, relative to the best factors of this rank.

    n_iter_ : int
        Iterations of the best run.

    converged_ : bool
        Whether the labels repeated.

    history_ : list of dict
        The `objective` (sum of cosines) and `residual` (share of samples that moved) of every iteration.

    runs_ : list of dict
        Labels and error of every run, as in `ONMF`.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has names that are all strings.

    See Also
    --------
    ONMF : Clusters by direction, where samples with larger norm count more.
    sklearn.cluster.KMeans : Clusters by distance.

    Examples
    --------
    >>> import numpy as np
    >>> from orthant import SphericalKMeans
    >>> X = np.array([[1., .1], [5, .2], [-1, 9], [-.1, 1], [0, 0]])
    >>> SphericalKMeans(n_clusters=2).fit_predict(X)
    array([ 1,  1,  0,  0, -1], dtype=int32)
    """

    _signed = True

    inertia_: float

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Start | ArrayLike = "auto",
        n_init: int = 1,
        race: bool = False,
        max_iter: int | None = None,
        certificate: Certificate = "singular",
        weighting: Weighting | str | Sequence[Weighting] | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.race = race
        self.max_iter = max_iter
        self.certificate = certificate
        self.weighting = weighting
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback

    cluster = "samples"

    def _method(self) -> str:
        return "spherical-k-means"

    def _centers(self) -> Real:
        return self._fitted.centroids

    def _set_fitted(self, fitted: _orthant.Fitted, X: Any, weights: Real | None) -> None:
        super()._set_fitted(fitted, X, weights)
        has = self.labels_ >= 0
        total = np.count_nonzero(has) if weights is None else weights[has].sum()
        self.inertia_ = max(0.0, float(total) - fitted.objective)

    def fit(
        self: Self,
        X: MatrixLike,
        y: object = None,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: Path | None = None,
        checkpoint_every: float = 30.0,
        resume: bool = True,
    ) -> Self:
        """Find the clusters of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.
        checkpoint : path, default=None
            A file for work under way, saved now and then and on Ctrl-C. Where it exists the fit goes on from it, to the same
            bits; when the fit is complete it is removed. What another program puts there meanwhile stays, with a warning.
        checkpoint_every : float, default=30.0
            Seconds between two savings.
        resume : bool, default=True
            Whether to go on from that file; False begins anew. What is no checkpoint is not replaced in either case.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, sample_weight, checkpoint, checkpoint_every, resume)

    def fit_predict(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> Labels:
        """Fit, and return `labels_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.
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

    def fit_transform(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> Real:
        """Fit, and return ``transform(X)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        W : ndarray of shape (n_samples, n_clusters)
            The transformed samples.
        """
        return self.fit(X, sample_weight=sample_weight)._transform(X)

    def transform(self, X: MatrixLike) -> Real:
        """The strength of each sample along its cluster's row of `components_`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.

        Returns
        -------
        W : ndarray of shape (n_samples, n_clusters)
            At most one nonzero in each row.
        """
        return self._transform(X)

    def predict(self, X: MatrixLike) -> Labels:
        """The cluster of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The centre at the smallest angle, -1 for zero samples.
        """
        return self._labels_of(X)

    def score(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The negative sum of ``1 - cosine`` over the samples that are not zero.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data of any sign.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            Larger is better, 0 is best.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        with self._named_entries():
            return -_orthant.angles(
                parts(self._weighted(X)), self._fitted.centroids, weights=weights, threads=threads(self.n_jobs)
            )

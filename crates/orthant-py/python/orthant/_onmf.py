"""ONMF as a scikit-learn transformer."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _orthant
from ._base import METHODS, Clustering
from ._typing import (
    ArrayLike,
    Certificate,
    Effort,
    Labels,
    MatrixLike,
    Method,
    Path,
    Polish,
    RandomState,
    Real,
    Rows,
    Start,
    Weighting,
)

Self = TypeVar("Self", bound="ONMF")

if TYPE_CHECKING:
    Decorated = TypeVar("Decorated")

    def _available_if(check: Callable[[Any], bool]) -> Callable[[Decorated], Decorated]: ...

else:
    _available_if = available_if


def _of_samples(estimator: ONMF) -> bool:
    if estimator._of_features():
        raise AttributeError("with cluster='features' it is the features that have labels: see labels_")
    return True


class ONMF(Clustering):
    """Orthogonal nonnegative matrix factorization.

    Finds ``W >= 0`` and ``H >= 0`` that make ``||X - W H||_F`` small, such that every row of W has at most
    one nonzero and the columns of W are orthonormal. Each sample so belongs to one cluster: a direction
    (a row of `cluster_centers_`) times a strength. Samples that are zero have no direction and no cluster:
    their label is -1.

    This is the right model where points of a cluster are multiples of one direction plus noise that does not depend on
    their length: spectra, pixels, images. `orthant.cluster` chooses between it, KL-ONMF (counts), spherical k-means
    (weighted texts) and k-means (clouds around centres) by looking at the data.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.

    method : {"best", "best-kl-onmf", "onp-mf", "em-onmf", "kl-onmf", "chnmf", "o-pnmf"}, default="best"
        How to look for the factors: "best" tries several ways, polishes each and goes on from the best of
        them; "onp-mf" and "em-onmf" are Algorithms 2 and 1 of Pompili, Gillis, Absil and Glineur; "kl-onmf"
        has the Kullback-Leibler divergence as its objective, for counts, and "best-kl-onmf" searches for the
        lowest of it; "chnmf" and "o-pnmf" are the multiplicative updates of Choi and of Yang and Oja.

    init : {"auto", "random", "residual", "svd", "nndsvd"} or array-like, default="auto"
        Where to start: "auto" is the method's usual start, an array of shape (n_points,) labels to begin
        with (-1: none), one of shape (n_clusters, n_point_features) directions. Points are samples, or
        features with ``cluster="features"``.

    n_init : int, default=1
        Number of runs with different random numbers, of which the best is kept. Starts that are not random
        are run once.

    race : bool, default=False
        Whether many runs on sparse data race, as those of the program do: from eight on, the better half after 11
        iterations goes on, the best three of those after 33 go to their end, and the others are given up. `runs_`
        then holds those that went to their end.

    max_iter : int, default=None
        Limit of iterations; None is the method's own.

    tol : float, default=None
        When to stop, for the methods that have a tolerance; None is the method's own.

    polish : str, sequence of str or None, default=None
        What goes on from what the method found, in order: any of "em" (EM-ONMF), "moves" (of single
        points) and "swaps" (of centroids), also as "em,moves". "best" has all of them.

    effort : {"quick", "normal", "thorough", "endless"}, default=None
        Parameter of "best" and "best-kl-onmf": how much work to put in (endless: until the time is over or it
        is stopped); None is "normal".

    time : float, default=None
        Seconds after which to end with the best so far. The result then depends on the machine. With
        "best" and "best-kl-onmf" the time is used up unless `effort` is set.

    certificate : {"auto", "singular", "quick", "thorough"}, default="singular"
        Work on `lower_bound_`: the singular values alone, or a bound that holds for clusters only and is much
        closer on images, proven in seconds or in up to some minutes; with "auto" in seconds where that takes
        about one, or a quarter of the fit.

    cluster : {"samples", "features"}, default="samples"
        What is clustered. With "features" the rows of `components_` are orthonormal parts that do not
        overlap, such as groups of pixels or voxels, `labels_` has an entry for each feature, and there is
        no `predict`.

    weighting : {"tf-idf", "unit", "cpm", "log1p", "variable"}, sequence of them or None, default=None
        What happens to X first, in order, also as "tf-idf,unit": rare features count more ("tf-idf"), every sample
        is divided by its norm ("unit") or made to sum to a million ("cpm"), entries become ``log(1 + x)``
        ("log1p"), only the 2000 features that vary the most for their size are kept ("variable"). New samples are
        weighted by what was learned in the fit; factors and errors are of the weighted data. The weighted data are a
        copy.

    alpha : float, default=None
        Parameter of "onp-mf": α₀, the step of the multipliers in the first iteration; None is 100.

    rho : float, default=None
        Parameter of "onp-mf": ρ₀, the penalty to begin with; None is 0.01.

    growth : float, default=None
        Parameter of "onp-mf": C, what the penalty is multiplied by in each iteration; None is 1.01.

    scale : float, default=None
        Parameter of "onp-mf": as if the data had this Frobenius norm (unless set: its own); None leaves it to
        the method.

    floor : float, default=None
        Parameter of "chnmf" and "o-pnmf": entries do not fall below this; None is 1e-16.

    rows : {"sum", "plain"}, default=None
        Parameter of "chnmf": divide every row of V by its sum in each iteration, or leave it plain; None is
        "sum".

    smoothing : float, default=None
        Parameter of "kl-onmf": what is added to the centroids, relative to their mean entry; None is 0.1.

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
        Called after every iteration with a dict (`method`, `run`, `n_runs`, `n_ended`, `n_iter`,
        `max_iter`, `stage`, `share` of all work that is done or None, `residual`, `converged`, and
        `relative_error` or `objective`); True stops the fit, which then keeps the best so far. Steps of the
        certificate have the `method` "certificate" and, as far as it seems, the `lower_bound`.

    Attributes
    ----------
    components_ : ndarray of shape (n_clusters, n_features)
        H. ``transform(X) @ components_`` approximates X.

    labels_ : ndarray of shape (n_samples,) or (n_features,)
        Cluster of each point, -1 for none. Clusters are numbered by decreasing energy.

    weights_ : ndarray of shape (n_samples,) or (n_features,)
        The one nonzero of each point's row of the orthonormal factor.

    cluster_centers_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_samples)
        Unit directions of the clusters.

    reconstruction_err_ : float
        ``||X - W H||_F`` of the factors found.

    relative_error_ : float
        The same divided by ``||X||_F``.

    lower_bound_ : float
        No clusters have a smaller relative error; 0 says nothing.

    bound_ : {"singular", "dual", "dual-of-groups"}
        Where that comes from. "singular": no factors of this rank have a smaller error, orthogonal or not.

    at_most_above_best_ : float or None
        ``relative_error_ / lower_bound_ - 1``: the share by which the error exceeds the best possible one at
        most. None where there is no bound.

    energy_share_ : float
        What the factors explain of X, relative to the best factors of this rank.

    n_relabelled_ : int
        Points to which `predict` would give another label, as it happens with methods that are not
        polished; `transform` and `predict` follow the nearest direction (the likeliest cluster for kl-onmf).

    n_iter_ : int
        Iterations of the best run.

    converged_ : bool
        Whether it met its own rule.

    history_ : list of dict
        For each stage of the best run its `method`, why it ended (`stop`), the `relative_error` of the best
        partition by then, and the `objective` and `residual` of every iteration.

    runs_ : list of dict
        For each run its `labels` (in the smallest type that holds them), `relative_error`, `objective`, `n_iter`
        and `history`; `orthant.consensus` says what the runs agree on.

    n_features_in_ : int
        Number of features seen during fit.

    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X has names that are all strings.

    See Also
    --------
    SphericalKMeans : Clusters by angle alone; takes data of any sign.
    consensus : What the runs of a fit agree on.
    sklearn.decomposition.NMF : Factors that are not orthogonal.

    Notes
    -----
    Arrays in C order (with ``cluster="features"``: in Fortran order) of float32 or float64, and CSR (CSC)
    matrices with int32 or int64 indices in canonical format, are used as they are, memory maps included; of
    sparse matrices the indices are copied, so that nothing that happens to X during the fit can harm. Anything
    else is converted once. AnnData are their `X`; HDF5 data sets in one piece are mapped; what would have to be
    read whole (zarr, dask, chunks) is refused with what to pass.

    Beside the data a fit needs, in bytes: ``24 n k`` for "best" and "onp-mf", ``8 n k`` for "chnmf" and
    "o-pnmf", and ``4 n`` for each run of "em-onmf", for n points and k clusters.

    References
    ----------
    F. Pompili, N. Gillis, P.-A. Absil, F. Glineur: Two algorithms for orthogonal nonnegative matrix
    factorization with application to clustering. Neurocomputing 141, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from orthant import ONMF
    >>> X = np.array([[1, 0, 0], [4, 0, 0], [0, 2, 2], [0, 1, 1], [0, 0, 0]])
    >>> model = ONMF(n_clusters=2).fit(X)
    >>> model.labels_
    array([ 0,  0,  1,  1, -1], dtype=int32)
    >>> model.transform(X).round(3)
    array([[0.243, 0.   ],
           [0.97 , 0.   ],
           [0.   , 0.894],
           [0.   , 0.447],
           [0.   , 0.   ]])
    >>> np.allclose(model.transform(X) @ model.components_, X)
    True
    """

    n_relabelled_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        method: Method = "best",
        init: Start | ArrayLike = "auto",
        n_init: int = 1,
        race: bool = False,
        max_iter: int | None = None,
        tol: float | None = None,
        polish: Polish | str | Sequence[Polish] | None = None,
        effort: Effort | None = None,
        time: float | None = None,
        certificate: Certificate = "singular",
        cluster: Literal["samples", "features"] = "samples",
        weighting: Weighting | str | Sequence[Weighting] | None = None,
        alpha: float | None = None,
        rho: float | None = None,
        growth: float | None = None,
        scale: float | None = None,
        floor: float | None = None,
        rows: Rows | None = None,
        smoothing: float | None = None,
        random_state: RandomState = 0,
        n_jobs: int | None = None,
        memory: int | str | None = None,
        verbose: int = 0,
        callback: Callable[[dict[str, Any]], object] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.init = init
        self.n_init = n_init
        self.race = race
        self.max_iter = max_iter
        self.tol = tol
        self.polish = polish
        self.effort = effort
        self.time = time
        self.certificate = certificate
        self.cluster = cluster
        self.weighting = weighting
        self.alpha = alpha
        self.rho = rho
        self.growth = growth
        self.scale = scale
        self.floor = floor
        self.rows = rows
        self.smoothing = smoothing
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback

    def _method(self) -> str:
        known = [name for name, entry in METHODS.items() if not entry["signed"]]
        if self.method not in known:
            raise ValueError(
                f"The 'method' parameter of ONMF must be a str among {{{', '.join(map(repr, known))}}}. "
                f"Got {self.method!r} instead."
            )
        return self.method

    def _values(self) -> dict[str, Any]:
        names = ("max_iter", "tol", "effort", "alpha", "rho", "growth", "scale", "floor", "rows", "smoothing")
        return {name: getattr(self, name) for name in names}

    def _polish(self) -> list[str]:
        if self.polish is None:
            return []
        steps = self.polish.split(",") if isinstance(self.polish, str) else list(self.polish)
        known = _orthant.polishes()
        if not all(step in known for step in steps):
            raise ValueError(
                f"The 'polish' parameter of ONMF must be None or of {{{', '.join(map(repr, known))}}}. "
                f"Got {self.polish!r} instead."
            )
        return steps

    def _time(self) -> float | None:
        if self.time is not None:
            check_scalar(self.time, "time", numbers.Real, min_val=0, include_boundaries="neither")
        return self.time

    def _set_fitted(self, fitted: _orthant.Fitted, X: Any, weights: Real | None) -> None:
        super()._set_fitted(fitted, X, weights)
        self.n_relabelled_ = fitted.relabelled

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
        """Find the factors of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' squared errors: a weight of 2 is the same as the sample twice.
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
            Nonnegative data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,) or (n_features,)
            Cluster of each point, -1 for none.
        """
        return self.fit(X, sample_weight=sample_weight).labels_

    def fit_transform(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> Real:
        """Fit, and return ``transform(X)``.

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
        W : ndarray of shape (n_samples, n_clusters)
            The transformed samples.
        """
        return self.fit(X, sample_weight=sample_weight)._transform(X)

    def transform(self, X: MatrixLike) -> Real:
        """The best W for given samples, in closed form.

        Each sample is assigned to the direction with which it has the largest product; with
        ``cluster="features"`` W is ``X @ components_.T``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.

        Returns
        -------
        W : ndarray of shape (n_samples, n_clusters)
            With ``cluster="samples"`` one nonzero in each row, none for zero samples.
        """
        return self._transform(X)

    @_available_if(_of_samples)
    def predict(self, X: MatrixLike) -> Labels:
        """The cluster of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The nearest direction, -1 for zero samples.
        """
        return self._labels_of(X)

    def score(self, X: MatrixLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """The negative squared error, ``-||X - transform(X) @ components_||_F ** 2``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Nonnegative data.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples' squared errors.

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
        if not self._of_features():
            return -self._apply(X, weights=weights)[2]
        self._check_entries(X)
        total = 0.0
        rows = max(1, 2**22 // X.shape[1])
        X = X.tocsr() if hasattr(X, "tocsr") else X
        for begin in range(0, X.shape[0], rows):
            block = X[begin : begin + rows]
            block = block.toarray() if hasattr(block, "toarray") else block
            left = block - (block @ self.components_.T) @ self.components_
            with np.errstate(over="ignore", under="ignore"):
                squares = np.einsum("ij,ij->i", left, left, dtype=np.float64)
            total += squares.sum() if weights is None else squares @ weights[begin : begin + rows]
        return -float(total)

"""What a fit says of its clusters and points beyond the factors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _orthant
from ._base import Clustering, threads
from ._inputs import parts
from ._typing import ArrayLike, MatrixLike


def findings(
    model: Clustering,
    X: MatrixLike,
    *,
    feature_names: Iterable[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """What sets clusters apart, their typical points, and how sure every point is of its cluster.

    Parameters
    ----------
    model : ONMF or SphericalKMeans
        A fitted estimator.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data that it was fitted to.
    feature_names : sequence of str, default=None
        Names of the features; None takes `feature_names_in_`, or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that were given to fit.

    Returns
    -------
    found : Bunch
        `clusters`: for each of the first 60 clusters a Bunch of `top` (the largest features of its direction, with
        their values), `markers` and `typical` (positions of its most typical points, with their cosines). A marker
        is a tuple (feature, share, elsewhere, score): its share p of the cluster's profile, its share q of the
        profile of all other points, and p·ln(p/q), by which markers are ordered; every point counts the same,
        whatever its norm. `margins`: for each point by how much its cluster leads, (own - second)/own, NaN without a
        cluster. `second`: the next cluster of each point, -1 if there is none.

    Examples
    --------
    >>> import orthant
    >>> X = [[9, 4, 0], [18, 8, 0], [9, 0, 4], [27, 0, 12]]
    >>> model = orthant.ONMF(n_clusters=2).fit(X)
    >>> found = orthant.findings(model, X, feature_names=["all", "left", "right"])
    >>> [cluster.markers[0][0] for cluster in found.clusters]
    ['right', 'left']
    """
    check_is_fitted(model)
    X = model._check_X(X, reset=False)
    of_features = model._of_features()
    points = X.T if of_features else model._weighted(X)
    if points.shape[0] != model.labels_.size:
        raise ValueError(f"X has {points.shape[0]} points, but the estimator was fitted to {model.labels_.size}.")
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if feature_names is None and not of_features:
        feature_names = getattr(model, "feature_names_in_", None)
    names = range(points.shape[1]) if feature_names is None else [str(name) for name in feature_names]
    if len(names) != points.shape[1]:
        raise ValueError(f"there are {len(names)} feature_names for {points.shape[1]} features.")
    with model._named_entries():
        found = _orthant.findings(parts(points), model._fitted, weights=weights, threads=threads(model.n_jobs))
    clusters = [
        Bunch(
            top=[(names[f], value) for f, value in cluster["top"]],
            markers=[(names[f], *of) for f, *of in cluster["markers"]],
            typical=cluster["typical"],
        )
        for cluster in found["clusters"]
    ]
    return Bunch(clusters=clusters, margins=found["margins"], second=found["second"])

"""Scores of a clustering against a known truth, beyond those of `sklearn.metrics`.

Samples without a cluster (label -1) are left out of the scores.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from . import _orthant
from ._typing import ArrayLike

__all__ = ["clustering_accuracy", "purity"]


def _scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[str, float]:
    truth = column_or_1d(labels_true)
    labels = column_or_1d(labels_pred)
    check_consistent_length(truth, labels)
    numbers = np.issubdtype(labels.dtype, np.integer)
    if not numbers and (np.issubdtype(labels.dtype, np.number) or labels.dtype == bool):
        raise ValueError(f"labels_pred must be integers or names, got dtype {labels.dtype}.")
    has = labels >= 0 if numbers else np.ones(labels.shape, dtype=bool)
    if not has.any():
        raise ValueError("labels_pred gives no sample a cluster.")
    classes = np.unique(truth, return_inverse=True)[1]
    clusters = np.full(labels.shape, -1, dtype=np.int32)
    clusters[has] = np.unique(labels[has], return_inverse=True)[1]
    return _orthant.scores(classes.astype(np.int64), clusters)


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples in the right cluster, under the best matching of clusters with classes.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: numbers or names.
    labels_pred : array-like of shape (n_samples,)
        Clusters: integers or names. Samples with a negative number are left out.

    Returns
    -------
    accuracy : float
        In (0, 1].

    Examples
    --------
    >>> from orthant.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "a", "b"], [1, 1, 0, 0, -1])
    0.75
    """
    return _scores(labels_true, labels_pred)["accuracy"]


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Share of samples that belong to the majority class of their cluster.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Classes: numbers or names.
    labels_pred : array-like of shape (n_samples,)
        Clusters: integers or names. Samples with a negative number are left out.

    Returns
    -------
    purity : float
        In (0, 1].

    Examples
    --------
    >>> from orthant.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 1, 2, 2])
    1.0
    """
    return _scores(labels_true, labels_pred)["purity"]

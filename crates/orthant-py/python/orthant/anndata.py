"""Cells: AnnData in, labels, weights and directions back into it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from ._base import Clustering
from ._findings import findings
from ._inputs import in_memory
from ._onmf import ONMF

__all__ = ["cluster"]


def cluster(
    adata: Any,
    n_clusters: int,
    *,
    layer: str | None = None,
    weighting: Sequence[str] | Literal["auto"] | None = "auto",
    mask: str | None = None,
    key: str = "orthant",
    estimator: Clustering | None = None,
    **options: Any,
) -> Clustering:
    """Cluster the cells of an AnnData object, and write what was found into it.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells in rows. It is changed.
    n_clusters : int
        The number of clusters.
    layer : str, default=None
        The layer with the numbers, such as "counts"; None takes `adata.X`.
    weighting : sequence of str, "auto" or None, default="auto"
        What is done to the numbers first. "auto" is ("cpm", "log1p") for counts (whole numbers): cells that were
        counted deeper do not count more, and few large counts do not drown the others; numbers that are not whole are
        taken as they are. ("cpm", "variable", "log1p") keeps the 2000 genes that vary the most for their size.
    mask : str, default=None
        A column of `adata.var` with True for the genes to use, such as "highly_variable". Directions are zero elsewhere.
    key : str, default="orthant"
        Under which name results are written.
    estimator : estimator, default=None
        An ONMF or SphericalKMeans that is not fitted yet, instead of ``ONMF(n_clusters, **options)``.
    **options
        Further parameters of :class:`orthant.ONMF`, such as ``method`` or ``random_state``.

    Returns
    -------
    model : ONMF or SphericalKMeans
        The fitted estimator.

    Notes
    -----
    Written are ``obs[key]`` (the cluster as a category; none for a cell without counts), ``obs[key + "_margin"]`` (by how
    much it leads, from 0 to 1), ``obsm["X_" + key]`` (weights, cells x clusters: one entry a row is not zero),
    ``varm[key]`` (directions of norm 1, genes x clusters) and ``uns[key]``: how it was made, the relative error with its
    lower bound, and `markers`, a table of what sets each cluster apart (:func:`orthant.findings`).

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> import orthant.anndata
    >>> counts = np.random.default_rng(0).poisson(np.kron(np.eye(3), np.full((20, 5), 4.0)) + 0.1)
    >>> adata = anndata.AnnData(counts.astype("float32"))
    >>> model = orthant.anndata.cluster(adata, 3)
    >>> adata.obs["orthant"].nunique(), adata.obsm["X_orthant"].shape, adata.varm["orthant"].shape
    (3, (60, 3), (15, 3))
    """
    import pandas as pd

    X = in_memory(adata if layer is None else adata.layers[layer], "adata")
    used = np.ones(adata.n_vars, dtype=bool) if mask is None else np.asarray(adata.var[mask], dtype=bool)
    if not used.all():
        X = X[:, used]
    if weighting == "auto":
        weighting = ("cpm", "log1p") if _counts(X) else None
    steps = None if weighting is None else list(weighting)
    if estimator is None:
        model: Clustering = ONMF(n_clusters=n_clusters, weighting=steps, **options)
    else:
        model = estimator.set_params(n_clusters=n_clusters, weighting=steps, **options)
    model.fit(X)
    names = np.asarray(adata.var_names.astype(str))[used]
    found = findings(model, X, feature_names=names)

    labels, k = model.labels_, int(n_clusters)
    categories = [str(i) for i in range(k)]
    adata.obs[key] = pd.Categorical.from_codes(labels, categories=categories)
    adata.obs[f"{key}_margin"] = found.margins
    weights = np.zeros((adata.n_obs, k), dtype=model.weights_.dtype)
    has = labels >= 0
    weights[np.flatnonzero(has), labels[has]] = model.weights_[has]
    adata.obsm[f"X_{key}"] = weights
    directions = np.zeros((adata.n_vars, k))
    directions[used] = model._fitted.directions.T
    adata.varm[key] = directions
    rows = [(str(i), *marker) for i, one in enumerate(found.clusters) for marker in one.markers]
    adata.uns[key] = {
        "params": {
            "n_clusters": k,
            "layer": layer or "X",
            "mask": mask or "",
            "weighting": ",".join(steps or []),
            "method": model._method(),
            "random_state": model._fitted.seed,
        },
        "relative_error": float(model.relative_error_),
        "lower_bound": float(model.lower_bound_),
        "markers": pd.DataFrame(rows, columns=["cluster", "gene", "share", "elsewhere", "score"]),
    }
    return model


def _counts(X: Any) -> bool:
    """Whether all numbers are whole."""
    values = X.data if sp.issparse(X) else np.asarray(X)
    return bool(np.all(np.isfinite(values)) and np.all(values == np.rint(values)))

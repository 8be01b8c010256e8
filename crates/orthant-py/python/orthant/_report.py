"""The page of a fitted estimator, the same as the program's."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _orthant
from ._base import Clustering, threads
from ._inputs import parts
from ._typing import ArrayLike, Labels, MatrixLike, Scan
from ._typing import Path as PathLike


def report(
    model: Clustering,
    X: MatrixLike,
    path: PathLike,
    *,
    y: ArrayLike | None = None,
    title: str = "X",
    sample_names: Iterable[object] | None = None,
    feature_names: Iterable[object] | None = None,
    shape: tuple[int, int] | None = None,
    feature_shape: tuple[int, int] | None = None,
    order: Scan = "C",
    wavelengths: ArrayLike | None = None,
    target_names: Iterable[object] | None = None,
    sample_weight: ArrayLike | None = None,
) -> Path:
    """Write a page about a fitted estimator: one HTML file that loads nothing.

    Parameters
    ----------
    model : ONMF or SphericalKMeans
        A fitted estimator. The points are the samples, or the features with ``cluster="features"``.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data that it was fitted to.
    path : str or path-like
        Where to write the page; an existing file is replaced.
    y : array-like of shape (n_points,), default=None
        The true class of each point, where it is known.
    title : str, default="X"
        The name of the data.
    sample_names : sequence of str, default=None
        Names of the samples.
    feature_names : sequence of str, default=None
        Names of the features; None takes `feature_names_in_`.
    shape : (int, int), default=None
        Height and width, if the points are the pixels of an image.
    feature_shape : (int, int), default=None
        Height and width, if every point is an image.
    order : {"C", "F"}, default="C"
        Whether pixels are listed row after row or column after column.
    wavelengths : array-like, default=None
        Where the bands of a spectrum lie.
    target_names : sequence of str, default=None
        Names of the classes; None takes them from `y`.
    sample_weight : array-like of shape (n_samples,), default=None
        The weights that were given to fit.

    Returns
    -------
    path : pathlib.Path
        Where the page is.

    Examples
    --------
    >>> import tempfile
    >>> import orthant
    >>> made = orthant.datasets.make_synthetic(noise=0.05)
    >>> model = orthant.ONMF(n_clusters=6).fit(made.data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = orthant.report(model, made.data, f"{folder}/report.html", y=made.target)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
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
    if order not in ("C", "F"):
        raise ValueError(f"order must be 'C' or 'F', got {order!r}.")
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    names, vocabulary = (feature_names, sample_names) if of_features else (sample_names, feature_names)
    about = {
        "title": str(title),
        "command": f"{model!r}.fit(X)",
        "date": datetime.date.today().isoformat(),
        "threads": threads(model.n_jobs),
        "notes": [],
        "vocabulary": _strings(vocabulary),
        "names": _strings(names),
        "image": None if shape is None else tuple(shape),
        "feature_image": None if feature_shape is None else tuple(feature_shape),
        "by_columns": order == "F",
        "wavelengths": None if wavelengths is None else np.asarray(wavelengths, dtype=float).tolist(),
        "truth": _truth(y, target_names, model.labels_),
    }
    with model._named_entries():
        page = _orthant.report(parts(points), model._fitted, about, weights=weights, threads=threads(model.n_jobs))
    return write_whole(Path(path), page)


def _strings(names: Iterable[object] | None) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _truth(y: ArrayLike | None, target_names: Iterable[object] | None, labels: Labels) -> Any:
    if y is None:
        return None
    y = column_or_1d(y)
    check_consistent_length(y, labels)
    classes, numbers = np.unique(y, return_inverse=True)
    if target_names is not None:
        # y are positions in target_names.
        return y.tolist(), _strings(target_names)
    return numbers.tolist(), _strings(classes)


def write_whole(path: Path, text: str) -> Path:
    """The file is there whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=path.suffix)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path

"""Pictures of fitted estimators. matplotlib is imported when a function is called."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["convergence", "maps", "spectra"]


def _axes(ax, **options):
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **options)[1]


def _colours(k: int):
    import matplotlib

    names = "tab10" if k <= 10 else "tab20"
    return matplotlib.colormaps[names].resampled(k) if k <= 20 else matplotlib.colormaps["turbo"].resampled(k)


def maps(model, shape, *, order="C", kind="labels", names=None, ax=None):
    """Draw the clusters of pixels as an image.

    Parameters
    ----------
    model : fitted estimator
        Its points are the pixels: samples, or features with ``cluster="features"``.
    shape : (int, int)
        Height and width of the image.
    order : {"C", "F"}, default="C"
        Whether pixels are listed row after row or column after column.
    kind : {"labels", "weights"}, default="labels"
        One map of all labels, or a map of the weights of each cluster.
    names : sequence of str, default=None
        Names of the clusters.
    ax : matplotlib Axes, default=None
        Where to draw the labels; None makes a figure.

    Returns
    -------
    ax : matplotlib Axes, or array of Axes for ``kind="weights"``

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> made = orthant.datasets.make_swimmer()
    >>> model = orthant.ONMF(n_clusters=17).fit(made.data)
    >>> ax = orthant.plot.maps(model, made.shape, order=made.order)
    """
    check_is_fitted(model)
    labels, k = model.labels_, model.components_.shape[0]
    if labels.size != np.prod(shape):
        raise ValueError(f"an image of shape {tuple(shape)} does not have {labels.size} pixels")
    names = [str(i) for i in range(k)] if names is None else list(names)
    if kind == "labels":
        ax = _axes(ax)
        image = np.ma.masked_less(labels.reshape(shape, order=order), 0)
        drawn = ax.imshow(image, cmap=_colours(k), vmin=-0.5, vmax=k - 0.5, interpolation="nearest")
        bar = ax.figure.colorbar(drawn, ax=ax, ticks=range(k))
        bar.ax.set_yticklabels(names)
        ax.set_axis_off()
        return ax
    if kind != "weights":
        raise ValueError(f"kind must be 'labels' or 'weights', got {kind!r}.")
    columns = min(k, 6)
    axes = _axes(None, nrows=-(-k // columns), ncols=columns, squeeze=False)
    for i, panel in enumerate(axes.flat):
        panel.set_axis_off()
        if i < k:
            weights = np.where(labels == i, model.weights_, 0)
            panel.imshow(weights.reshape(shape, order=order), cmap="gray_r", interpolation="nearest")
            panel.set_title(names[i], fontsize="small")
    return axes


def spectra(model, *, x=None, names=None, ax=None):
    """Draw the direction of each cluster as a line over the features.

    Parameters
    ----------
    model : fitted estimator
        Its `cluster_centers_` are drawn.
    x : array-like of shape (n_features,), default=None
        Where the features stand, such as wavelengths.
    names : sequence of str, default=None
        Names of the clusters.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(return_X_y=True)
    >>> ax = orthant.plot.spectra(orthant.ONMF(n_clusters=6).fit(X))
    >>> len(ax.lines)
    6
    """
    check_is_fitted(model)
    ax = _axes(ax)
    centers = model.cluster_centers_
    x = np.arange(centers.shape[1]) if x is None else np.asarray(x)
    colours = _colours(len(centers))
    for i, center in enumerate(centers):
        ax.plot(x, center, color=colours(i), label=str(i) if names is None else names[i])
    ax.set_xlabel("feature")
    ax.set_ylabel("direction")
    ax.legend(fontsize="small")
    return ax


def convergence(model, *, ax=None):
    """Draw what each iteration of the best run reached: the objective, and the residual of the rule.

    Parameters
    ----------
    model : fitted estimator
        Its `history_` is drawn.
    ax : matplotlib Axes, default=None
        Where to draw the objective; the residual has the axis on the right. None makes a figure.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.1, return_X_y=True)
    >>> ax = orthant.plot.convergence(orthant.ONMF(n_clusters=6).fit(X))
    >>> ax.get_xlabel()
    'iteration'
    """
    check_is_fitted(model)
    ax = _axes(ax)
    right = ax.twinx()
    begin = 0
    for i, stage in enumerate(model.history_):
        iterations = np.arange(begin + 1, begin + 1 + len(stage["objective"]))
        ax.plot(iterations, stage["objective"], color="C0", label="objective" if i == 0 else None)
        positive = np.where(stage["residual"] > 0, stage["residual"], np.nan)
        right.plot(iterations, positive, color="C1", ls=":", label="residual" if i == 0 else None)
        if i > 0:
            ax.axvline(begin + 0.5, color="0.7", lw=1)
        begin += len(iterations)
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective", color="C0")
    right.set_yscale("log")
    right.set_ylabel("residual", color="C1")
    return ax

"""Pictures of fitted estimators. matplotlib is imported when something is drawn.

The displays hold what is drawn and can draw it again, as those of scikit-learn; the functions are shortcuts that
return the axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import Clustering
from ._typing import ArrayLike, Labels, NDArray, Real, Scan

__all__ = ["ClusterMapDisplay", "ConvergenceDisplay", "SpectraDisplay", "convergence", "maps", "spectra"]


def axes(ax: Any = None, **options: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install orthant[plot]") from error
    return plt.subplots(layout="constrained", **options)[1]


def _colours(k: int, cmap: Any = None) -> Callable[[Any], Any]:
    """A colour for each of k clusters."""
    import matplotlib

    if cmap is None:
        cmap = "tab10" if k <= 10 else "tab20" if k <= 20 else "turbo"
    if isinstance(cmap, str):
        cmap = matplotlib.colormaps[cmap]
    # Lists of colours are taken in order, gradients are spread over the clusters.
    if cmap.N < 256:
        return lambda i: cmap(np.asarray(i) % cmap.N)
    return lambda i: cmap(np.asarray(i) / max(1, k - 1))


def _names(names: Sequence[str] | None, k: int) -> list[str]:
    if names is None:
        return [str(i) for i in range(k)]
    if len(names) != k:
        raise ValueError(f"{len(names)} names were given for {k} clusters: give one for each.")
    return [str(name) for name in names]


class ClusterMapDisplay:
    """The clusters of pixels as an image.

    Use `from_estimator` to make one.

    Parameters
    ----------
    labels : ndarray of shape (height, width)
        Cluster of each pixel, -1 for none.
    strengths : ndarray of shape (height, width)
        How strong each pixel is along its cluster's direction.
    names : sequence of str
        Names of the clusters.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last, or an array of them.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> made = orthant.datasets.make_swimmer()
    >>> model = orthant.ONMF(n_clusters=17).fit(made.data)
    >>> display = orthant.plot.ClusterMapDisplay.from_estimator(model, made.shape, order=made.order)
    >>> display.labels.shape
    (20, 11)
    """

    ax_: Any
    figure_: Any

    def __init__(self, labels: Labels, strengths: Real, names: Sequence[str]) -> None:
        self.labels = labels
        self.strengths = strengths
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        model: Clustering,
        shape: tuple[int, int],
        *,
        order: Scan = "C",
        names: Sequence[str] | None = None,
        **options: Any,
    ) -> ClusterMapDisplay:
        """Draw the pixels of a fitted estimator.

        Parameters
        ----------
        model : fitted estimator
            Its points are the pixels: samples, or features with ``cluster="features"``.
        shape : (int, int)
            Height and width of the image.
        order : {"C", "F"}, default="C"
            Whether pixels are listed row after row or column after column.
        names : sequence of str, default=None
            Names of the clusters.
        **options
            For `plot`.

        Returns
        -------
        display : ClusterMapDisplay
            What was drawn.
        """
        check_is_fitted(model)
        if model.labels_.size != np.prod(shape):
            raise ValueError(f"an image of shape {tuple(shape)} does not have {model.labels_.size} pixels")
        if order not in ("C", "F"):
            raise ValueError(f"order must be 'C' or 'F', got {order!r}.")
        lengths = model._fitted.lengths
        # In units of the strongest cluster, whatever the data's.
        strengths = model._fitted.strengths * (lengths / lengths.max())[model.labels_]
        labels, strengths = (array.reshape(shape, order=order) for array in (model.labels_, strengths))
        return cls(labels, strengths, _names(names, len(lengths))).plot(**options)

    def plot(
        self, ax: Any = None, *, kind: str = "labels", cmap: Any = None, fade: float = 0.1, **options: Any
    ) -> ClusterMapDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where to draw: for ``kind="weights"`` one for each cluster, or one that is divided. None makes a figure.
        kind : {"labels", "weights"}, default="labels"
            One map of all labels, or a map of the strengths of each cluster.
        cmap : str or matplotlib Colormap, default=None
            Colours of the clusters, or of the strengths.
        fade : float, default=0.1
            Pixels weaker than this share of the strongest (their 99th percentile) fade away: what is almost black
            belongs to a cluster by noise only. 0 draws all alike.
        **options
            For `imshow`.

        Returns
        -------
        display : ClusterMapDisplay
            This one.
        """
        if kind not in ("labels", "weights"):
            raise ValueError(f"kind must be 'labels' or 'weights', got {kind!r}.")
        options = {"interpolation": "nearest", **options}
        self.ax_ = self._labels(ax, cmap, fade, options) if kind == "labels" else self._weights(ax, cmap, options)
        self.figure_ = np.ravel(self.ax_)[0].figure
        return self

    def _labels(self, ax: Any, cmap: Any, fade: float, options: dict[str, Any]) -> Any:
        ax = axes(ax)
        from matplotlib.colors import ListedColormap

        k = len(self.names)
        colours = ListedColormap(_colours(k, cmap)(np.arange(k)))
        has = self.labels >= 0
        if fade > 0 and has.any() and "alpha" not in options:
            full = fade * np.percentile(self.strengths[has], 99)
            options["alpha"] = np.clip(self.strengths / full, 0, 1) if full > 0 else 1.0
        image = np.ma.masked_array(self.labels, mask=~has)
        ax.imshow(image, cmap=colours, vmin=-0.5, vmax=k - 0.5, **options)
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        # Not from the image, whose opacity the bar would share.
        scale = ScalarMappable(Normalize(-0.5, k - 0.5), colours)
        bar = ax.figure.colorbar(scale, ax=ax, ticks=range(k))
        bar.ax.set_yticklabels(self.names)
        ax.set_axis_off()
        return ax

    def _weights(self, ax: Any, cmap: Any, options: dict[str, Any]) -> Any:
        k = len(self.names)
        columns = min(k, 6)
        rows = -(-k // columns)
        if ax is None:
            panels = axes(None, nrows=rows, ncols=columns, squeeze=False)
        elif np.ndim(ax) > 0:
            panels = np.asarray(ax)
            if panels.size < k:
                raise ValueError(f"{panels.size} axes were given for {k} clusters: give one for each, or a single one.")
        else:
            ax.set_axis_off()
            width, height = 1 / columns, 1 / rows
            places = [(i % columns * width, 1 - (i // columns + 1) * height) for i in range(rows * columns)]
            inner = [ax.inset_axes((x, y, 0.94 * width, 0.86 * height)) for x, y in places]
            panels = np.array(inner, dtype=object).reshape(rows, columns)
        for i, panel in enumerate(panels.flat):
            panel.set_axis_off()
            if i < k:
                image = np.where(self.labels == i, self.strengths, 0)
                panel.imshow(image, cmap=cmap or "gray_r", **options)
                panel.set_title(self.names[i], fontsize="small")
        return panels


class SpectraDisplay:
    """The direction of each cluster as a line over the features.

    Use `from_estimator` to make one.

    Parameters
    ----------
    directions : ndarray of shape (n_clusters, n_features)
        What is drawn.
    x : ndarray of shape (n_features,)
        Where the features stand.
    names : sequence of str
        Names of the clusters.
    feature_names : sequence of str, default=None
        Names of the features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(return_X_y=True)
    >>> display = orthant.plot.SpectraDisplay.from_estimator(orthant.ONMF(n_clusters=6).fit(X))
    >>> len(display.ax_.lines)
    6
    """

    ax_: Any
    figure_: Any

    def __init__(
        self,
        directions: Real,
        x: NDArray[Any],
        names: Sequence[str],
        feature_names: Sequence[str] | None = None,
    ) -> None:
        self.directions = directions
        self.x = x
        self.names = names
        self.feature_names = feature_names

    @classmethod
    def from_estimator(
        cls,
        model: Clustering,
        *,
        x: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        **options: Any,
    ) -> SpectraDisplay:
        """Draw the `cluster_centers_` of a fitted estimator.

        Parameters
        ----------
        model : fitted estimator
            Its `feature_names_in_` name the features, where there are any.
        x : array-like of shape (n_features,), default=None
            Where the features stand, such as wavelengths.
        names : sequence of str, default=None
            Names of the clusters.
        **options
            For `plot`.

        Returns
        -------
        display : SpectraDisplay
            What was drawn.
        """
        check_is_fitted(model)
        directions = model.cluster_centers_
        k, n_features = directions.shape
        place = np.arange(n_features) if x is None else np.asarray(x)
        if place.shape != (n_features,):
            raise ValueError(f"x has shape {place.shape}, but there are {n_features} features: give a place for each.")
        known = getattr(model, "feature_names_in_", None)
        # With cluster="features" a direction runs over the samples.
        feature_names = None if x is not None or model._of_features() or known is None else list(known)
        return cls(directions, place, _names(names, k), feature_names).plot(**options)

    def plot(self, ax: Any = None, *, cmap: Any = None, **options: Any) -> SpectraDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        cmap : str or matplotlib Colormap, default=None
            Colours of the clusters.
        **options
            For `Axes.plot`.

        Returns
        -------
        display : SpectraDisplay
            This one.
        """
        ax = axes(ax)
        colours = _colours(len(self.names), cmap)
        for i, (direction, name) in enumerate(zip(self.directions, self.names)):
            ax.plot(self.x, direction, **{"color": colours(i), "label": name, **options})
        ax.set_xlabel("feature")
        ax.set_ylabel("direction")
        if self.feature_names is not None:
            from matplotlib.ticker import FuncFormatter, MaxNLocator

            names = self.feature_names

            def name_at(place: float, _: object) -> str:
                i = round(place)
                return names[i] if abs(place - i) < 1e-6 and 0 <= i < len(names) else ""

            ax.xaxis.set_major_locator(MaxNLocator(nbins=min(len(names), 20), integer=True))
            ax.xaxis.set_major_formatter(FuncFormatter(name_at))
            ax.tick_params(axis="x", labelrotation=45)
        # Beside the lines, so that it covers none.
        columns = -(-len(self.names) // 20)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False, ncols=columns)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ConvergenceDisplay:
    """What each iteration of the best run reached: the objective, and the residual of the stopping rule.

    Use `from_estimator` to make one.

    Parameters
    ----------
    history : list of dict
        The stages, as in `history_`.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where the objective was drawn last.
    figure_ : matplotlib Figure
        Its figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.1, return_X_y=True)
    >>> display = orthant.plot.ConvergenceDisplay.from_estimator(orthant.ONMF(n_clusters=6).fit(X))
    >>> display.ax_.get_xlabel()
    'iteration'
    """

    ax_: Any
    figure_: Any

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, model: Clustering, **options: Any) -> ConvergenceDisplay:
        """Draw the `history_` of a fitted estimator.

        Parameters
        ----------
        model : fitted estimator
            What was fitted.
        **options
            For `plot`.

        Returns
        -------
        display : ConvergenceDisplay
            What was drawn.
        """
        check_is_fitted(model)
        return cls(model.history_).plot(**options)

    def plot(self, ax: Any = None, *, cmap: Any = None, **options: Any) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw the objective; the residual has the axis on the right. None makes a figure.
        cmap : str or matplotlib Colormap, default=None
            Colours of the kinds of stages, where there are several.
        **options
            For the `Axes.plot` of the objective.

        Returns
        -------
        display : ConvergenceDisplay
            This one.
        """
        ax = axes(ax)
        right = ax.twinx()
        kinds = list(dict.fromkeys(stage["method"] for stage in self.history if len(stage["objective"])))
        colours = _colours(len(kinds), cmap or "Set2")
        begin = 0
        spans: dict[str, Any] = {}
        for stage in self.history:
            count = len(stage["objective"])
            if count == 0:
                continue
            iterations = np.arange(begin + 1, begin + 1 + count)
            # A stage of one iteration is a point.
            style = {"color": "C0", "marker": "." if count == 1 else None, **options}
            ax.plot(iterations, stage["objective"], **style)
            positive = np.where(stage["residual"] > 0, stage["residual"], np.nan)
            right.plot(iterations, positive, color="C1", ls=":", marker="." if count == 1 else None)
            if len(kinds) > 1:
                colour = colours(kinds.index(stage["method"]))
                span = ax.axvspan(begin + 0.5, begin + count + 0.5, color=colour, alpha=0.25, lw=0, zorder=0)
                spans.setdefault(stage["method"], span)
            begin += count
        if spans:
            # Under the picture, where it covers nothing.
            place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14), "ncols": 2}
            ax.legend(spans.values(), spans, fontsize="small", frameon=False, **place)
        ax.set_xlim(0.5, max(begin, 1) + 0.5)
        ax.set_xlabel("iteration")
        ax.set_ylabel("objective", color="C0")
        right.set_yscale("log")
        right.set_ylabel("residual", color="C1")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def maps(
    model: Clustering,
    shape: tuple[int, int],
    *,
    order: Scan = "C",
    kind: str = "labels",
    names: Sequence[str] | None = None,
    ax: Any = None,
    **options: Any,
) -> Any:
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
        One map of all labels, or a map of the strengths of each cluster.
    names : sequence of str, default=None
        Names of the clusters.
    ax : matplotlib Axes or array of them, default=None
        Where to draw; None makes a figure.
    **options
        `cmap`, `fade`, and what `imshow` takes: see `ClusterMapDisplay.plot`.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn; an array of them for ``kind="weights"``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import orthant
    >>> made = orthant.datasets.make_swimmer()
    >>> model = orthant.ONMF(n_clusters=17).fit(made.data)
    >>> ax = orthant.plot.maps(model, made.shape, order=made.order)
    """
    options = {"ax": ax, "kind": kind, **options}
    return ClusterMapDisplay.from_estimator(model, shape, order=order, names=names, **options).ax_


def spectra(
    model: Clustering,
    *,
    x: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Any = None,
    **options: Any,
) -> Any:
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
    **options
        `cmap`, and what `Axes.plot` takes.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn.

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
    return SpectraDisplay.from_estimator(model, x=x, names=names, ax=ax, **options).ax_


def convergence(model: Clustering, *, ax: Any = None, **options: Any) -> Any:
    """Draw what each iteration of the best run reached: the objective, and the residual of the rule.

    Parameters
    ----------
    model : fitted estimator
        Its `history_` is drawn.
    ax : matplotlib Axes, default=None
        Where to draw the objective; the residual has the axis on the right. None makes a figure.
    **options
        `cmap` (of the kinds of stages), and what `Axes.plot` takes.

    Returns
    -------
    ax : matplotlib Axes
        Where it was drawn.

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
    return ConvergenceDisplay.from_estimator(model, ax=ax, **options).ax_

"""What several runs agree on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from ._base import Clustering, compact
from ._typing import ArrayLike, NDArray

#: Co-assignment is points × points: more than this are not compared without asking.
MOST_POINTS = 5000


class Consensus:
    """What `consensus` found.

    Attributes
    ----------
    labels : ndarray of shape (n_points,)
        The partition whose stability is told, -1 for no cluster.
    n_runs : int
        How many runs were compared.
    point_stability : ndarray of shape (n_points,)
        How often a point is together with another one of its cluster, on average over these and the runs;
        NaN for points without a cluster or alone in it.
    cluster_stability : ndarray of shape (n_clusters,)
        The same for the pairs of a cluster; NaN for clusters of fewer than two points.
    """

    labels: NDArray[Any]
    n_runs: int
    point_stability: NDArray[np.float64]
    cluster_stability: NDArray[np.float64]

    def __init__(self, runs: NDArray[Any], labels: NDArray[Any]) -> None:
        self._runs = runs
        self.labels = labels
        self.n_runs = len(runs)
        has = np.flatnonzero(labels >= 0)
        k = int(labels.max(initial=-1)) + 1
        sizes = np.bincount(labels[has], minlength=k)
        together = np.zeros(len(labels))
        for run in runs:
            clustered = has[run[has] >= 0]
            # Points of the own cluster that the run puts into the same one, oneself left out.
            table = np.zeros((k, int(run.max(initial=-1)) + 1), dtype=np.int64)
            np.add.at(table, (labels[clustered], run[clustered]), 1)
            together[clustered] += table[labels[clustered], run[clustered]] - 1
        others = np.where(labels >= 0, sizes[labels] - 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            self.point_stability = np.where(others > 0, together / (others * self.n_runs), np.nan)
            sums = np.bincount(labels[has], weights=together[has], minlength=k)
            pairs = sizes * (sizes - 1) * self.n_runs
            self.cluster_stability = np.where(pairs > 0, sums / pairs, np.nan)

    def __repr__(self) -> str:
        return f"<Consensus: {self.n_runs} runs, {len(self.cluster_stability)} clusters>"

    def co_assignment(self, points: ArrayLike | None = None) -> NDArray[np.float32]:
        """Share of the runs in which two points are in the same cluster.

        Parameters
        ----------
        points : array-like of int, default=None
            Which points; None is all, if these are not more than 5000.

        Returns
        -------
        shares : ndarray of shape (n_points, n_points)
            1 where all runs agree that the two belong together; 0 for points without a cluster.
        """
        chosen = np.arange(len(self.labels)) if points is None else column_or_1d(points)
        if points is None and len(chosen) > MOST_POINTS:
            raise ValueError(
                f"the matrix of {len(chosen)} x {len(chosen)} pairs would take {4e-9 * len(chosen) ** 2:.1f} GB: choose "
                "points, for example rng.choice(n, 1000, replace=False)."
            )
        shares = np.zeros((len(chosen), len(chosen)), dtype=np.float32)
        for run in self._runs[:, chosen]:
            shares += (run[:, None] == run) & (run >= 0)
        return shares / np.float32(self.n_runs)

    def plot(self, ax: Any = None, *, cmap: Any = "viridis", **options: Any) -> Any:
        """Draw the co-assignment of points in the order of their clusters, the most stable first.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        cmap : str or matplotlib Colormap, default="viridis"
            Colours of the shares.
        **options
            For `imshow`.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        from .plot import axes

        ax = axes(ax)
        order = np.lexsort((-np.nan_to_num(self.point_stability), self.labels))
        order = order[self.labels[order] >= 0]
        # A picture has no more pixels than this.
        step = max(1, -(-len(order) // 1000))
        order = order[::step]
        options = {"vmin": 0, "vmax": 1, "interpolation": "nearest", **options}
        drawn = ax.imshow(self.co_assignment(order), cmap=cmap, **options)
        bar = ax.figure.colorbar(drawn, ax=ax)
        bar.set_label("share of runs in the same cluster")
        borders = np.flatnonzero(np.diff(self.labels[order])) + 0.5
        edges = np.concatenate([[-0.5], borders, [len(order) - 0.5]])
        for border in borders:
            ax.axhline(border, color="w", lw=0.7)
            ax.axvline(border, color="w", lw=0.7)
        ax.set_yticks((edges[:-1] + edges[1:]) / 2)
        names = np.unique(self.labels[order])
        stability = self.cluster_stability[names]
        ax.set_yticklabels([f"{i}: {s:.2f}" for i, s in zip(names, stability)], fontsize="small")
        ax.set_xticks([])
        ax.set_ylabel("cluster: stability")
        return ax


def consensus(runs: Clustering | ArrayLike, labels: ArrayLike | None = None) -> Consensus:
    """Say what the runs of a fit agree on: which points are always together, which clusters are stable.

    Parameters
    ----------
    runs : fitted estimator or array-like of shape (n_runs, n_points)
        An estimator that was fitted with ``n_init`` above 1 from a random start; or labels of several
        partitions, -1 for none.
    labels : array-like of shape (n_points,), default=None
        The partition whose stability is told; None is the estimator's `labels_`, or the first of the runs.

    Returns
    -------
    consensus : Consensus
        Stability of points and clusters; `co_assignment` and `plot` show pairs.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.1, return_X_y=True)
    >>> model = orthant.ONMF(n_clusters=6, method="em-onmf", n_init=10).fit(X)
    >>> found = orthant.consensus(model)
    >>> found.n_runs, found.cluster_stability.shape
    (10, (6,))
    """
    if isinstance(runs, Clustering):
        labels = runs.labels_ if labels is None else labels
        runs = np.array([run["labels"] for run in runs.runs_])
    table = check_array(runs, dtype=None, ensure_min_samples=1, input_name="runs")
    if not np.issubdtype(table.dtype, np.integer):
        raise ValueError(f"runs hold labels of dtype {table.dtype}: labels are whole numbers.")
    partition = table[0] if labels is None else column_or_1d(labels)
    check_consistent_length(partition, table.T)
    if len(table) < 2:
        raise ValueError("one run agrees with itself: fit with n_init above 1 from a random start, such as init='random'.")
    return Consensus(compact(table), np.asarray(partition, dtype=np.intp))

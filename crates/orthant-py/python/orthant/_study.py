"""The studies before a result: which model the data ask for, and how many clusters."""

from __future__ import annotations

import html
import numbers
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_array, check_scalar
from sklearn.utils.validation import _check_sample_weight

from . import _orthant
from ._base import seed, threads
from ._inputs import in_memory, named_entries, parts
from ._report import write_whole
from ._typing import ArrayLike, MatrixLike, NDArray, RandomState
from ._typing import Path as PathLike


class _Study:
    """Facts as attributes, words as text, and a page."""

    def __init__(self, facts: dict[str, Any]):
        self._page = facts.pop("page")
        self._summary = facts.pop("summary")
        self.__dict__.update(facts)

    def __str__(self) -> str:
        return self._summary

    def summary(self) -> str:
        """The findings in words.

        Returns
        -------
        text : str
            A line for each.
        """
        return self._summary

    def report(self, path: PathLike) -> Path:
        """Write the findings as a page with pictures: one HTML file that loads nothing.

        Parameters
        ----------
        path : str or path-like
            Where to write it; an existing file is replaced.

        Returns
        -------
        path : pathlib.Path
            Where the page is.
        """
        return write_whole(Path(path), self._page)

    def plot(self, ax: Any = None) -> Any:
        """Draw the findings.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        raise NotImplementedError


def _table(head: list[str], rows: list[list[str]]) -> str:
    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table><thead>{row(head, 'th')}</thead><tbody>{''.join(row(r, 'td') for r in rows)}</tbody></table>"


def _list(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{html.escape(line)}</li>" for line in lines) + "</ul>"


def _number(x: float | None) -> str:
    return "–" if x is None or np.isnan(x) else f"{x:.4g}"


class Advice(_Study):
    """What `advise` found.

    Attributes
    ----------
    answer : {"k-means", "spherical-k-means", "onmf", "kl-onmf", "undecided"}
        The model that the data ask for.
    best : {"k-means", "spherical-k-means", "onmf", "kl-onmf"}
        The same, or the best guess where the data do not decide.
    method : str or None
        The method to use for it; None where the data do not decide.
    between : list of str
        The models that the data do not decide between, where they do not.
    reasons : list of str
        Why, the decisive reason first.
    k : int
        Number of clusters.
    norm_spread : float
        Standard deviation of the logarithm of the norms within the clusters.
    noise_slope, noise_slope_error : float or None
        The noise grows as the norm to this power (0: independent, 1: proportional); its standard error.
    noise_dimensions : float
        In how many dimensions the noise is spread.
    counts : (float, float, bool) or None
        For whole numbers: the power of the mean that the variance grows with, the ratio of the two, and whether
        these are of counts.
    models : list of dict
        Name, mean log-density, the same of points that were held out (each cluster taken as an ellipsoid), stability and
        labels of every model.
    agreements : list of (str, str, float)
        Adjusted Rand index of the partitions of every two models.
    points : ndarray of int
        The samples used, to which the labels belong.
    disagreeing : int
        How many of them the models differ on.
    disagreements : list of int
        Some of those samples, the longest first.
    """

    answer: str
    best: str
    method: str | None
    between: list[str]
    reasons: list[str]
    k: int
    norm_spread: float
    noise_slope: float | None
    noise_slope_error: float | None
    noise_dimensions: float
    counts: tuple[float, float, bool] | None
    models: list[dict[str, Any]]
    agreements: list[tuple[str, str, float]]
    points: NDArray[np.int64]
    disagreeing: int
    disagreements: list[int]

    def __repr__(self) -> str:
        return f"<Advice: {self.answer}, k={self.k}>"

    def _repr_html_(self) -> str:
        keys = ("log_density", "held_out", "stability")
        rows = [[m["name"], *(_number(m[key]) for key in keys)] for m in self.models]
        return (
            f"<p><b>{html.escape(self.answer)}</b>, {self.k} clusters</p>{_list(self.reasons)}"
            + _table(["model", "mean log-density", "held out", "stability"], rows)
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw how stable the clusters of each model are; the advised model is filled.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        from .plot import axes

        ax = axes(ax)
        names = [model["name"] for model in self.models]
        stability = [np.nan if m["stability"] is None else m["stability"] for m in self.models]
        colours = ["C0" if name == self.answer else "0.8" for name in names]
        bars = ax.barh(names, stability, color=colours)
        ax.bar_label(bars, labels=[_number(x) for x in stability], padding=3)
        ax.invert_yaxis()
        ax.set_xlim(0, 1.12)
        ax.set_xlabel("agreement of the clusters of two halves (adjusted Rand index)")
        ax.set_title(f"advised: {self.answer}")
        return ax


class Choice(_Study):
    """What `choose_k` found.

    Attributes
    ----------
    model : {"onmf", "kl-onmf", "spherical-k-means", "k-means"}
        The model whose clusters were counted.
    candidates : list of (int, list of str)
        One to three numbers of clusters with the reasons, the most convincing first.
    k : ndarray of int
        The numbers that were looked at.
    held_out : ndarray of float
        For each of them the mean log-density of points that were held out, each cluster taken as an ellipsoid.
    relative_error, lower_bound, gain, stability, consensus : ndarray of float
        For each of them what is left, what any k clusters must leave, the gain over one less (NaN for a first k above 2), the
        agreement of two halves of the data, and of the halves with all of it.
    notes : list of str
        What else to know.
    """

    model: str
    candidates: list[tuple[int, list[str]]]
    held_out: NDArray[np.float64]
    k: NDArray[np.int64]
    relative_error: NDArray[np.float64]
    lower_bound: NDArray[np.float64]
    gain: NDArray[np.float64]
    stability: NDArray[np.float64]
    consensus: NDArray[np.float64]
    notes: list[str]

    def __repr__(self) -> str:
        return f"<Choice: candidates {', '.join(str(k) for k, _ in self.candidates)}>"

    def _repr_html_(self) -> str:
        reasons = [f"k = {k}: {'; '.join(why)}" for k, why in self.candidates]
        columns = (self.held_out, self.relative_error, self.lower_bound, self.gain, self.stability)
        rows = [[str(k), *map(_number, values)] for k, *values in zip(self.k, *columns)]
        head = ["k", "held out", "relative error", "lower bound", "gain", "stability"]
        return _list(reasons + self.notes) + _table(head, rows)

    def plot(self, ax: Any = None) -> Any:
        """Draw error, bound and stability over the numbers of clusters; candidates are marked.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw the errors; the stability has the axis on the right. None makes a figure.

        Returns
        -------
        ax : matplotlib Axes
            Where it was drawn.
        """
        from .plot import axes

        ax = axes(ax)
        lines = ax.plot(self.k, self.relative_error, "C0.-", label="relative error")
        lines += ax.plot(self.k, self.lower_bound, "C0:", label="lower bound")
        right = ax.twinx()
        lines += right.plot(self.k, self.stability, "C1.-", label="stability")
        for rank, (k, _) in enumerate(self.candidates):
            ax.axvline(k, color="0.6" if rank else "0.2", lw=1, zorder=0)
        ax.set_xticks(self.k if len(self.k) <= 20 else self.k[:: -(-len(self.k) // 20)])
        ax.set_xlabel("number of clusters")
        ax.set_ylabel("relative error", color="C0")
        ax.set_ylim(bottom=0)
        right.set_ylabel("stability", color="C1")
        right.set_ylim(0, 1.05)
        ax.set_title("candidates: " + ", ".join(str(k) for k, _ in self.candidates))
        ax.legend(lines, [line.get_label() for line in lines], loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=3)
        return ax


def _checked(X: MatrixLike, sample_weight: ArrayLike | None) -> tuple[Any, NDArray[np.float64] | None]:
    X = check_array(
        in_memory(X), accept_sparse="csr", dtype=[np.float64, np.float32], order="C", ensure_all_finite=False
    )
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    return X, weights


def advise(
    X: MatrixLike,
    n_clusters: int | None = None,
    *,
    n_init: int = 10,
    n_halves: int = 3,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    title: str = "X",
) -> Advice:
    """Advise which model the data ask for: k-means, spherical k-means, ONMF, or KL-ONMF for counts.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative samples.
    n_clusters : int, default=None
        Number of clusters; None takes the first candidate of `choose_k`.
    n_init : int, default=10
        Starts of every fit.
    n_halves : int, default=3
        Divisions into halves, for the stability.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples in the fits.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None: one for each core.
    title : str, default="X"
        The name of the data on the page.

    Returns
    -------
    advice : Advice
        ``print(advice)`` says it in words, ``advice.report(path)`` in pictures.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.05, return_X_y=True)
    >>> orthant.advise(X, 6)
    <Advice: onmf, k=6>
    """
    if n_clusters is not None:
        check_scalar(n_clusters, "n_clusters", numbers.Integral, min_val=1)
    check_scalar(n_init, "n_init", numbers.Integral, min_val=1)
    check_scalar(n_halves, "n_halves", numbers.Integral, min_val=1)
    X, weights = _checked(X, sample_weight)
    with named_entries("advise"):
        facts = _orthant.advise(
            parts(X),
            None if n_clusters is None else int(n_clusters),
            runs=int(n_init),
            divisions=int(n_halves),
            seed=seed(random_state),
            weights=weights,
            threads=threads(n_jobs),
            title=str(title),
        )
    return Advice(dict(facts))


def choose_k(
    X: MatrixLike,
    k_min: int = 2,
    k_max: int = 20,
    *,
    model: Literal["onmf", "kl-onmf", "spherical-k-means", "k-means"] | None = None,
    n_init: int = 8,
    n_halves: int = 3,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    title: str = "X",
) -> Choice:
    """Look at several numbers of clusters and name one to three candidates with reasons.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Nonnegative samples.
    k_min : int, default=2
        The smallest number of clusters to look at.
    k_max : int, default=20
        The largest.
    model : {"onmf", "kl-onmf", "spherical-k-means", "k-means"}, default=None
        The model whose clusters are counted; None takes the one that the data ask for, as `cluster` does.
    n_init : int, default=8
        Starts for every number.
    n_halves : int, default=3
        Divisions into halves, for the stability.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.
    random_state : int, RandomState instance or None, default=0
        Seed of all random numbers.
    n_jobs : int, default=None
        Threads; the answer does not depend on them. None: one for each core.
    title : str, default="X"
        The name of the data on the page.

    Returns
    -------
    choice : Choice
        ``print(choice)`` says it in words, ``choice.report(path)`` in pictures.

    Examples
    --------
    >>> import orthant
    >>> X, _ = orthant.datasets.make_synthetic(noise=0.02, return_X_y=True)
    >>> choice = orthant.choose_k(X, 2, 9)
    >>> choice.candidates[0][0]
    6
    """
    for name, value in (("k_min", k_min), ("k_max", k_max), ("n_init", n_init), ("n_halves", n_halves)):
        check_scalar(value, name, numbers.Integral, min_val=1)
    if k_max < k_min:
        raise ValueError(f"k_max={k_max} should be >= k_min={k_min}: numbers of clusters are looked at upwards.")
    X, weights = _checked(X, sample_weight)
    with named_entries("choose_k"):
        facts = _orthant.choose_k(
            parts(X),
            int(k_min),
            int(k_max),
            model=model,
            runs=int(n_init),
            divisions=int(n_halves),
            seed=seed(random_state),
            weights=weights,
            threads=threads(n_jobs),
            title=str(title),
        )
    return Choice(dict(facts))

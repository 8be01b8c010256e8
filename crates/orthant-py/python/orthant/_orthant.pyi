"""The compiled part: it converts arguments and results; the estimators are in Python."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

_Real = NDArray[np.float64] | NDArray[np.float32]
_Indices = NDArray[np.int32] | NDArray[np.int64]
#: A C-contiguous array, or ``(indptr, indices, data, n_features)`` of a canonical CSR matrix.
_Samples = _Real | tuple[_Indices, _Indices, _Real, int]
_Rule = Literal["power", "cosine", "euclid", "kl"]

class OrthantError(RuntimeError): ...

#: Its arguments are the entry as text, its row and its column.
class EntryError(ValueError): ...

class _Stage(TypedDict):
    method: str
    #: The method whose objective it lowers.
    aim: str
    #: The power of `scale` that the objective is to be divided by.
    degree: int
    #: Of the best partition when it had ended.
    relative_error: float
    stop: Literal["converged", "max-iterations", "cancelled", "out-of-time"]
    objective: NDArray[np.float64]
    residual: NDArray[np.float64]

class _Run(TypedDict):
    stages: list[_Stage]
    objective: float
    relative_error: float
    negativity: float
    orthogonality: float
    labels: NDArray[np.int32] | NDArray[np.int16] | NDArray[np.int8]

class _Fitted(TypedDict):
    method: str
    values: list[tuple[str, float]]
    start: str | None
    n_init: int
    seed: int
    polish: list[str]
    time: float | None
    certificate: str
    rule: _Rule
    scale: float
    objective: float
    n_iter: int
    stop: Literal["converged", "max-iterations", "cancelled", "out-of-time"]
    converged: bool
    best_run: int
    seconds: float
    certificate_seconds: float
    labels: NDArray[np.int32]
    #: The one nonzero of each point's column of V.
    strengths: NDArray[np.float64]
    #: k x features: U, the unit directions, and what new points are compared with.
    components: NDArray[np.float64]
    directions: NDArray[np.float64]
    centroids: NDArray[np.float64]
    #: Of the columns of U.
    lengths: NDArray[np.float64]
    energy: NDArray[np.float64]
    refilled: list[int]
    relabelled: int
    relative_error: float
    lower_bound: float
    bound: Literal["singular", "dual", "dual-of-groups"]
    at_most_above_best: float | None
    energy_share: float
    orthogonality_residual: float
    smallest_entry: float
    singular_values: NDArray[np.float64]
    runs: list[_Run]
    norm: float
    zero_points: int
    #: What ended the fit early, to be raised once the rest is stored.
    exception: BaseException | None

class _Parameter(TypedDict):
    key: str
    default: float | None
    range: tuple[float, float]
    whole: bool
    names: list[str]
    help: str

class _Method(TypedDict):
    name: str
    title: str
    summary: str
    objective: str
    signed: bool
    rule: _Rule
    starts: list[str]
    parameters: dict[str, _Parameter]

class _File(TypedDict):
    data: Any
    truth: list[str] | None
    feature_names: list[str] | None
    sample_names: list[str] | None
    shape: tuple[int, int] | None
    feature_shape: tuple[int, int] | None
    order: Literal["C", "F"] | None
    wavelengths: NDArray[np.float64] | None
    format: str
    notes: list[str]

class _Made(TypedDict):
    data: Any
    target: NDArray[np.int64]
    target_names: list[str]
    n_clusters: int
    background: int | None
    shape: tuple[int, int] | None
    order: Literal["C", "F"] | None

def version() -> str: ...
def polishes() -> list[str]: ...
def certificates() -> list[str]: ...
def weightings() -> list[str]: ...
def methods() -> list[_Method]: ...
def starts() -> list[tuple[str, str]]: ...
def fit(
    x: _Samples,
    k: int,
    method: str,
    *,
    values: Sequence[tuple[str, float]],
    start: str | None = None,
    labels: NDArray[np.int32] | None = None,
    centroids: NDArray[np.float64] | None = None,
    runs: int = 1,
    seed: int = 0,
    polish: Sequence[str] = (),
    time: float | None = None,
    certificate: str = "singular",
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
    watch: Callable[[dict[str, Any]], object] | None = None,
    interval: float = 0.0,
) -> _Fitted: ...
def apply(
    x: _Samples,
    centroids: NDArray[np.float64],
    rule: str,
    *,
    signed: bool,
    directions: NDArray[np.float64] | None = None,
    lengths: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> tuple[NDArray[np.int32], NDArray[np.float64], float]: ...
def angles(
    x: _Samples,
    centroids: NDArray[np.float64],
    *,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> float: ...
def check(x: _Samples, *, signed: bool) -> None: ...
def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    variable: str | None = None,
    single_precision: bool | None = None,
    header: bool | None = None,
) -> _File: ...
def weigh(
    x: _Samples, steps: Sequence[str], learned: Sequence[Sequence[float] | None] | None = None
) -> tuple[Any, list[list[float] | None]]: ...
def report(
    x: _Samples,
    fitted: _Fitted,
    about: dict[str, Any],
    *,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> str: ...
class _Advice(TypedDict):
    answer: Literal["k-means", "spherical-k-means", "onmf", "kl-onmf", "undecided"]
    #: What to give to `orthant.ONMF` or the program; None where the data do not decide.
    method: str | None
    between: list[str]
    reasons: list[str]
    summary: str
    k: int
    norm_spread: float
    noise_slope: float | None
    noise_slope_error: float | None
    noise_dimensions: float
    #: Slope of variance over mean, dispersion, and whether these are of counts.
    counts: tuple[float, float, bool] | None
    #: name, log_density, stability and labels (of the points used) of each.
    models: list[dict[str, Any]]
    agreements: list[tuple[str, str, float]]
    points: NDArray[np.int64]
    disagreeing: int
    disagreements: list[int]
    page: str

class _Choice(TypedDict):
    candidates: list[tuple[int, list[str]]]
    k: NDArray[np.int64]
    relative_error: NDArray[np.float64]
    lower_bound: NDArray[np.float64]
    gain: NDArray[np.float64]
    stability: NDArray[np.float64]
    consensus: NDArray[np.float64]
    notes: list[str]
    summary: str
    page: str

def advise(
    x: _Samples,
    k: int | None = None,
    *,
    runs: int = 10,
    divisions: int = 5,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
    title: str = "X",
) -> _Advice: ...
def choose_k(
    x: _Samples,
    least: int,
    most: int,
    *,
    runs: int = 8,
    divisions: int = 5,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
    title: str = "X",
) -> _Choice: ...
def generate(name: str, values: Sequence[tuple[str, str]]) -> _Made: ...
def scene(
    endmembers: NDArray[np.float64],
    abundances: NDArray[np.float64],
    materials: Sequence[str],
    noise: float,
    seed: int,
    single_precision: bool,
    shape: tuple[int, int] | None = None,
    columns: bool = False,
) -> _Made: ...
def scores(truth: NDArray[np.int64], labels: NDArray[np.int32]) -> dict[str, float]: ...

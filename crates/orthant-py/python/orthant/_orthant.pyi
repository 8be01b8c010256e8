"""The compiled part: it converts arguments and results; the estimators are in Python."""

import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

_Real = NDArray[np.float64] | NDArray[np.float32]
_Indices = NDArray[np.int32] | NDArray[np.int64]
#: A C-contiguous array, ``(indptr, indices, data, n_features)`` of a canonical CSR matrix, data on disk (a path and the
#: memory that may be used (0: the usual), or ``(path, offset, dtype, rows, columns, memory)``), or what workers hold.
_Samples = _Real | tuple[_Indices, _Indices, _Real, int] | tuple[Any, ...] | Fleet
#: Bytes on their way, which arrays carry without copies.
_Bytes = NDArray[np.uint8]
_Rule = Literal["power", "cosine", "euclid", "kl"]

class OrthantError(RuntimeError): ...

#: Its arguments are the entry as text, its row and its column.
class EntryError(ValueError): ...

class BlockWriter:
    def __init__(self, path: str | os.PathLike[str], *, force: bool = False) -> None: ...
    def push(self, x: _Samples, *, target: Sequence[str] | None = None, names: Sequence[str] | None = None) -> None: ...
    def finish(self, *, weights: Sequence[float] | None = None, feature_names: Sequence[str] | None = None) -> int: ...
    def abandon(self) -> None: ...

#: Samples, features, the kind of numbers, bytes in memory.
def on_disk(path: str | os.PathLike[str]) -> tuple[int, int, str, int]: ...
def available_memory() -> int | None: ...

class _Asked(TypedDict):
    method: str
    k: int
    values: Sequence[tuple[str, float]]
    runs: int
    seed: int
    polish: Sequence[str]
    time: float | None
    certificate: str

class Fitted:
    """A job and its outcome, as the library has them. Factors and labels are handed out as new arrays."""

    def __new__(cls, state: bytes) -> Fitted: ...
    def __getnewargs__(self) -> tuple[bytes]: ...
    @staticmethod
    def of_result(asked: _Asked, start: str | None, outcome: str, norm: float) -> Fitted: ...
    @property
    def norm(self) -> float: ...
    @property
    def method(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def stop(self) -> Literal["converged", "max-iterations", "cancelled", "out-of-time"]: ...
    @property
    def converged(self) -> bool: ...
    @property
    def n_iter(self) -> int: ...
    @property
    def objective(self) -> float: ...
    @property
    def best_run(self) -> int: ...
    @property
    def relabelled(self) -> int: ...
    @property
    def relative_error(self) -> float: ...
    @property
    def lower_bound(self) -> float: ...
    @property
    def bound(self) -> Literal["singular", "dual", "dual-of-groups"]: ...
    @property
    def at_most_above_best(self) -> float | None: ...
    @property
    def certificate_seconds(self) -> float: ...
    @property
    def energy_share(self) -> float: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...
    #: The one nonzero of each point's column of V.
    @property
    def strengths(self) -> NDArray[np.float64]: ...
    #: k x features: U, the unit directions, and what new points are compared with.
    @property
    def components(self) -> NDArray[np.float64]: ...
    @property
    def directions(self) -> NDArray[np.float64]: ...
    @property
    def centroids(self) -> NDArray[np.float64]: ...
    #: Of the columns of U.
    @property
    def lengths(self) -> NDArray[np.float64]: ...
    @property
    def energy(self) -> NDArray[np.float64]: ...
    @property
    def runs(self) -> list[dict[str, Any]]: ...
    @property
    def history(self) -> list[dict[str, Any]]: ...
    def without_samples(self) -> Fitted: ...
    def predict(self, x: _Samples, *, signed: bool, threads: int = 1) -> NDArray[np.int32]: ...
    def transform(
        self,
        x: _Samples,
        *,
        signed: bool,
        weights: NDArray[np.float64] | None = None,
        threads: int = 1,
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], float]: ...

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
def documentation() -> str | None: ...
def program(words: list[str]) -> int: ...
def polishes() -> list[str]: ...
def certificates() -> list[str]: ...
def weightings() -> list[str]: ...
def methods() -> list[_Method]: ...
def starts() -> list[tuple[str, str]]: ...
def fit(
    x: _Samples,
    asked: _Asked,
    *,
    start: str | None = None,
    labels: NDArray[np.int32] | None = None,
    centroids: NDArray[np.float64] | None = None,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
    watch: Callable[[dict[str, Any]], object] | None = None,
    interval: float = 0.0,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 30.0,
    goes_on: bool = True,
) -> tuple[Fitted, BaseException | None, str | None]: ...
def settle(folder: str | os.PathLike[str]) -> None: ...
def centroids_of_file(rule: str, file: str, read: NDArray[np.float64]) -> NDArray[np.float64]: ...
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
    id: str | None = None,
    truth: str | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    vocabulary: str | None = None,
) -> _File: ...
def weigh(
    x: _Samples, steps: Sequence[str], learned: Sequence[Sequence[float] | None] | None = None
) -> tuple[Any, list[list[float] | None]]: ...
def report(
    x: _Samples,
    fitted: Fitted,
    about: dict[str, Any],
    *,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> str: ...
class _Cluster(TypedDict):
    top: list[tuple[int, float]]
    markers: list[tuple[int, float, float, float]]
    typical: list[tuple[int, float]]

class _Findings(TypedDict):
    clusters: list[_Cluster]
    margins: NDArray[np.float64]
    second: NDArray[np.int32]

def findings(
    x: _Samples, fitted: Fitted, *, weights: NDArray[np.float64] | None = None, threads: int = 1
) -> _Findings: ...

class _Advice(TypedDict):
    answer: Literal["k-means", "spherical-k-means", "onmf", "kl-onmf", "undecided"]
    best: Literal["k-means", "spherical-k-means", "onmf", "kl-onmf"]
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
    #: name, log_density, held_out, stability and labels (of the points used) of each.
    models: list[dict[str, Any]]
    agreements: list[tuple[str, str, float]]
    points: NDArray[np.int64]
    disagreeing: int
    disagreements: list[int]
    page: str

class _Choice(TypedDict):
    model: Literal["k-means", "spherical-k-means", "onmf", "kl-onmf"]
    candidates: list[tuple[int, list[str]]]
    held_out: NDArray[np.float64]
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
    divisions: int = 3,
    seed: int = 0,
    weights: NDArray[np.float64] | None = None,
    threads: int = 1,
    title: str = "X",
) -> _Advice: ...
#: The model, the method that searches for its clusters, and why.
def choose_model(
    x: _Samples, k: int, *, seed: int = 0, weights: NDArray[np.float64] | None = None, threads: int = 1
) -> tuple[Literal["onmf", "kl-onmf", "spherical-k-means", "k-means"], str, str]: ...
def choose_k(
    x: _Samples,
    least: int,
    most: int,
    *,
    model: str | None = None,
    runs: int = 8,
    divisions: int = 3,
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

#: The shards that a worker has of one fit.
class Holder:
    def __new__(cls, threads: int) -> Holder: ...
    def load(self, spec: bytes, first: int, x: _Samples) -> _Bytes: ...
    def load_folder(self, spec: bytes, path: str | os.PathLike[str]) -> _Bytes: ...
    def answer(self, order: _Bytes, inputs: Sequence[_Bytes]) -> _Bytes: ...
    def unload(self, spec: bytes) -> None: ...
    def __len__(self) -> int: ...
    @staticmethod
    def not_loaded(spec: bytes) -> _Bytes: ...

#: Samples that workers hold: the way to them, and their shape.
class Fleet:
    def __new__(
        cls, transport: object, n_samples: int, n_features: int, *, nonzeros: int, single: bool, sparse: bool,
        memory: int
    ) -> Fleet: ...

#: Samples, features, stored entries, whether in float32, whether sparse, and weights of a block folder.
def folder(path: str | os.PathLike[str]) -> tuple[int, int, int, bool, bool, list[float] | None]: ...

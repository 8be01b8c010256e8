"""What users pass as data → arrays and CSR matrices, without a copy of the whole; and refusals that say where.

Data that stand in memory are taken as they are. What would have to be read whole is refused with what to pass
instead, so that nobody fills the memory by accident.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _orthant
from ._typing import MatrixLike


class OnDisk:
    """Samples that stay in a file: what the compiled part needs to stream them."""

    def __init__(self, where: tuple[Any, ...], shape: tuple[int, int], dtype: Any) -> None:
        self.where = where
        self.shape = shape
        self.dtype = np.dtype(dtype)


def bytes_of(memory: int | str | None) -> int:
    """A number of bytes: as it is, or as in "512M" and "4G"; 0 is the usual share of what is free."""
    if memory is None:
        return 0
    units = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    text = str(memory).strip().lower().removesuffix("b").removesuffix("i")
    number, unit = (text[:-1], text[-1:]) if text[-1:].isalpha() else (text, "")
    try:
        size = int(float(number) * units[unit])
    except (ValueError, KeyError):
        size = 0
    if size < 1:
        raise ValueError(f"memory={memory!r}: a number of bytes is needed, as in 500_000_000, '512M' or '4G'.")
    return size


def on_disk(X: Any, memory: int | str | None) -> OnDisk | None:
    """X as something to be streamed: a path, or a map of a file that is larger than the memory that may be used."""
    if isinstance(X, (str, os.PathLike)):
        most = bytes_of(memory)
        samples, features, dtype, _ = _orthant.on_disk(X)
        return OnDisk((os.fspath(X), most), (samples, features), dtype)
    if not isinstance(X, np.memmap) or X.ndim != 2 or not isinstance(X.base, mmap.mmap):
        return None
    if not X.flags.c_contiguous or X.dtype.kind not in "fiub" or X.filename is None:
        return None
    free = _orthant.available_memory()
    most = bytes_of(memory) or (None if free is None else free // 10 * 6)
    if most is None or X.nbytes <= most:
        return None
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    where = (os.fspath(X.filename), int(X.offset), X.dtype.str, *X.shape, bytes_of(memory))
    return OnDisk(where, X.shape, dtype)


def in_memory(X: MatrixLike, name: str = "X") -> Any:
    """X as something that `sklearn.utils.check_array` takes without reading a file whole."""
    package = type(X).__module__.partition(".")[0]
    if package == "anndata":
        return _annotated(X, name)
    if package == "h5py":
        return _mapped(X, name)
    if package == "zarr":
        _refuse(name, f"is a zarr array of {_size(X)} in chunks", f"{name}[:]", "np.save it once and pass "
                "np.load(path, mmap_mode='r')")
    if package == "dask":
        _refuse(name, f"is a dask array of {_size(X)}", f"{name}.compute()", "fit it where it lies with orthant.dask.ONMF or "
                "orthant.dask.SphericalKMeans")
    return X


def feature_names(X: MatrixLike) -> list[str] | None:
    """Names of the features that X has, where scikit-learn does not know to ask for them."""
    if type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "var_names"):
        return [str(name) for name in X.var_names]
    return None


def _annotated(X: Any, name: str) -> Any:
    """The matrix of AnnData. A sparse one in a file is refused, a dense one mapped if it can be."""
    if not hasattr(X, "obs_names"):
        # A matrix of AnnData that is still in its file (anndata.abc.CSRDataset).
        _refuse(name, "is a sparse matrix in a file", f"{name}.to_memory()", None)
    if X.X is None:
        raise ValueError(f"{name} has no matrix: pass one of its layers, such as {name}.layers['counts'].")
    if not X.isbacked:
        return X.X
    if type(X.X).__module__.partition(".")[0] == "h5py":
        return _mapped(X.X, f"{name}.X")
    return _refuse(name, f"is backed by the file {X.filename}", f"{name}.to_memory()", None)


def _mapped(X: Any, name: str) -> Any:
    """A data set of HDF5 as a map of its file, if its numbers lie there in one piece as they are."""
    if hasattr(X, "keys"):
        raise TypeError(f"{name} is a file or group of HDF5: pass one of its data sets, such as {name}[{next(iter(X), '...')!r}].")
    plain = hasattr(X, "chunks") and X.chunks is None and X.compression is None and not X.external
    offset = X.id.get_offset() if plain else None
    if offset is None or X.file.mode != "r":
        instead = "open its file with mode 'r', so that it can be mapped" if offset is not None else (
            "store it without chunks and compression, which can be mapped"
        )
        _refuse(name, f"is an HDF5 data set of {_size(X)}", f"{name}[:]", instead)
    return np.memmap(X.file.filename, mode="r", dtype=X.dtype, offset=offset, shape=X.shape)


def _size(X: Any) -> str:
    bytes_ = math.prod(getattr(X, "shape", ())) * np.dtype(getattr(X, "dtype", float)).itemsize
    return f"{bytes_ / 1e9:.1f} GB" if bytes_ >= 1e8 else f"{bytes_ / 1e6:.1f} MB"


def _refuse(name: str, what: str, whole: str, instead: str | None) -> Any:
    other = f", or {instead}" if instead else ""
    raise TypeError(f"{name} {what}, which would be read whole: pass {whole} if it fits into memory{other}.")


def parts(points: Any) -> Any:
    """Points as the compiled part takes them: arrays as they are, CSR matrices by their parts."""
    if isinstance(points, OnDisk):
        return points.where
    if not sp.issparse(points):
        return aligned(points) if isinstance(points, np.ndarray) and not points.flags.aligned else points
    if not all(array.flags.aligned for array in (points.data, points.indices, points.indptr)):
        points = aligned(points)
    if not points.has_canonical_format:
        points = points.copy()
        points.sum_duplicates()
    indptr, indices = points.indptr, points.indices
    if indptr.dtype != indices.dtype:
        indptr = indptr.astype(indices.dtype)
    return (indptr, indices, points.data, points.shape[1])


def aligned(array: Any) -> Any:
    """What came from another process may lie anywhere in memory."""
    if sp.issparse(array):
        arrays = tuple(map(aligned, (array.data, array.indices, array.indptr)))
        return sp.csr_matrix(arrays, shape=array.shape)
    return np.require(array, requirements=["C", "A"])


def joined(made: Any) -> Any:
    """The way back: parts of a CSR matrix as one."""
    if not isinstance(made, tuple):
        return made
    indptr, indices, data, n_features = made
    if len(data) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_features))


@contextlib.contextmanager
def named_entries(
    who: str, *, transposed: bool = False, signed: bool = False, names: Sequence[str] | None = None
) -> Iterator[None]:
    """Says of an entry that the compiled part refuses what it is, where, and what to do."""
    try:
        yield
    except _orthant.EntryError as error:
        text, row, column = error.args
        row, column = (column, row) if transposed else (row, column)
        value = float(text)
        named = f" ({names[column]})" if names is not None and column < len(names) else ""
        place = f"at row {row}, column {column}{named}, counted from 0"
        if math.isnan(value):
            raise ValueError(
                f"Input X contains NaN {place}. {who} does not accept missing values: drop such rows or columns, or "
                "fill them in, for example with sklearn.impute.SimpleImputer."
            ) from None
        if math.isinf(value):
            raise ValueError(
                f"Input X contains infinity {place}. {who} needs finite numbers: drop or replace it."
            ) from None
        others = "" if signed else ", or use SphericalKMeans, which takes any sign"
        raise ValueError(
            f"Negative values in data passed to {who} (input X): the first is {value:g} {place}. Set them to zero if "
            f"they are noise (np.maximum(X, 0)){others}."
        ) from None

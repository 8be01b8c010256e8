"""Data that are spread over a cluster, whatever they are given as: rows of chunks, and where each begins."""

from __future__ import annotations

import math
import os
import uuid
from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed

from .. import _orthant
from . import _worker
from ._transport import brought


class Chunks:
    """Chunks of rows, described: what estimators and the transport see of X."""

    def __init__(self, chunks: list[Any], described: list[tuple[int, int, int, str, bool]]) -> None:
        columns = {columns for rows, columns, _, _, _ in described if rows}
        if len(columns) > 1:
            raise ValueError(f"blocks of X have different numbers of columns: {sorted(columns)}")
        kinds = {sparse for rows, _, _, _, sparse in described if rows}
        if len(kinds) > 1:
            raise ValueError("some blocks of X are sparse and others are not: make them all of one kind")
        self.chunks = chunks
        self.rows = [rows for rows, *_ in described]
        self.ends = np.cumsum([0, *self.rows])
        self.shape = (int(self.ends[-1]), columns.pop() if columns else 0)
        self.nonzeros = sum(stored for _, _, stored, _, _ in described)
        self.sparse = bool(kinds.pop()) if kinds else False
        formats = {np.dtype(format) for rows, _, _, format, _ in described if rows}
        # As scikit-learn converts: float32 is kept, everything else becomes float64.
        self.dtype = np.dtype(np.float32) if formats == {np.dtype(np.float32)} else np.dtype(np.float64)

    def like(self) -> dict[str, Any]:
        """What every block is converted to."""
        return {"dtype": self.dtype.str, "sparse": self.sparse, "n_features": self.shape[1]}

    def pieces(self, begin: int, end: int) -> list[Any]:
        """The chunks that rows `begin` to `end` are in, and which of their rows these are."""
        first = int(np.searchsorted(self.ends, begin, side="right")) - 1
        found = []
        for at in range(first, len(self.chunks)):
            start = int(self.ends[at])
            if start >= end:
                break
            low, high = max(begin - start, 0), min(end - start, self.rows[at])
            if low < high:
                found.append([self.chunks[at], low, high])
        return found

    def nbytes(self) -> int:
        """What the workers will hold of it together."""
        each = self.dtype.itemsize + (4 if self.sparse else 0)
        return self.nonzeros * each + (8 * self.shape[0] if self.sparse else 0)


class Folder:
    """A block folder that all workers can read: they take their samples from it in every pass."""

    def __init__(self, path: Any) -> None:
        self.path = os.path.abspath(path)
        n, features, self.nonzeros, single, self.sparse, self.weights = _orthant.folder(self.path)
        self.shape = (n, features)
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.rows = [n]

    def like(self) -> dict[str, Any]:
        """Where workers find it."""
        return {"folder": self.path}

    def pieces(self, begin: int, end: int) -> list[Any]:
        """Nothing that anybody else need bring."""
        return []

    def nbytes(self) -> int:
        """Nothing of it stays in memory."""
        return 0


def is_path(X: Any) -> bool:
    """Whether X is the path of something that workers read themselves."""
    return isinstance(X, (str, os.PathLike))


def opened(path: Any) -> Any:
    """What is at a path, for workers to read: parquet as a dask dataframe, zarr as a dask array, else a block folder."""
    name = os.fspath(path).rstrip("/")
    if name.endswith((".parquet", ".parq")):
        import dask.dataframe as dd

        return dd.read_parquet(name)
    if name.endswith(".zarr"):
        import dask.array as da

        X = da.from_zarr(name)
        return X.rechunk({0: "auto", 1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X
    return Folder(path)


def blocks_of(X: Any) -> tuple[list[Any], list[float]]:
    """X as delayed blocks of rows, and how many rows each has; NaN where its type does not tell."""
    package = type(X).__module__.partition(".")[0]
    if package == "dask" and hasattr(X, "chunks"):
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead")
        if len(X.chunks[1]) > 1:
            raise ValueError(
                f"the blocks of X are split by columns ({len(X.chunks[1])} of them side by side): every block needs "
                "whole rows; X.rechunk({0: 'auto', 1: -1}) makes such blocks."
            )
        return list(X.to_delayed().ravel()), list(X.chunks[0])
    blocks = None
    if package in ("dask", "dask_expr") and hasattr(X, "to_delayed"):
        blocks = list(X.to_delayed())
    elif isinstance(X, Sequence) and len(X) and all(isinstance(block, Delayed) for block in X):
        blocks = list(X)
    if blocks is None:
        raise TypeError(
            f"X must be a dask array or dataframe, or a list of delayed blocks, got {type(X).__name__}; "
            "orthant.ONMF takes what is in memory."
        )
    return blocks, [math.nan] * len(blocks)


def chunked(X: Any, client: Any) -> Chunks:
    """X as chunks of rows. What its type does not tell is asked of the chunks, where they are."""
    chunks, rows = blocks_of(X)
    dense = type(getattr(X, "_meta", None)) is np.ndarray and X.dtype != object
    if not dense or any(math.isnan(n) for n in rows) or math.isnan(X.shape[1]):
        return Chunks(chunks, _ask(chunks, client))
    # A block may be sparse whatever its array says: the first one tells.
    first = _ask(chunks[:1], client)
    if first[0][4]:
        return Chunks(chunks, first + _ask(chunks[1:], client))
    columns = int(X.shape[1])
    return Chunks(chunks, [(int(n), columns, int(n) * columns, first[0][3], False) for n in rows])


def _ask(chunks: list[Any], client: Any) -> list[tuple[int, int, int, str, bool]]:
    ask = dask.delayed(_worker.described, pure=False)
    asked = [ask(chunk, dask_key_name=f"orthant-describe-{uuid.uuid4().hex}") for chunk in chunks]
    return list(brought(client, client.compute(asked, optimize_graph=False)) or [])

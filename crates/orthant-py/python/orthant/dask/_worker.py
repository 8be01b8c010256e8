"""What runs on the workers. A worker's blocks live in a plugin of it, for as long as the driver wants the tasks that
loaded them: when these are released, or the driver is gone, so are the blocks."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import WorkerPlugin, get_worker
from numpy.typing import NDArray

from .. import _orthant
from .._inputs import aligned, parts

#: Orders and answers. Dask sends arrays on without the copies that it makes of bytes.
Bytes = NDArray[np.uint8]

_NAME = "orthant"
_lock = threading.Lock()


class Shelf(WorkerPlugin):
    """The blocks that a worker holds, by fit."""

    name = _NAME

    def __init__(self) -> None:
        self.holders: dict[str, Any] = {}
        #: The fit and the specification of each task that loaded something.
        self.loaded: dict[str, tuple[str, bytes]] = {}

    def transition(self, key: Any, start: str, finish: str, **kwargs: Any) -> None:
        """Lets go of what a task loaded when nobody wants the task any more."""
        if finish in ("released", "forgotten") and key in self.loaded:
            # Not here: the worker's loop must not wait until a pass that is under way has ended.
            threading.Thread(target=self.unload, args=(key,), daemon=True).start()

    def unload(self, key: str) -> None:
        with _lock:
            fit, spec = self.loaded.get(key, ("", b""))
            holder = self.holders.get(fit)
        if holder is not None:
            holder.unload(spec)
        with _lock:
            self.loaded.pop(key, None)
            if all(other != fit for other, _ in self.loaded.values()):
                self.holders.pop(fit, None)


def shelf() -> Shelf:
    """The shelf of the worker that this task runs on."""
    worker = get_worker()
    found = worker.plugins.get(_NAME)
    if found is not None:
        return found
    there = threading.Event()

    # Plugins are gone through by the worker's loop: it puts the new one there.
    def put() -> None:
        worker.plugins.setdefault(_NAME, Shelf())
        there.set()

    worker.loop.add_callback(put)
    there.wait()
    return worker.plugins[_NAME]


def load(fit: str, key: str, address: str, spec: bytes, first: int, like: dict[str, Any], pieces: list[Any]) -> Bytes:
    """Takes in a shard: some rows of each of some chunks, or of a folder that the worker reads itself."""
    worker = get_worker()
    if worker.address != address:
        return _orthant.Holder.not_loaded(spec)
    rows = None if "folder" in like else parts(assembled(pieces, like))
    here = shelf()
    with _lock:
        holder = here.holders.get(fit)
        if holder is None:
            holder = here.holders[fit] = _orthant.Holder(worker.state.nthreads)
        here.loaded[key] = (fit, spec)
    if rows is None:
        return holder.load_folder(spec, like["folder"])
    return holder.load(spec, first, rows)


def answer(fit: str, order: Bytes, inputs: list[Bytes]) -> Bytes:
    """Answers an order. A worker that holds nothing of the fit says so."""
    holder = shelf().holders.get(fit)
    if holder is None:
        holder = _orthant.Holder(1)
    return holder.answer(order, inputs)


def described(chunk: Any) -> tuple[int, int, int, str, bool]:
    """Rows, columns, stored entries, format and kind of a chunk."""
    rows = matrix(chunk)
    stored = rows.nnz if sp.issparse(rows) else rows.size
    return rows.shape[0], rows.shape[1], int(stored), rows.dtype.str, sp.issparse(rows)


def matrix(chunk: Any) -> Any:
    """A chunk as an array in two dimensions, or as a CSR matrix in canonical form."""
    if hasattr(chunk, "to_numpy"):
        chunk = chunk.to_numpy()
    if sp.issparse(chunk):
        rows = chunk.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        return rows
    chunk = np.asarray(chunk)
    if chunk.ndim != 2:
        raise ValueError(f"a block of X has {chunk.ndim} dimensions instead of 2")
    return chunk


def assembled(pieces: list[Any], like: dict[str, Any]) -> Any:
    """Rows `begin` to `end` of each chunk, one after the other, as the whole data are described."""
    dtype = np.dtype(like["dtype"])
    found = []
    for chunk, begin, end in pieces:
        rows = matrix(chunk)
        if rows.shape[1] != like["n_features"] or rows.shape[0] < end or sp.issparse(rows) != like["sparse"]:
            raise ValueError(
                f"a block of X is {rows.shape[0]} x {rows.shape[1]} now, and was another one before: the same blocks "
                "are needed whenever they are computed"
            )
        found.append(rows[begin:end])
    if like["sparse"]:
        rows = found[0] if len(found) == 1 else sp.vstack(found, format="csr")
    else:
        rows = found[0] if len(found) == 1 else np.concatenate(found)
    return aligned(rows.astype(dtype, copy=False))

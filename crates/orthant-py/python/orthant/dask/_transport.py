"""The way to the workers of a Dask cluster: load, call, fetch, release. Another engine is another class like this one."""

from __future__ import annotations

import itertools
import time
import uuid
from typing import Any

import dask
import distributed

from .. import _orthant
from . import _worker

#: How long nobody may be there before a fit ends, in seconds.
PATIENCE = 30.0

#: How often the cluster is looked at while answers are waited for, in seconds.
_LOOK = 2.0


class Transport:
    """Orders to workers as small tasks that prefer, and if it is gone do without, their worker: then somebody else answers
    that the blocks are missing, at once, and nothing waits for a worker that never comes."""

    def __init__(self, client: Any, chunks: Any) -> None:
        self.client, self.chunks = client, chunks
        self.fit = uuid.uuid4().hex[:12]
        self.numbers = itertools.count(1)
        self.futures: dict[int, Any] = {}
        #: Rounds of orders, for those who want to know what a fit cost.
        self.rounds = 0

    def workers(self) -> list[str]:
        """Everyone who can hold blocks, in a fixed order."""
        begun = time.monotonic()
        while True:
            try:
                info = self.client.scheduler_info(n_workers=-1)["workers"]
            except Exception as error:
                raise _gone(error) from error
            there = [address for address, worker in info.items() if worker.get("status", "running") == "running"]
            if there:
                return sorted(there, key=lambda address: (str(info[address].get("name", "")), address))
            if time.monotonic() - begun > PATIENCE:
                raise _orthant.OrthantError(
                    f"the cluster has had no worker for {PATIENCE:.0f} seconds: start workers and fit again"
                )
            time.sleep(0.2)

    def load(self, loads: list[tuple[str, int, int, bytes]]) -> list[int]:
        """Has workers take in samples, computed wherever Dask sees fit."""
        tasks, handles = [], []
        for address, begin, end, spec in loads:
            handle = next(self.numbers)
            key = f"orthant-load-{self.fit}-{handle}"
            with dask.annotate(workers=[address], allow_other_workers=True):
                tasks.append(
                    dask.delayed(_worker.load, pure=False)(
                        self.fit, key, address, spec, begin, self.chunks.like(), self.chunks.pieces(begin, end),
                        dask_key_name=key,
                    )
                )
            handles.append(handle)
        try:
            futures = self.client.compute(tasks, optimize_graph=False)
        except Exception as error:
            raise _gone(error) from error
        self.futures.update(zip(handles, futures))
        return handles

    def call(self, orders: list[tuple[str, str, bytes, list[int]]]) -> list[int]:
        """Sends orders out."""
        self.rounds += 1
        handles = []
        for address, name, order, inputs in orders:
            handle = next(self.numbers)
            try:
                self.futures[handle] = self.client.submit(
                    _worker.answer, self.fit, order, [self.futures[i] for i in inputs],
                    key=f"orthant-{name}-{self.fit}-{handle}",
                    workers=[address], allow_other_workers=True, pure=False, priority=10,
                )
            except Exception as error:
                raise _gone(error) from error
            handles.append(handle)
        return handles

    def fetch(self, handles: list[int]) -> list[bytes]:
        """Waits for answers and brings them."""
        futures = [self.futures[handle] for handle in handles]
        while True:
            try:
                # A dead scheduler cancels futures; a dead worker has its tasks done by others.
                distributed.wait(futures, timeout=_LOOK)
                break
            except (TimeoutError, distributed.TimeoutError):
                self.workers()
            except Exception as error:
                raise _gone(error) from error
        for future in futures:
            if future.status == "error":
                raise future.exception()
        while True:
            try:
                return self.client.sync(self.client._gather, futures, errors="raise", callback_timeout=30)
            except (TimeoutError, distributed.TimeoutError):
                self.workers()
            except Exception as error:
                raise _gone(error) from error

    def release(self, handles: list[int]) -> None:
        """Lets go of answers and blocks."""
        for handle in handles:
            future = self.futures.pop(handle, None)
            if future is not None:
                future.release()

    def close(self) -> None:
        """Lets go of everything."""
        self.release(list(self.futures))


def _gone(error: Exception) -> Exception:
    return _orthant.OrthantError(
        f"the cluster cannot be reached any more ({type(error).__name__}: {error}): start it and fit again"
    )

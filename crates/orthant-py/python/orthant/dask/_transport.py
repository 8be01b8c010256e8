"""The way to the workers of a Dask cluster: load, call, fetch, release. Another engine is another class like this one."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import sys
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import dask

from .. import _orthant
from . import _worker
from ._worker import Bytes

#: How long nobody may be there before a fit ends, in seconds.
PATIENCE = 30.0

#: How often the cluster is looked at while answers are waited for, in seconds.
_LOOK = 2.0

#: After so many looks, one after the other, a worker that stands still is no longer waited for.
_STILL = 5

#: States of a worker's tasks in which nothing happens.
_AT_REST = ("waiting", "memory", "released", "forgotten", "error")


@dataclass
class Sent:
    """A task that is under way, or whose result is kept."""

    future: Any
    #: The worker that it is for.
    address: str
    #: What it answers where nothing is held.
    absent: Callable[[], Bytes]
    #: Others whose answers it needs.
    inputs: list[Sent]
    lost: bool = False

    def look(self, there: Iterable[str]) -> bool:
        """Whether to wait for it no longer, as its worker is gone, or one that it needs.

        Others would answer in their place. But a scheduler that for a moment had no worker at all gives a task that prefers
        one to nobody who joins later, whatever it was told of other workers.
        """
        needed = [sent.look(there) for sent in self.inputs]
        self.lost = self.future.status == "pending" and (self.address not in there or any(needed))
        return self.lost


class Transport:
    """Orders to workers as small tasks that prefer, and if it is gone do without, their worker: then somebody else answers
    that the blocks are missing, at once, and nothing waits for a worker that never comes."""

    def __init__(self, client: Any, chunks: Any) -> None:
        self.client, self.chunks = client, chunks
        self.fit = uuid.uuid4().hex[:12]
        self.numbers = itertools.count(1)
        self.sent: dict[int, Sent] = {}
        #: What nobody wants any more.
        self.released: list[Sent] = []
        #: Rounds of orders, for those who want to know what a fit cost.
        self.rounds = 0

    def workers(self) -> list[str]:
        """Everyone who can hold blocks, in a fixed order."""
        return list(workers(self.client))

    def load(self, loads: list[tuple[str, int, int, bytes]]) -> list[int]:
        """Has workers take in samples, computed wherever Dask sees fit."""
        self._let_go()
        tasks = []
        handles = [next(self.numbers) for _ in loads]
        for handle, (address, begin, end, spec) in zip(handles, loads):
            key = f"orthant-load-{self.fit}-{handle}"
            task = dask.delayed(_worker.load, pure=False)(
                self.fit, key, address, spec, begin, self.chunks.like(), self.chunks.pieces(begin, end), dask_key_name=key
            )
            # Not by dask.annotate: chunks, which others may want too, would then prefer the worker as well, even when it is gone.
            (layer,) = task.__dask_layers__()
            task.dask.layers[layer].annotations = {"workers": [address], "allow_other_workers": True}
            tasks.append(task)
        try:
            futures = self.client.compute(tasks, optimize_graph=False)
        except Exception as error:
            raise _gone(error) from error
        for handle, future, (address, _, _, spec) in zip(handles, futures, loads):
            self.sent[handle] = Sent(future, address, lambda spec=spec: _orthant.Holder.not_loaded(spec), [])
        return handles

    def call(self, orders: list[tuple[str, str, Bytes, list[int]]]) -> list[int]:
        """Sends orders out."""
        self.rounds += 1
        handles = [next(self.numbers) for _ in orders]
        needed = [[self.sent[i] for i in inputs] for *_, inputs in orders]

        # In one step of the client's loop they go out together. What comes within 10 ms of a message Dask keeps back until then:
        # so answers that nobody wants any more are let go of behind the orders, not before.
        async def submitted() -> list[Any]:
            # An order has U in it, of which Dask would say that it is large.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": sys.maxsize}):
                futures = [
                    self.client.submit(
                        _worker.answer, self.fit, order, [sent.absent() if sent.lost else sent.future for sent in inputs],
                        key=f"orthant-{name}-{self.fit}-{handle}",
                        workers=[address], allow_other_workers=True, pure=False, priority=10,
                    )
                    for handle, (address, name, order, _), inputs in zip(handles, orders, needed)
                ]
            self._let_go()
            return futures

        try:
            submitting = asyncio.run_coroutine_threadsafe(submitted(), self.client.loop.asyncio_loop)
            futures = submitting.result(PATIENCE)
        except Exception as error:
            raise _gone(error) from error
        for handle, future, (address, _, order, _), inputs in zip(handles, futures, orders, needed):
            self.sent[handle] = Sent(future, address, _nobodys(order, inputs), inputs)
        return handles

    def fetch(self, handles: list[int]) -> list[Bytes]:
        """Waits for answers and brings them; those of workers that are gone are given here."""
        answers: dict[int, Bytes] = {}
        while len(answers) < len(handles):
            waiting = [handle for handle in handles if handle not in answers]
            sent = [self.sent[handle] for handle in waiting]
            found = brought(
                self.client, [s.future for s in sent], enough=lambda there: any([s.look(there) for s in sent])
            )
            if found is None:
                answers.update({handle: s.absent() for handle, s in zip(waiting, sent) if s.lost})
            else:
                answers.update(zip(waiting, found))
        return [answers[handle] for handle in handles]

    def release(self, handles: list[int]) -> None:
        """Lets go of answers and blocks, with the next orders."""
        self.released.extend(self.sent.pop(handle) for handle in handles if handle in self.sent)

    def _let_go(self) -> None:
        for sent in self.released:
            sent.future.release()
        self.released.clear()

    def close(self) -> None:
        """Lets go of everything."""
        self.release(list(self.sent))
        self._let_go()


def workers(client: Any) -> dict[str, Any]:
    """What the scheduler knows of everyone who can work, in a fixed order; waits a while if there is nobody."""
    begun = time.monotonic()
    while True:
        try:
            info = client.scheduler_info(n_workers=-1)["workers"]
        except Exception as error:
            raise _gone(error) from error
        there = {address: worker for address, worker in info.items() if worker.get("status", "running") == "running"}
        if there:
            return dict(sorted(there.items(), key=lambda item: (str(item[1].get("name", "")), item[0])))
        if time.monotonic() - begun > PATIENCE:
            raise _orthant.OrthantError(
                f"the cluster has had no worker for {PATIENCE:.0f} seconds: start workers and fit again"
            )
        time.sleep(0.2)


def brought(client: Any, futures: list[Any], enough: Callable[[list[str]], bool] = lambda there: False) -> list[Any] | None:
    """The results of futures; None where, after a while, those who are there and at work are `enough` to wait no longer."""
    bringing = asyncio.run_coroutine_threadsafe(client.gather(futures, asynchronous=True), client.loop.asyncio_loop)
    still: dict[str, int] = {}
    while not concurrent.futures.wait([bringing], timeout=_LOOK).done:
        there = workers(client)
        still = {address: still.get(address, 0) + 1 for address, worker in there.items() if _stands_still(worker)}
        if enough([address for address in there if still.get(address, 0) < _STILL]):
            return None
    try:
        return bringing.result()
    except Exception as error:
        failed = next((future for future in futures if future.status == "error"), None)
        if failed is not None:
            raise failed.exception() from None
        if "lost dependencies" in str(error):
            raise _orthant.OrthantError(
                "a block of X was lost with the worker that had it, and nothing says how to compute it again: pass X as it is "
                "read or computed, not as data that were scattered"
            ) from error
        raise _gone(error) from error


def _stands_still(worker: dict[str, Any]) -> bool:
    """Whether a worker has tasks that wait for others' results, and brings none.

    That can happen where a task was computed twice as workers came and went: a worker is then told to forget what it is
    about to fetch (distributed 2026.8).
    """
    counts = worker.get("metrics", {}).get("task_counts", {})
    return bool(counts.get("waiting")) and not any(n for state, n in counts.items() if state not in _AT_REST)


def _nobodys(order: Bytes, needed: list[Sent]) -> Callable[[], Bytes]:
    """What somebody answers who holds nothing."""
    absent = [sent.absent for sent in needed]
    return lambda: _orthant.Holder(1).answer(order, [answer() for answer in absent])


def _gone(error: Exception) -> Exception:
    return _orthant.OrthantError(
        f"the cluster cannot be reached any more ({type(error).__name__}: {error}): start it and fit again"
    )

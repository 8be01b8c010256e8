"""On a Dask cluster of this machine: what a round costs, and an iteration beside one process and beside dask-ml.

ORTHANT_DASK_GB and ORTHANT_DASK_NONZEROS say how large the data are (default: 0.25 GB dense, 5 million nonzeros; the
targets are meant for 5 GB and 100 million).
"""

import contextlib
import os
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sp

K = 10
ITERATIONS = 5


@contextlib.contextmanager
def cluster(workers):
    """Workers with one thread each."""
    from distributed import Client, LocalCluster

    options = {"dashboard_address": None, "silence_logs": 50, "memory_limit": 0}
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, **options) as local, Client(local) as client:
        client.wait_for_workers(workers)
        yield client


def dense(seed=0):
    """So many GB of float32 with 162 features, made where they are needed."""
    import dask.array as da

    size = float(os.environ.get("ORTHANT_DASK_GB", "0.25"))
    n = int(size * 1e9 / 4 / 162)

    def block(at, rows):
        rng = np.random.default_rng([seed, at])
        spectra = np.random.default_rng(seed).random((K, 162), dtype=np.float32)
        # With noise: on rays without any, clusters that start on one ray would run empty all the time.
        noise = 1 + 0.1 * rng.random((rows, 162), dtype=np.float32)
        return rng.random((rows, 1), dtype=np.float32) * spectra[rng.integers(K, size=rows)] * noise

    return _array(block, n, 162, np.float32, da, None)


def sparse(seed=0):
    """So many nonzeros, 50 a row, 20,000 features."""
    import dask.array as da

    nonzeros = int(float(os.environ.get("ORTHANT_DASK_NONZEROS", "5e6")))

    def block(at, rows):
        rng = np.random.default_rng([seed, at])
        topic = rng.integers(K, size=(rows, 1)) * 2000
        columns = np.where(rng.random((rows, 50)) < 0.7, topic + rng.integers(2000, size=(rows, 50)), rng.integers(20000, size=(rows, 50)))
        at_rows = np.repeat(np.arange(rows), 50)
        made = sp.csr_matrix((np.ones(50 * rows), (at_rows, columns.ravel())), shape=(rows, 20000))
        made.sum_duplicates()
        return made

    return _array(block, nonzeros // 50, 20000, np.float64, da, sp.csr_matrix((0, 0)))


def _array(block, n, columns, dtype, da, meta):
    import dask

    each = -(-n // 16)
    parts = []
    for at in range(0, n, each):
        rows = min(each, n - at)
        more = {} if meta is None else {"meta": meta}
        parts.append(da.from_delayed(dask.delayed(block)(at, rows), (rows, columns), dtype=dtype, **more))
    return da.concatenate(parts)


def whole(X):
    """All of it in this process."""
    found = X.compute()
    return found.tocsr() if sp.issparse(found) else found


def round_seconds(client, size=1 << 20, rounds=30):
    """The median times of an order that every worker answers at once: with next to nothing, and with so many bytes to each."""
    from orthant.dask import _transport

    transport = _transport.Transport(client, None)
    there = transport.workers()
    # They make no sense to those who get them, which they say.
    orders = [np.full(1, 255, np.uint8), np.full(size, 255, np.uint8)]
    seconds = [[], []]
    for _ in range(rounds):
        for order, times in zip(orders, seconds):
            begun = time.perf_counter()
            handles = transport.call([(worker, "empty", order, []) for worker in there])
            transport.fetch(handles)
            transport.release(handles)
            times.append(time.perf_counter() - begun)
    return [statistics.median(times) for times in seconds]


class Clock:
    """When each iteration ended, not the steps of the certificate: the first ones pay for what is made once."""

    def __init__(self):
        self.times = []

    def __call__(self, info):
        if info["method"] != "certificate":
            self.times.append(time.perf_counter())

    def each(self):
        return statistics.median(np.diff(self.times))


def iteration_on_cluster(client, X, method):
    import orthant.dask

    clock = Clock()
    model = orthant.dask.ONMF(K, method=method, init="random", max_iter=ITERATIONS, callback=clock)
    model.client = client
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X)
    return clock.each(), {"error": model.relative_error_}


def iteration_in_one_process(X, method):
    import orthant

    clock = Clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = orthant.ONMF(
            K, method=method, init="random", max_iter=ITERATIONS, callback=clock, n_jobs=2
        ).fit(X)
    return clock.each(), {"error": model.relative_error_}


def iteration_of_dask_ml(X):
    from dask_ml.cluster import KMeans

    def took(iterations):
        begun = time.perf_counter()
        KMeans(K, init="random", max_iter=iterations, tol=0.0, random_state=0).fit(X)
        return time.perf_counter() - begun

    few = took(1)
    return max(1e-9, (took(1 + ITERATIONS) - few) / ITERATIONS), {}

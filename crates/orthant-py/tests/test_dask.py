"""On a cluster of real processes: the same bits as on one machine, whatever becomes of the workers."""

from __future__ import annotations

import os
import random
import signal
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster

import orthant
import orthant.dask
from orthant import _orthant
from orthant.dask import _transport

METHODS = [entry["name"] for entry in _orthant.methods() if not entry["signed"]]
slow = pytest.mark.skipif(os.environ.get("ORTHANT_SLOW") != "1", reason="ORTHANT_SLOW=1 has more done to the workers")


def made(n: int, features: int, k: int, seed: int) -> np.ndarray:
    """Noisy multiples of k directions; some entries and samples are zero."""
    rng = np.random.default_rng(seed)
    directions = rng.random((k, features)) * (rng.random((k, features)) < 0.6)
    X = rng.random((n, 1)) * directions[rng.integers(k, size=n)] + 0.05 * rng.random((n, features))
    X[rng.random((n, features)) < 0.2] = 0
    X[::97] = 0
    return X


X = made(700, 9, 4, 1)


def cluster_of(n_workers: int, **options) -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50, **options
    )


@pytest.fixture(scope="module")
def client():
    with cluster_of(2) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def two(client):
    """The client of two workers, whatever an earlier test did to them."""
    there(client, 2)
    return client


def there(client, count: int) -> None:
    """So many workers, and no more."""
    if len(client.scheduler_info(n_workers=-1)["workers"]) < count:
        # A worker that retired still counts as one of the cluster's own: they are all made anew.
        client.cluster.scale(0)
    client.cluster.scale(count)
    deadline = time.monotonic() + 60
    while len(client.scheduler_info(n_workers=-1)["workers"]) != count:
        assert time.monotonic() < deadline, "the cluster does not come to have its workers"
        time.sleep(0.05)


def blocks(X, rows: int):
    """A dask array with blocks of so many rows, of numpy or scipy.sparse."""
    if not sp.issparse(X):
        return da.from_array(X, chunks=(rows, X.shape[1]))
    parts = [dask.delayed(X[at : at + rows], pure=False) for at in range(0, X.shape[0], rows)]
    arrays = [
        da.from_delayed(part, shape=(min(rows, X.shape[0] - at), X.shape[1]), dtype=X.dtype, meta=sp.csr_matrix((0, 0)))
        for part, at in zip(parts, range(0, X.shape[0], rows))
    ]
    return da.concatenate(arrays)


def kinds():
    return {"dense": X, "sparse": sp.csr_matrix(X), "float32": X.astype(np.float32)}


def assert_same(one, many) -> None:
    np.testing.assert_array_equal(one.labels_, np.asarray(many.labels_))
    np.testing.assert_array_equal(one.weights_, np.asarray(many.weights_))
    np.testing.assert_array_equal(one.components_, many.components_)
    assert one.relative_error_ == many.relative_error_
    assert one.lower_bound_ == many.lower_bound_
    assert one.n_iter_ == many.n_iter_


def held(client) -> int:
    """Fits whose blocks workers still have. They hear of it a moment later."""

    def count(dask_worker) -> int:
        shelf = dask_worker.plugins.get("orthant")
        return 0 if shelf is None else len(shelf.holders) + len(shelf.loaded)

    for _ in range(100):
        found = sum(client.run(count).values())
        if found == 0:
            return 0
        time.sleep(0.05)
    return found


def options(method: str) -> dict:
    return {"max_iter": 40 if method == "best" else 10, "n_init": 2, "random_state": 3}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_every_method_gives_the_bits_of_one_machine(two, method, kind):
    data = kinds()[kind]
    one = orthant.ONMF(4, method=method, **options(method)).fit(data)
    many = orthant.dask.ONMF(4, method=method, **options(method)).fit(blocks(data, 200))
    assert_same(one, many)
    assert held(two) == 0


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
def test_spherical_k_means_and_weights_and_what_is_lazy(two, kind):
    data = kinds()[kind]
    weights = np.random.default_rng(0).random(len(X))
    one = orthant.SphericalKMeans(4, n_init=2).fit(data, sample_weight=weights)
    many = orthant.dask.SphericalKMeans(4, n_init=2)
    D = blocks(data, 130)
    labels = many.fit_predict(D, sample_weight=da.from_array(weights, chunks=100))
    assert_same(one, many)
    assert isinstance(labels, da.Array) and labels.chunks == D.chunks[:1]
    assert isinstance(many.predict(D), da.Array)
    np.testing.assert_array_equal(many.predict(D).compute(), one.predict(data))
    np.testing.assert_array_equal(many.transform(D).compute(), one.transform(data))
    assert many.score(D) == one.score(data)
    assert held(two) == 0


@slow
def test_any_number_of_workers_and_any_chunks_give_the_same_bits(client):
    one = orthant.ONMF(4, method="onp-mf", max_iter=8).fit(X)
    text = orthant.ONMF(4, method="em-onmf", n_init=3).fit(sp.csr_matrix(X))
    for workers, rows in [(1, 700), (3, 64), (5, 1), (2, 333)]:
        there(client, workers)
        assert_same(one, orthant.dask.ONMF(4, method="onp-mf", max_iter=8).fit(blocks(X, max(rows, 7))))
        many = orthant.dask.ONMF(4, method="em-onmf", n_init=3)
        assert_same(text, many.fit(blocks(sp.csr_matrix(X), max(rows, 7))))


@slow
def test_data_frames_and_lists_of_delayed_blocks(two):
    one = orthant.ONMF(4, method="em-onmf").fit(X)
    names = [f"f{i}" for i in range(X.shape[1])]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    many = orthant.dask.ONMF(4, method="em-onmf").fit(frame)
    assert_same(one, many)
    assert list(many.feature_names_in_) == names
    np.testing.assert_array_equal(many.predict(frame).compute(), one.predict(X))
    delayed = [dask.delayed(X[at : at + 150]) for at in range(0, len(X), 150)]
    assert_same(one, orthant.dask.ONMF(4, method="em-onmf").fit(delayed))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_block_folders_that_workers_read_give_the_same_bits(two, tmp_path, kind):
    data = kinds()[kind]
    weights = np.random.default_rng(1).random(len(X))
    path = tmp_path / "x.blocks"
    orthant.blocks.write(path, (data[at : at + 150] for at in range(0, len(X), 150)), weights=weights)
    one = orthant.ONMF(4, method="em-onmf").fit(data, sample_weight=weights)
    many = orthant.dask.ONMF(4, method="em-onmf").fit(path)
    assert_same(one, many)
    np.testing.assert_array_equal(many.predict(path).compute(), one.predict(data))
    assert held(two) == 0


def test_a_fit_goes_on_from_a_checkpoint_to_the_same_bits(two, tmp_path):
    parameters = {"method": "onp-mf", "max_iter": 12}
    path = tmp_path / "work.orthant"
    seen = []

    def ended(info) -> None:
        seen.append(info["n_iter"])
        if len(seen) == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        orthant.dask.ONMF(4, callback=ended, **parameters).fit(blocks(X, 200), checkpoint=path, checkpoint_every=0)
    assert path.exists()
    seen.clear()
    many = orthant.dask.ONMF(4, callback=lambda info: seen.append(info["n_iter"]), **parameters)
    many.fit(blocks(X, 90), checkpoint=path, checkpoint_every=0)
    assert seen[0] > 7, "the work that was saved was done again"
    assert_same(orthant.ONMF(4, **parameters).fit(X), many)
    assert not path.exists()


class Struck:
    """Does something to a worker in an iteration."""

    def __init__(self, client, at: int, what) -> None:
        self.client, self.at, self.what, self.seen, self.done = client, at, what, 0, False

    def __call__(self, info) -> None:
        self.seen += 1
        if self.seen >= self.at and not self.done:
            self.done = True
            self.what(self.client)


def killed(client) -> None:
    """A worker of this cluster, without warning."""
    processes = client.run(os.getpid)
    os.kill(random.choice(sorted(processes.values())), signal.SIGKILL)


def restarted(client) -> None:
    client.restart_workers([random.choice(sorted(client.scheduler_info(n_workers=-1)["workers"]))])


def retired(client) -> None:
    client.retire_workers([sorted(client.scheduler_info(n_workers=-1)["workers"])[0]])


def joined(client) -> None:
    client.cluster.scale(len(client.scheduler_info(n_workers=-1)["workers"]) + 1)


def struck(client, method: str, seed: int, what) -> None:
    there(client, 2)
    random.seed(seed)
    at = random.randint(1, {"em-onmf": 4, "onp-mf": 25, "best": 40}[method])
    parameters = {"max_iter": 60 if method == "best" else 30, "n_init": 2}
    one = orthant.ONMF(4, method=method, **parameters).fit(X)
    callback = Struck(client, at, what)
    many = orthant.dask.ONMF(4, method=method, callback=callback, **parameters).fit(blocks(X, 90))
    assert callback.done
    assert_same(one, many)
    assert held(client) == 0


@pytest.mark.parametrize("method", ["em-onmf"])
def test_a_worker_that_is_killed_changes_no_bit(client, method):
    struck(client, method, 1, killed)


@slow
@pytest.mark.parametrize("seed", range(20))
def test_twenty_workers_that_are_killed_change_no_bit(client, seed):
    struck(client, ["em-onmf", "onp-mf", "best"][seed % 3], 100 + seed, killed)


@slow
@pytest.mark.parametrize("what", [restarted, retired, joined])
def test_a_worker_that_restarts_retires_or_joins_changes_no_bit(client, what):
    struck(client, "onp-mf", 5, what)


@slow
def test_all_workers_killed_at_once_change_no_bit(client):
    def all_killed(client) -> None:
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)

    struck(client, "onp-mf", 7, all_killed)


def test_refusals_say_what_to_do_and_leave_nothing_behind(two):
    model = orthant.dask.ONMF(4, method="em-onmf")
    wrong = X.copy()
    wrong[650, 3] = np.nan
    with pytest.raises(ValueError, match="NaN at row 650, column 3"):
        model.fit(blocks(wrong, 100))
    assert held(two) == 0
    with pytest.raises(ValueError, match="split by columns"):
        model.fit(da.from_array(X, chunks=(100, 4)))
    with pytest.raises(ValueError, match="different numbers of columns"):
        model.fit([dask.delayed(X), dask.delayed(X[:, :5])])
    with pytest.raises(TypeError, match="orthant.ONMF takes what is in memory"):
        model.fit(X)
    huge = da.zeros((10**9, 1000), chunks=(10**5, 1000))
    with pytest.raises(MemoryError, match="add workers"):
        model.fit(huge)

    def broken(x):
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        model.fit([dask.delayed(broken)(0)])
    assert held(two) == 0


@slow
def test_interrupts_and_stops_leave_nothing_behind(two):
    def interrupted(info):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        orthant.dask.ONMF(4, method="onp-mf", callback=interrupted).fit(blocks(X, 100))
    assert held(two) == 0
    model = orthant.dask.ONMF(4, method="onp-mf", callback=lambda info: info["n_iter"] >= 3).fit(blocks(X, 100))
    assert model.n_iter_ == 3 and not model.converged_
    assert held(two) == 0


@slow
def test_memory_of_workers_comes_back(two):
    """Native memory, which Dask does not see, after fits that end and fits that fail."""
    large = made(60_000, 80, 4, 2)
    D = da.from_array(large, chunks=(5000, 80)).persist()

    def resident() -> int:
        return sum(two.run(lambda: __import__("psutil").Process().memory_info().rss).values())

    def failed(info):
        raise RuntimeError("as it were")

    def fitted(callback=None):
        orthant.dask.ONMF(4, method="onp-mf", max_iter=3, callback=callback).fit(D)

    fitted()
    assert held(two) == 0
    before = resident()
    for _ in range(3):
        fitted()
        with pytest.raises(RuntimeError, match="as it were"):
            fitted(failed)
        assert held(two) == 0
    # The allocator keeps some; six times the data would be 230 MB.
    assert resident() - before < 0.6 * large.nbytes


@slow
def test_a_cluster_without_workers_ends_a_fit_with_one_exception(monkeypatch):
    monkeypatch.setattr(_transport, "PATIENCE", 1.0)
    with cluster_of(1) as cluster, Client(cluster) as client:

        def gone(client) -> None:
            cluster.scale(0)

        model = orthant.dask.ONMF(4, method="onp-mf", callback=Struck(client, 3, gone))
        model.client = client
        with pytest.raises(RuntimeError, match="no worker for"):
            model.fit(blocks(X, 100))

"""On a cluster of real processes: the same bits as on one machine, whatever becomes of the workers."""

from __future__ import annotations

import asyncio
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask.utils import key_split
from distributed import Client, LocalCluster

import orthant
import orthant.dask
from orthant import _orthant
from orthant.dask import _estimators, _transport

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


# A worker that is killed twice within this time would not be started again.
dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})


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
def test_a_worker_that_restarts_retires_or_joins_changes_no_bit(what):
    # A cluster of its own: a worker that retired still counts as one of its cluster's.
    with cluster_of(2) as cluster, Client(cluster) as client:
        struck(client, "onp-mf", 5, what)


class Rounds(_transport.Transport):
    """Strikes before some rounds, from the first look at the data to the last figure of the certificate."""

    strikes: list[int] = []

    def call(self, orders):
        if self.strikes and self.rounds + 1 >= self.strikes[0]:
            self.strikes.pop(0)
            killed(self.client)
        return super().call(orders)


@slow
@pytest.mark.parametrize("method", ["em-onmf", "onp-mf"])
def test_kills_in_any_round_and_two_of_them_change_no_bit(client, method, monkeypatch):
    parameters = {"method": method, "max_iter": 12, "n_init": 2}
    one = orthant.ONMF(4, **parameters).fit(X)
    monkeypatch.setattr(_estimators, "Transport", Rounds)
    monkeypatch.setattr(Rounds, "strikes", [])
    there(client, 2)
    last = orthant.dask.ONMF(4, **parameters).fit(blocks(X, 90)).n_rounds_
    assert last > 12
    # An order that went astray is a round more: the last ones are those of the factors and the certificate.
    for strikes in ([1], [2], [last - 4], [last - 2], [last // 2, last // 2 + 3], [last // 3, last // 3 + 1]):
        there(client, 2)
        random.seed(last)
        monkeypatch.setattr(Rounds, "strikes", strikes)
        assert_same(one, orthant.dask.ONMF(4, **parameters).fit(blocks(X, 90)))
        assert not strikes, "nobody was killed"
        assert held(client) == 0


@slow
def test_workers_killed_while_they_load_or_predict_change_no_bit(client, tmp_path):
    there(client, 2)
    one = orthant.ONMF(4, method="em-onmf").fit(X)

    # Here, so that workers, who know nothing of this file, get all of it.
    def fatal(rows, path):
        """A block that ends whoever computes it, the first time."""
        if not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return rows

    def fatal_blocks(name: str):
        # The first is asked for its format before anything is loaded.
        parts = [dask.delayed(X[at : at + 175]) for at in range(0, len(X), 175)]
        parts = [dask.delayed(fatal)(part, tmp_path / f"{name}-{at}") if at % 2 else part for at, part in enumerate(parts)]
        return da.concatenate([da.from_delayed(part, (175, X.shape[1]), dtype=X.dtype) for part in parts])

    many = orthant.dask.ONMF(4, method="em-onmf").fit(fatal_blocks("fit"))
    assert_same(one, many)
    assert len(list(tmp_path.glob("fit-*"))) == 2
    np.testing.assert_array_equal(many.predict(fatal_blocks("predict")).compute(), one.predict(X))
    assert len(list(tmp_path.glob("predict-*"))) == 2
    assert held(client) == 0


DRIVER = """
import os, signal, sys
import dask.array as da
import numpy as np
from distributed import Client
import orthant.dask

seen = []


def ended(info):
    seen.append(info)
    if len(seen) == 8:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    scheduler, data, work = sys.argv[1:]
    X = da.from_array(np.load(data), chunks=(150, 9))
    with Client(scheduler):
        model = orthant.dask.ONMF(4, method="onp-mf", max_iter=20, callback=ended)
        model.fit(X, checkpoint=work, checkpoint_every=0)
"""


@slow
def test_a_driver_that_is_killed_leaves_nothing_behind_and_another_goes_on(two, tmp_path):
    data, work = tmp_path / "x.npy", tmp_path / "work.orthant"
    np.save(data, X)
    scheduler = two.scheduler.address
    ended = subprocess.run([sys.executable, "-c", DRIVER, scheduler, str(data), str(work)], timeout=120)
    assert ended.returncode == -signal.SIGKILL
    assert work.exists()
    assert held(two) == 0
    seen = []
    many = orthant.dask.ONMF(4, method="onp-mf", max_iter=20, callback=lambda info: seen.append(info["n_iter"]))
    many.fit(blocks(X, 90), checkpoint=work)
    assert seen[0] > 6, "the work that was saved was done again"
    assert_same(orthant.ONMF(4, method="onp-mf", max_iter=20).fit(X), many)


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


def test_columns_that_differ_are_refused_and_tasks_have_names(two):
    names = [f"f{i}" for i in range(X.shape[1])]
    # Without divisions, as from files.
    frame = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=3).clear_divisions()
    model = orthant.dask.ONMF(4, method="em-onmf", max_iter=2).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="X has 5 features"):
        model.predict(blocks(X[:, :5], 200))
    tasks = {key_split(key) for key in model.predict(blocks(X, 200)).dask}
    assert {"orthant-predict", "orthant-model"} <= tasks


def test_results_are_there_when_the_client_is_gone(two):
    one = orthant.ONMF(4, method="em-onmf").fit(X)
    model = orthant.dask.ONMF(4, method="em-onmf").fit(blocks(X, 200))
    labels = model.predict(blocks(X, 200))
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(labels.compute(), one.predict(X))
        np.testing.assert_array_equal(model.labels_.compute(), one.labels_)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(blocks(X, 200)).compute(), one.predict(X))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_arrays_that_lie_anywhere_in_memory_are_taken_on_one_machine_too(kind):
    """As they come from workers."""

    def astray(array):
        there = np.empty(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        there[...] = array
        assert not there.flags.aligned
        return there

    data = kinds()[kind]
    moved = astray(data) if kind == "dense" else data.copy()
    if kind == "sparse":
        moved.data, moved.indices = astray(data.data), astray(data.indices)
    assert_same(*(orthant.ONMF(4, method="em-onmf").fit(x) for x in (data, moved)))


def test_an_asynchronous_client_is_refused(two):
    async def fitted():
        async with Client(two.scheduler.address, asynchronous=True, set_as_default=False) as client:
            model = orthant.dask.ONMF(4)
            model.client = client
            model.fit(blocks(X, 200))

    with pytest.raises(TypeError, match="asynchronous"):
        asyncio.run(fitted())


@slow
def test_paths_of_parquet_and_zarr_give_the_same_bits(two, tmp_path):
    one = orthant.ONMF(4, method="em-onmf").fit(X)
    dd.from_pandas(pd.DataFrame(X, columns=list("abcdefghi")), npartitions=3).to_parquet(tmp_path / "x.parquet")
    # Blocks that do not have whole rows are put together on the way.
    da.from_array(X, chunks=(200, 4)).to_zarr(str(tmp_path / "x.zarr"))
    for name in ("x.parquet", "x.zarr"):
        many = orthant.dask.ONMF(4, method="em-onmf").fit(tmp_path / name)
        assert_same(one, many)
        np.testing.assert_array_equal(many.predict(tmp_path / name).compute(), one.predict(X))


@slow
def test_blocks_that_nobody_can_compute_again_end_a_fit_with_one_exception(client):
    there(client, 2)
    scattered = client.scatter([X[:350], X[350:]])

    def all_killed(client) -> None:
        for process in client.run(os.getpid).values():
            os.kill(process, signal.SIGKILL)

    model = orthant.dask.ONMF(4, method="onp-mf", callback=Struck(client, 5, all_killed))
    with pytest.raises(RuntimeError, match="a block of X was lost"):
        model.fit([dask.delayed(block) for block in scattered])


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
def test_a_search_beyond_the_clients_memory_goes_by_a_sample_as_from_disk(client, tmp_path):
    X = made(12_000, 20, 3, 8)
    np.save(tmp_path / "x.npy", X)
    options = {"method": "best", "effort": "quick", "memory": "16M"}
    alone = orthant.ONMF(3, **options).fit(tmp_path / "x.npy")
    spread = orthant.dask.ONMF(3, **options)
    spread.client = client
    spread.fit(blocks(X, 5_000))
    assert np.array_equal(np.asarray(spread.labels_), alone.labels_)
    assert np.array_equal(spread.components_, alone.components_) and spread.relative_error_ == alone.relative_error_
    # All of a search, whose rounds are hundreds, would have been on the cluster.
    assert spread.n_rounds_ < 60, spread.n_rounds_


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

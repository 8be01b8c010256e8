"""Data larger than memory: `./bench --only disk`. ORTHANT_DISK_GB says how large the dense file is (12; a tenth of it and
less still shows the same), and the budget is a twelfth of that. Memory is the kernel's own figure of a process that has ended
(ru_maxrss); sizes of the sparse set follow.
"""

import contextlib
import gzip
import json
import os
import resource
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / "release" / "orthant"
GB = float(os.environ.get("ORTHANT_DISK_GB", "12"))
FEATURES, K, THREADS = 224, 6, 2
BUDGET = max(64 << 20, int(GB / 12 * (1 << 30)))


def orthant(*arguments, limit=None):
    """Seconds, peak bytes and standard output of a run; `limit` is one of the address space."""
    command = [str(PROGRAM), *map(str, arguments)]
    begun = time.perf_counter()
    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limited)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: {err.decode()[-500:]}")
    return time.perf_counter() - begun, usage.ru_maxrss * 1024, out


@contextlib.contextmanager
def cold(path, is_cold=True):
    """The system forgets its copies of a file, again and again: a file that fits its memory would be read from there the
    second time."""
    over = threading.Event()

    def forget():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            while True:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                if over.wait(0.2):
                    return

    if not is_cold:
        yield
        return
    thread = threading.Thread(target=forget)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def read_through(path):
    """Seconds to read a file once as Orthant does: plain reads of 32 MB into memory that is used again."""
    buffer = bytearray(32 << 20)
    begun = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass
    return time.perf_counter() - begun


def disk(bench):
    if not bench.only or bench.only not in "disk":
        return
    folder = bench.work
    try:
        dense(bench, folder)
        sparse(bench, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def dense(bench, folder):
    points = int(GB * 1e9 / 4 / FEATURES)
    big, memory = folder / "big.npy", ["--memory", BUDGET, "--threads", THREADS]
    shape = f"{points} × {FEATURES} float32 ({GB:g} GB), budget {BUDGET / 1e6:.0f} MB"

    def peak(name, seconds, found, allowed=1.15 * BUDGET):
        note = f"{found / 1e6:.0f} MB, {seconds:.1f} s"
        bench.add(f"peak memory of {name}, {shape}", "the budget", {}, found / BUDGET, allowed / BUDGET, most=True, note=note)

    seconds, found, _ = orthant("generate", "large", "--points", points, "--features", FEATURES, "--clusters", K, "--out", big)
    peak("generate", seconds, found)
    result = folder / "result"
    em = ["cluster", big, "-k", K, "-a", "em-onmf", "--runs", 1, "--json", "-q", *memory]
    # Twice as many clusters as there are, from points drawn at random: with fewer it has converged before it can be timed.
    long = ["cluster", big, "-k", 2 * K, "-a", "em-onmf", "--runs", 1, "--start", "random", "--json", "-q", *memory]
    for state in ("cold", "warm"):
        took = {}
        if state == "warm":
            read_through(big)
        for limit in (2, 7):
            with cold(big, state == "cold"):
                seconds, _, out = orthant(*long, "--max-iterations", limit)
            took[json.loads(out)["iterations"]] = seconds
        with cold(big, state == "cold"):
            reading = read_through(big)
        assert len(took) == 2, "it converged too early to tell what an iteration takes"
        (few, first), (more, second) = sorted(took.items())
        each = (second - first) / (more - few)
        bench.add(f"EM iteration from disk, {state} cache, {shape}", "reading the file", {}, each / reading, 1.25,
                  most=True, note=f"{each:.2f} s, reading {reading:.2f} s")
    seconds, found, _ = orthant(*em, "--out", result)
    peak("em-onmf", seconds, found)
    seconds, found, _ = orthant("cluster", big, "-k", K, "-a", "onp-mf", "--max-iterations", 3, "-q", *memory)
    peak("onp-mf (3 iterations)", seconds, found)
    seconds, found, out = orthant("cluster", big, "-k", K, "-a", "best", "--effort", "quick", "--json", "-q", *memory)
    peak("best", seconds, found)
    ours = json.loads(out)
    seconds_best = seconds
    seconds, found, _ = orthant("predict", result, big, "--out", folder / "labels.txt", "-q", *memory)
    peak("predict", seconds, found)
    seconds, found, _ = orthant("convert", big, folder / "big.blocks", "-q", *memory)
    peak("convert", seconds, found)
    shutil.rmtree(folder / "big.blocks")
    seconds, found, _ = orthant(*em, "--max-iterations", 3, limit=int(1.2 * BUDGET))
    bench.add(f"em-onmf with an address space of the budget + 20 %, {shape}", "it ends", {}, 1.0, 1.0, note=f"{seconds:.1f} s")

    # A copy that fits, held and streamed.
    small = folder / "small.npy"
    orthant("generate", "large", "--points", 50_000, "--features", FEATURES, "--clusters", K, "--out", small)
    answers = []
    for more in ([], ["--memory", 16 << 20]):
        _, _, out = orthant("cluster", small, "-k", K, "-a", "em-onmf", "--json", "-q", *more)
        answers.append({key: json.loads(out)[key] for key in ("relative_error", "objective", "sizes", "iterations")})
    bench.add("same bits from disk and in memory, 50000 points", "equal", {}, float(answers[0] == answers[1]), 1.0)
    beside(bench, big, points, shape, ours, seconds_best)
    big.unlink()


def beside(bench, big, points, shape, ours, seconds):
    """What scikit-learn's streaming estimators reach, two passes over the same file, as an error of rank-one clusters."""
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.decomposition import MiniBatchNMF

    step = 8192
    x = np.load(big, mmap_mode="r")
    def blocks():
        for at in range(0, points, step):
            yield np.array(x[at : at + step])

    def error(directions):
        """Every point on the nearest of unit directions."""
        u = directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-30)
        total = left = 0.0
        for block in blocks():
            norms = (block.astype(np.float64) ** 2).sum(1)
            total += norms.sum()
            left += (norms - (block @ u.T.astype(np.float32)).max(1).astype(np.float64) ** 2).sum()
        return (left / total) ** 0.5

    for name, model in (("MiniBatchKMeans", MiniBatchKMeans(K, random_state=0, n_init=1)),
                        ("MiniBatchNMF", MiniBatchNMF(K, random_state=0, init="nndsvda"))):
        begun = time.perf_counter()
        for _ in range(2):
            for block in blocks():
                if len(block) >= K:
                    model.partial_fit(block)
        took = time.perf_counter() - begun
        reached = error(model.cluster_centers_ if name == "MiniBatchKMeans" else model.components_)
        note = f"error {ours['relative_error']:.5f} in {seconds:.0f} s, {name} {reached:.5f} in {took:.0f} s"
        bench.add(f"error of best from disk, {shape}", name, {}, reached / ours["relative_error"], 1.0, note=note)


def sparse(bench, folder):
    entries = int(200e6 * GB / 12)
    points, features = max(entries // 100, 1000), 30_000
    path, memory = folder / "counts.mtx.gz", ["--memory", BUDGET, "--threads", THREADS]
    rng = np.random.default_rng(3)
    each = entries // points
    # Twenty topics: words by a power law, more than half of them in the topic's own order.
    law = np.cumsum(1 / np.arange(1, features + 1) ** 0.7)
    orders = np.array([rng.permutation(features) for _ in range(21)])
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(f"%%MatrixMarket matrix coordinate integer general\n{points} {features} {points * each}\n".encode())
        # Not sorted: blocks of points in a random order, entries of a block shuffled. A word that a point has already is drawn anew.
        for block in rng.permutation(np.arange(0, points, 1000)):
            count = min(1000, points - block)
            word = np.searchsorted(law, law[-1] * rng.random((count, each)))
            topic = np.where(rng.random((count, each)) < 0.6, rng.integers(20, size=(count, 1)), 20)
            rows = np.repeat(np.arange(block, block + count), each)
            order = rng.permutation(len(rows))
            columns = np.sort(orders[topic, word])
            while (again := np.diff(columns, prepend=-1) == 0).any():
                columns[again] = rng.integers(features, size=again.sum())
                columns.sort()
            columns = columns.ravel()
            lines = np.column_stack([rows[order] + 1, columns[order] + 1, np.ones(len(rows), dtype=int)])
            file.write(b"\n".join(b"%d %d %d" % tuple(line) for line in lines.tolist()) + b"\n")
    shape = f"{points * each} nonzeros, {points} × {features}, budget {BUDGET / 1e6:.0f} MB"
    within, found, _ = orthant("convert", path, folder / "counts.blocks", "-q", *memory)
    freely, _, _ = orthant("convert", path, folder / "free.npz", "-q", "--threads", THREADS)
    note = f"{found / 1e6:.0f} MB, {within:.1f} s; unlimited into .npz {freely:.1f} s"
    bench.add(f"peak memory of convert, gzip, unsorted, {shape}", "the budget", {}, found / BUDGET, 1.15, most=True, note=note)
    bench.add(f"convert within the budget, {shape}", "unlimited convert", {}, freely / within, 0.5, note=note)
    seconds, found, _ = orthant("cluster", folder / "counts.blocks", "-k", 10, "-a", "em-onmf", "--runs", 10,
                                "--max-iterations", 10, "-q", *memory)
    note = f"{found / 1e6:.0f} MB, {seconds:.1f} s"
    bench.add(f"peak memory of em-onmf, 10 starts, {shape}", "the budget", {}, found / BUDGET, 1.15, most=True, note=note)

"""The rows of the table: what is measured, against what, and what it should at least show.

All sides run in turn in this process (the engine's own passes in a child of it), on the same data, with the
same number of threads. Seconds are from the matrix in memory to labels and factors; Orthant's certificate, which
nobody else computes, is left out of them. Ratios are of medians.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import clusters
import data
import disk
import numpy as np
import record
import scipy.io
import sides
from measure import alternate, timed

ROOT = Path(__file__).resolve().parent.parent
FLOOR = ROOT / "target" / "release" / "orthant-floor"


@dataclass
class Row:
    """One line of the table."""

    work: str
    against: str
    #: What each side took: seconds, megabytes, quality.
    sides: dict
    #: How many times faster (or, for floors and growth, how many times as long).
    ratio: float
    #: What it should be: at least, or at most where `most` is set.
    target: float | None = None
    most: bool = False
    note: str = ""
    met: bool = field(init=False)

    def __post_init__(self):
        self.met = self.target is None or (self.ratio <= self.target if self.most else self.ratio >= self.target)


class Bench:
    def __init__(self, folder, quick, only):
        self.folder, self.quick, self.only, self.rows = folder, quick, only, []
        self.work = Path(tempfile.mkdtemp(prefix="orthant-bench-"))

    def repetitions(self, full):
        return 1 if self.quick else full

    def wanted(self, name):
        return not self.only or self.only in name

    def add(self, *args, **more):
        row = Row(*args, **more)
        self.rows.append(row)
        print(record.line(row), flush=True)

    def floor(self, *args):
        """Runs the engine's own measurements in a child process."""
        return json.loads(subprocess.check_output([FLOOR, *map(str, args)], text=True))


def described(measured):
    return {
        name: {"seconds": side.median, "megabytes": side.peak, **side.quality} for name, side in measured.items()
    }


def fitted(result, x, truth=None):
    """Of an Orthant fit: what it cost and how good it is."""
    seconds, fit = result
    quality = {"error": fit.relative_error, "iterations": fit.n_iter, "certificate": fit.certificate_seconds}
    if truth is not None:
        quality["accuracy"] = sides.accuracy(fit.labels, truth)
    return seconds, quality


def texts(bench):
    """Thirty starts on sparse text: EM-ONMF, spherical k-means and k-means against KMeans. In a race, which is what the
    program's --runs is, all are asked for the best alone, as KMeans is."""
    names = [n for n in ("ohscal", "reviews", "classic") if bench.wanted(f"text {n}")]
    ratios = {"EM-ONMF": [], "EM-ONMF, a race": [], "spherical k-means": [], "k-means": []}
    for name in names:
        x, truth, k, origin = data.text(bench.folder, name)
        unit = sides.normalised(x)
        runs = 30

        def ours(method, race=False):
            def work():
                result = sides.orthant(x, k, method, 2, start="random", runs=runs, race=race)
                seconds, quality = fitted(result, x, truth)
                if method != "em-onmf":
                    of = unit if method == "spherical-k-means" else x
                    quality["inertia"] = sides.inertia(of, result[1].labels, k)
                return seconds, quality

            return work

        def peer(of):
            def work():
                seconds, model = sides.kmeans(of, k, 2, runs)
                quality = {"inertia": model.inertia_, "accuracy": sides.accuracy(model.labels_, truth)}
                if of is x:
                    quality["error"] = sides.onmf_error(x, model.labels_)
                return seconds, quality | {"iterations": model.n_iter_}

            return work

        measured = alternate(
            {
                "EM-ONMF": ours("em-onmf"),
                "EM-ONMF, a race": ours("em-onmf", race=True),
                "k-means": ours("k-means"),
                "KMeans": peer(x),
                "spherical k-means": ours("spherical-k-means"),
                "KMeans, normalised rows": peer(unit),
            },
            bench.repetitions(3),
        )
        for method, against, target in (
            ("EM-ONMF", "KMeans", 5),
            ("EM-ONMF, a race", "KMeans", 5),
            ("spherical k-means", "KMeans, normalised rows", 5),
            ("k-means", "KMeans", 5),
        ):
            ratio = measured[against].median / measured[method].median
            ratios[method].append(ratio)
            both = {n: measured[n] for n in (method, against)}
            note = ""
            if method == "k-means":
                ours_, theirs = (measured[n].quality["inertia"] for n in (method, against))
                note = f"inertia {ours_ / theirs:.4f} of theirs"
            bench.add(f"{method}, 30 starts, {origin}", against, described(both), ratio, target, note=note)
    if len(names) == 3:
        for method in ("EM-ONMF", "EM-ONMF, a race", "spherical k-means"):
            mean = math.exp(np.mean(np.log(ratios[method])))
            bench.add(f"{method}, 30 starts, geometric mean", "KMeans", {}, mean, 8)


def search(bench):
    """`best` at normal effort against KMeans with ten starts, on sets of more than 5000 points."""
    names = [name for name in ("ohscal", "classic", "news") if bench.wanted(f"search {name}")]
    ratios = []
    for name in names:
        counts, truth, k, origin = data.news() if name == "news" else data.text(bench.folder, name)
        for x, kind in ((counts, "counts"), (sides.normalised(counts), "unit norm")):

            def ours(x=x):
                return fitted(sides.orthant(x, k, "best", 2), x, truth)

            def peer(x=x):
                seconds, model = sides.kmeans(x, k, 2, 10, init="k-means++")
                error, accuracy = sides.onmf_error(x, model.labels_), sides.accuracy(model.labels_, truth)
                return seconds, {"error": error, "accuracy": accuracy}

            measured = alternate({"best": ours, "KMeans, k-means++": peer}, bench.repetitions(3))
            ratios.append(measured["best"].median / measured["KMeans, k-means++"].median)
            work = f"best, normal effort, {origin}, {kind}"
            bench.add(work, "KMeans, 10 starts", described(measured), ratios[-1], most=True)
    if len(names) == 3:
        mean = math.exp(np.mean(np.log(ratios)))
        bench.add("best, normal effort, geometric mean", "KMeans, 10 starts", {}, mean, 1, most=True)


def scene(bench):
    """One start on a dense scene: a whole run, and an iteration."""
    if not bench.wanted("scene"):
        return
    x, truth, k, origin = data.scene(bench.folder)

    def ours():
        return fitted(sides.orthant(x, k, "em-onmf", 2, start="random"), x, truth)

    def peer():
        seconds, model = sides.kmeans(x, k, 2)
        return seconds, {"iterations": model.n_iter_, "accuracy": sides.accuracy(model.labels_, truth)}

    def faiss():
        seconds, model = sides.faiss_kmeans(x, k, 2, 25)
        return seconds, {"iterations": 25, "inertia": float(model.obj[-1])}

    measured = alternate({"EM-ONMF": ours, "KMeans": peer, "faiss": faiss}, bench.repetitions(5))
    each = {n: s.median / s.quality["iterations"] for n, s in measured.items()}
    shape = f"94249 × 162 float32, k = 6 ({origin})"
    for against in ("KMeans", "faiss"):
        both = described({n: measured[n] for n in ("EM-ONMF", against)})
        target = 3 if against == "KMeans" else None
        ratio = measured[against].median / measured["EM-ONMF"].median
        bench.add(f"EM-ONMF, one start, in total, {shape}", against, both, ratio, target)
        bench.add("EM-ONMF, one start, each iteration, same", against, {}, each[against] / each["EM-ONMF"], target)


def faces(bench):
    """O-PNMF with equal iterations."""
    if not bench.wanted("faces"):
        return
    x, k, origin = data.faces(bench.folder)
    iterations = 500

    def ours():
        values = [("max-iterations", iterations), ("tolerance", 0.0)]
        return fitted(sides.orthant(x, k, "o-pnmf", 2, values, start="nndsvd"), x)

    def peer():
        seconds, (w, _, mse) = sides.opnmf(x, k, 2, iterations)
        error = sides.onmf_error(x, w.argmax(axis=1))
        return seconds, {"iterations": iterations, "error": error}

    measured = alternate({"O-PNMF": ours, "opnmf": peer}, bench.repetitions(3))
    ratio = measured["opnmf"].median / measured["O-PNMF"].median
    bench.add(f"O-PNMF, {iterations} iterations, k = 20, faces ({origin})", "opnmf", described(measured), ratio, 20)


def onp(bench):
    """ONP-MF with the paper's schedule against numpy, one thread; what the SVD start costs."""
    if not bench.wanted("onp tr11"):
        return
    x, truth, k, origin = data.text(bench.folder, "tr11")

    def ours():
        return fitted(sides.orthant(x, k, "onp-mf", 1), x, truth)

    def peer():
        seconds, result = sides.numpy_onp_mf(x, k, 1)
        accuracy, error = sides.accuracy(result["labels"], truth), sides.onmf_error(x, result["labels"])
        return seconds, {"iterations": result["iterations"], "accuracy": accuracy, "error": error}

    def start():
        return fitted(sides.orthant(x, k, "onp-mf", 1, [("max-iterations", 1)]), x)

    measured = alternate({"ONP-MF": ours, "numpy": peer, "its start": start}, bench.repetitions(3))
    both = described({n: measured[n] for n in ("ONP-MF", "numpy")})
    ratio = measured["numpy"].median / measured["ONP-MF"].median
    bench.add(f"ONP-MF, paper's schedule, {origin}, one thread", "numpy, two products", both, ratio, 4)
    share = measured["its start"].median / measured["ONP-MF"].median
    bench.add(f"SVD start (and finish) of ONP-MF, {origin}", "the whole run", {}, share, 0.1, most=True)


def floors(bench):
    """Iterations against what the machine can do at most."""
    if not bench.wanted("floor"):
        return
    x, _, k, _ = data.scene(bench.folder)
    file = bench.work / "scene.npy"
    np.save(file, x)
    for threads in (1, 2):
        found = [bench.floor(file, k, threads, 60) for _ in range(bench.repetitions(3))]
        for name, title, target in (("em", "EM pass", 1.5), ("onp", "ONP-MF iteration", 3)):
            ratios = [f[name]["seconds"] / f[name]["floor"] for f in found]
            middle = found[int(np.argsort(ratios)[len(ratios) // 2])]
            of = middle[name]
            kind = "memory" if of["by_memory"] >= of["by_arithmetic"] else "arithmetic"
            note = f"{of['bandwidth'] / 1e9:.1f} GB/s, {middle['peak'] / 1e9:.0f} Gflop/s, bound by {kind}"
            sides_ = {"Orthant": {"seconds": of["seconds"]}, "floor": {"seconds": of["floor"]}}
            title = f"{title}, 94249 × 162 float32, k = 6, threads: {threads}"
            target = target if threads == 1 else None
            bench.add(title, "floor", sides_, float(np.median(ratios)), target, most=True, note=note)


def sparse_pass(bench):
    """The two products of an iteration on sparse data."""
    if not bench.wanted("sparse pass"):
        return
    x, _, k, origin = data.text(bench.folder, "ohscal")
    file = bench.work / "ohscal.npz"
    import scipy.sparse as sp

    sp.save_npz(file, x)
    u = np.random.default_rng(0).random((x.shape[1], k))

    def ours(threads):
        return lambda: (bench.floor(file, k, threads, 60)["two_products"], {})

    def peer():
        return float(np.median([timed(lambda: x.T @ (x @ u))[0] for _ in range(60)])), {}

    names = {"Orthant": ours(2), "Orthant, one thread": ours(1), "scipy": peer}
    measured = alternate(names, bench.repetitions(5))
    for name, target in (("Orthant", 3), ("Orthant, one thread", None)):
        both = described({n: measured[n] for n in (name, "scipy")})
        threads = 2 if name == "Orthant" else 1
        ratio = measured["scipy"].median / measured[name].median
        bench.add(f"sparse pass, {origin}, k = 10, threads: {threads}", "scipy's two products", both, ratio, target)
    for threads in (1, 2):
        found = [bench.floor(file, k, threads, 60) for _ in range(bench.repetitions(3))]
        copy, plain = (float(np.median([f[n] for f in found])) for n in ("two_products", "two_products_without_copy"))
        both = {"with the copy": {"seconds": copy}, "without": {"seconds": plain}}
        note = f"the copy takes {(x.nnz * 12 + x.shape[1] * 8) / 1e6:.0f} MB"
        bench.add(f"transposed copy, {origin}, k = 10, threads: {threads}", "without it", both, plain / copy, note=note)


def growth(bench):
    """Ten times the points; one thread and two."""
    if not bench.wanted("growth"):
        return
    small, _, k, _ = data.scene(bench.folder)
    large = np.tile(small, (10, 1))
    for method in ("em-onmf", "onp-mf"):
        values = [("max-iterations", 20)] + ([("tolerance", 0.0)] if method == "onp-mf" else [])

        def work(x, threads):
            return lambda: fitted(sides.orthant(x, k, method, threads, values), x)

        both = alternate({"once": work(small, 2), "ten times": work(large, 2)}, bench.repetitions(3))
        ratio = both["ten times"].median / both["once"].median
        bench.add(f"{method}, 10 × points, time", "94249 points", described(both), ratio, 10.5, most=True)
        memory = both["ten times"].peak / both["once"].peak
        bench.add(f"{method}, 10 × points, memory beyond the data", "94249 points", {}, memory, 10.5, most=True)
        two = alternate({"one thread": work(large, 1), "two threads": work(large, 2)}, bench.repetitions(3))
        ratio = two["one thread"].median / two["two threads"].median
        bench.add(f"{method}, two threads, 942490 × 162", "one thread", described(two), ratio, 1.7)
    # So small that a second thread has nothing to do.
    tiny = np.ascontiguousarray(small[::210])
    work = lambda threads: lambda: fitted(sides.orthant(tiny, k, "em-onmf", threads, start="random", runs=10), tiny)
    two = alternate({"one thread": work(1), "two threads": work(2)}, bench.repetitions(9) * 3)
    ratio = two["one thread"].median / two["two threads"].median
    bench.add("em-onmf, two threads, 449 × 162, 10 starts", "one thread", described(two), ratio, 0.95)


#: Bytes that each method keeps for a point: labels, V, D and Λ, leads; for k clusters.
STATE = {
    "em-onmf": lambda k: 4,
    "k-means": lambda k: 12,
    "spherical-k-means": lambda k: 12,
    "onp-mf": lambda k: 24 * k,
    "chnmf": lambda k: 8 * k,
    "o-pnmf": lambda k: 8 * k,
    "kl-onmf": lambda k: 4,
    "best": lambda k: 24 * k + 4,
}


def memory(bench):
    """What each method holds beyond the data, against a tenth of them and its own arrays."""
    if not bench.wanted("memory"):
        return
    x, _, k, _ = data.scene(bench.folder)
    for method, state in STATE.items():
        values = [] if method == "best" else [("max-iterations", 5)]
        side = alternate({method: lambda: fitted(sides.orthant(x, k, method, 2, values), x)}, 1)[method]
        # Labels and strengths of the result are arrays that Python gets.
        allowed = (0.1 * x.nbytes + x.shape[0] * (state(k) + 12)) / 1e6
        title = f"memory of {method} beyond the data, 94249 × 162 float32, k = 6"
        note = f"{side.peak:.0f} MB of {allowed:.0f}"
        bench.add(title, "a tenth of the data + its arrays", {}, side.peak / allowed, 1, most=True, note=note)


def reading(bench):
    """Matrix Market, plain and gzip."""
    if not bench.wanted("reading"):
        return
    import fast_matrix_market
    import gzip

    x, _, _, origin = data.text(bench.folder, "ohscal")
    plain, packed = bench.work / "ohscal.mtx", bench.work / "ohscal.mtx.gz"
    scipy.io.mmwrite(plain, x.astype(int))
    packed.write_bytes(gzip.compress(plain.read_bytes(), 6))
    for file, kind in ((plain, "plain"), (packed, "gzip")):
        def ours():
            return bench.floor("read", file, 2)["seconds"], {}

        def scipys():
            return timed(lambda: scipy.io.mmread(file).tocsr())[0], {}

        def fast():
            return timed(lambda: fast_matrix_market.mmread(file, parallelism=2).tocsr())[0], {}

        measured = alternate({"Orthant": ours, "scipy": scipys, "fast_matrix_market": fast}, bench.repetitions(5))
        for against in ("scipy", "fast_matrix_market"):
            both = described({n: measured[n] for n in ("Orthant", against)})
            ratio = measured[against].median / measured["Orthant"].median
            bench.add(f"reading Matrix Market ({kind}, {origin}) into compressed rows", against, both, ratio)


def dask(bench):
    """A round on 2 to 16 workers; an iteration on 2 workers of one thread beside one process with 2 threads."""
    if not bench.wanted("dask"):
        return
    for workers in (2, 4, 8, 16):
        with clusters.cluster(workers) as client:
            empty, full = clusters.round_seconds(client)
        both = {"nothing": {"seconds": empty}, "1 MiB to each": {"seconds": full}}
        bench.add(f"a round with nothing to do, Dask, {workers} workers", "1 MiB to each", both, full / empty)
    for kind, make in (("dense", clusters.dense), ("sparse", clusters.sparse)):
        for method in ("em-onmf", "onp-mf"):
            with clusters.cluster(2) as client:
                # Held by Dask only where dask-ml needs it: workers hold their blocks, and this process has all of it once more.
                beside_dask_ml = kind == "dense" and method == "em-onmf"
                X = make().persist() if beside_dask_ml else make()
                whole = clusters.whole(X)

                def many():
                    return clusters.iteration_on_cluster(client, X, method)

                def one():
                    return clusters.iteration_in_one_process(whole, method)

                sides = {"Dask, 2 workers": many, "one process, 2 threads": one}
                if beside_dask_ml:
                    sides["dask-ml"] = lambda: clusters.iteration_of_dask_ml(X)
                measured = alternate(sides, bench.repetitions(3))
                ours, alone = (measured[name] for name in ("Dask, 2 workers", "one process, 2 threads"))
                assert ours.quality == alone.quality, "the results differ"
                what = f"{method}, an iteration on Dask, {kind}, {whole.shape[0]} x {whole.shape[1]}, k = {clusters.K}"
                both = {name: {"seconds": measured[name].median} for name in list(sides)[:2]}
                bench.add(what, "one process, 2 threads", both, ours.median / alone.median, target=1.25, most=True)
                if beside_dask_ml:
                    theirs = measured["dask-ml"].median
                    both = {"Orthant": {"seconds": ours.median}, "dask-ml": {"seconds": theirs}}
                    bench.add(what, "dask-ml KMeans, same cluster", both, theirs / ours.median, target=5)
                del X, whole


GROUPS = (texts, search, scene, faces, onp, floors, sparse_pass, growth, memory, reading, disk.disk, dask)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one repetition of each")
    parser.add_argument("--only", help="rows whose group has this word; nothing is recorded")
    parser.add_argument("--record", action="store_true", help="records the rows of --only too, under its name")
    options = parser.parse_args()
    folder = data.where(os.environ.get("ORTHANT_DATA", ""))
    if folder is None:
        print("no folder with published sets (ORTHANT_DATA): data of the same shapes are made")
    bench = Bench(folder, options.quick, options.only)
    begun = time.time()
    for group in GROUPS:
        group(bench)
    seconds = time.time() - begun
    if options.record or not options.only:
        path = record.write(ROOT, bench.rows, options.quick, seconds, options.only)
        print(f"written: {path.relative_to(ROOT)}")
    missed = [row.work for row in bench.rows if not row.met]
    print(f"{len(bench.rows)} rows in {seconds:.0f} s, {len(missed)} short of their target")


if __name__ == "__main__":
    main()

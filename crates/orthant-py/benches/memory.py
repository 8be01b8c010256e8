"""Peak memory of a fit beyond its input, for each method: ``python memory.py [dense|sparse] [GIGABYTES]``.

Every fit runs in a process of its own. The last column is what remains after the method's arrays of
points x k and the copy of sparse indices, as a share of the input; the promise is at most 10 %.
"""

import subprocess
import sys

K = 10
#: Bytes for each point: labels, and the arrays of points x k in float64.
ARRAYS = {"em-onmf": 4, "onp-mf": 4 + 24 * K, "best": 4 + 24 * K, "chnmf": 4 + 8 * K, "o-pnmf": 4 + 8 * K, "skm": 4}

CHILD = """
import resource, sys
import numpy as np, scipy.sparse as sp
from orthant import ONMF, SphericalKMeans
method, kind, size, k = sys.argv[1], sys.argv[2], float(sys.argv[3]), int(sys.argv[4])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
rng = np.random.default_rng(0)
if kind == "dense":
    n = int(size * 1e9 / 4 / 500)
    X = np.empty((n, 500), dtype=np.float32)
    for i in range(0, n, 4096):
        X[i : i + 4096] = rng.random(X[i : i + 4096].shape, dtype=np.float32)
    bytes = X.nbytes
else:
    n, row, m = int(size * 1e9 / 12 / 100), 100, 20000
    # Each row is large in one tenth of the columns: without any structure singular vectors take for ever.
    indices, values = np.empty(n * row, dtype=np.int32), np.empty(n * row)
    step = m // row
    for i in range(0, n, 4096):
        count = min(4096, n - i)
        drawn = rng.integers(0, step, (count, row), dtype=np.int32) + np.arange(0, m, step, dtype=np.int32)
        indices[i * row : (i + count) * row] = drawn.ravel()
        own = drawn * 10 // m == rng.integers(0, 10, (count, 1))
        values[i * row : (i + count) * row] = np.where(own, 10.0, 1.0).ravel()
    X = sp.csr_array((values, indices, np.arange(0, n * row + 1, row, dtype=np.int32)), shape=(n, m))
    X.has_canonical_format = True
    bytes = X.data.nbytes + X.indices.nbytes
copied = 0 if kind == "dense" else X.indices.nbytes + 8 * n
options = dict(n_clusters=k, max_iter=3)
model = SphericalKMeans(init="random", n_init=1, **options) if method == "skm" else ONMF(method=method, **options)
model.fit(X[:200])
before = peak()
model.fit(X)
print(n, bytes, copied, peak() - before)
"""


def main():
    kind = sys.argv[1] if len(sys.argv) > 1 else "dense"
    size = sys.argv[2] if len(sys.argv) > 2 else "2"
    print(f"{'method':10}{'input MB':>10}{'beyond MB':>11}{'arrays MB':>11}{'rest':>8}")
    for method, per_point in ARRAYS.items():
        command = [sys.executable, "-W", "ignore", "-c", CHILD, method, kind, size, str(K)]
        n, data, copied, beyond = map(int, subprocess.check_output(command, text=True).split())
        arrays = n * per_point + copied
        rest = max(0, beyond - arrays) / data
        print(f"{method:10}{data / 1e6:10.0f}{beyond / 1e6:11.1f}{arrays / 1e6:11.1f}{rest:8.1%}", flush=True)


if __name__ == "__main__":
    main()

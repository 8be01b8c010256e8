"""The bench calls the compiled part directly, past the estimators: a change of that must not leave it behind."""

import pathlib
import subprocess
import sys

import pytest

BENCHES = pathlib.Path(__file__).resolve().parents[3] / "benches"

PROGRAM = """
import numpy as np, scipy.sparse, bench, sides
from orthant import ONMF
x = np.random.default_rng(0).random((60, 12)) ** 4
for data in (x, scipy.sparse.csr_array(np.where(x > 0.1, x, 0))):
    for method in ("em-onmf", "k-means", "onp-mf"):
        start = "random" if method != "onp-mf" else None
        seconds, quality = bench.fitted(sides.orthant(data, 3, method, 1, start=start, runs=2), data)
        assert seconds > 0 and 0 < quality["error"] < 1 and quality["iterations"] > 0, quality
    own = ONMF(3, method="onp-mf").fit(data)
    assert quality["error"] == own.relative_error_, (quality, own.relative_error_)
"""


@pytest.mark.skipif(not BENCHES.is_dir(), reason="the benches are not part of the source package")
def test_the_bench_speaks_to_this_engine():
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=BENCHES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""Files written by scipy, numpy and scikit-learn give equal matrices through `orthant convert`.

Usage: python tests/formats.py PATH/TO/orthant
"""

import gzip
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

PROGRAM = sys.argv[1]
RANDOM = np.random.default_rng(0)


def matrices():
    """Shapes and values that readers get wrong: empty rows and columns, integers, one row, large numbers."""
    sparse = sp.random(40, 23, density=0.15, random_state=1, format="csr")
    sparse[7] = 0
    sparse[:, 5] = 0
    sparse.eliminate_zeros()
    counts = sparse.copy()
    counts.data = np.ceil(counts.data * 9)
    yield "sparse", sparse.tocsr()
    yield "counts", counts.tocsr()
    yield "dense", RANDOM.random((12, 7))
    yield "row", RANDOM.random((1, 5))
    yield "large", RANDOM.random((6, 4)) * 1e300


def toarray(x):
    return x.toarray() if sp.issparse(x) else np.asarray(x)


def convert(path, *options):
    out = path.with_name(path.name + ".out.npy")
    ran = subprocess.run(
        [PROGRAM, "convert", str(path), str(out), *options], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise AssertionError(f"{path.name}: exit {ran.returncode}: {ran.stderr.strip()}")
    return np.load(out)


def main():
    passed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def check(path, expected, *options):
            nonlocal passed
            found = convert(path, *options)
            expected = toarray(expected)
            assert found.shape == expected.shape, f"{path.name}: {found.shape}, not {expected.shape}"
            assert np.array_equal(found, expected), f"{path.name}: largest difference {abs(found - expected).max()}"
            passed += 1

        for name, x in matrices():
            dense = toarray(x)
            scipy.io.mmwrite(folder / f"{name}.mtx", x, precision=17)
            check(folder / f"{name}.mtx", dense)
            zipped = folder / f"{name}.mtx.gz"
            zipped.write_bytes(gzip.compress((folder / f"{name}.mtx").read_bytes()))
            check(zipped, dense)
            for order in "CF":
                for kind in ["<f8", ">f8", "<f4"]:
                    if name == "large" and kind == "<f4":
                        continue
                    path = folder / f"{name}-{order}{kind[1:]}{'b' if kind[0] == '>' else 'l'}.npy"
                    np.save(path, np.array(dense, dtype=kind, order=order))
                    check(path, dense.astype(kind))
            for compressed in [True, False]:
                for kind in [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix]:
                    path = folder / f"{name}-{kind.__name__}-{compressed}.npz"
                    sp.save_npz(path, kind(x), compressed=compressed)
                    check(path, dense)
                path = folder / f"{name}-{compressed}.mat"
                # Other variables must not be in the way: a struct, a cell array, text.
                other = {"info": {"a": 1, "b": "text"}, "names": np.array(["x", "yy"], dtype=object)}
                scipy.io.savemat(path, {**other, "M": x}, do_compression=compressed)
                check(path, dense, "--variable", "M")
            np.savetxt(folder / f"{name}.csv", dense, delimiter=",", fmt="%.17g")
            check(folder / f"{name}.csv", dense)
            if name != "row":
                dump_svmlight_file(x, np.arange(x.shape[0]) % 3, str(folder / f"{name}.svm"), zero_based=False)
                found = convert(folder / f"{name}.svm")
                # svmlight cannot say that its last columns are empty.
                assert np.allclose(found, dense[:, : found.shape[1]], rtol=1e-15), f"{name}.svm"
                assert not dense[:, found.shape[1] :].any()
                passed += 1
        for kind in ["u1", "i2", "u2", "i4", "i8", "?"]:
            path = folder / f"kind-{kind.replace('?', 'bool')}.npy"
            x = (RANDOM.random((5, 3)) * 2).astype(kind)
            np.save(path, x)
            check(path, x.astype(float))
            path = folder / f"kind-{kind.replace('?', 'bool')}.mat"
            scipy.io.savemat(path, {"X": x})
            check(path, x.astype(float))
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()

"""The data: published sets where a folder has them, otherwise made to the same shapes."""

from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

#: documents, terms, nonzeros, classes.
TEXT = {
    "ohscal": (11162, 11465, 674365, 10),
    "reviews": (4069, 18483, 758635, 5),
    "classic": (7094, 41681, 223839, 4),
    "tr11": (414, 6429, 116613, 9),
}
#: Of the size of TDT2's thirty largest topics; always made.
NEWS = (9394, 36771, 1224000, 30)


def made_text(documents, terms, nonzeros, classes):
    """Counts of words drawn from a mixture: Zipf's law, and a topic for each class."""
    rng = np.random.default_rng(0)
    common = 1.0 / np.arange(10, terms + 10)
    truth = rng.integers(0, classes, documents)
    topics = common * rng.gamma(0.3, size=(classes, terms))
    topics /= topics.sum(axis=1, keepdims=True)
    # Words repeat: about half as many entries as words.
    lengths = rng.poisson(rng.gamma(2, nonzeros / documents, size=documents))
    # Positions of 32 bits, as files give them: scikit-learn takes no others.
    rows = np.repeat(np.arange(documents, dtype=np.int32), lengths)
    columns = np.concatenate([rng.choice(terms, n, p=topics[c]) for n, c in zip(lengths, truth)]).astype(np.int32)
    x = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(documents, terms)).tocsr()
    x.sum_duplicates()
    return x, truth


def text(folder, name):
    """Counts (CSR, float64), classes, k, and where they are from."""
    *_, k = TEXT[name]
    if folder:
        path = folder / "text" / f"{name}.mtx.gz"
        x = sp.csr_array(scipy.io.mmread(path)).astype(np.float64)
        truth = np.loadtxt(folder / "text" / f"{name}.labels", dtype=int)
        origin = name
    else:
        x, truth = made_text(*TEXT[name])
        origin = f"made like {name}"
    x.sort_indices()
    return x, truth, k, origin


def news():
    """More documents in more classes than the published sets have."""
    x, truth = made_text(*NEWS)
    x.sort_indices()
    return x, truth, NEWS[-1], "made, of the size of TDT2"


def scene(folder, times=1):
    """94249 pixels of 162 bands, float32, with the class of each, k and their origin.

    The published ground truth of Urban times its abundances, or spectra and abundances made here; noise on top."""
    rng = np.random.default_rng(1)
    if folder:
        base = folder / "hyperspectral" / "urban_gt6"
        spectra = np.load(f"{base}.endmembers.npy").astype(np.float32).T
        parts = np.load(f"{base}.abundances.npy").astype(np.float32).T
        origin = "Urban, simulated from its ground truth"
    else:
        bands = np.linspace(0, 1, 162)
        spectra = np.array([1 + np.sin(3 * bands * (i + 1) + i) for i in range(6)], dtype=np.float32)
        parts = rng.dirichlet(np.full(6, 0.2), size=94249).astype(np.float32)
        origin = "made spectra and abundances"
    parts = np.tile(parts, (times, 1))
    x = parts @ spectra
    x += rng.normal(0, 0.02 * x.mean(), size=x.shape).astype(np.float32)
    np.maximum(x, 0, out=x)
    return np.ascontiguousarray(x), parts.argmax(axis=1), 6, origin


def faces(folder):
    """361 pixels as points, 2429 images as features."""
    if folder:
        x, origin = np.load(folder / "images" / "cbcl.npy").astype(np.float64), "cbcl"
    else:
        rng = np.random.default_rng(2)
        parts = rng.random((361, 30)) * (rng.random((361, 30)) < 0.1)
        x, origin = parts @ rng.gamma(1, size=(30, 2429)) + 0.01 * rng.random((361, 2429)), "made parts"
    return np.ascontiguousarray(x), 20, origin


def where(path):
    """The folder of published sets, if there is one."""
    folder = Path(path)
    complete = all((folder / "text" / f"{name}.mtx.gz").exists() for name in TEXT)
    return folder if complete else None

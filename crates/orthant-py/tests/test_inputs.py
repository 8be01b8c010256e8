"""Layouts, formats and containers: what is the same, what is kept, what is not copied."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer

import orthant
from orthant import ONMF, SphericalKMeans, datasets
from orthant._inputs import in_memory, parts

ESTIMATORS = [ONMF(n_clusters=4, n_jobs=1), SphericalKMeans(n_clusters=4, n_jobs=1)]
estimators = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def same(one, other, rtol=1e-9):
    assert_array_equal(one.labels_, other.labels_)
    assert_allclose(one.components_, other.components_, rtol=rtol, atol=rtol)
    assert_allclose(one.relative_error_, other.relative_error_, rtol=rtol)


@estimators
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array])
def test_sparse_is_dense(estimator, counts, container):
    dense, sparse = estimator.fit(counts.toarray()), type(estimator)(**estimator.get_params())
    X = container(counts)
    sparse.fit(X)
    same(dense, sparse)
    assert_array_equal(dense.predict(counts.toarray()), sparse.predict(X))
    assert_allclose(dense.transform(counts.toarray()), sparse.transform(X), rtol=1e-9, atol=1e-12)
    assert_allclose(dense.score(counts.toarray()), sparse.score(X))


@estimators
def test_index_types_give_the_same_bits(estimator, counts):
    fits = []
    for index in (np.int32, np.int64):
        X = counts.copy()
        X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
        assert parts(X)[1] is X.indices and parts(X)[2] is X.data
        fits.append(type(estimator)(**estimator.get_params()).fit(X))
    assert_array_equal(fits[0].components_, fits[1].components_)


def test_a_matrix_that_is_not_canonical_is_mended_in_a_copy(counts):
    doubled = sp.csr_array(
        (
            np.repeat(counts.data / 2, 2),
            np.repeat(counts.indices, 2),
            counts.indptr * 2,
        ),
        shape=counts.shape,
    )
    unsorted = counts.copy()
    for i in range(counts.shape[0]):
        row = slice(counts.indptr[i], counts.indptr[i + 1])
        unsorted.indices[row] = unsorted.indices[row][::-1].copy()
        unsorted.data[row] = unsorted.data[row][::-1].copy()
    unsorted.has_sorted_indices = False
    unsorted.has_canonical_format = False
    model = ONMF(n_clusters=4).fit(counts)
    for X in (doubled, unsorted):
        before = X.indices.copy()
        same(model, ONMF(n_clusters=4).fit(X))
        assert_array_equal(model.predict(X), model.predict(counts))
        assert_array_equal(X.indices, before)


@estimators
def test_float32_is_kept(estimator):
    # Clusters that are easy to tell apart: else rounding may decide which of two good answers is found.
    X = datasets.make_synthetic(noise=0.01, sizes=(100, 80, 60, 40)).data
    single = type(estimator)(**estimator.get_params()).fit(X.astype(np.float32))
    double = type(estimator)(**estimator.get_params()).fit(X)
    same(single, double, rtol=1e-3)
    for name in ("components_", "cluster_centers_", "weights_"):
        assert getattr(single, name).dtype == np.float32
        assert getattr(double, name).dtype == np.float64
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert single.inverse_transform(single.transform(X.astype(np.float32))).dtype == np.float32
    assert single.transform(X).dtype == np.float64


@estimators
def test_layouts_are_converted(estimator, X):
    fits = [
        type(estimator)(**estimator.get_params()).fit(x)
        for x in (X, np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], X[:, ::-1].copy()[:, ::-1], X.tolist())
    ]
    for other in fits[1:]:
        assert_array_equal(fits[0].components_, other.components_)


@estimators
def test_frames_and_memory_maps(estimator, X, tmp_path):
    plain = type(estimator)(**estimator.get_params()).fit(X)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    names = [f"f{i}" for i in range(X.shape[1])]
    pandas, polars = pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)
    for x in (mapped, pandas, polars):
        model = type(estimator)(**estimator.get_params()).fit(x)
        assert_array_equal(model.components_, plain.components_)
        assert_array_equal(model.predict(x), plain.predict(X))
        if x is not mapped:
            assert list(model.feature_names_in_) == names
    prefix = type(estimator).__name__.lower()
    outputs = [f"{prefix}{i}" for i in range(4)]
    assert list(plain.get_feature_names_out()) == outputs
    for container, frame in (("pandas", pandas), ("polars", polars)):
        out = type(estimator)(**estimator.get_params()).set_output(transform=container).fit_transform(frame)
        assert list(out.columns) == outputs and out.shape == (len(X), 4)


def test_annotated_data_are_their_matrix(X, tmp_path):
    import anndata

    names = [f"gene{i}" for i in range(X.shape[1])]
    cells = anndata.AnnData(X=sp.csr_matrix(X.astype(np.float32)), var=pd.DataFrame(index=names))
    model = ONMF(n_clusters=4).fit(cells)
    assert list(model.feature_names_in_) == names
    plain = ONMF(n_clusters=4).fit(cells.X)
    assert_array_equal(model.components_, plain.components_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_array_equal(model.predict(cells), plain.predict(cells.X))
    with pytest.raises(ValueError, match="var_names"):
        model.predict(cells[:, ::-1].copy())
    cells.write_h5ad(tmp_path / "sparse.h5ad")
    backed = anndata.read_h5ad(tmp_path / "sparse.h5ad", backed="r")
    with pytest.raises(TypeError, match=r"X is backed by the file .*pass X.to_memory\(\)"):
        model.predict(backed)
    assert_array_equal(model.predict(backed.to_memory()), model.predict(cells))
    with pytest.raises(TypeError, match=r"sparse matrix in a file.*X.to_memory\(\)"):
        model.predict(backed.X)
    dense = anndata.AnnData(X=X, var=pd.DataFrame(index=names))
    dense.write_h5ad(tmp_path / "dense.h5ad")
    backed = anndata.read_h5ad(tmp_path / "dense.h5ad", backed="r")
    assert_array_equal(ONMF(n_clusters=4).fit(backed).components_, ONMF(n_clusters=4).fit(X).components_)


def test_what_is_in_chunks_is_not_read_whole(X, tmp_path):
    import dask.array
    import h5py
    import zarr

    model = ONMF(n_clusters=4).fit(X)
    with pytest.raises(TypeError, match=r"X is a dask array of 0.0 MB, .* pass X.compute\(\)"):
        model.predict(dask.array.from_array(X))
    chunked = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, dtype=X.dtype, chunks=(50, 10))
    chunked[:] = X
    with pytest.raises(TypeError, match=r"X is a zarr array .* pass X\[:\] .* mmap_mode"):
        orthant.choose_k(chunked, 2, 3)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["plain"] = X
        file.create_dataset("chunked", data=X, chunks=(50, 10), compression="gzip")
        with pytest.raises(TypeError, match="open its file with mode 'r'"):
            model.predict(file["plain"])
    with h5py.File(tmp_path / "x.h5", "r") as file:
        assert isinstance(in_memory(file["plain"]), np.memmap)
        assert_array_equal(model.predict(file["plain"]), model.labels_)
        with pytest.raises(TypeError, match=r"X is an HDF5 data set .* pass X\[:\] .* without chunks"):
            model.predict(file["chunked"])


@pytest.mark.parametrize("weighting", ["tf-idf", "unit", ["tf-idf", "unit"], "log1p", ["cpm", "log1p"]])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_weighting_is_that_of_scikit_learn(counts, weighting, sparse):
    X = counts if sparse else counts.toarray()
    steps = [weighting] if isinstance(weighting, str) else weighting
    per_million = FunctionTransformer(lambda x: Normalizer("l1").transform(x) * 1e6)
    logarithms = FunctionTransformer(lambda x: x.log1p() if sparse else np.log1p(x))
    transformers = {
        "tf-idf": TfidfTransformer(norm=None),
        "unit": Normalizer(),
        "cpm": per_million,
        "log1p": logarithms,
    }
    pipeline = make_pipeline(*(transformers[step] for step in steps), ONMF(n_clusters=4))
    train, new = X[:90], X[90:]
    theirs = pipeline.fit(train)
    ours = ONMF(n_clusters=4, weighting=weighting).fit(train)
    assert_array_equal(ours.labels_, theirs[-1].labels_)
    assert_allclose(ours.relative_error_, theirs[-1].relative_error_)
    assert_array_equal(ours.predict(new), theirs.predict(new))
    assert_allclose(ours.transform(new), theirs.transform(new))
    assert_allclose(ours.score(new), theirs.score(new))
    # What was fitted stays as it was.
    again = pickle.loads(pickle.dumps(ours)).set_params(weighting=None)
    assert_array_equal(again.predict(new), ours.predict(new))


def test_weightings_that_are_not_known_are_refused(counts):
    with pytest.raises(ValueError, match="'weighting' parameter of ONMF must be None or of {'tf-idf', 'unit', 'cpm', 'log1p', 'variable'}"):
        ONMF(n_clusters=2, weighting="bm25").fit(counts)
    with pytest.raises(ValueError, match="cluster='features'"):
        ONMF(n_clusters=2, weighting="unit", cluster="features").fit(counts)


MEMORY = """
import resource, sys
import numpy as np, scipy.sparse as sp
from orthant import ONMF, SphericalKMeans, datasets

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

kind = sys.argv[1]
rng = np.random.default_rng(0)
if kind == "dense":
    X = rng.random((100_000, 256), dtype=np.float32)
    size = X.nbytes
elif kind == "features":
    X = np.asfortranarray(rng.random((100_000, 256), dtype=np.float32).T)
    size = X.nbytes
ONMF(n_clusters=3, method="em-onmf", max_iter=2, n_jobs=2).fit(X[:1000] if kind == "dense" else X[:, :1000])
before = peak()
for model in (
    ONMF(n_clusters=3, method="em-onmf", max_iter=5, n_jobs=2, cluster="samples" if kind == "dense" else "features"),
    ONMF(n_clusters=3, method="onp-mf", max_iter=5, n_jobs=2, cluster="samples" if kind == "dense" else "features"),
):
    model.fit(X)
arrays = 24 * 100_000 * 3
print((peak() - before - arrays) / size)
"""


@pytest.mark.parametrize("kind", ["dense", "features"])
def test_the_data_are_not_copied(kind):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEMORY, kind], capture_output=True, text=True, check=True
    )
    assert float(done.stdout) < 0.1

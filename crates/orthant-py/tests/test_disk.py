"""Data on disk: the same bits as in memory, and every recipe of docs/scale.md as it stands there."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import orthant
from orthant import ONMF, SphericalKMeans

RECIPES = dict(
    re.findall(
        r"<!-- recipe: (\w+) -->\n```python\n(.*?)```",
        (Path(__file__).parents[3] / "docs" / "scale.md").read_text(encoding="utf-8"),
        re.S,
    )
)


def made(samples=3000, features=20, dtype=np.float32):
    rng = np.random.default_rng(5)
    directions = rng.random((4, features)) ** 4
    x = directions[rng.integers(4, size=samples)] * rng.uniform(0.2, 2, (samples, 1))
    return (x + 0.01 * rng.random((samples, features))).astype(dtype)


def blocks_of(x, step=700):
    return (x[i : i + step] for i in range(0, x.shape[0], step))


def read_back(folder, monkeypatch):
    monkeypatch.chdir(folder)
    names = {}
    exec(RECIPES["read"], names)  # noqa: S102
    return names


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["em-onmf", "onp-mf"])
def test_a_block_folder_gives_the_bits_of_the_matrix_in_memory(tmp_path, sparse, dtype, method):
    x = made(dtype=dtype)
    if sparse:
        x = sp.csr_array(np.where(x > 0.1, x, 0))
    weights = np.linspace(0.5, 2, x.shape[0])
    path = tmp_path / "x.blocks"
    assert orthant.blocks.write(path, blocks_of(x), weights=weights) == x.shape[0]
    held = ONMF(4, method=method, n_init=2 if method == "em-onmf" else 1, max_iter=40, random_state=1)
    held.fit(x, sample_weight=weights)
    streamed = ONMF(**{**held.get_params(), "memory": "1M"}).fit(path)
    assert_array_equal(streamed.labels_, held.labels_)
    assert_array_equal(streamed.components_, held.components_)
    assert streamed.relative_error_ == held.relative_error_
    assert streamed.components_.dtype == dtype
    assert_array_equal(streamed.predict(path), held.predict(x))


def test_a_memory_map_that_is_too_large_is_streamed_from_its_file(tmp_path, monkeypatch):
    x = made(samples=20000)
    np.save(tmp_path / "x.npy", x)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    held = ONMF(4, method="em-onmf", random_state=1).fit(x)
    streamed = ONMF(4, method="em-onmf", random_state=1, memory=1 << 20)
    # Nothing may make an array of it.
    monkeypatch.setattr(np.memmap, "__array__", lambda *_: pytest.fail("copied whole"), raising=False)
    streamed.fit(mapped)
    assert_array_equal(streamed.labels_, held.labels_)
    assert_array_equal(SphericalKMeans(4, memory="1M").fit(tmp_path / "x.npy").labels_.shape, (20000,))


def test_a_file_that_cannot_be_streamed_is_refused_with_the_command(tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, made(10, 3), delimiter=",")
    with pytest.raises(ValueError, match="orthant convert .*x.csv .*x.blocks"):
        ONMF(2).fit(path)
    with pytest.raises(ValueError, match="'512M'"):
        ONMF(2, memory="much").fit(tmp_path / "x.csv")
    orthant.blocks.write(tmp_path / "x.blocks", [made(100, 3)])
    with pytest.raises(ValueError, match="--transpose"):
        ONMF(2, cluster="features").fit(tmp_path / "x.blocks")
    orthant.blocks.write(tmp_path / "wide.blocks", [made(60, 4000)])
    with pytest.raises(orthant.OrthantError, match="k = 50 on 60 points of 4000 features needs about .* may be used"):
        ONMF(50, method="em-onmf", memory="1M").fit(tmp_path / "wide.blocks")
    with pytest.raises(ValueError, match="4 features"):
        ONMF(2, method="em-onmf").fit(made(100, 4)).predict(tmp_path / "x.blocks")


def test_nothing_is_left_of_a_folder_whose_blocks_fail(tmp_path):
    def broken():
        yield made(100, 5)
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        orthant.blocks.write(tmp_path / "x.blocks", broken())
    with pytest.raises(ValueError, match="features"):
        orthant.blocks.write(tmp_path / "x.blocks", [made(10, 5), made(10, 6)])
    with pytest.raises(ValueError, match="names has fewer"):
        orthant.blocks.write(tmp_path / "x.blocks", [made(10, 5)], names=["a"])
    assert list(tmp_path.iterdir()) == []
    orthant.blocks.write(tmp_path / "x.blocks", [made(10, 5)], names=range(10), feature_names=list("abcde"))
    with pytest.raises(ValueError, match="exists already"):
        orthant.blocks.write(tmp_path / "x.blocks", [made(10, 5)])
    about = json.loads((tmp_path / "x.blocks" / "blocks.json").read_text())
    assert about["feature_names"]["name"] == "feature_names.txt"
    assert (tmp_path / "x.blocks" / "names.txt").read_text().split() == [str(i) for i in range(10)]


def hdf5(x):
    h5py = pytest.importorskip("h5py")
    with h5py.File("big.h5", "w") as file:
        file.create_dataset("x", data=x, chunks=(500, x.shape[1]), compression="gzip")


def zarr(x):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array("big.zarr", shape=x.shape, chunks=(500, x.shape[1]), dtype=x.dtype)
    array[:] = x


def parquet(x):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    columns = {f"c{i}": x[:, i] for i in range(x.shape[1])}
    pyarrow.parquet.write_table(pyarrow.table({"id": np.arange(len(x)), **columns}), "big.parquet")


def xarray(x):
    xarray = pytest.importorskip("xarray")
    cube = x.reshape(50, 60, x.shape[1])
    xarray.DataArray(cube, dims=("y", "x", "band"), name="reflectance").to_netcdf("cube.nc", engine="scipy")


def anndata(x):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(sp.csr_matrix(np.where(x > 0.1, x, 0)))
    cells.obs_names = [f"cell {i}" for i in range(len(x))]
    cells.write_h5ad("cells.h5ad")


@pytest.mark.parametrize("make", [hdf5, zarr, parquet, xarray, anndata], ids=lambda make: make.__name__)
def test_the_recipes_of_the_documentation_bring_in_what_was_stored(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    x = made()
    make(x)
    exec(RECIPES[make.__name__], {})  # noqa: S102
    names = read_back(tmp_path, monkeypatch)
    if make is anndata:
        x = np.where(x > 0.1, x, 0)
        back = sp.vstack(names["blocks"]).toarray()
    else:
        back = np.vstack(names["blocks"])
    assert_array_equal(back, x)
    assert back.dtype == x.dtype

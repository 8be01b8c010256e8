"""Makes the binary files beside it, as scipy, tifffile, Pillow, anndata, h5py, pandas and polars write them (they are kept, so that the tests need none of them)."""

import pathlib

import anndata
import h5py
import numpy as np
import pandas as pd
import polars as pl
import scipy.io
import scipy.sparse
import tifffile
from PIL import Image

here = pathlib.Path(__file__).parent
sparse = scipy.sparse.csc_array(np.array([[0, 2.5, 0, 0], [1, 0, 0, 3], [0, 0, 0, 0.5]]))
for name, compress in [("mixture.mat", False), ("mixture_compressed.mat", True)]:
    variables = {
        "settings": {"k": 3, "names": ["a", "b"], "nested": {"x": np.eye(2)}},
        "cells": np.array(["text", np.eye(3), 7], dtype=object),
        "title": "a scene",
        "scale": 5000,
        "bands": np.arange(4.0),
        "M": sparse,
    }
    scipy.io.savemat(here / name, variables, do_compression=compress)
cube = np.arange(2 * 3 * 4, dtype=np.uint16).reshape(2, 3, 4)
scipy.io.savemat(here / "cube.mat", {"cube": cube}, do_compression=True)
scipy.io.savemat(here / "two.mat", {"A": np.eye(2), "B": np.eye(3, dtype=np.float32), "z": np.eye(2) * 1j})
scipy.sparse.save_npz(here / "csc.npz", sparse)
scipy.sparse.save_npz(here / "coo.npz", sparse.tocoo(), compressed=False)
np.savez_compressed(here / "dense.npz", X=np.arange(6, dtype=">i2").reshape(2, 3), other=np.arange(3))
gradient = np.add.outer(np.arange(8), np.arange(8)).astype(np.uint8) * 16
Image.fromarray(gradient).save(here / "gradient.jpg", quality=95)
# Height x width x bands, in the three ways that people store bands; -1 stands for no data in one pixel.
scene = np.arange(3 * 4 * 5, dtype=np.int16).reshape(3, 4, 5)
scene[1, 2] = -1
nodata = [(42113, "s", 0, "-1", True)]
tifffile.imwrite(here / "contig.tif", scene, photometric="minisblack", planarconfig="contig", extratags=nodata)
planes = np.moveaxis(scene, 2, 0).astype(np.float32)
tifffile.imwrite(
    here / "planar.tif", planes, photometric="minisblack", planarconfig="separate", compression="zlib", bigtiff=True
)
tifffile.imwrite(here / "pages.tif", planes.astype(">f8"), photometric="minisblack", byteorder=">", tile=(16, 16))

# Four cells and three genes in the four containers that are HDF5: anndata itself; Cell Ranger's, loompy's and MATLAB's by hand.
cells = scipy.sparse.csr_matrix(np.array([[1, 0, 2], [0, 3, 0], [4, 0, 0], [0, 0, 5]], dtype=np.float32))
names, genes = ["c1", "c2", "c3", "c4"], ["G1", "G2", "G3"]
obs = pd.DataFrame({"kind": pd.Categorical(["a", "b", "a", "b"])}, index=names)
adata = anndata.AnnData(cells, obs=obs, var=pd.DataFrame(index=genes))
adata.layers["counts"] = scipy.sparse.csc_matrix(cells)
adata.write_h5ad(here / "cells.h5ad")
with h5py.File(here / "tenx.h5", "w") as file:
    group = file.create_group("matrix")
    group["data"] = cells.data.astype("i4")
    group["indices"] = cells.indices.astype("i8")
    group["indptr"] = cells.indptr.astype("i8")
    group["shape"] = np.array([3, 4], "i4")
    group["barcodes"] = np.array(names, "S")
    group["features/id"] = np.array(["E1", "E2", "E3"], "S")
    group["features/name"] = np.array(genes, "S")
with h5py.File(here / "cells.loom", "w") as file:
    file.create_dataset("matrix", data=cells.T.toarray(), chunks=(3, 4), compression="gzip")
    file["row_attrs/Gene"] = np.array(genes, "S")
    file["col_attrs/CellID"] = np.array(names, "S")
    file.create_group("layers")
with h5py.File(here / "v73.mat", "w", userblock_size=512) as file:
    scene = file.create_dataset(
        "scene", data=np.arange(24.0).reshape(4, 3, 2), chunks=(2, 3, 2), compression="gzip", shuffle=True
    )
    scene.attrs["MATLAB_class"] = np.bytes_("double")
    group = file.create_group("S")
    group.attrs["MATLAB_sparse"] = np.uint64(4)
    group.attrs["MATLAB_class"] = np.bytes_("double")
    columns = scipy.sparse.csc_matrix(cells.astype(float))
    group["data"], group["ir"], group["jc"] = columns.data, columns.indices.astype("u8"), columns.indptr.astype("u8")
with open(here / "v73.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")

# A table of pandas (snappy) with its index, an absent value, whole and true numbers, yes and no; texts of polars (zstd).
table = pd.DataFrame(
    {"a": [1.5, np.nan, 3.0], "n": pd.array([1, 2, 3], "uint8"), "is": [True, False, True], "kind": ["x", "y", "x"]},
    index=pd.Index(["one", "two", "three"], name="row"),
)
table.to_parquet(here / "table.parquet")
pl.DataFrame({"nr": [7, 8], "body": ["Bread and cheese, and bread.", None], "topic": ["food", "none"]}).write_parquet(here / "texts.parquet")

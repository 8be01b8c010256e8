"""Makes the binary files beside it, as scipy, tifffile and Pillow write them (they are kept, so that the tests need neither)."""

import pathlib

import numpy as np
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

"""Files of other programs (scipy, numpy, pandas, scikit-learn, tifffile, rasterio, Spectral Python, anndata, loompy, h5py,
hdf5storage, polars) give equal matrices through `orthant convert`, and what is written is understood by them.

Usage: python tests/formats.py PATH/TO/orthant
"""

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import anndata
import h5py
import hdf5storage
import loompy
import mat73
import numpy as np
import pandas as pd
import polars as pl
import rasterio
import scipy.io
import scipy.sparse as sp
import spectral
import tifffile
from news import write as write_news
from sklearn.cluster import KMeans
from sklearn.datasets import dump_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import normalized_mutual_info_score

try:  # Large, and asked only whether it reads 10x files alike.
    import scanpy
except ImportError:
    scanpy = None

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
        [PROGRAM, "convert", str(path), str(out), "--force", *options], capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise AssertionError(f"{path.name}: exit {ran.returncode}: {ran.stderr.strip()}")
    return np.load(out)


def tables(folder, check):
    """As pandas writes them: with an index, identifiers, classes, and titles that take more than 64 KiB."""
    wide = pd.DataFrame(RANDOM.random((38, 5000)), columns=[f"a feature with number {i}" for i in range(5000)])
    wide.to_csv(folder / "wide.csv", index=False)
    check(folder / "wide.csv", wide)
    wide.to_csv(folder / "wide-index.tsv", sep="\t")
    check(folder / "wide-index.tsv", wide)
    plain = pd.DataFrame(RANDOM.random((30, 4)), columns=list("abcd"))
    with_more = plain.assign(species=["setosa", "versicolor", "virginica"] * 10)
    with_more.insert(0, "id", RANDOM.permutation(30) + 1000)
    with_more.to_csv(folder / "iris.csv", index=False)
    check(folder / "iris.csv", plain)
    check(folder / "iris.csv", plain[["a", "c"]], "--drop", "b,d")
    with_more.to_csv(folder / "semicolons.csv", index=False, sep=";", decimal=",")
    check(folder / "semicolons.csv", plain)
    with open(folder / "iris.csv", "rb") as stream:
        out = folder / "stdin.npy"
        subprocess.run([PROGRAM, "convert", "-", str(out), "-q"], stdin=stream, check=True)
        assert np.array_equal(np.load(out), plain)


def cubes(folder, check):
    """As numpy, tifffile and Spectral Python write them; points are pixels, row after row."""
    cube = RANDOM.integers(1, 1000, (6, 9, 5)).astype(np.int16)
    pixels = cube.reshape(-1, 5)
    np.save(folder / "cube.npy", cube)
    check(folder / "cube.npy", pixels)
    np.save(folder / "cube-f.npy", np.asfortranarray(cube))
    # Column after column, as it lies in the file.
    check(folder / "cube-f.npy", cube.transpose(1, 0, 2).reshape(-1, 5))
    # As MATLAB writes it with -v7.3, column after column.
    hdf5storage.savemat(str(folder / "cube-7.3.mat"), {"cube": cube, "name": "a scene"}, format="7.3")
    check(folder / "cube-7.3.mat", cube.transpose(1, 0, 2).reshape(-1, 5))
    hdf5storage.savemat(str(folder / "matrix-7.3.mat"), {"M": pixels, "about": {"year": 2026}}, format="7.3")
    check(folder / "matrix-7.3.mat", pixels, "--variable", "M")
    counts = sp.random(30, 12, density=0.2, random_state=5)
    sparse_matlab(folder / "sparse-7.3.mat", counts)
    check(folder / "sparse-7.3.mat", mat73.loadmat(folder / "sparse-7.3.mat", verbose=False)["M"])
    check(folder / "sparse-7.3.mat", counts)
    for compression in [None, "zlib"]:
        for kind in ["u1", "u2", "i2", "i4", "f4", "f8"]:
            path = folder / f"cube-{compression}-{kind}.tif"
            values = cube.astype(kind)
            options = {"photometric": "minisblack", "compression": compression}
            tifffile.imwrite(path, values, planarconfig="contig", **options)
            check(path, values.reshape(-1, 5))
            tifffile.imwrite(path, np.moveaxis(values, 2, 0), planarconfig="separate", **options)
            check(path, values.reshape(-1, 5))
            tifffile.imwrite(path, np.moveaxis(values, 2, 0), **options)
            check(path, values.reshape(-1, 5))
    for interleave in ["bsq", "bil", "bip"]:
        for dtype in ["int16", "float32", "float64"]:
            path = folder / f"scene-{interleave}-{dtype}.hdr"
            about = {"wavelength": [0.4, 0.5, 0.6, 0.7, 0.8], "wavelength units": "Micrometers", "bbl": [1, 0, 1, 1, 0]}
            spectral.envi.save_image(str(path), cube, dtype=dtype, interleave=interleave, metadata=about)
            check(path, pixels[:, [0, 2, 3]].astype(dtype))


def cells(folder, check):
    """A folder as Cell Ranger writes it, and what anndata writes: the refusal's own line of Python converts it."""
    counts = sp.random(50, 20, density=0.2, random_state=3, format="csr")
    counts.data = np.ceil(counts.data * 5)
    ranger = folder / "filtered_feature_bc_matrix"
    ranger.mkdir()
    with gzip.open(ranger / "matrix.mtx.gz", "wb") as file:
        scipy.io.mmwrite(file, counts.T.astype(int))
    genes = pd.DataFrame({"id": [f"ENSG{i}" for i in range(20)], "name": [f"GENE{i}" for i in range(20)], "kind": "Gene Expression"})
    genes.to_csv(ranger / "features.tsv.gz", sep="\t", header=False, index=False)
    pd.Series([f"CELL{i}-1" for i in range(50)]).to_csv(ranger / "barcodes.tsv.gz", header=False, index=False)
    check(ranger, counts)
    kinds = pd.Categorical(["T", "B"] * 25)
    obs, var = pd.DataFrame({"kind": kinds}, index=[f"CELL{i}-1" for i in range(50)]), genes.set_index("id")
    for compression in [None, "gzip"]:
        for kind in [np.float32, np.int64]:
            for matrix in [counts.astype(kind), counts.tocsc().astype(kind), counts.toarray().astype(kind)]:
                adata = anndata.AnnData(matrix, obs=obs, var=var)
                adata.layers["spliced"] = counts * 2
                adata.write_h5ad(folder / "cells.h5ad", compression=compression)
                check(folder / "cells.h5ad", counts)
                check(folder / "cells.h5ad", counts * 2, "--variable", "spliced")
    # Symbols are nicer to read than identifiers; classes are a column of the cells.
    adata = anndata.AnnData(counts, obs=obs, var=var.rename(columns={"name": "feature_name"}))
    adata.write_h5ad(folder / "symbols.h5ad")
    out = folder / "symbols"
    run("cluster", folder / "symbols.h5ad", "-k", "2", "--truth-column", "kind", "--weighting", "cpm,log1p", "-q", "--out", out)
    summary = json.loads((out / "summary.json").read_text())
    assert sorted(summary["classes"]) == ["B", "T"]
    assert summary["clusters"][0]["markers"][0]["feature"].startswith("GENE")
    assert pd.read_csv(out / "labels.csv").name.tolist() == list(obs.index)
    page = (out / "report.html").read_text()
    assert "50 cells" in page and "20 genes" in page
    loompy.create(str(folder / "cells.loom"), counts.T.tocoo(), {"Gene": list(genes.name)}, {"CellID": list(obs.index)})
    check(folder / "cells.loom", counts)
    ranger_h5(folder / "cells.h5", counts, obs.index, genes, ["matrix"])
    ranger_h5(folder / "cells-v2.h5", counts, obs.index, genes, ["GRCh38"])
    ranger_h5(folder / "mixture-v2.h5", counts, obs.index, genes, ["hg19", "mm10"])
    for name, options in [("cells.h5", []), ("cells-v2.h5", []), ("mixture-v2.h5", ["--variable", "mm10"])]:
        check(folder / name, counts, *options)
        run("cluster", folder / name, "-k", "2", "--algorithm", "k-means", "--out", folder / f"{name}.out", "-q", *options)
        assert pd.read_csv(folder / f"{name}.out" / "labels.csv").name.tolist() == list(obs.index)
        summary = json.loads((folder / f"{name}.out" / "summary.json").read_text())
        assert {marker["feature"] for marker in summary["clusters"][0]["markers"]} <= set(genes.name)
        if scanpy is not None:
            genome = options[1] if options else None
            theirs = scanpy.read_10x_h5(folder / name, genome=genome)
            check(folder / name, theirs.X, *options)
            assert list(theirs.obs_names) == list(obs.index) and list(theirs.var_names) == list(genes.name)
    mixed = genes.assign(kind=["Gene Expression"] * 18 + ["Antibody Capture"] * 2)
    ranger_h5(folder / "mixed.h5", counts, obs.index, mixed, ["matrix"])
    mixed.to_csv(ranger / "features.tsv.gz", sep="\t", header=False, index=False)
    for path in [folder / "mixed.h5", ranger]:
        assert "2 of 20 features are no genes (Antibody Capture)" in subprocess.run([PROGRAM, "info", path], capture_output=True, text=True, check=True).stderr
    assert "say which genome with --variable: hg19, mm10" in refusal("info", folder / "mixture-v2.h5")
    # Scaled as scanpy does: what was before is named.
    adata.raw = adata
    adata.X = counts.toarray() - counts.toarray().mean(axis=0)
    adata.write_h5ad(folder / "scaled.h5ad")
    ran = subprocess.run([PROGRAM, "cluster", folder / "scaled.h5ad", "-k", "2"], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and "what was before is read by --variable raw/X" in ran.stderr, ran.stderr
    check(folder / "scaled.h5ad", counts, "--variable", "raw")


def ranger_h5(path, counts, barcodes, genes, groups):
    """As Cell Ranger lays files out, which is not to be had here: version 3 with features, version 2 with a group a genome."""
    with h5py.File(path, "w") as file:
        file.attrs["filetype"], file.attrs["chemistry_description"], file.attrs["software_version"] = "matrix", "3' v3", "7.1.0"
        for at, group in enumerate(groups):
            scale = 1 if at == len(groups) - 1 else 3
            parts = [("data", (counts.data * scale).astype("i4")), ("indices", counts.indices.astype("i8")), ("indptr", counts.indptr.astype("i8"))]
            for name, values in parts:
                file.create_dataset(f"{group}/{name}", data=values, chunks=True, maxshape=(None,), compression="gzip", compression_opts=4, shuffle=True)
            file[f"{group}/shape"] = np.array([counts.shape[1], counts.shape[0]], "i4")
            file[f"{group}/barcodes"] = np.array(barcodes, "S18")
            if group == "matrix":
                features = file.create_group("matrix/features")
                features["_all_tag_keys"] = np.array(["genome"], "S6")
                for name, values in [("id", genes.id), ("name", genes.name), ("feature_type", genes.kind), ("genome", ["GRCh38"] * len(genes))]:
                    features[name] = np.array(values, "S32")
            else:
                file[f"{group}/genes"], file[f"{group}/gene_names"] = np.array(genes.id, "S32"), np.array(genes.name, "S32")


def sparse_matlab(path, matrix):
    """A sparse matrix as MATLAB lays it out with -v7.3, which is not to be had here; mat73 reads it back."""
    columns = sp.csc_matrix(matrix)
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("M")
        group.attrs["MATLAB_class"], group.attrs["MATLAB_sparse"] = np.bytes_("double"), np.uint64(columns.shape[0])
        group["data"], group["ir"], group["jc"] = columns.data, columns.indices.astype("u8"), columns.indptr.astype("u8")
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, Created on: Wed Nov 18 2026 HDF5 schema 1.00 ."
    with open(path, "r+b") as file:
        file.write(head.ljust(124) + b"\x00\x02IM")


def run(*arguments):
    """The program, which must succeed: what it printed."""
    ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"{arguments}: {ran.stderr}"
    return ran.stdout


def refusal(*arguments):
    """The one line with which the program refuses."""
    ran = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1, f"{arguments}: {ran.stderr}"
    return ran.stderr


def places(folder, check):
    """A map of clusters lies where the scene does, for the programs that know: rasterio and Spectral Python."""
    cube = np.ones((8, 6, 4), np.float32)
    cube[:, :3, 0] = cube[:, 3:, 2] = 9
    cube[0, 0] = 0
    expected = np.where(np.arange(6) < 3, 1, 2) * np.ones((8, 1), int)
    expected[0, 0] = 0
    about = {
        "driver": "GTiff", "height": 8, "width": 6, "count": 4, "dtype": "float32", "crs": "EPSG:32611",
        "transform": rasterio.transform.from_origin(3e5, 4.1e6, 30, 20), "compress": "deflate", "nodata": 0,
    }  # fmt: skip
    with rasterio.open(folder / "place.tif", "w", **about) as file:
        file.write(np.moveaxis(cube, 2, 0))
    check(folder / "place.tif", cube.reshape(-1, 4))
    utm = ["UTM", "1", "1", "300000", "4100000", "30", "20", "11", "North", "WGS-84"]
    spectral.envi.save_image(str(folder / "place.hdr"), cube, metadata={"map info": utm})
    for name in ["place.tif", "place.hdr"]:
        out = folder / f"{name}.out"
        run("cluster", folder / name, "-k", "2", "-q", "--out", out)
        if name == "place.tif":
            with rasterio.open(out / "classes.tif") as file, rasterio.open(folder / name) as scene:
                assert (file.crs, file.transform) == (scene.crs, scene.transform)
                classes = file.read(1)
            with rasterio.open(out / "strengths.tif") as file:
                assert file.transform == about["transform"]
        else:
            opened = spectral.open_image(str(out / "classes.hdr"))
            assert opened.metadata["map info"] == utm
            assert opened.metadata["class names"] == ["no cluster", "cluster 0", "cluster 1"]
            classes = opened.read_band(0)
            with rasterio.open(out / "strengths.img") as file:
                assert file.transform == about["transform"] and file.count == 2
        same = [expected, np.where(expected > 0, 3 - expected, 0)]
        assert any(np.array_equal(classes, way) for way in same), classes


def news(folder, check):
    """From a folder of 2225 texts to a report in one command, and no worse than what four lines of scikit-learn give."""
    write_news(folder / "news")
    out = folder / "news-out"
    run("cluster", folder / "news", "-k", "5", "--out", out)
    summary = json.loads((out / "summary.json").read_text())
    found = summary["nmi"]
    # Chosen by the counts, before they are weighted; advise says the same of them.
    assert summary["chosen"]["model"] == "kl-onmf" and summary["weighting"] == ["tf-idf", "unit"]
    advice = json.loads(run("advise", folder / "news", "-k", "5", "--halves", "1", "--json", "-q"))
    assert advice["best"] == "kl-onmf", advice["reasons"]
    assert (out / "report.html").stat().st_size < 1e6
    files = sorted((folder / "news").glob("*/*.txt"))
    X = TfidfVectorizer(stop_words="english", min_df=2, max_df=0.5).fit_transform([file.read_text() for file in files])
    labels = KMeans(5, n_init=10, random_state=0).fit_predict(X)
    theirs = normalized_mutual_info_score([file.parent.name for file in files], labels)
    assert 0.3 < theirs < 0.999, f"texts are no test: KMeans has {theirs}"
    assert found >= theirs, f"NMI {found:.4f}, KMeans of scikit-learn has {theirs:.4f}"
    print(f"2225 texts: NMI {found:.4f}, TfidfVectorizer and KMeans {theirs:.4f}")


def texts(folder, check):
    """Counts are those of scikit-learn's CountVectorizer, whatever the texts lie in."""
    words = "wine bread cheese soup dinner rocket orbit moon star galaxy goal match player team coach".split()
    lines = [" ".join(RANDOM.choice(words, 12)).capitalize() + ". Once!" for _ in range(60)]
    plain = ["--stop-words", "none", "--min-texts", "1", "--max-texts", "1.0"]
    counts = CountVectorizer().fit_transform(lines)
    pairs = CountVectorizer(ngram_range=(1, 2), min_df=3, max_df=0.4).fit_transform(lines)
    table = pd.DataFrame({"title": "x", "body": lines, "kind": ["a", "b"] * 30})
    table.to_csv(folder / "texts.csv", index=False)
    table.to_json(folder / "texts.jsonl", orient="records", lines=True)
    (folder / "lines.txt").write_text("\n".join(lines))
    for kind in "ab":
        (folder / "corpus" / kind).mkdir(parents=True)
    for i, line in enumerate(lines):
        # The folders halve the texts, so that the order of files is that of the lines.
        (folder / "corpus" / "ab"[i >= 30] / f"{i:03}.txt").write_text(line)
    # What another counted and what is counted here have the same words, and go into each other.
    table.to_csv(folder / "texts.tsv", index=False, sep="\t")
    table.to_json(folder / "texts.json", orient="records")
    pl.from_pandas(table).write_parquet(folder / "polars.parquet")
    table.to_parquet(folder / "pandas.parquet", compression="gzip")
    body = ["--text", "body"]
    ways = [("texts.tsv", body), ("texts.csv", body), ("texts.csv", []), ("texts.jsonl", []), ("texts.json", []), ("lines.txt", []), ("corpus", [])]
    for name, options in [*ways, ("polars.parquet", body), ("pandas.parquet", [])]:
        check(folder / name, counts, *options, *plain)
        some = ["--stop-words", "none", "--min-texts", "3", "--max-texts", "0.4", "--ngrams", "2"]
        check(folder / name, pairs, *options, *some)


def parquet(folder, check):
    """Tables of pandas and polars, in the compressions they know; also numbers that are no float64, and gaps."""
    plain = pd.DataFrame({
        "double": RANDOM.random(7000), "single": RANDOM.random(7000).astype("f4"), "byte": RANDOM.integers(0, 255, 7000, "u1"),
        "long": RANDOM.integers(0, 2**62, 7000), "unsigned": RANDOM.integers(2**63, 2**64, 7000, "u8"), "yes": RANDOM.random(7000) < 0.5,
        "few": RANDOM.choice([0.25, 3.0], 7000), "half": RANDOM.random(7000).astype("f2"),
    })  # fmt: skip
    expected = plain.astype(float).to_numpy()
    named = plain.set_index(pd.Index([f"row {i}" for i in range(7000)], name="sample")).assign(kind="a")
    for compression in ["snappy", "zstd", "gzip", "lz4", None]:
        named.to_parquet(folder / "named.parquet", compression=compression, row_group_size=2000)
        check(folder / "named.parquet", expected)
        pl.from_pandas(plain).write_parquet(folder / "polars.parquet", compression=compression or "uncompressed")
        check(folder / "polars.parquet", expected)
    check(folder / "named.parquet", expected[:, :2], "--drop", ",".join(plain.columns[2:]))
    prices = pl.DataFrame({"price": ["12.50", "0.25", "100.00"], "n": [1, 2, 3]}).with_columns(pl.col("price").cast(pl.Decimal(12, 2)))
    prices.write_parquet(folder / "prices.parquet")
    check(folder / "prices.parquet", [[12.5, 1], [0.25, 2], [100, 3]])
    dated = prices.with_columns(day=pl.lit("2026-01-02").str.to_date())
    dated.write_parquet(folder / "dated.parquet")
    check(folder / "dated.parquet", [[12.5, 1], [0.25, 2], [100, 3]], "--drop", "day")
    pd.DataFrame({"a": [1.0, None, 3.0], "b": [4, 5, 6]}).to_parquet(folder / "gaps.parquet")
    assert np.array_equal(convert(folder / "gaps.parquet"), [[1, 4], [np.nan, 5], [3, 6]], equal_nan=True)
    prices.with_columns(x=[[1.0, 2.0], [3.0], []]).write_parquet(folder / "lists.parquet")
    assert "column \"x\" holds lists: leave it out with --drop" in refusal("info", folder / "lists.parquet")
    check(folder / "lists.parquet", [[12.5, 1], [0.25, 2], [100, 3]], "--drop", "x")
    named.to_parquet(folder / "other.parquet", compression="brotli")
    told = refusal("info", folder / "other.parquet")
    assert "is compressed in a way that is not read here" in told, told
    line = told.strip().split("in Python: ")[1]
    exec(compile(line.replace("other.parquet", str(folder / "other.parquet")).replace(f"zstd-{folder}/", f"{folder}/zstd-"), "told", "exec"))
    check(folder / "zstd-other.parquet", expected)
    run("cluster", folder / "named.parquet", "-k", "2", "--algorithm", "k-means", "--labels-only", "-q")


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
        for group in [tables, parquet, cubes, cells, places, texts, news]:
            group(folder, check)
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()

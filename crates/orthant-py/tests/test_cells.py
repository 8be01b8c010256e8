"""Cells in AnnData: what is written back, and markers."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

import orthant
import orthant.anndata
from orthant import ONMF

anndata = pytest.importorskip("anndata")


@pytest.fixture
def adata():
    """Three kinds of cells with five genes each, and one gene that all have."""
    random = np.random.default_rng(0)
    means = np.kron(np.eye(3), np.full((40, 5), 4.0)) + 0.05
    depth = random.uniform(0.3, 3, (120, 1))
    counts = np.hstack([random.poisson(means * depth), random.poisson(20 * depth)])
    counts[7] = 0
    names = [f"G{i}" for i in range(15)] + ["HOUSEKEEPING"]
    kinds = pd.Categorical(np.repeat(["a", "b", "c"], 40))
    made = anndata.AnnData(
        sp.csr_matrix(counts.astype(np.float32)), var=pd.DataFrame(index=names), obs=pd.DataFrame({"kind": kinds})
    )
    made.obs_names = [f"cell{i}" for i in range(120)]
    return made


def test_results_are_written_where_people_look_for_them(adata, tmp_path):
    model = orthant.anndata.cluster(adata, 3, random_state=0)
    known = adata.obs["orthant"].notna()
    assert list(np.flatnonzero(~known)) == [7], "a cell without counts has no cluster"
    assert orthant.metrics.clustering_accuracy(adata.obs["kind"][known], adata.obs["orthant"][known].astype(int)) == 1
    weights, directions = adata.obsm["X_orthant"], adata.varm["orthant"]
    assert_array_equal((weights > 0).sum(axis=1), known.to_numpy().astype(int))
    assert_allclose(np.linalg.norm(directions, axis=0), 1)
    # W and H of the weighted counts, from what was written alone.
    cpm = adata.X.toarray() / np.maximum(adata.X.sum(axis=1), 1) * 1e6
    M = np.log1p(np.asarray(cpm))
    lengths = np.linalg.norm(model.components_, axis=1)
    error = np.linalg.norm(M - weights @ (directions * lengths).T) / np.linalg.norm(M)
    assert_allclose(error, adata.uns["orthant"]["relative_error"], rtol=1e-5)
    assert adata.uns["orthant"]["params"]["weighting"] == "cpm,log1p"
    margins = adata.obs["orthant_margin"]
    assert margins[known].between(0, 1).all() and np.isnan(margins.iloc[7])
    # What sets a cluster apart are its own five genes, not the one that all have.
    table = adata.uns["orthant"]["markers"]
    for i, genes in table.groupby("cluster").gene:
        kind = adata.obs["kind"][adata.obs["orthant"] == i].mode()[0]
        first = "abc".index(kind) * 5
        assert set(genes[:5]) == {f"G{g}" for g in range(first, first + 5)}
    # All of it goes into a file and back.
    adata.write_h5ad(tmp_path / "done.h5ad")
    back = anndata.read_h5ad(tmp_path / "done.h5ad")
    assert_array_equal(back.obsm["X_orthant"], weights)
    pd.testing.assert_frame_equal(back.uns["orthant"]["markers"], table)


def test_layers_masks_and_other_estimators(adata):
    adata.layers["counts"] = adata.X.copy()
    adata.X = adata.X.log1p()
    adata.var["highly_variable"] = [True] * 15 + [False]
    model = orthant.anndata.cluster(adata, 3, layer="counts", mask="highly_variable", key="o")
    assert model.n_features_in_ == 15 and not adata.varm["o"][15].any()
    assert adata.uns["o"]["params"] == {
        "n_clusters": 3,
        "layer": "counts",
        "mask": "highly_variable",
        "weighting": "cpm,log1p",
        "method": "best",
        "random_state": model._fitted.seed,
    }
    # Logarithms are no counts, and are taken as they are.
    orthant.anndata.cluster(adata, 3)
    assert adata.uns["orthant"]["params"]["weighting"] == ""
    spherical = orthant.anndata.cluster(adata, 3, estimator=orthant.SphericalKMeans(), key="s")
    assert isinstance(spherical, orthant.SphericalKMeans) and "s" in adata.obs
    variable = orthant.anndata.cluster(adata, 3, layer="counts", weighting=("cpm", "variable", "log1p"), key="v")
    assert variable.weighting == ["cpm", "variable", "log1p"]


def test_markers_are_summands_of_the_divergence(adata):
    model = ONMF(n_clusters=3, random_state=1).fit(adata)
    found = orthant.findings(model, adata)
    X = adata.X.toarray().astype(float)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    unit = np.divide(X, norms, out=np.zeros_like(X), where=norms > 0)
    for i, cluster in enumerate(found.clusters):
        own, others = unit[model.labels_ == i].sum(axis=0), unit[(model.labels_ != i) & (model.labels_ >= 0)].sum(axis=0)
        p, q = own / own.sum(), others / others.sum()
        score = np.where(p > 0, p * np.log(np.maximum(p, 1e-300) / np.maximum(q, p / 1000 + 1e-300)), 0)
        order = np.argsort(-score, kind="stable")
        order = order[score[order] > 0][:12]
        assert [marker[0] for marker in cluster.markers] == [adata.var_names[f] for f in order]
        assert_allclose([marker[1:] for marker in cluster.markers], np.c_[p, q, score][order], rtol=1e-5)
    scores = X @ model._fitted.directions.T
    has = model.labels_ >= 0
    own = scores[np.arange(len(X)), model.labels_]
    scores[np.arange(len(X)), model.labels_] = -1
    assert_array_equal(found.second[has], scores.argmax(axis=1)[has])
    assert_allclose(found.margins[has], (1 - scores.max(axis=1) / own)[has], rtol=1e-4, atol=1e-6)


def test_the_program_and_python_read_the_same_cells(adata, tmp_path):
    adata.layers["counts"] = adata.X.copy()
    adata.write_h5ad(tmp_path / "cells.h5ad")
    for variable in [None, "counts"]:
        read = orthant.read(tmp_path / "cells.h5ad", variable=variable, target="kind")
        assert_array_equal(read.data.toarray(), adata.X.toarray())
        assert read.feature_names == list(adata.var_names) and read.sample_names == list(adata.obs_names)
        assert [read.target_names[i] for i in read.target] == list(adata.obs["kind"])

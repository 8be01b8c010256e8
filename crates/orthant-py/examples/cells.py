"""
Cells: clusters of counts of genes
==================================

An AnnData object goes in; labels, weights, directions and markers are written back into it, where scanpy and others find them.
It needs ``pip install anndata``.
"""

# %%
# 600 cells of four kinds, each with its own active genes, counted to very different depths.
import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import orthant.anndata

rng = np.random.default_rng(0)
genes = [f"gene{i}" for i in range(200)]
profiles = rng.gamma(0.4, size=(4, 200)) + 0.02
kinds = rng.integers(4, size=600)
depth = rng.lognormal(6, 0.6, size=600)
counts = rng.poisson(depth[:, None] * profiles[kinds] / profiles[kinds].sum(1, keepdims=True)).astype("float32")
adata = anndata.AnnData(
    counts, obs=pd.DataFrame({"kind": kinds.astype(str)}, index=[f"cell{i}" for i in range(600)]), var=pd.DataFrame(index=genes)
)
adata

# %%
# Whole numbers are counts: every cell is brought to a million, then ``log(1 + x)``. With ``layer="counts"`` a layer is used.
model = orthant.anndata.cluster(adata, 4)
print(pd.crosstab(adata.obs["kind"], adata.obs["orthant"]))

# %%
# What was found, and how good it is.
print(adata.uns["orthant"]["markers"].groupby("cluster", observed=True).head(3).to_string(index=False))
print(f"relative error {model.relative_error_:.3f}, lower bound {model.lower_bound_:.3f}")

# %%
# Counts of each cluster's markers: a row for each cell, cells of a cluster together.
markers = adata.uns["orthant"]["markers"].groupby("cluster", observed=True).head(5)["gene"].tolist()
order = np.argsort(model.labels_, kind="stable")
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
shown = ax.imshow(np.log1p(adata[:, markers].X[order]), aspect="auto", interpolation="nearest", cmap="magma")
ax.set_xticks(range(len(markers)), markers, rotation=90, fontsize=7)
ax.set_ylabel("cells, by cluster")
figure.colorbar(shown, label="log(1 + count)")
plt.show()

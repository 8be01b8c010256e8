"""Orthogonal nonnegative matrix factorization (ONMF) and clustering of nonnegative data.

Given X >= 0 (samples in rows) and k, ONMF finds W >= 0 and H >= 0 such that X is close to W H and every
row of W has one nonzero: each sample belongs to one cluster, with a direction (a row of H) and a strength.

Examples
--------
>>> import orthant
>>> made = orthant.datasets.make_synthetic(noise=0.01, random_state=0)
>>> model = orthant.ONMF(n_clusters=6).fit(made.data)
>>> round(orthant.metrics.clustering_accuracy(made.target, model.labels_), 3)
1.0
"""

from . import blocks, datasets, metrics, plot
from ._consensus import Consensus, consensus
from ._files import load, read
from ._findings import findings
from ._onmf import ONMF
from ._orthant import OrthantError as OrthantError
from ._orthant import version
from ._report import report
from ._spherical_k_means import SphericalKMeans
from ._study import Advice, Choice, advise, choose_k

__version__: str = version()
__all__ = [
    "ONMF",
    "SphericalKMeans",
    "Advice",
    "Choice",
    "Consensus",
    "OrthantError",
    "advise",
    "blocks",
    "choose_k",
    "consensus",
    "datasets",
    "findings",
    "load",
    "metrics",
    "plot",
    "read",
    "report",
    "__version__",
]

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

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._orthant import OrthantError as OrthantError
from ._orthant import version

if TYPE_CHECKING:
    from . import anndata, blocks, dask, datasets, metrics, plot
    from ._auto import Clusters, cluster
    from ._consensus import Consensus, consensus
    from ._files import load, read
    from ._findings import findings
    from ._onmf import ONMF
    from ._report import report
    from ._spherical_k_means import SphericalKMeans
    from ._study import Advice, Choice, advise, choose_k

__version__: str = version()
__all__ = [
    "ONMF",
    "SphericalKMeans",
    "Advice",
    "Choice",
    "Clusters",
    "Consensus",
    "OrthantError",
    "advise",
    "blocks",
    "choose_k",
    "cluster",
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

# What is named above is imported when it is first asked for: the command `orthant` lives in this package too, and does not wait
# for scikit-learn.
_HOMES = {
    "Advice": "_study",
    "Choice": "_study",
    "Clusters": "_auto",
    "Consensus": "_consensus",
    "ONMF": "_onmf",
    "SphericalKMeans": "_spherical_k_means",
    "advise": "_study",
    "choose_k": "_study",
    "cluster": "_auto",
    "consensus": "_consensus",
    "findings": "_findings",
    "load": "_files",
    "read": "_files",
    "report": "_report",
}


# What needs other packages: known by name, not imported by a star.
_BESIDE = ("anndata", "dask")


def __getattr__(name: str) -> Any:
    if name not in __all__ and name not in _BESIDE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = import_module(f".{_HOMES.get(name, name)}", __name__)
    globals()[name] = getattr(home, name) if name in _HOMES else home
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_BESIDE})

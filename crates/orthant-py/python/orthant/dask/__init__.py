"""ONMF and spherical k-means on a Dask cluster: the results of `orthant.ONMF` on one machine, bit for bit.

The data stay with the workers, each of which holds some blocks of samples; the loop runs in the client. An iteration is one
small task for each worker. Workers may come and go during a fit. See docs/dask.md.
"""

from __future__ import annotations

from ._estimators import ONMF, SphericalKMeans

__all__ = ["ONMF", "SphericalKMeans"]

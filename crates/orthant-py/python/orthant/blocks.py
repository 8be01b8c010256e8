"""Data larger than memory: block folders, written from any iterator of blocks and clustered from disk.

A folder has plain .npy files and ``blocks.json``; numpy reads them without this package.

Examples
--------
>>> import tempfile
>>> import numpy as np
>>> import orthant
>>> rng = np.random.default_rng(0)
>>> with tempfile.TemporaryDirectory() as folder:
...     written = orthant.blocks.write(f"{folder}/x.blocks", (rng.random((100, 8)) for _ in range(5)))
...     model = orthant.ONMF(3, method="em-onmf").fit(f"{folder}/x.blocks")
>>> written, model.labels_.shape
(500, (500,))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _orthant
from ._inputs import parts
from ._typing import Path

__all__ = ["write"]


def write(
    path: Path,
    blocks: Iterable[Any],
    *,
    names: Iterable[Any] | None = None,
    target: Iterable[Any] | None = None,
    weights: Any = None,
    feature_names: Sequence[str] | None = None,
    force: bool = False,
) -> int:
    """Write a block folder; it appears whole or not at all.

    Parameters
    ----------
    path : str or path-like
        The folder to write, usually called ``NAME.blocks``.
    blocks : iterable of arrays or scipy.sparse matrices
        Samples in rows, as many at a time as is convenient; all dense or all sparse. float32 stays float32,
        everything else becomes float64.
    names : iterable of str, default=None
        A name for each sample.
    target : iterable, default=None
        The class of each sample.
    weights : array-like of shape (n_samples,), default=None
        A weight for each sample.
    feature_names : sequence of str, default=None
        A name for each feature.
    force : bool, default=False
        Whether a block folder that is there is replaced.

    Returns
    -------
    n_samples : int
        How many samples were written.
    """
    writer = _orthant.BlockWriter(path, force=force)
    lists = {"names": None if names is None else iter(names), "target": None if target is None else iter(target)}
    dtype = None
    try:
        for block in blocks:
            if sp.issparse(block):
                block = block.tocsr()
            else:
                block = np.asarray(block)
                if block.ndim != 2:
                    raise ValueError(f"a block has {block.ndim} dimensions: samples x features are needed")
            if dtype is None:
                dtype = np.dtype(np.float32 if block.dtype == np.float32 else np.float64)
            block = block.astype(dtype, copy=False)
            if not sp.issparse(block):
                block = np.ascontiguousarray(block)
            count = block.shape[0]
            taken = {}
            for what, rest in lists.items():
                if rest is not None:
                    taken[what] = [str(item) for _, item in zip(range(count), rest)]
                    if len(taken[what]) < count:
                        raise ValueError(f"{what} has fewer entries than there are samples")
            writer.push(parts(block), **taken)
        for what, rest in lists.items():
            if rest is not None and next(rest, None) is not None:
                raise ValueError(f"{what} has more entries than there are samples")
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64).ravel().tolist()
        return writer.finish(
            weights=weights, feature_names=None if feature_names is None else [str(name) for name in feature_names]
        )
    finally:
        writer.abandon()

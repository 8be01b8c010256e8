"""Types that many signatures share. They are for readers and type checkers: nothing is checked by them."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: A matrix: an array, a sparse matrix of scipy, a data frame, AnnData, or anything that numpy can make an array of.
MatrixLike: TypeAlias = Any
#: float32 or float64.
Real: TypeAlias = NDArray[Any]
Labels: TypeAlias = NDArray[np.int32]
Path: TypeAlias = str | os.PathLike[str]
RandomState: TypeAlias = int | np.random.RandomState | None
Bound: TypeAlias = Literal["singular", "dual", "dual-of-groups"]
Certificate: TypeAlias = Literal["auto", "singular", "quick", "thorough"]
Effort: TypeAlias = Literal["quick", "normal", "thorough", "endless"]
Method: TypeAlias = Literal["best", "best-kl-onmf", "onp-mf", "em-onmf", "kl-onmf", "chnmf", "o-pnmf"]
Start: TypeAlias = Literal["auto", "random", "residual", "svd", "nndsvd"]
Polish: TypeAlias = Literal["em", "moves", "swaps"]
Weighting: TypeAlias = Literal["tf-idf", "unit", "cpm", "log1p", "variable"]
Rows: TypeAlias = Literal["sum", "plain"]
Scan: TypeAlias = Literal["C", "F"]

__all__ = [
    "ArrayLike",
    "Bound",
    "Certificate",
    "Effort",
    "Labels",
    "MatrixLike",
    "Method",
    "NDArray",
    "Path",
    "Polish",
    "RandomState",
    "Real",
    "Rows",
    "Scan",
    "Start",
    "Weighting",
]

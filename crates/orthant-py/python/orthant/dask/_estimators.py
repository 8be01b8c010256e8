"""The estimators on a cluster. They are those of one machine, with other ways to their data."""

from __future__ import annotations

import math
import uuid
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import default_client
from sklearn.utils.validation import check_is_fitted

from .. import _base, _onmf, _orthant, _spherical_k_means
from .._inputs import aligned, bytes_of
from .._typing import Labels, MatrixLike, Real
from .._typing import Path as PathLike
from ._chunks import Chunks, Folder, blocks_of, chunked, is_path, opened
from ._transport import Transport, brought
from ._worker import matrix

#: Of a worker's memory limit, what blocks may take: from seven tenths on Dask writes to disk, from eight it pauses.
_SHARE = 0.6


class _OnDask(_base.Clustering):
    """What differs on a cluster: where X comes from and where results go."""

    _client: Any = None

    @property
    def client(self) -> Any:
        """The cluster to use; the current one unless set."""
        client = default_client() if self._client is None else self._client
        if client.asynchronous:
            raise TypeError(
                "the client is asynchronous, and a fit waits for its workers: pass a Client(...) without "
                "asynchronous=True as model.client, and await asyncio.to_thread(model.fit, X)."
            )
        return client

    @client.setter
    def client(self, client: Any) -> None:
        self._client = client

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_client", "_transport")}

    # The way in.

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._of_features():
            raise ValueError("cluster='features' needs X in one piece: use orthant.ONMF, or pass X transposed.")
        if self.weighting is not None:
            raise ValueError("weighting is not available on a cluster yet: weight X before it is passed.")

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Any:
        X = opened(X) if is_path(X) else X
        names = _names(X)
        if not reset:
            self._check_columns(X)
        X = X if isinstance(X, Folder) else chunked(X, self.client)
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise ValueError(f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) while 1 is required.")
        if reset:
            self.n_features_in_ = X.shape[1]
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(self._other_width(X.shape[1]))
        return X

    def _check_columns(self, X: Any) -> None:
        """What is known of X before any block is: its columns."""
        names, known = _names(X), getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and names != list(known):
            raise ValueError(
                "The feature names should match those that were passed during fit: X has other columns, or has them in "
                "another order."
            )
        # NaN where it is not known.
        width = getattr(X, "shape", (0, math.nan))[1]
        if isinstance(width, int) and width != self.n_features_in_:
            raise ValueError(self._other_width(width))

    def _other_width(self, width: int) -> str:
        return (
            f"X has {width} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input."
        )

    def _weighted(self, X: Any, *, learn: bool = False) -> Any:
        """In place of an array: those who will hold X."""
        if learn:
            self._learned = []
        self._transport = Transport(self.client, X)
        _check_memory(X, self.client)
        return _orthant.Fleet(
            self._transport, *X.shape, nonzeros=X.nonzeros, single=X.dtype == np.float32, sparse=X.sparse,
            memory=bytes_of(self.memory),
        )

    def fit(
        self,
        X: MatrixLike,
        y: object = None,
        sample_weight: Any = None,
        *,
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 30.0,
        resume: bool = True,
    ) -> Any:
        """As on one machine.

        Parameters
        ----------
        X : dask array or dataframe, list of delayed blocks, or path
            The samples in rows; at a path: zarr, parquet, or a block folder.
        y : Ignored
            Present for API consistency.
        sample_weight : array-like or dask array of shape (n_samples,), default=None
            Weights of the samples.
        checkpoint : path, default=None
            A file for work under way, saved now and then and on Ctrl-C. Where it exists the fit goes on from it, to the same
            bits; when the fit is complete it is removed. What another program puts there meanwhile stays, with a warning.
        checkpoint_every : float, default=30.0
            Seconds between two savings.
        resume : bool, default=True
            Whether to go on from that file; False begins anew. What is no checkpoint is not replaced in either case.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit(X, sample_weight, checkpoint, checkpoint_every, resume)

    def _fit(self, X: MatrixLike, sample_weight: Any, *saving: Any) -> Any:
        X = opened(X) if is_path(X) else X
        if isinstance(X, Folder) and sample_weight is None:
            sample_weight = X.weights
        try:
            return super()._fit(X, self._here(sample_weight), *saving)
        finally:
            self._close()

    def _here(self, weights: Any) -> Any:
        """Weights of samples, wherever they are."""
        if not hasattr(weights, "compute"):
            return weights
        (found,) = brought(self.client, [self.client.compute(weights)]) or [None]
        return np.asarray(found)

    def _close(self) -> None:
        transport = vars(self).pop("_transport", None)
        if transport is not None:
            self.n_rounds_ = transport.rounds
            transport.close()

    # The way out.

    def _set_fitted(self, fitted: _orthant.Fitted, X: Any, weights: Real | None) -> None:
        self._rows = tuple(n for n in X.rows if n)
        super()._set_fitted(fitted, X, weights)

    def _set_arrays(self, dtype: Any) -> None:
        super()._set_arrays(dtype)
        self.labels_ = da.from_array(self.labels_, chunks=(self._rows,))
        self.weights_ = da.from_array(self.weights_, chunks=(self._rows,))

    def _on_one_machine(self) -> Any:
        """What workers need to apply the fit to a block."""
        there = self._plain.__new__(self._plain)
        left = ("labels_", "weights_", "feature_names_in_", "_client", "_transport", "_fitted", "callback")
        vars(there).update({name: value for name, value in vars(self).items() if name not in left})
        there._fitted = self._fitted.without_samples()
        there.n_jobs, there.callback = 1, None
        return there

    def _by_block(self, X: MatrixLike, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        check_is_fitted(self)
        blocks, rows = blocks_of(X)
        self._check_columns(X)
        # Keys by which the dashboard names the tasks.
        key = uuid.uuid4().hex
        there = dask.delayed(self._on_one_machine(), name=f"orthant-model-{key}")
        apply = dask.delayed(_apply, pure=False)
        return da.concatenate(
            [
                da.from_delayed(
                    apply(there, block, name, dask_key_name=f"orthant-{name}-{key}-{at}"), shape=(n, *shape), dtype=dtype
                )
                for at, (block, n) in enumerate(zip(blocks, rows))
            ],
            allow_unknown_chunksizes=True,
        )

    def _from_folder(self, of: Any) -> Any:
        try:
            return da.from_array(of())
        finally:
            self._close()

    def _labels_of(self, X: MatrixLike) -> Labels:
        X = opened(X) if is_path(X) else X
        if isinstance(X, Folder):
            return self._from_folder(lambda: super(_OnDask, self)._labels_of(X))
        return self._by_block(X, "predict", (), np.int32)

    def _transform(self, X: MatrixLike) -> Real:
        X = opened(X) if is_path(X) else X
        if isinstance(X, Folder):
            return self._from_folder(lambda: super(_OnDask, self)._transform(X))
        return self._by_block(X, "transform", (self._n_features_out,), self.components_.dtype)

    def score(self, X: MatrixLike, y: object = None, sample_weight: Any = None) -> float:
        """As on one machine."""
        try:
            return super().score(X, sample_weight=self._here(sample_weight))
        finally:
            self._close()


def _names(X: Any) -> list[str] | None:
    """The columns of a dataframe."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


def _apply(there: Any, block: Any, name: str) -> Any:
    """`predict` or `transform` of one block."""
    rows = aligned(matrix(block))
    if rows.shape[0] == 0:
        return np.empty((0,), np.int32) if name == "predict" else np.empty((0, there._n_features_out), rows.dtype)
    return getattr(there, "_labels_of" if name == "predict" else "_transform")(rows)


def _check_memory(X: Chunks, client: Any) -> None:
    workers = client.scheduler_info(n_workers=-1)["workers"].values()
    limits = [worker["memory_limit"] for worker in workers]
    if limits and all(limits) and X.nbytes() > _SHARE * sum(limits):
        raise MemoryError(
            f"X takes {X.nbytes() / 1e9:.2f} GB and the {len(limits)} workers may use {sum(limits) / 1e9:.2f} GB, of "
            f"which {_SHARE:.0%} can hold blocks: add workers or give them more memory."
        )


class ONMF(_OnDask, _onmf.ONMF):
    """`orthant.ONMF` on a Dask cluster, with the same parameters and the same results, bit for bit.

    X is a dask array (dense, or of scipy.sparse blocks) or dataframe, a list of delayed blocks of rows, or a path that all
    workers can read: zarr, parquet, or a block folder.
    `labels_` and `weights_` are dask arrays with the chunks of X; `predict` and `transform` are lazy.
    """

    _plain = _onmf.ONMF


class SphericalKMeans(_OnDask, _spherical_k_means.SphericalKMeans):
    """`orthant.SphericalKMeans` on a Dask cluster, with the same parameters and the same results, bit for bit.

    X is as for `orthant.dask.ONMF`.
    """

    _plain = _spherical_k_means.SphericalKMeans

"""What the estimators share: checks, the call into the compiled part, fitted attributes, pickling."""

from __future__ import annotations

import numbers
import os
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, check_scalar
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, check_non_negative, validate_data

from . import _orthant
from ._progress import Bar

#: The table of methods by name, as the library has it.
METHODS = {entry["name"]: entry for entry in _orthant.methods()}

#: Pickles of versions with other leading numbers are refused.
_VERSION = _orthant.version()


def threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means.

    None is all processors, as with scikit-learn's own parallel estimators, unless OMP_NUM_THREADS says
    otherwise (joblib sets it in its workers, so that they do not crowd each other out).
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return max(1, min(available, int(limit))) if limit.isdigit() else available
    check_scalar(n_jobs, "n_jobs", numbers.Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return int(n_jobs) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


def seed(random_state) -> int:
    """The seed that ``random_state`` stands for: an int is itself, anything else draws one."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        check_scalar(random_state, "random_state", numbers.Integral, min_val=0, max_val=2**64 - 1)
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def parts(points):
    """Points as the compiled part takes them: arrays as they are, CSR matrices by their parts."""
    if not sp.issparse(points):
        return points
    if not points.has_canonical_format:
        points = points.copy()
        points.sum_duplicates()
    indptr, indices = points.indptr, points.indices
    if indptr.dtype != indices.dtype:
        indptr = indptr.astype(indices.dtype)
    return (indptr, indices, points.data, points.shape[1])


class Clustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators; ``_signed`` says whether negative entries are welcome."""

    _signed = False

    # What subclasses differ in.

    def _method(self) -> str:
        raise NotImplementedError

    def _values(self) -> dict:
        """The method's parameters that were set, by their Python names."""
        return {"max_iter": self.max_iter}

    def _of_features(self) -> bool:
        return self.cluster == "features"

    def _polish(self) -> list[str]:
        return []

    def _time(self):
        return None

    # Checks.

    def _check_parameters(self):
        check_scalar(self.n_clusters, "n_clusters", numbers.Integral, min_val=1)
        check_scalar(self.n_init, "n_init", numbers.Integral, min_val=1)
        if self.max_iter is not None:
            check_scalar(self.max_iter, "max_iter", numbers.Integral, min_val=1)
        if self.cluster not in ("samples", "features"):
            raise ValueError(
                f"The 'cluster' parameter of {type(self).__name__} must be a str among "
                f"{{'samples', 'features'}}. Got {self.cluster!r} instead."
            )
        levels = _orthant.certificates()
        if self.certificate not in levels:
            raise ValueError(
                f"The 'certificate' parameter of {type(self).__name__} must be a str among "
                f"{{{', '.join(map(repr, levels))}}}. Got {self.certificate!r} instead."
            )
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be callable or None, got {type(self.callback).__name__}")

    def _check_values(self, method: str) -> list[tuple[str, float]]:
        """The values that were set, under the library's names."""
        known = METHODS[method]["parameters"]
        values = []
        for name, value in self._values().items():
            if value is None:
                continue
            if name not in known:
                raise ValueError(
                    f"{name} is not a parameter of method={self._method()!r}; its parameters are "
                    f"{', '.join(known)}."
                )
            names = known[name]["names"]
            if names:
                if value not in names:
                    raise ValueError(
                        f"The {name!r} parameter of {type(self).__name__} must be a str among "
                        f"{{{', '.join(map(repr, names))}}}. Got {value!r} instead."
                    )
                value = names.index(value)
            low, high = known[name]["range"]
            check_scalar(value, name, numbers.Real, min_val=low, max_val=high)
            values.append((known[name]["key"], float(value)))
        return values

    def _check_init(self) -> dict:
        """The start as arguments for the compiled part."""
        if isinstance(self.init, str):
            return {"start": None if self.init == "auto" else self.init}
        init = np.asarray(self.init)
        if init.ndim == 1:
            if not np.issubdtype(init.dtype, np.integer):
                raise ValueError(f"init holds labels of dtype {init.dtype}: labels are whole numbers.")
            if init.size and (init.min() < -1 or init.max() >= self.n_clusters):
                raise ValueError(
                    f"init holds labels from {init.min()} to {init.max()}: they must lie between 0 and "
                    f"n_clusters - 1 = {self.n_clusters - 1} (-1: none)."
                )
            return {"labels": np.ascontiguousarray(init, dtype=np.int32)}
        init = check_array(init, dtype=np.float64, order="C", input_name="init")
        if not self._signed:
            check_non_negative(init, f"{type(self).__name__} (input init)")
        return {"centroids": init}

    def _check_X(self, X, *, reset: bool):
        of_features = self._of_features()
        X = validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csc" if of_features else "csr",
            dtype=[np.float64, np.float32],
            # A transposed array in Fortran's order is one in C's.
            order="F" if of_features else "C",
        )
        if not self._signed:
            check_non_negative(X, f"{type(self).__name__} (input X)")
        return X

    # Fitting.

    def _fit(self, X, sample_weight):
        self._check_parameters()
        X = self._check_X(X, reset=True)
        n_points = X.shape[1] if self._of_features() else X.shape[0]
        if n_points < self.n_clusters:
            what = "n_features" if self._of_features() else "n_samples"
            raise ValueError(f"{what}={n_points} should be >= n_clusters={self.n_clusters}.")
        weights = None
        if sample_weight is not None:
            if self._of_features():
                raise ValueError("sample_weight weights the points, which are the features with cluster='features'.")
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        name = self._method()
        values = self._check_values(name)

        watch, interval, bar = self._watch(name, dict(values))
        fitted = _orthant.fit(
            parts(X.T if self._of_features() else X),
            int(self.n_clusters),
            name,
            values=values,
            **self._check_init(),
            runs=int(self.n_init),
            seed=seed(self.random_state),
            polish=self._polish(),
            time=self._time(),
            certificate=self.certificate,
            weights=weights,
            threads=threads(self.n_jobs),
            watch=watch,
            interval=interval,
        )
        self._set_fitted(fitted, X, weights)
        if bar is not None:
            bar.close(f"{fitted['stop']} after {self.n_iter_} iterations, error {self.relative_error_:.4f}")
        if fitted["exception"] is not None:
            raise fitted["exception"]
        if fitted["stop"] == "max-iterations":
            warnings.warn(
                f"{fitted['method']} reached its limit of iterations before it converged; "
                "a larger max_iter may help.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _watch(self, method: str, values: dict):
        """What is called during the fit, how often at most (seconds), and the bar."""
        bar = None
        if self.verbose:
            default = METHODS[method]["parameters"].get("tol", {}).get("default")
            bar = Bar(type(self).__name__, values.get("tolerance", default))
        callback = self.callback
        if callback is None:
            return bar, 0.1, bar
        if bar is None:
            return callback, 0.0, None

        def both(info):
            bar(info)
            return callback(info)

        return both, 0.0, bar

    def _set_fitted(self, fitted: dict, X, weights):
        def kept(array):
            return array.astype(X.dtype, copy=False)

        self.labels_ = fitted["labels"]
        self.weights_ = kept(fitted["strengths"])
        # In full precision whatever the data's: for new samples, and for reports.
        self._fitted = {name: value for name, value in fitted.items() if name != "exception"}
        self.cluster_centers_ = kept(self._centers())
        if self._of_features():
            self.components_ = np.zeros((self.n_clusters, X.shape[1]), dtype=X.dtype)
            has = self.labels_ >= 0
            self.components_[self.labels_[has], np.flatnonzero(has)] = self.weights_[has]
        else:
            self.components_ = kept(fitted["components"])
        self.n_iter_ = fitted["n_iter"]
        self.converged_ = fitted["converged"]
        self.history_ = fitted["runs"][fitted["best_run"]]["stages"]
        self.relative_error_ = fitted["relative_error"]
        self.reconstruction_err_ = fitted["relative_error"] * fitted["norm"]
        self.lower_bound_ = fitted["lower_bound"]
        self.bound_ = fitted["bound"]
        self.at_most_above_best_ = fitted["at_most_above_best"]
        self.energy_share_ = fitted["energy_share"]

    def _centers(self):
        return self._fitted["directions"]

    @property
    def _n_features_out(self):
        return self.components_.shape[0]

    # Applying.

    def _apply(self, X, *, directions=True, weights=None):
        return _orthant.apply(
            parts(X),
            self._fitted["centroids"],
            self._fitted["rule"],
            directions=self._fitted["directions"] if directions else None,
            weights=weights,
            threads=threads(self.n_jobs),
        )

    def _labels_of(self, X):
        check_is_fitted(self)
        return self._apply(self._check_X(X, reset=False), directions=False)[0]

    def _transform(self, X):
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        if self._of_features():
            # The rows of components_ are orthonormal, so least squares is a product.
            return np.asarray(X @ self.components_.T)
        labels, strengths, _ = self._apply(X)
        W = np.zeros((X.shape[0], self._n_features_out), dtype=X.dtype)
        has = labels >= 0
        lengths = np.linalg.norm(self._fitted["components"], axis=1)
        W[np.flatnonzero(has), labels[has]] = strengths[has] / lengths[labels[has]]
        return W

    def inverse_transform(self, X):
        """Go back from the transformed space: ``X @ components_``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_clusters)
            Transformed samples.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            What `components_` make of them.
        """
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if X.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {X.shape[1]} columns, but {type(self).__name__} has {self._n_features_out} clusters."
            )
        return np.asarray(X @ self.components_)

    # Conventions.

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._signed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __getstate__(self):
        return {**super().__getstate__(), "_orthant_version": _VERSION}

    def __setstate__(self, state):
        state = dict(state)
        version = state.pop("_orthant_version", None)
        if version is None or version.split(".")[:2] != _VERSION.split(".")[:2]:
            raise ValueError(
                f"This {type(self).__name__} was pickled by orthant {version or '(unknown)'} and cannot be "
                f"read by orthant {_VERSION}: install that version, or fit the estimator again."
            )
        super().__setstate__(state)

"""What the estimators share: checks, the call into the compiled part, fitted attributes, pickling."""

from __future__ import annotations

import html
import numbers
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state, check_scalar
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import (
    _check_n_features,
    _check_sample_weight,
    check_is_fitted,
    check_non_negative,
    validate_data,
)

from . import _orthant
from ._inputs import OnDisk, feature_names, in_memory, joined, named_entries, on_disk, parts
from ._progress import Bar
from ._typing import Bound, Labels, MatrixLike, NDArray, Path, Real

#: The table of methods by name, as the library has it.
METHODS = {entry["name"]: entry for entry in _orthant.methods()}

#: Pickles of versions with other leading numbers are refused.
_VERSION = _orthant.version()


def threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means.

    None is all processors, as with scikit-learn's own parallel estimators, unless OMP_NUM_THREADS says
    otherwise (joblib sets it in its workers, so that they do not crowd each other out). More threads than
    there are processors only wait for one another: no more are started.
    """
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return max(1, min(available, int(limit))) if limit.isdigit() else available
    check_scalar(n_jobs, "n_jobs", numbers.Integral)
    if n_jobs == 0:
        raise ValueError("n_jobs == 0 has no meaning")
    return min(available, int(n_jobs)) if n_jobs > 0 else max(1, available + 1 + int(n_jobs))


def seed(random_state: Any) -> int:
    """The seed that ``random_state`` stands for: an int is itself, anything else draws one."""
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool):
        check_scalar(random_state, "random_state", numbers.Integral, min_val=0, max_val=2**64 - 1)
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def compact(labels: Labels) -> NDArray[Any]:
    """The same labels in the smallest type that holds them."""
    most = int(labels.max(initial=0))
    kind = next(kind for kind in (np.int8, np.int16, np.int32) if most <= np.iinfo(kind).max)
    return labels.astype(kind)


def kept(array: Real, dtype: Any) -> Real:
    """In the data's own format, unless that is float32 and too narrow for the numbers."""
    if dtype == np.float32:
        size = np.abs(array).max(initial=0.0)
        limits = np.finfo(np.float32)
        if size != 0 and not limits.tiny <= size <= limits.max:
            return array
    return array.astype(dtype, copy=False)


class Clustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators; ``_signed`` says whether negative entries are welcome."""

    _signed = False

    labels_: Labels
    weights_: Real
    components_: Real
    cluster_centers_: Real
    n_iter_: int
    converged_: bool
    relative_error_: float
    reconstruction_err_: float
    lower_bound_: float
    bound_: Bound
    at_most_above_best_: float | None
    energy_share_: float
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    #: The column of each word, where a result of texts was loaded.
    vocabulary_: dict[str, int]
    #: The library's own outcome; its arrays are in full precision whatever the data's.
    _fitted: _orthant.Fitted
    #: The steps of weighting with what they learned: a factor for each feature, or None.
    _learned: list[tuple[str, Any]]

    # What subclasses differ in.

    def _method(self) -> str:
        raise NotImplementedError

    def _values(self) -> dict[str, Any]:
        """The method's parameters that were set, by their Python names."""
        return {"max_iter": self.max_iter}

    def _of_features(self) -> bool:
        return self.cluster == "features"

    def _polish(self) -> list[str]:
        return []

    def _time(self) -> float | None:
        return None

    # Checks.

    def _check_parameters(self) -> None:
        check_scalar(self.n_clusters, "n_clusters", numbers.Integral, min_val=1)
        check_scalar(self.n_init, "n_init", numbers.Integral, min_val=1)
        check_scalar(self.race, "race", (bool, np.bool_))
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

    def _check_init(self) -> dict[str, Any]:
        """The start as arguments for the compiled part."""
        starts = ["auto", *(name for name, _ in _orthant.starts())]
        if isinstance(self.init, str) and self.init in starts:
            return {"start": None if self.init == "auto" else self.init}
        init = np.asarray(None if callable(self.init) else self.init)
        if init.ndim not in (1, 2):
            raise ValueError(
                f"The 'init' parameter of {type(self).__name__} must be a str among "
                f"{{{', '.join(map(repr, starts))}}} or an array of labels or directions. Got {self.init!r} instead"
                + ("; call it and pass what it returns." if callable(self.init) else ".")
            )
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

    def _check_weighting(self) -> list[str]:
        """The steps of weighting, in order."""
        if self.weighting is None:
            return []
        steps = self.weighting.split(",") if isinstance(self.weighting, str) else list(self.weighting)
        known = _orthant.weightings()
        if not all(step in known for step in steps):
            raise ValueError(
                f"The 'weighting' parameter of {type(self).__name__} must be None or of "
                f"{{{', '.join(map(repr, known))}}}. Got {self.weighting!r} instead."
            )
        if self._of_features():
            raise ValueError("weighting is of samples: with cluster='features' weight X before it is passed.")
        return steps

    def _check_X(self, X: MatrixLike, *, reset: bool) -> Any:
        of_features = self._of_features()
        disk = on_disk(X, self.memory)
        if disk is not None:
            return self._check_disk(disk, reset=reset)
        names = feature_names(X)
        options: dict[str, Any] = {
            "accept_sparse": "csc" if of_features else "csr",
            "dtype": [np.float64, np.float32],
            # A transposed array in Fortran's order is one in C's.
            "order": "F" if of_features else "C",
            # The compiled part looks at every entry anyway, and says where a wrong one is.
            "ensure_all_finite": False,
        }
        X = in_memory(X)
        if names is None:
            return validate_data(self, X, reset=reset, **options)
        X = check_array(X, estimator=self, input_name="X", **options)
        _check_n_features(self, X, reset)
        if reset:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif list(getattr(self, "feature_names_in_", names)) != names:
            raise ValueError(
                "The feature names should match those that were passed during fit: X has other var_names, or has "
                "them in another order."
            )
        return X

    def _check_disk(self, X: OnDisk, *, reset: bool) -> OnDisk:
        if self._of_features():
            raise ValueError(
                "cluster='features' needs data in memory: turn the file with 'orthant convert --transpose' and cluster "
                "its samples."
            )
        if self.weighting is not None:
            raise ValueError("weighting needs data in memory: weight the blocks as they are written.")
        if reset:
            self.n_features_in_ = X.shape[1]
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                "as input."
            )
        return X

    def _named_entries(self) -> Any:
        return named_entries(
            type(self).__name__,
            transposed=self._of_features(),
            signed=self._signed,
            names=getattr(self, "feature_names_in_", None),
        )

    def _weighted(self, X: Any, *, learn: bool = False) -> Any:
        """Samples with the weighting, learned from them or in the fit."""
        steps = self._check_weighting() if learn else [name for name, _ in self._learned]
        learned = None if learn else [factors for _, factors in self._learned]
        if learn:
            self._learned = []
        if not steps:
            return X
        weighted, learned = _orthant.weigh(parts(X), steps, learned)
        if learn:
            self._learned = list(zip(steps, learned))
        return joined(weighted)

    # Fitting.

    # Nothing that a pipeline would pass on to one step of several.
    __metadata_request__fit = {name: UNUSED for name in ("checkpoint", "checkpoint_every", "resume")}

    def _fit(
        self,
        X: MatrixLike,
        sample_weight: Any,
        checkpoint: Path | None = None,
        checkpoint_every: float = 30.0,
        resume: bool = True,
    ) -> Any:
        self._check_parameters()
        check_scalar(checkpoint_every, "checkpoint_every", numbers.Real, min_val=0)
        self._check_weighting()
        X = self._check_X(X, reset=True)
        n_points = X.shape[1] if self._of_features() else X.shape[0]
        if n_points < self.n_clusters:
            what = "n_features" if self._of_features() else "n_samples"
            raise ValueError(f"{what}={n_points} should be >= n_clusters={self.n_clusters}.")
        weights = None
        if sample_weight is not None:
            if self._of_features():
                raise ValueError("sample_weight weights the points, which are the features with cluster='features'.")
            # Only their number matters, and no more is known of data on disk.
            like = np.empty((X.shape[0], 0)) if isinstance(X, OnDisk) else X
            weights = _check_sample_weight(sample_weight, like, dtype=np.float64, ensure_non_negative=True)
        name = self._method()
        values = self._check_values(name)

        watch, interval, bar = self._watch()
        start = self._check_init()
        with self._named_entries():
            asked = {
                "method": name,
                "k": int(self.n_clusters),
                "values": values,
                "runs": int(self.n_init),
                "race": bool(self.race),
                "seed": seed(self.random_state),
                "polish": self._polish(),
                "time": self._time(),
                "certificate": self.certificate,
            }
            fitted, exception, unsaved = _orthant.fit(
                parts(X.T if self._of_features() else self._weighted(X, learn=True)),
                asked,
                **start,
                weights=weights,
                threads=threads(self.n_jobs),
                watch=watch,
                interval=interval,
                checkpoint=checkpoint,
                checkpoint_every=float(checkpoint_every),
                goes_on=bool(resume),
            )
        self._set_fitted(fitted, X, weights)
        if bar is not None:
            bar.close(f"{fitted.stop} after {self.n_iter_} iterations, error {self.relative_error_:.4f}")
        if exception is not None:
            raise exception
        if unsaved is not None:
            warnings.warn(f"the checkpoint could not be saved: {unsaved}", RuntimeWarning, stacklevel=3)
        if fitted.stop == "max-iterations":
            warnings.warn(
                f"{fitted.method} reached its limit of iterations before it converged; "
                "a larger max_iter may help.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _watch(self) -> tuple[Callable[..., Any] | None, float, Bar | None]:
        """What is called during the fit, how often at most (seconds), and the bar."""
        bar = Bar(type(self).__name__) if self.verbose else None
        callback = self.callback
        if callback is None:
            return bar, 0.1, bar
        if bar is None:
            return callback, 0.0, None

        def both(info: dict[str, Any]) -> Any:
            bar(info)
            return callback(info)

        return both, 0.0, bar

    def _set_fitted(self, fitted: _orthant.Fitted, X: Any, weights: Real | None) -> None:
        self._fitted = fitted
        self._set_arrays(X.dtype)
        self.n_iter_ = fitted.n_iter
        self.converged_ = fitted.converged
        self.relative_error_ = fitted.relative_error
        self.reconstruction_err_ = fitted.relative_error * fitted.norm
        self.lower_bound_ = fitted.lower_bound
        self.bound_ = fitted.bound
        self.at_most_above_best_ = fitted.at_most_above_best
        self.energy_share_ = fitted.energy_share

    def _set_arrays(self, dtype: Any) -> None:
        """What is as long as the data or wide as the features: of the fit, which pickles therefore hold alone."""
        fitted = self._fitted
        self.labels_ = fitted.labels
        self.weights_ = kept(fitted.strengths, dtype)
        self.cluster_centers_ = kept(self._centers(), dtype)
        if self._of_features():
            self.components_ = np.zeros((self.n_clusters, len(self.labels_)), dtype=dtype)
            has = self.labels_ >= 0
            self.components_[self.labels_[has], np.flatnonzero(has)] = self.weights_[has]
        else:
            self.components_ = kept(fitted.components, dtype)

    def _centers(self) -> Real:
        return self._fitted.directions

    @property
    def history_(self) -> list[dict[str, Any]]:
        """For each stage of the best run its method, why it ended, and every iteration."""
        return self._of_fit("history_").history

    @property
    def runs_(self) -> list[dict[str, Any]]:
        """Labels and error of every run, in order."""
        return [{**run, "labels": compact(run["labels"])} for run in self._of_fit("runs_").runs]

    def _of_fit(self, name: str) -> _orthant.Fitted:
        if "_fitted" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted")
        return self._fitted

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    # Applying.

    def _apply(self, X: Any, weights: Real | None = None) -> tuple[Labels, Real, float]:
        """Labels; strengths in units of the components' lengths; the squared error."""
        with self._named_entries():
            return self._fitted.transform(
                parts(self._weighted(X)), signed=self._signed, weights=weights, threads=threads(self.n_jobs)
            )

    def _labels_of(self, X: MatrixLike) -> Labels:
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        with self._named_entries():
            return self._fitted.predict(parts(self._weighted(X)), signed=self._signed, threads=threads(self.n_jobs))

    def _transform(self, X: MatrixLike) -> Real:
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        if self._of_features():
            self._check_entries(X)
            # The rows of components_ are orthonormal, so least squares is a product.
            return np.asarray(X @ self.components_.T)
        labels, strengths, _ = self._apply(X)
        W = np.zeros((X.shape[0], self._n_features_out), dtype=X.dtype)
        has = labels >= 0
        W[np.flatnonzero(has), labels[has]] = strengths[has]
        return W

    def _check_entries(self, X: Any) -> None:
        """For what is computed here: entries that the compiled part would refuse."""
        with self._named_entries():
            _orthant.check(parts(X.T if self._of_features() else X), signed=self._signed)

    def inverse_transform(self, X: MatrixLike) -> Real:
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

    # Pictures.

    def plot(self, what: str = "directions", **options: Any) -> Any:
        """Draw the fitted estimator.

        Parameters
        ----------
        what : {"directions", "map", "convergence"}, default="directions"
            The direction of each cluster over the features; the clusters as an image, which needs ``shape=``;
            or what each iteration reached.
        **options
            For the `from_estimator` of `orthant.plot.SpectraDisplay`, `ClusterMapDisplay` or
            `ConvergenceDisplay`.

        Returns
        -------
        display : object
            The display, with `ax_` and `figure_`.
        """
        from . import plot

        displays = {
            "directions": plot.SpectraDisplay,
            "map": plot.ClusterMapDisplay,
            "convergence": plot.ConvergenceDisplay,
        }
        if what not in displays:
            raise ValueError(f"what must be one of {', '.join(map(repr, displays))}, got {what!r}.")
        return displays[what].from_estimator(self, **options)

    def _html_repr(self) -> str:
        """scikit-learn's diagram, and under it what a fit found."""
        diagram: str = super()._html_repr()
        if "_fitted" not in vars(self):
            return diagram
        energies = self._fitted.energy
        sizes = np.bincount(self.labels_[self.labels_ >= 0], minlength=len(energies))
        shown = 12
        clusters = "".join(
            f"<tr><td>{i}</td><td>{size}</td><td>{energy:.1%}</td></tr>"
            for i, (size, energy) in enumerate(zip(sizes[:shown], energies))
        )
        more = f"<p>{len(sizes) - shown} more clusters</p>" if len(sizes) > shown else ""
        above = self.at_most_above_best_
        bound = "" if above is None else f", at most {above:.1%} above the best possible"
        return (
            f"{diagram}<p>{html.escape(self._fitted.method)}: {html.escape(self._fitted.stop)} after "
            f"{self.n_iter_} iterations, relative error {self.relative_error_:.4f}{bound}</p>"
            "<table><thead><tr><th>cluster</th><th>points</th><th>explains</th></tr></thead>"
            f"<tbody>{clusters}</tbody></table>{more}"
        )

    # Conventions.

    # scikit-learn's diagram links to the page of an estimator, where there is one.
    _doc_link_module = "orthant" if _orthant.documentation() else "sklearn"
    _doc_link_template = f"{_orthant.documentation()}/reference/generated/{{estimator_module}}.{{estimator_name}}.html"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = not self._signed
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state = {**super().__getstate__(), "_orthant_version": _VERSION}
        if "_fitted" in state:
            state["_dtype"] = self.components_.dtype
            for name in ("labels_", "weights_", "cluster_centers_", "components_"):
                state.pop(name, None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_orthant_version", None)
        if version is None or version.split(".")[:2] != _VERSION.split(".")[:2]:
            raise ValueError(
                f"This {type(self).__name__} was pickled by orthant {version or '(unknown)'} and cannot be "
                f"read by orthant {_VERSION}: install that version, or fit the estimator again."
            )
        dtype = state.pop("_dtype", None)
        super().__setstate__(state)
        if dtype is not None:
            self._set_arrays(dtype)

"""Files and results of the program."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from . import _orthant
from ._base import METHODS, Clustering
from ._inputs import joined
from ._onmf import ONMF
from ._spherical_k_means import SphericalKMeans
from ._typing import Path as PathLike


def read(
    path: PathLike,
    *,
    format: str | None = None,
    variable: str | None = None,
    dtype: Literal["float32", "float64"] | None = None,
    header: bool | None = None,
) -> Any:
    """Read a file in any of the formats that the program knows, with the names that come with it.

    Parameters
    ----------
    path : str or path-like
        A file, or a folder of pictures. What it is, is told by its content.
    format : str, default=None
        The format's name, where it should not be told by the content; ``orthant formats`` lists them.
    variable : str, default=None
        Which variable of a file that holds several (.mat, .npz).
    dtype : {"float32", "float64"}, default=None
        Format of the numbers; None keeps float32 and makes float64 of the rest.
    header : bool, default=None
        Whether the first line of a table names the columns; None looks.

    Returns
    -------
    file : Bunch
        `data` (an array, or a `scipy.sparse.csr_array`), and what the file has of: `target` and `target_names`,
        `sample_names`, `feature_names`, `shape` and `order` where samples are the pixels of an image,
        `feature_shape` where every sample is one, `wavelengths`, `format`, and `notes`. What it has not is None.

    Examples
    --------
    >>> import tempfile
    >>> import orthant
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("name,red,green\\na,1,0\\nb,0,2\\n")
    ...     file.flush()
    ...     table = orthant.read(file.name)
    >>> table.feature_names, table.sample_names, table.data.shape
    (['red', 'green'], ['a', 'b'], (2, 2))
    """
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64, got {dtype!r}.")
    single = None if dtype is None else np.dtype(dtype) == np.float32
    facts = _orthant.read(path, format=format, variable=variable, single_precision=single, header=header)
    found: dict[str, Any] = dict(facts)
    found["data"] = joined(found["data"])
    truth = found.pop("truth")
    found["target"], found["target_names"] = None, None
    if truth is not None:
        # Numbered as they first appear, as in the program.
        names = list(dict.fromkeys(truth))
        numbers = {name: i for i, name in enumerate(names)}
        found["target"] = np.array([numbers[name] for name in truth], dtype=np.int64)
        found["target_names"] = names
    return Bunch(**found)


def load(folder: PathLike) -> Clustering:
    """A result of the program, ``orthant cluster … --out folder``, as a fitted estimator.

    Parameters
    ----------
    folder : str or path-like
        The folder with `summary.json` and the factors.

    Returns
    -------
    model : ONMF or SphericalKMeans
        Fitted, with the parameters that the program was given. It predicts and transforms as one that was
        fitted here to the same data; the iterations and the labels of runs other than the best are not kept in
        the folder, so that `history_` has no iterations and `runs_` the best run only.
    """
    folder = Path(folder)
    summary = _summary(folder)

    def array(name: str) -> Any:
        try:
            return np.load(folder / name, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder / name}: cannot be read as an array: {error}") from None

    try:
        return _fitted(folder, summary, array)
    except KeyError as error:
        raise ValueError(f"{folder / 'summary.json'}: {error} is missing: is this a result of orthant cluster?") from None


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "summary.json"
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: is not there: {folder} is no result of orthant cluster --out.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(summary, dict):
        raise ValueError(f"{path}: is not the summary of a result.")
    return summary


def _weights(folder: Path, summary: dict[str, Any], array: Any) -> list[tuple[str, list[float] | None]]:
    """The steps of the weighting, with a factor for each feature where one has learned some."""
    path = folder / "preparation.json"
    if path.exists():
        try:
            prepared = json.loads(path.read_text(encoding="utf-8"))
            if prepared["texts"] is not None:
                raise ValueError(f"{folder}: is of texts, which orthant predict takes: estimators take their counts.")
            steps = [(step["weighting"], step["fitted"]) for step in prepared["steps"]]
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: {error} is missing: is this a result of orthant cluster?") from None
        return [(name, fitted.get("features") if isinstance(fitted, dict) else None) for name, fitted in steps]
    # Versions before had a file for each step with factors.
    return [
        (name, array(f"feature_weights_{step}.npy").tolist() if name == "tf-idf" else None)
        for step, name in enumerate(summary["weighting"])
    ]


def _fitted(folder: Path, summary: dict[str, Any], array: Any) -> Clustering:
    name = summary["algorithm"]
    if name not in METHODS or name == "k-means":
        raise ValueError(
            f"{folder}: is a result of {name}, for which there is no estimator here"
            + (": sklearn.cluster.KMeans(init=centers, n_init=1, max_iter=1) takes its centers.npy." if name == "k-means" else ".")
        )
    of_features = summary["cluster"] == "columns"
    rule = summary["rule"]
    components = array("centroids.npy")
    k = len(components)
    size = np.abs(components).max(axis=1, keepdims=True)
    size[size == 0] = 1
    lengths = size[:, 0] * np.linalg.norm(components / size, axis=1)
    directions = np.divide(components, lengths[:, None], out=np.zeros_like(components), where=lengths[:, None] > 0)
    labels = np.loadtxt(folder / "labels.txt", dtype=np.int32, ndmin=1)
    strengths = array("weights.npy")
    if not (np.isfinite(components).all() and np.isfinite(strengths).all() and labels.shape == strengths.shape):
        raise ValueError(f"{folder}: its files do not belong together, or are not finite.")
    if labels.max(initial=-1) >= k or labels.min(initial=0) < -1:
        raise ValueError(f"{folder / 'labels.txt'}: has labels outside of -1 to {k - 1}.")
    centroids = directions if rule["name"] == "power" else array(rule["file"])
    parameters = summary["parameters"]
    known = METHODS[name]["parameters"]
    values = {python: parameters[facts["key"]] for python, facts in known.items() if parameters.get(facts["key"]) is not None}
    # Defaults stay defaults.
    values = {key: value for key, value in values.items() if value not in (known[key]["default"], None)}
    values = {
        key: int(value) if known[key]["whole"] and not isinstance(value, str) else value for key, value in values.items()
    }
    common: dict[str, Any] = {
        "n_clusters": k,
        "init": summary["start"] if summary["start"] in dict(_orthant.starts()) else "auto",
        "n_init": len(summary["runs"]),
        "certificate": summary["certificate"],
        "random_state": summary["seed"],
        "weighting": summary["weighting"] or None,
    }
    model: Clustering
    if name == "spherical-k-means":
        if of_features:
            raise ValueError(f"{folder}: clusters columns, which SphericalKMeans cannot: load its transpose.")
        model = SphericalKMeans(max_iter=values.get("max_iter"), **common)
    else:
        cluster: Literal["samples", "features"] = "features" if of_features else "samples"
        polish = summary["polish"] or None
        model = ONMF(method=name, polish=polish, time=summary["time_limit"], cluster=cluster, **values, **common)
    model._learned = _weights(folder, summary, array)
    best = summary["runs"][summary["best_run"]]
    empty = np.empty(0)
    stages = [
        {
            "method": stage["method"],
            "aim": name,
            "degree": 0,
            "relative_error": stage["relative_error"],
            "stop": stage["stopped"],
            "objective": empty,
            "residual": empty,
        }
        for stage in best["stages"]
    ]
    run = {
        "stages": stages,
        "objective": best["objective"],
        "relative_error": best["relative_error"],
        "negativity": summary["iterate_negativity"],
        "orthogonality": summary["iterate_orthogonality"],
        "labels": labels,
    }
    # ‖X‖² is what the clusters explain over the share that they do.
    explained = 1 - summary["relative_error"] ** 2
    norm = float(size.max() * np.linalg.norm(lengths / size.max()) / np.sqrt(explained)) if explained > 0 else 0.0
    fitted = {
        "method": name,
        "values": [(known[key]["key"], float(_index(known[key], value))) for key, value in values.items()],
        "start": summary["start"] if summary["start"] in dict(_orthant.starts()) else None,
        "n_init": len(summary["runs"]),
        "seed": summary["seed"],
        "polish": summary["polish"],
        "time": summary["time_limit"],
        "certificate": summary["certificate"],
        "rule": rule["name"],
        "scale": 1.0,
        "objective": summary["objective"],
        "n_iter": summary["iterations"],
        "stop": summary["stopped"],
        "converged": summary["stopped"] == "converged",
        "best_run": 0,
        "seconds": summary["seconds"],
        "certificate_seconds": summary["certificate_seconds"],
        "labels": labels,
        "strengths": strengths,
        "components": components,
        "lengths": lengths,
        "directions": directions,
        "centroids": np.ascontiguousarray(centroids, dtype=np.float64),
        "energy": np.asarray(summary["energies"], dtype=float),
        "refilled": summary["refilled_points"],
        "relabelled": summary["points_nearer_to_another_cluster"],
        "relative_error": summary["relative_error"],
        "lower_bound": summary["lower_bound"],
        "bound": summary["bound"],
        "at_most_above_best": summary["at_most_above_best"],
        "energy_share": summary["energy_share"],
        "orthogonality_residual": summary["orthogonality_residual"],
        "smallest_entry": summary["smallest_entry"],
        "singular_values": np.asarray(summary["singular_values"], dtype=float),
        "runs": [run],
        "norm": norm,
        "zero_points": summary["zero_points"],
        "exception": None,
    }
    n_features = len(labels) if of_features else components.shape[1]
    model.n_features_in_ = n_features
    model._set_fitted(fitted, np.empty((0, n_features)), None)
    if isinstance(model, SphericalKMeans) and summary["weighted_points"]:
        # The weights of the samples are not in the folder.
        model.inertia_ = float("nan")
    return model


def _index(facts: dict[str, Any], value: Any) -> Any:
    return facts["names"].index(value) if isinstance(value, str) else value

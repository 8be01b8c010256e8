"""Files and results of the program."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from sklearn.utils import Bunch

from . import _orthant
from ._auto import Clusters
from ._base import METHODS, Clustering
from ._inputs import joined
from ._onmf import ONMF
from ._spherical_k_means import SphericalKMeans
from ._typing import Path as PathLike

# Files of a result: U, k × features, and the one nonzero of V for each point; then what they were called before.
COMPONENTS = ("components.npy", "centroids.npy")
STRENGTHS = ("strengths.npy", "weights.npy")


def read(
    path: PathLike,
    *,
    format: str | None = None,
    variable: str | None = None,
    dtype: Literal["float32", "float64"] | None = None,
    header: bool | None = None,
    sample_names: str | None = None,
    target: str | None = None,
    text: str | None = None,
    drop: Sequence[str] = (),
    like: PathLike | None = None,
) -> Any:
    """Read a file in any of the formats that the program knows, with the names that come with it.

    Parameters
    ----------
    path : str or path-like
        A file, or a folder of pictures, of texts or of 10x Genomics. What it is, is told by its content.
    format : str, default=None
        The format's name, where it should not be told by the content; one that is not known is refused with a list.
    variable : str, default=None
        Which variable of a file that holds several (.mat, .npz, HDF5), which layer of AnnData or loom.
    dtype : {"float32", "float64"}, default=None
        Format of the numbers; None keeps float32 and makes float64 of the rest.
    header : bool, default=None
        Whether the first line of a table names the columns; None looks.
    sample_names : str, default=None
        The column of a table (or of `obs`) that names the samples; "none" if no column does; None looks.
    target : str, default=None
        The column of a table (or of `obs`) with the classes.
    text : str, default=None
        The column of a table (or the field of JSON lines) with texts, whose words are counted.
    drop : sequence of str, default=()
        Columns of a table to leave out.
    like : str or path-like, default=None
        A result of the program on texts: the words of these texts are counted as they were there, so that what
        :func:`load` gives of it can predict them.

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
    vocabulary = None
    if like is not None:
        counted, _ = _prepared(Path(like))
        if counted is None:
            raise ValueError(f"like={os.fspath(like)!r}: is no result of texts, by which others could be counted.")
        vocabulary = json.dumps(counted)
    facts = _orthant.read(path, format=format, variable=variable, single_precision=single, header=header, id=sample_names,
                          truth=target, text=text, drop=list(drop), vocabulary=vocabulary)
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
    model : ONMF, SphericalKMeans or Clusters
        Fitted, with the parameters that the program was given; `Clusters` where the data had chosen the model. It predicts and transforms as one that was
        fitted here to the same data; the iterations and the labels of runs other than the best are not kept in
        the folder, so that `history_` has no iterations and `runs_` the best run only. One of texts takes counts of the same words
        in the same order (`vocabulary_`, the column of each word): ``orthant.read(path, like=folder)`` counts others so.
    """
    folder = Path(folder)

    def array(name: str) -> Any:
        try:
            return np.load(folder / name, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ValueError(f"{folder / name}: cannot be read as an array: {error}") from None

    # Another run may replace the result meanwhile: the summary must be the same before and after.
    for attempt in range(5):
        # What a killed run left is finished or removed first.
        _orthant.settle(folder)
        summary = _summary(folder)
        try:
            model = _fitted(folder, summary, array)
        except (KeyError, ValueError) as error:
            if attempt < 4 and _summary(folder) != summary:
                continue
            if isinstance(error, ValueError):
                raise
            message = f"{folder / 'summary.json'}: {error} is missing: is this a result of orthant cluster?"
            raise ValueError(message) from None
        if _summary(folder) == summary:
            break
    return model


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


def _prepared(folder: Path) -> tuple[dict[str, Any] | None, list[tuple[str, Any]] | None]:
    """How texts were counted, None for a result of numbers; the steps of weighting, None for a result of versions before."""
    path = folder / "preparation.json"
    if not path.exists():
        return None, None
    try:
        prepared = json.loads(path.read_text(encoding="utf-8"))
        texts = prepared["texts"]
        steps = [(step["weighting"], step["fitted"]) for step in prepared["steps"]]
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: {error} is missing: is this a result of orthant cluster?") from None
    if texts is not None and not isinstance(texts.get("words"), list):
        raise ValueError(f"{path}: has no list of words.")
    return texts, steps


def _weights(folder: Path, summary: dict[str, Any], array: Any) -> list[tuple[str, list[float] | None]]:
    """The steps of the weighting, with a factor for each feature where one has learned some."""
    path, steps = folder / "preparation.json", _prepared(folder)[1]
    if steps is not None:
        if [name for name, _ in steps] != summary["weighting"]:
            raise ValueError(f"{path}: its steps are not those of summary.json, {summary['weighting']}.")
        learned = [(name, fitted.get("features") if isinstance(fitted, dict) else None) for name, fitted in steps]
        for name, factors in learned:
            if name not in _orthant.weightings():
                raise ValueError(f"{path}: the weighting {name!r} is not known to this version.")
            if name == "tf-idf" and not isinstance(factors, list):
                raise ValueError(f"{path}: tf-idf without its factors.")
        return learned
    # Versions before had a file for each step with factors.
    return [
        (name, array(f"feature_weights_{step}.npy").tolist() if name == "tf-idf" else None)
        for step, name in enumerate(summary["weighting"])
    ]


def _fitted(folder: Path, summary: dict[str, Any], array: Any) -> Clustering:
    name = summary["algorithm"]
    of_features, chosen = summary["cluster"] == "columns", summary.get("chosen")
    as_chosen = chosen is not None and not of_features
    if name not in METHODS or METHODS[name]["rule"] == "euclid" and not as_chosen:
        raise ValueError(
            f"{folder}: is a result of {name}, for which there is no estimator here"
            + (": sklearn.cluster.KMeans(init=centers, n_init=1, max_iter=1) takes its centers.npy." if name in METHODS else ".")
        )
    rule = summary["rule"]
    components = array(next((name for name in COMPONENTS if (folder / name).exists()), COMPONENTS[0]))
    k = len(components)
    size = np.abs(components).max(axis=1, keepdims=True)
    size[size == 0] = 1
    lengths = size[:, 0] * np.linalg.norm(components / size, axis=1)
    directions = np.divide(components, lengths[:, None], out=np.zeros_like(components), where=lengths[:, None] > 0)
    labels = np.loadtxt(folder / "labels.txt", dtype=np.int32, ndmin=1)
    strengths = array(next((name for name in STRENGTHS if (folder / name).exists()), STRENGTHS[0]))
    if not (np.isfinite(components).all() and np.isfinite(strengths).all() and labels.shape == strengths.shape):
        raise ValueError(f"{folder}: its files do not belong together, or are not finite.")
    if METHODS[name]["rule"] != "euclid" and not components.any(axis=1).all():
        raise ValueError(f"{folder}: has components that are zero, which is no direction of a cluster.")
    if METHODS[name]["rule"] not in ("cosine", "euclid") and (components.min(initial=0) < 0 or strengths.min(initial=0) < 0):
        raise ValueError(f"{folder}: has negative components or strengths, which no method finds.")
    if summary["k"] != k:
        raise ValueError(f"{folder}: has {k} components, but its summary says {summary['k']}.")
    if labels.max(initial=-1) >= k or labels.min(initial=0) < -1:
        raise ValueError(f"{folder / 'labels.txt'}: has labels outside of -1 to {k - 1}.")
    centroids = directions
    if rule["file"] not in COMPONENTS:
        centroids = _orthant.centroids_of_file(rule["name"], rule["file"], np.asarray(array(rule["file"]), dtype=np.float64))
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
        "n_init": len(summary["runs"]) + summary.get("left_behind", 0),
        "race": summary.get("left_behind", 0) > 0,
        "certificate": summary["certificate"],
        "random_state": summary["seed"],
        "weighting": summary["weighting"] or None,
    }
    model: Clustering
    if as_chosen:
        model = Clusters(k, weighting=common["weighting"], random_state=summary["seed"])
        model.model_, model._chosen, model.reason_ = chosen["model"], name, chosen["reason"]
    elif METHODS[name]["rule"] == "cosine":
        if of_features:
            raise ValueError(f"{folder}: clusters columns, which SphericalKMeans cannot: load its transpose.")
        model = SphericalKMeans(max_iter=values.get("max_iter"), **common)
    else:
        cluster: Literal["samples", "features"] = "features" if of_features else "samples"
        polish = summary["polish"] or None
        model = ONMF(method=name, polish=polish, time=summary["time_limit"], cluster=cluster, **values, **common)
    model._learned = _weights(folder, summary, array)
    texts = _prepared(folder)[0]
    if texts is not None:
        if len(texts["words"]) != components.shape[1]:
            raise ValueError(f"{folder}: has {len(texts['words'])} words for components of {components.shape[1]}.")
        model.vocabulary_ = {word: column for column, word in enumerate(texts["words"])}
    best = summary["runs"][summary["best_run"]]
    # ‖X‖² is what the clusters explain over the share that they do.
    explained = 1 - summary["relative_error"] ** 2
    norm = float(size.max() * np.linalg.norm(lengths / size.max()) / np.sqrt(explained)) if explained > 0 else 0.0

    def columns(array: Any) -> dict[str, Any]:
        """k × features as the library has it."""
        return {"rows": array.shape[1], "cols": len(array), "data": np.asarray(array, dtype=float).T.ravel().tolist()}

    # As serde writes an outcome, with the best of the runs and without its iterations.
    run = {
        "stages": [
            {"name": stage["method"], "aim": name, "history": [], "stop": stage["stopped"],
             "relative_error": stage["relative_error"]}
            for stage in best["stages"]
        ],
        "objective": best["objective"],
        "scaled_objective": best["objective"],
        "relative_error": best["relative_error"],
        "labels": labels.tolist(),
        "directions": None,
        "iterate_negativity": summary["iterate_negativity"],
        "iterate_orthogonality": summary["iterate_orthogonality"],
    }
    solution = {
        "labels": labels.tolist(),
        "u": columns(components),
        "v": strengths.tolist(),
        "directions": columns(directions),
        "centroids": columns(centroids),
        "sizes": summary["sizes"],
        "energy": summary["energies"],
        "refilled": summary["refilled_points"],
        "relabelled": summary["points_nearer_to_another_cluster"],
        "rule": rule["name"],
    }
    facts = ("relative_error", "lower_bound", "bound", "energy_share", "orthogonality_residual", "smallest_entry", "singular_values")
    outcome = {
        "runs": [run],
        # Versions before had no races.
        "left_behind": summary.get("left_behind", 0),
        "stopped": summary["stopped"] if summary["stopped"] in ("cancelled", "out-of-time") else None,
        "best": 0,
        "solution": solution,
        "certificate": {fact: summary[fact] for fact in facts},
        "seconds": summary["seconds"],
        "certificate_seconds": summary["certificate_seconds"],
    }
    asked = {
        "method": name,
        "k": k,
        "values": [(known[key]["key"], float(_index(known[key], value))) for key, value in values.items()],
        "runs": len(summary["runs"]),
        "seed": summary["seed"],
        "race": common["race"],
        "polish": summary["polish"],
        "time": summary["time_limit"],
        "certificate": summary["certificate"],
    }
    fitted = _orthant.Fitted.of_result(asked, summary["start"], json.dumps(outcome), norm)
    n_features = len(labels) if of_features else components.shape[1]
    model.n_features_in_ = n_features
    model._set_fitted(fitted, np.empty((0, n_features)), None)
    # Single iterations are not in the folder.
    model.n_iter_ = summary["iterations"]
    if isinstance(model, SphericalKMeans) and summary["weighted_points"]:
        # The weights of the samples are not in the folder.
        model.inertia_ = float("nan")
    return model


def _index(facts: dict[str, Any], value: Any) -> Any:
    return facts["names"].index(value) if isinstance(value, str) else value

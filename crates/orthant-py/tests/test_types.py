"""Type checkers on a client, and annotations against the one table of parameters."""

import inspect
import subprocess
import sys
import textwrap
import typing
from pathlib import Path

import pytest

from orthant import ONMF, SphericalKMeans, _orthant, _typing
from orthant._base import METHODS

CLIENT = '''
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import orthant
from orthant import ONMF, SphericalKMeans, datasets, metrics, plot


def watch(info: dict[str, Any]) -> bool:
    return bool(info["n_iter"] > 10)


X: NDArray[np.float64] = np.ones((20, 4))
model = ONMF(n_clusters=2, method="em-onmf", n_init=3, callback=watch).fit(X)
labels: NDArray[np.int32] = model.labels_
again: NDArray[np.int32] = model.predict(X)
error: float = model.relative_error_
above: float | None = model.at_most_above_best_
score: float = model.score(X, sample_weight=np.ones(20))
W: NDArray[Any] = model.transform(X)
runs: list[dict[str, Any]] = model.runs_
spherical: SphericalKMeans = SphericalKMeans(2, init="random", weighting=["tf-idf", "unit"]).fit(X)
inertia: float = spherical.inertia_
stable: NDArray[np.float64] = orthant.consensus(model).point_stability
advice: str = orthant.advise(X, 2).answer
candidates: list[tuple[int, list[str]]] = orthant.choose_k(X, 1, 3).candidates
accuracy: float = metrics.clustering_accuracy(["a"] * 20, labels)
page: Path = orthant.report(model, X, "page.html", title="mine")
made = datasets.make_models("scale", n_samples=30)
file = orthant.read("x.csv", dtype="float32")
display: plot.SpectraDisplay = plot.SpectraDisplay.from_estimator(model, cmap="viridis")
version: str = orthant.__version__
'''

WRONG = CLIENT + '''
ONMF(method="k-means")
bad: str = model.relative_error_
orthant.choose_k(X, "2")
'''


def mypy(path):
    return [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--cache-dir", str(path.parent / "cache"), str(path)]


def pyright(path):
    return [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(path)]


@pytest.mark.parametrize("checker", [mypy, pyright])
def test_a_client_has_types(checker, tmp_path):
    path = tmp_path / "client.py"
    path.write_text(CLIENT)
    done = subprocess.run(checker(path), capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    path.write_text(WRONG)
    done = subprocess.run(checker(path), capture_output=True, text=True, cwd=tmp_path)
    for line in range(WRONG.count("\n") - 2, WRONG.count("\n") + 1):
        assert f"client.py:{line}:" in done.stdout, done.stdout


def choices(alias):
    return set(typing.get_args(alias))


def test_annotations_are_those_of_the_table():
    assert choices(_typing.Method) == {name for name, entry in METHODS.items() if not entry["signed"]}
    assert choices(_typing.Start) == {"auto", *dict(_orthant.starts())}
    assert choices(_typing.Polish) == set(_orthant.polishes())
    assert choices(_typing.Certificate) == set(_orthant.certificates())
    assert choices(_typing.Weighting) == set(_orthant.weightings())
    assert choices(_typing.Effort) == set(METHODS["best"]["parameters"]["effort"]["names"])
    assert choices(_typing.Rows) == set(METHODS["chnmf"]["parameters"]["rows"]["names"])
    for estimator, methods in ((ONMF, choices(_typing.Method)), (SphericalKMeans, {"spherical-k-means"})):
        signature = inspect.signature(estimator.__init__).parameters
        for method in methods:
            for name, facts in METHODS[method]["parameters"].items():
                wanted = name.capitalize() if facts["names"] else "int" if facts["whole"] else "float"
                assert signature[name].annotation == f"{wanted} | None", (estimator, name)


def paragraph(name, users):
    """How the documentation says a parameter, from the table: methods that have it with its facts."""
    facts = next(iter(users.values()))
    kind = "{" + ", ".join(f'"{n}"' for n in facts["names"]) + "}" if facts["names"] else "int" if facts["whole"] else "float"
    methods = " and ".join(f'"{method}"' for method in users)
    default = facts["default"]
    unless = "None leaves it to the method" if default is None else f"None is {default:g}"
    if facts["names"]:
        unless = f'None is "{facts["names"][int(default)]}"'
    text = f"Parameter of {methods}: {facts['help']}; {unless}."
    return f"    {name} : {kind}, default=None\n" + textwrap.fill(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 8)


def test_the_documentation_of_parameters_is_that_of_the_table():
    named = {}
    for method in choices(_typing.Method):
        for name, facts in METHODS[method]["parameters"].items():
            named.setdefault(name, {})[method] = facts
    # These two mean something else to every method.
    for name in named.keys() - {"max_iter", "tol"}:
        users = {method: named[name][method] for method in METHODS if method in named[name]}
        text = paragraph(name, users)
        assert textwrap.dedent(text) in inspect.cleandoc(ONMF.__doc__), f"_onmf.py should say:\n{text}"


@pytest.mark.parametrize("estimator", [ONMF, SphericalKMeans])
def test_every_public_method_is_annotated(estimator):
    for name, method in inspect.getmembers(estimator, inspect.isfunction):
        if name.startswith("_") and name != "__init__" or not method.__module__.startswith("orthant"):
            continue
        annotated = inspect.signature(method)
        assert annotated.return_annotation is not inspect.Signature.empty, name
        for parameter in list(annotated.parameters.values())[1:]:
            assert parameter.annotation is not inspect.Parameter.empty, (name, parameter)


def test_the_marker_is_installed():
    assert (Path(_orthant.__file__).parent / "py.typed").exists()

"""Docstrings and the README do what they say, from nothing; and say it in numpydoc's form."""

import doctest
import inspect
import re
import types
from pathlib import Path

import pytest
from numpydoc.validate import validate

import orthant
import orthant.anndata
import orthant.dask

README = Path(__file__).parents[1] / "README.md"


def public():
    """Every public object of the package with its name: what users can call, and its public methods."""
    yield "orthant", orthant
    modules = [orthant, orthant.anndata, orthant.datasets, orthant.metrics, orthant.plot]
    for module in modules:
        if module is not orthant:
            yield module.__name__, module
        for name in module.__all__:
            found = getattr(module, name)
            if isinstance(found, types.ModuleType) or name == "__version__":
                continue
            yield f"{module.__name__}.{name}", found
            if inspect.isclass(found):
                for member in dir(found):
                    of_ours = getattr(inspect.unwrap(getattr(found, member)), "__module__", "") or ""
                    if not member.startswith("_") and of_ours.startswith("orthant"):
                        yield f"{module.__name__}.{name}.{member}", inspect.getattr_static(found, member)


OBJECTS = dict(public())


def run(text, name):
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    told = []
    doctest.DocTestRunner(optionflags=flags).run(test, out=told.append)
    assert not told, "".join(told)
    return len(test.examples)


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_run_from_nothing(name):
    run(inspect.getdoc(OBJECTS[name]) or "", name)


def test_functions_and_estimators_have_examples():
    shown = (orthant.ONMF, orthant.SphericalKMeans)
    callables = [name for name, found in OBJECTS.items() if inspect.isfunction(found) or found in shown]
    without = [name for name in callables if name.count(".") < 3 and ">>>" not in OBJECTS[name].__doc__]
    # It needs a result of the program: test_program.py has one.
    assert [name for name in without if inspect.isclass(OBJECTS[name]) or not is_method(name)] == ["orthant.load"]


def is_method(name):
    return inspect.isclass(OBJECTS.get(name.rpartition(".")[0]))


def test_the_readme_runs_from_nothing():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert blocks
    for block in blocks:
        exec(compile(block, str(README), "exec"), {})


# Not asked for: an extended summary, see-also and examples of every method; where the text begins and how verbs end;
# and the form of types that name what users know ("bool" for "boolean" is one of scikit-learn's own).
LEFT_OUT = {"ES01", "SA01", "SA04", "EX01", "SS05", "SS06", "GL01", "GL02", "GL03", "RT02", "PR06"}
# They come from functions, not from their constructors.
FOUND = {"orthant.Advice", "orthant.Choice", "orthant.Consensus"}


@pytest.mark.parametrize("name", [name for name, found in OBJECTS.items() if not isinstance(found, types.ModuleType)])
def test_docstrings_have_the_form_of_numpydoc(name):
    left_out = LEFT_OUT | ({"PR01"} if name in FOUND else set())
    assert [error for error in validate(name)["errors"] if error[0] not in left_out] == []


def test_the_diagram_links_to_the_page_of_the_estimator_once_there_is_one(monkeypatch):
    assert (orthant.ONMF()._get_doc_link() == "") == (orthant._orthant.documentation() is None)
    base = orthant.ONMF.__mro__[1]
    monkeypatch.setattr(base, "_doc_link_module", "orthant")
    monkeypatch.setattr(base, "_doc_link_template", "https://here/{estimator_module}.{estimator_name}.html")
    assert "https://here/orthant.dask.ONMF.html" in orthant.dask.ONMF()._repr_html_()
    shown = orthant.ONMF()._repr_html_()
    assert "https://here/orthant.ONMF.html" in shown
    # What a parameter means, where the pointer rests.
    assert "What is clustered" in shown

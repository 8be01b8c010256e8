"""Examples, as the notebooks that they are, and tutorials do what they say, from nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import orthant

ROOT = Path(__file__).parents[3]
NOTEBOOKS = sorted((ROOT / "crates/orthant-py/examples").glob("*.ipynb"))
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    # Pictures go into the notebook, as for its readers.
    monkeypatch.delenv("MPLBACKEND", raising=False)
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "image/png" in shown, "an example has a picture"


def test_notebooks_are_what_their_scripts_give():
    subprocess.run([sys.executable, ROOT / "tests/notebooks.py", "--check"], check=True)
    assert {path.stem for path in NOTEBOOKS} == {"cells", "choosing", "documents", "hyperspectral", "image_parts"}


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`orthant` as the package has it, on the path of a shell."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "orthant").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m orthant "$@"\n')
    (folder / "orthant").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs_as_it_stands(path, command, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    folder = tmp_path / "empty"
    folder.mkdir()
    monkeypatch.chdir(folder)
    blocks = re.findall(r"```(python|sh)\n(.*?)```", path.read_text(encoding="utf-8"), re.S)
    assert {kind for kind, _ in blocks} == {"python", "sh"}
    names = {"__name__": "tutorial"}
    for kind, text in blocks:
        if kind == "python":
            exec(compile(text, str(path), "exec"), names)
        else:
            done = subprocess.run(["bash", "-e", "-c", text], capture_output=True, text=True)
            assert done.returncode == 0, f"{text}\n{done.stderr}"


def test_the_first_page_of_the_site_runs():
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.S)
    exec(compile(block, "docs/index.md", "exec"), {})


def test_the_site_lists_everything_that_is_public():
    listed = (ROOT / "docs/reference/python.rst").read_text(encoding="utf-8").split()
    for module in (orthant, orthant.datasets, orthant.metrics, orthant.plot, orthant.blocks):
        own = module.__name__.removeprefix("orthant").lstrip(".")
        for name in module.__all__:
            if name not in ("OrthantError", "__version__") and not isinstance(getattr(module, name), type(orthant)):
                assert f"{own}.{name}".lstrip(".") in listed, f"docs/reference/python.rst does not have {own}.{name}"

"""Executes a notebook from nothing, in a folder of its own: python .ci/notebook.py NOTEBOOK..."""

import sys
import tempfile

import nbformat
from nbclient import NotebookClient

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    print(f"{path}: {len(cells)} cells executed, {sum(bool(cell.outputs) for cell in cells)} of them with output")

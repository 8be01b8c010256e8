#!/usr/bin/env python3
"""Writes every example as a notebook beside it: the same text and code, cut at the lines "# %%".

    tests/notebooks.py           writes them
    tests/notebooks.py --check   says which are not what their script gives
"""

import ast
import json
import re
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parent.parent / "crates/orthant-py/examples"


def markdown(text):
    """The little reStructuredText that examples use."""
    text = re.sub(r":\w+:`([^`]*)`", r"`\1`", text.replace("``", "`"))
    return re.sub(r"\A(.*)\n=+\n", r"# \1\n", text.strip())


def cell(number, kind, text):
    lines = text.strip("\n").splitlines(keepends=True)
    made = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": lines}
    return made | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def notebook(script):
    """A script as the text of a notebook."""
    head, *blocks = re.split(r"^# %%\n", script, flags=re.M)
    cells = [("markdown", markdown(ast.get_docstring(ast.parse(head), clean=False)))]
    for block in blocks:
        said = re.match(r"(?:#.*\n)*", block)[0]
        if said:
            cells.append(("markdown", markdown(re.sub(r"^# ?", "", said, flags=re.M))))
        if block[len(said) :].strip():
            cells.append(("code", block[len(said) :]))
    made = {
        "cells": [cell(number, *of) for number, of in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    stale = []
    for path in sorted(EXAMPLES.glob("*.py")):
        text, place = notebook(path.read_text(encoding="utf-8")), path.with_suffix(".ipynb")
        if sys.argv[1:] != ["--check"]:
            place.write_text(text, encoding="utf-8")
        elif not place.exists() or place.read_text(encoding="utf-8") != text:
            stale.append(place.name)
    sys.exit(f"not what their scripts give: {', '.join(stale)}; run tests/notebooks.py" if stale else 0)

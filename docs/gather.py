"""Gathers what the site is made of: the pages of this folder and of the root, the program's manual, the examples.

    python docs/gather.py FOLDER

Links between Markdown files are made to hold where the pages stand in the site; a link to a file that is no page leads to the
repository, whose address stands in Cargo.toml.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Pages that stand elsewhere, by their name in the site.
FROM_ROOT = ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"]
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(#[^)\s]*)?(?=\))")


def address(name: str) -> str:
    """An address of the project, from the one place where they stand."""
    found = re.search(rf'^{name} = "(.*)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.M)
    assert found, f"Cargo.toml has no {name}"
    return found[1]


def pages() -> dict[Path, Path]:
    """Where each page stands in the repository, and where in the site."""
    docs = ROOT / "docs"
    found = {path: path.relative_to(docs) for path in docs.rglob("*") if path.suffix in (".md", ".rst")}
    found = {path: place for path, place in found.items() if place.parts[0] != "templates"}
    return found | {ROOT / name: Path(name.lower()) for name in FROM_ROOT}


def linked(text: str, page: Path, places: dict[Path, Path]) -> str:
    """The text with links that hold in the site."""

    def place(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match[1]))
        if target in places:
            return os.path.relpath(places[target], places[page].parent) + (match[2] or "")
        # A page of the manual, or of the gallery, is made later.
        if target.is_relative_to(ROOT / "docs/program") or target.is_relative_to(ROOT / "docs/gallery"):
            return match[0]
        assert target.exists(), f"{page}: there is no {match[1]}"
        return f"{address('repository')}/blob/main/{target.relative_to(ROOT)}"

    return LINK.sub(place, text)


def gather(folder: Path) -> None:
    """Everything into FOLDER/source."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    places = pages()
    for page, place in places.items():
        (source / place).parent.mkdir(parents=True, exist_ok=True)
        text = page.read_text(encoding="utf-8")
        (source / place).write_text(linked(text, page, places) if page.suffix == ".md" else text, encoding="utf-8")
    # It is no page of the site, but its links are to hold too.
    readme = ROOT / "README.md"
    linked(readme.read_text(encoding="utf-8"), readme, places | {readme: Path("readme.md")})
    manual = source / "program"
    subprocess.run([sys.executable, "-m", "orthant", "manual", "--format", "markdown", "--out", manual], check=True)
    listed = sorted(path.stem for path in manual.glob("*.md") if path.stem != "orthant")
    # The first page leads to all others.
    with (manual / "orthant.md").open("a", encoding="utf-8") as file:
        file.write("\n```{toctree}\n:hidden:\n\n" + "\n".join(listed) + "\n```\n")


if __name__ == "__main__":
    gather(Path(sys.argv[1]))

"""Looks into the packages of a folder: licences, README, types, the command, man pages, and no link that only holds at home.

    python .ci/contents.py FOLDER
"""

import re
import sys
import tarfile
import zipfile
from pathlib import Path

folder = Path(sys.argv[1])
(wheel,), (source,) = folder.glob("*.whl"), folder.glob("*.tar.gz")


def must(condition, problem):
    if not condition:
        sys.exit(f"contents: {problem}")


with zipfile.ZipFile(wheel) as held:
    names = held.namelist()
    metadata = held.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    scripts = held.read(next(name for name in names if name.endswith("/entry_points.txt"))).decode()
for ending in ("LICENSE-APACHE", "LICENSE-MIT", "orthant/py.typed", "orthant/_orthant.pyi", "man1/orthant-cluster.1",
               "bash-completion/completions/orthant", "zsh/site-functions/_orthant", "vendor_completions.d/orthant.fish"):
    must(any(name.endswith(ending) for name in names), f"{wheel.name} has no {ending}")
must("orthant=orthant.__main__:main" in scripts.replace(" ", ""), f"{wheel.name} has no command")
must(sum(name.endswith(".so") for name in names) == 1, f"{wheel.name} has more than one compiled file")
must("License-Expression: MIT OR Apache-2.0" in metadata, f"{wheel.name} does not say its licence")
must("Project-URL" in metadata, f"{wheel.name} has no addresses")
relative = re.findall(r"\]\((?!https?:|#)([^)]*)\)", metadata)
must(not relative, f"the README of {wheel.name} has links that only hold in the repository: {relative}")
with tarfile.open(source) as held:
    names = held.getnames()
for ending in ("LICENSE-APACHE", "LICENSE-MIT", "README.md", "Cargo.lock", "pyproject.toml", "man1/orthant-cluster.1"):
    must(any(name.endswith(ending) for name in names), f"{source.name} has no {ending}")
print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB; {source.name}: {source.stat().st_size / 1e6:.1f} MB, {len(names)} files")

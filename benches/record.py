"""The dated table: for people as Markdown, for programs as JSON."""

import json
import os
import subprocess
from datetime import date
from importlib.metadata import version

PEERS = ("numpy", "scipy", "scikit-learn", "opnmf", "faiss-cpu", "fast_matrix_market", "distributed", "dask-ml")


def machine():
    model = "unknown processor"
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores"


def _number(x):
    return f"{x:.3g}" if x < 100 else f"{x:.0f}"


def _seconds(x):
    return f"{x * 1e3:.3g} ms" if x < 0.1 else f"{x:.3g} s"


def _quality(of):
    words = []
    for key, value in of.items():
        if key in ("seconds", "megabytes", "certificate"):
            continue
        words.append(f"{key} {value:.5g}" if isinstance(value, float) else f"{key} {value}")
    return ", ".join(words)


def _target(row):
    if row.target is None:
        return ""
    return f"{'at most' if row.most else 'at least'} {row.target:g}"


def line(row):
    """One row for the terminal."""
    mark = " " if row.target is None else ("✓" if row.met else "✗")
    times = "; ".join(f"{name} {_seconds(of['seconds'])}" for name, of in row.sides.items())
    return f"{mark} {row.work} / {row.against}: {_number(row.ratio)} ({_target(row) or 'for information'}) {times} {row.note}"


def table(rows):
    """Every row with both sides."""
    yield "| work | against | ratio | target | seconds | peak MB | quality |"
    yield "|---|---|---|---|---|---|---|"
    for row in rows:
        seconds = " / ".join(_seconds(of["seconds"]) for of in row.sides.values())
        peak = " / ".join(f"{of['megabytes']:.0f}" for of in row.sides.values() if "megabytes" in of)
        quality = " / ".join(filter(None, (_quality(of) for of in row.sides.values())))
        quality = "; ".join(filter(None, (quality, row.note)))
        mark = "" if row.met else " **short**"
        yield f"| {row.work} | {row.against} | {_number(row.ratio)}{mark} | {_target(row)} | {seconds} | {peak} | {quality} |"


#: Between these docs/speed.md shows a few rows of the last full record.
BEGIN, END = "<!-- bench -->", "<!-- end of bench -->"
#: Which: one of each kind, whether or not it met its target.
SHOWN = (
    "EM-ONMF, 30 starts, geometric mean",
    "EM-ONMF, a race, 30 starts, geometric mean",
    "best, normal effort, geometric mean",
    "EM-ONMF, one start, in total",
    "O-PNMF, 500 iterations",
    "EM pass",
    "ONP-MF iteration",
    "sparse pass, ohscal",
    "em-onmf, two threads, 942490",
)


def into_documents(root, facts, rows, path):
    """The rows to be shown, with date and machine."""
    page = root / "docs" / "speed.md"
    text = page.read_text()
    head, rest = text.split(BEGIN, 1)
    lines = [
        f"{facts['date']}, {facts['machine']}, commit {facts['commit']} ([all of it](../benches/records/{path.name})):",
        "",
        "| work | against | ratio | target |",
        "|---|---|---|---|",
    ]
    for start in SHOWN:
        for row in rows:
            if row.work.startswith(start):
                mark = "" if row.met else " (short)"
                lines.append(f"| {row.work} | {row.against} | {_number(row.ratio)}{mark} | {_target(row)} |")
    page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END, 1)[1])


def write(root, rows, quick, seconds, only):
    commit = subprocess.check_output(["git", "rev-parse", "--short=10", "HEAD"], cwd=root, text=True).strip()
    changed = subprocess.check_output(["git", "status", "--porcelain", "crates"], cwd=root, text=True).strip()
    day = date.today().isoformat()
    load = os.getloadavg()[0]
    facts = {
        "date": day,
        "machine": machine(),
        "commit": commit + (" with changes" if changed else ""),
        "versions": {"orthant": version("orthant"), **{name: version(name) for name in PEERS}},
        "quick": quick,
        "seconds": round(seconds),
        "load": load,
    }
    of = f"-{only}" if only else ""
    path = root / "benches" / "records" / f"{day}-{commit}{of}{'-quick' if quick else ''}.md"
    versions = ", ".join(f"{name} {number}" for name, number in facts["versions"].items())
    text = [
        f"# {day}",
        "",
        f"{facts['machine']}; commit {facts['commit']}; {versions}. "
        f"{'One repetition of each' if quick else 'Medians'}; {facts['seconds']} s in all, load {load:.1f} at the end.",
        "",
        "Both sides in turn in one process, the same data, two threads unless said. Seconds and quality are given as "
        "Orthant / the other side. Seconds: from the matrix in memory to labels and factors, without Orthant's certificate.",
        "",
        *table(rows),
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(text) + "\n")
    plain = [
        {"work": r.work, "against": r.against, "ratio": r.ratio, "target": r.target, "most": r.most, "met": r.met,
         "note": r.note, "sides": r.sides}
        for r in rows
    ]
    path.with_suffix(".json").write_text(json.dumps({**facts, "rows": plain}, indent=1, default=float) + "\n")
    if not (quick or only):
        into_documents(root, facts, rows, path)
    return path

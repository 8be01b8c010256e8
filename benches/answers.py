"""How good the answers are that nobody asked for: the model that `auto` chooses, and the ks that `choose-k` names.

Usage: python benches/answers.py models|ks PROGRAM DATA     prints a table in Markdown (needs numpy and scipy)

`models`: NMI of what the search of each of the four models finds, and of `auto`, on the sets in DATA and on made ones.
`ks`: balanced subsets of the text sets. Draw d of a set (0 to 4) takes c of its classes with at least 30 documents, c drawn from
3 to 8 (or as many as there are), and of each as many documents as the smallest of them has, at most 150; numbers from
2 to 12 are looked at. Then scenes, made sets, and the text sets in full.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

MODELS = {
    "onmf": "best",
    "kl-onmf": "best-kl-onmf",
    "spherical-k-means": "best-spherical-k-means",
    "k-means": "best-k-means",
}
TEXTS = ["tr11", "tr23", "tr41", "tr45", "hitech", "reviews", "la1", "la2", "k1b", "classic", "ohscal"]
SCENES = ["samson", "jasper", "urban_crop80x100"]
MADE = {
    **{f"models, {kind}, seed {s}": f"models --kind {kind} --seed {s}" for s in (0, 1)
       for kind in ("scale", "proportional", "independent", "coinciding")},
    **{f"synthetic, noise {z}, seed {s}": f"synthetic --noise {z} --seed {s}" for s in (0, 1) for z in (0.01, 0.05, 0.1)},
    "telescope": "telescope",
    "swimmer": "swimmer",
    "plane": "plane",
}


def asked(program, command, *arguments):
    run = [program, command, *map(str, arguments), "--json", "-q"]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def classes(path):
    return [line.strip() for line in Path(path).read_text().splitlines()]


def sets(program, data, folder):
    """Name, arguments, classes."""
    for name in TEXTS:
        path = data / "text" / f"{name}.labels"
        yield name, [path.with_suffix(".mtx.gz"), "--truth", path], classes(path)
    for name in SCENES:
        path = data / "hyperspectral" / f"{name}.labels"
        yield name, [path.with_suffix(".npy"), "--cluster", "columns", "--truth", path], classes(path)
    for at, (name, made) in enumerate(MADE.items()):
        path = Path(folder) / f"made{at}.npy"
        subprocess.run([program, "generate", *made.split(), "--out", str(path)], check=True, capture_output=True)
        yield name, [path], classes(path.with_suffix(".labels"))


def models(program, data, folder):
    print("| set | " + " | ".join(MODELS) + " | `auto` | chose | short of the best by |")
    print("|---|" + "---|" * (len(MODELS) + 3))
    within = count = 0
    for name, arguments, truth in sets(program, data, folder):
        k = len(set(truth))
        auto = asked(program, "cluster", *arguments, "-k", k)
        nmi = {}
        for model, method in MODELS.items():
            # The same bits as auto has where it chose this one.
            chosen = model == auto["chosen"]["model"]
            found = auto if chosen else asked(program, "cluster", *arguments, "-k", k, "--algorithm", method)
            nmi[model] = 100 * found["nmi"]
        short = max(nmi.values()) - 100 * auto["nmi"]
        count, within = count + 1, within + (short <= 3)
        figures = " | ".join(f"{x:.1f}" for x in nmi.values())
        print(f"| {name} | {figures} | {100 * auto['nmi']:.1f} | {auto['chosen']['model']} | {max(short, 0):.1f} |", flush=True)
    print(f"\nWithin 3 points of the best on {within} of {count}.")


def subset(data, name, draw, folder):
    """A balanced subset as a file, and how many classes it has."""
    matrix = scipy.io.mmread(data / "text" / f"{name}.mtx.gz").tocsr()
    truth = np.array(classes(data / "text" / f"{name}.labels"))
    random = np.random.default_rng(1000 + draw)
    known, sizes = np.unique(truth, return_counts=True)
    large = known[sizes >= 30]
    chosen = random.choice(large, random.integers(3, min(8, len(large)) + 1), replace=False)
    each = min(150, *(np.sum(truth == c) for c in chosen))
    points = np.concatenate([random.choice(np.flatnonzero(truth == c), each, replace=False) for c in chosen])
    random.shuffle(points)
    part = matrix[points]
    path = Path(folder) / "subset.npz"
    sp.save_npz(path, part[:, np.asarray(part.sum(0)).ravel() > 0])
    return path, len(chosen)


def ks(program, data, folder):
    def candidates(arguments, most):
        found = asked(program, "choose-k", *arguments, f"2..{most}", "--halves", 3)
        return [c["k"] for c in found["candidates"]], found["model"], bool(found["notes"])

    print("| set | draws: true k, candidates | hits |\n|---|---|---|")
    hits = {}
    for name in TEXTS:
        told = []
        for draw in range(5):
            path, true = subset(data, name, draw, folder)
            found, _, _ = candidates([path], 12)
            hits[name] = hits.get(name, 0) + (true in found)
            told.append(f"{true}: {', '.join(map(str, found))}")
        print(f"| {name} | {'; '.join(told)} | {hits[name]} of 5 |", flush=True)
    good = sum(h >= 3 for h in hits.values())
    print(f"\n{sum(hits.values())} of {5 * len(hits)} draws; {good} of {len(hits)} sets with at least 3 of 5.\n")
    print("| set | true k | model | candidates (2..20) |\n|---|---|---|---|")
    for name, arguments, truth in sets(program, data, folder):
        found, model, _ = candidates(arguments, 20)
        print(f"| {name} | {len(set(truth))} | {model} | {', '.join(map(str, found))} |", flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        {"models": models, "ks": ks}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]), folder)

"""Latent Dirichlet allocation on the text sets, beside KL-ONMF: the comparison that the paper leaves to others.

    nice -n 19 .venv-bench/bin/python benches/lda.py DATA lda.csv

DATA is a folder with text/NAME.mtx.gz and NAME.labels. scikit-learn's implementation with its own settings, as
many topics as classes, raw counts; a document belongs to its largest topic. A line is written
as soon as its run has ended, and what is there is not computed again. crates/orthant-reproduce/beside has what came out.
"""

import csv
import gzip
import pathlib
import sys
import time

import numpy as np
import scipy.io
import scipy.sparse
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

SETS = ["tr23", "tr11", "tr45", "tr41", "k1b", "hitech", "la2", "la1", "classic", "reviews", "ohscal"]
RUNS = 5
HEAD = ["set", "method", "run", "accuracy", "nmi", "ari", "perplexity", "iterations", "version"]


def accuracy(truth, labels):
    """Share of points in the right cluster under the best matching of clusters and classes."""
    counts = contingency_matrix(truth, labels)
    rows, columns = linear_sum_assignment(-counts)
    return counts[rows, columns].sum() / counts.sum()


def main(data, out):
    """Computes what the file does not hold yet, run by run, so that every set has some soon."""
    done = set()
    if out.exists():
        with out.open() as lines:
            done = {(line["set"], int(line["run"])) for line in csv.DictReader(lines)}
    else:
        out.write_text(",".join(HEAD) + "\n")
    sets = {}
    for run in range(RUNS):
        for name in SETS:
            if (name, run) in done:
                continue
            if name not in sets:
                counts = scipy.sparse.csr_matrix(scipy.io.mmread(gzip.open(data / "text" / f"{name}.mtx.gz")))
                sets[name] = counts, np.array((data / "text" / f"{name}.labels").read_text().split())
            counts, truth = sets[name]
            model = LatentDirichletAllocation(len(set(truth)), random_state=run)
            begun = time.perf_counter()
            labels = model.fit_transform(counts).argmax(axis=1)
            seconds = time.perf_counter() - begun
            scores = [
                accuracy(truth, labels),
                normalized_mutual_info_score(truth, labels),
                adjusted_rand_score(truth, labels),
                model.perplexity(counts),
            ]
            line = [name, "lda", run, *scores, model.n_iter_, f"scikit-learn {sklearn.__version__}"]
            with out.open("a") as lines:
                csv.writer(lines, lineterminator="\n").writerow(line)
            print(*line[:4], f"{seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))

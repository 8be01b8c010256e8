"""What is compared: each function does the work once and returns (seconds, quality)."""

import warnings

import numpy as np
import scipy.sparse as sp
from measure import timed
from orthant import _orthant as engine
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import svds
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

warnings.simplefilter("ignore", ConvergenceWarning)


def accuracy(labels, truth):
    """The share of points that agree under the best matching of clusters and classes."""
    _, labels = np.unique(labels, return_inverse=True)
    _, truth = np.unique(truth, return_inverse=True)
    table = np.zeros((labels.max() + 1, truth.max() + 1), dtype=int)
    np.add.at(table, (labels, truth), 1)
    return table[linear_sum_assignment(-table)].sum() / len(truth)


def onmf_error(x, labels):
    """‖M − UV‖/‖M‖ of the best feasible factors for these labels."""
    explained = 0.0
    for label in np.unique(labels[labels >= 0]):
        part = x[np.flatnonzero(labels == label)]
        if min(part.shape) > 1:
            explained += svds(part.astype(np.float64), k=1, return_singular_vectors=False)[0] ** 2
        else:
            explained += (part * part).sum()
    total = (x.data if sp.issparse(x) else x.ravel()).astype(np.float64)
    return float(np.sqrt(max(0.0, 1 - explained / (total @ total))))


def inertia(x, labels, k):
    """Σ‖x − mean of its cluster‖²."""
    squares = (x.data if sp.issparse(x) else x.ravel()).astype(np.float64)
    total = squares @ squares
    for label in range(k):
        members = np.flatnonzero(labels == label)
        if len(members):
            mean = np.asarray(x[members].sum(axis=0), dtype=np.float64).ravel() / len(members)
            total -= len(members) * (mean @ mean)
    return float(total)


def normalised(x):
    from sklearn.preprocessing import normalize

    return normalize(x)


def samples(x):
    return (x.indptr, x.indices, x.data, x.shape[1]) if sp.issparse(x) else x


def orthant(x, k, method, threads, values=(), start=None, runs=1, seed=0, race=False):
    """A fit; the certificate, which no other side computes, is not counted, but told."""
    asked = {
        "method": method, "k": k, "values": list(values), "runs": runs, "race": race, "seed": seed, "polish": [],
        "time": None, "certificate": "singular",
    }
    seconds, (fitted, *_) = timed(lambda: engine.fit(samples(x), asked, start=start, threads=threads))
    return seconds - fitted.certificate_seconds, fitted


def kmeans(x, k, threads, runs=1, seed=0, init="random"):
    with threadpool_limits(threads):
        return timed(lambda: KMeans(n_clusters=k, init=init, n_init=runs, random_state=seed).fit(x))


def faiss_kmeans(x, k, threads, iterations, seed=1):
    import faiss

    faiss.omp_set_num_threads(threads)
    model = faiss.Kmeans(x.shape[1], k, niter=iterations, seed=seed, max_points_per_centroid=x.shape[0])
    seconds, _ = timed(lambda: (model.train(x), model.index.search(x, 1)))
    return seconds, model


def opnmf(x, k, threads, iterations):
    from opnmf.opnmf import opnmf as run

    with threadpool_limits(threads):
        return timed(lambda: run(x, n_components=k, max_iter=iterations, tol=0, init="nndsvd"))


def numpy_onp_mf(x, k, threads):
    with threadpool_limits(threads):
        return timed(lambda: _onp_mf(sp.csr_array(x) if sp.issparse(x) else x, k))


def _onp_mf(x, k, alpha=100.0, rho=0.01, growth=1.01, tolerance=1e-3, most=20000):
    """ONP-MF with the paper's schedule: two products with the data an iteration, a line search without data."""
    xt = x.T.tocsr() if sp.issparse(x) else np.ascontiguousarray(x.T)
    left, _, right = svds(x, k=k, random_state=0) if sp.issparse(x) else np.linalg.svd(x, full_matrices=False)
    v = left[:, np.argsort(-_, kind="stable")[:k]]  # points × k
    flip = (np.minimum(v, 0) ** 2).sum(axis=0) > (np.maximum(v, 0) ** 2).sum(axis=0)
    v = np.ascontiguousarray(np.where(flip, -v, v))
    multipliers, beta = np.zeros_like(v), 1.0
    negative = lambda v: (np.minimum(v, 0) ** 2).sum()

    for t in range(1, most + 1):
        u = np.maximum(xt @ v, 0)
        rho *= growth
        gradient = x @ u + multipliers
        d = gradient - v @ (u.T @ u) + rho * np.maximum(-v, 0)
        vv, vd, dd = v.T @ v, v.T @ d, d.T @ d
        tv, td = gradient.T @ v, gradient.T @ d
        now = -np.trace(tv) + rho / 2 * negative(v)

        def trial(beta):
            values, vectors = np.linalg.eigh(vv + beta * (vd + vd.T) + beta * beta * dd)
            root = (vectors / np.sqrt(values)) @ vectors.T
            new = (v + beta * d) @ root
            return -((tv + beta * td) * root).sum() + rho / 2 * negative(new), new

        value, new = trial(beta)
        if value < now:
            while True:
                longer, further = trial(beta * 1.1)
                if not longer < value:
                    break
                beta, value, new = beta * 1.1, longer, further
        else:
            while beta > 1e-15:
                beta /= 1.1
                value, new = trial(beta)
                if value < now:
                    break
            else:
                beta, new = 1.0, v
        v = new
        multipliers = np.maximum(0, multipliers - alpha / t * v)
        if np.sqrt(negative(v) / k) <= tolerance:
            break
    return {"labels": v.argmax(axis=1), "iterations": t}

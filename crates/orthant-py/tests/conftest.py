"""Settings that must come before the first import of scipy, and data that many tests share."""

import os

# Without it one of scikit-learn's checks would be skipped.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest
import scipy.sparse as sp

from orthant import datasets


@pytest.fixture(scope="session")
def made():
    return datasets.make_synthetic(noise=0.1, random_state=3)


@pytest.fixture(scope="session")
def X(made):
    return made.data


@pytest.fixture(scope="session")
def counts():
    """A small document-term matrix with four topics, as CSR of float64."""
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(200, 0.05), size=4)
    rows = [rng.multinomial(rng.integers(20, 200), topics[i % 4]) for i in range(120)]
    return sp.csr_array(np.array(rows, dtype=np.float64))

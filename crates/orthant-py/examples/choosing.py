"""
Choosing: which model, how many clusters
========================================

k-means, spherical k-means and ONMF are three laws of the noise. The data can tell which of them holds, and often how many
clusters there are.
"""

# %%
# Clusters of scaled copies of directions, plus noise that does not depend on the norm: what ONMF assumes.
import warnings

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import orthant
from orthant import ONMF, SphericalKMeans

warnings.simplefilter("ignore", ConvergenceWarning)
made = orthant.datasets.make_synthetic(noise=0.1)

# %%
# What the data ask for; no truth is looked at.
print(orthant.advise(made.data, made.n_clusters))

# %%
# How many clusters: candidates with reasons.
choice = orthant.choose_k(made.data, 2, 10)
print(choice)
choice.plot()
plt.show()

# %%
# Methods side by side, with the truth that is known here.
k = made.n_clusters
estimators = {
    "KMeans of scikit-learn": KMeans(k, n_init=10, random_state=0),
    "SphericalKMeans": SphericalKMeans(k, init="residual", n_init=10),
    "ONMF, best": ONMF(k),
    "ONMF, onp-mf": ONMF(k, method="onp-mf"),
    "ONMF, em-onmf": ONMF(k, method="em-onmf", init="residual", n_init=10),
    "ONMF, o-pnmf": ONMF(k, method="o-pnmf", init="nndsvd", max_iter=2000),
}
print(f"{'':24}{'accuracy':>10}{'ARI':>8}{'error':>9}")
for name, estimator in estimators.items():
    labels = estimator.fit_predict(made.data)
    accuracy, ari = orthant.metrics.clustering_accuracy(made.target, labels), adjusted_rand_score(made.target, labels)
    error = getattr(estimator, "relative_error_", float("nan"))
    print(f"{name:24}{accuracy:10.3f}{ari:8.3f}{error:9.4f}")

# %%
# A lower error is a better factorization; whether it is a better clustering only a truth can tell. Several starts tell how
# stable a partition is.
model = ONMF(k, method="em-onmf", n_init=20).fit(made.data)
orthant.consensus(model).plot()
plt.show()

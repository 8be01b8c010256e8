"""Methods side by side, on data whose truth is known."""

import warnings

from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from orthant import ONMF, SphericalKMeans, datasets, metrics

warnings.simplefilter("ignore", ConvergenceWarning)
made = datasets.make_synthetic(noise=0.1)
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
    accuracy, ari = metrics.clustering_accuracy(made.target, labels), adjusted_rand_score(made.target, labels)
    error = getattr(estimator, "relative_error_", float("nan"))
    print(f"{name:24}{accuracy:10.3f}{ari:8.3f}{error:9.4f}")
# A lower error is a better factorization; whether it is a better clustering only a truth can tell.

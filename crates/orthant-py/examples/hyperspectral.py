"""A map of the materials in a hyperspectral image, with their spectra."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import orthant

made = orthant.datasets.make_telescope(noise=0.01)
pixels = made.data  # 16384 pixels in rows, 100 bands in columns

model = orthant.ONMF(n_clusters=made.n_clusters, method="em-onmf", init="residual", n_init=5).fit(pixels)
known = made.target != made.background
accuracy = orthant.metrics.clustering_accuracy(made.target[known], model.labels_[known])
print(f"{accuracy:.1%} of the pixels of the telescope have the right material")

figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
orthant.plot.maps(model, made.shape, order=made.order, ax=left)
orthant.plot.spectra(model, ax=right)
figure.savefig("materials.png")
print("materials.png written")

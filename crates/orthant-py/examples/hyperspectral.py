"""
Cubes: materials of a hyperspectral image
=========================================

Every pixel is a spectrum. A material in the shade has the same spectrum, only darker: directions tell materials apart, lengths
say how bright a pixel is.
"""

# %%
# A space telescope before a black sky: 128 × 128 pixels, 100 bands, 8 materials, with some noise.
import matplotlib.pyplot as plt

import orthant

made = orthant.datasets.make_telescope(noise=0.01)
pixels = made.data  # 16384 pixels in rows, 100 bands in columns
pixels.shape

# %%
# EM-ONMF from several starts is the quickest way through that many pixels.
model = orthant.ONMF(n_clusters=made.n_clusters, method="em-onmf", init="residual", n_init=5).fit(pixels)
known = made.target != made.background
accuracy = orthant.metrics.clustering_accuracy(made.target[known], model.labels_[known])
print(f"{accuracy:.1%} of the pixels of the telescope have the right material")

# %%
# The map, where faint pixels are faint, and the spectra of the clusters.
figure, (left, right) = plt.subplots(ncols=2, figsize=(10, 4), layout="constrained")
orthant.plot.maps(model, made.shape, order=made.order, ax=left)
orthant.plot.spectra(model, ax=right)
plt.show()

# %%
# How sure each pixel is of its material: by how much its cluster leads. Edges, where materials mix, and the sky are doubtful.
margins = orthant.findings(model, pixels).margins
figure, ax = plt.subplots(figsize=(4.6, 4), layout="constrained")
shown = ax.imshow(margins.reshape(made.shape, order=made.order))
figure.colorbar(shown, label="lead of the pixel's cluster")
ax.set_axis_off()
plt.show()

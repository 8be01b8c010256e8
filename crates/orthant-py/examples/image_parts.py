"""
Images: parts that do not overlap
=================================

With ``cluster="features"`` the pixels are clustered instead of the images: pixels that light up together are a part, and no
pixel belongs to two parts.
"""

# %%
# 256 images of a swimmer with four limbs, each in one of four positions.
import matplotlib.pyplot as plt
import numpy as np

import orthant

made = orthant.datasets.make_swimmer()
images = made.data.T  # 256 images in rows, 220 pixels in columns
figure, axes = plt.subplots(ncols=8, figsize=(10, 2.4), layout="constrained")
for ax, image in zip(axes, images[::32]):
    ax.imshow(image.reshape(made.shape, order=made.order), cmap="gray_r")
    ax.set_axis_off()
plt.show()

# %%
# 17 parts: sixteen positions of limbs, and the body.
model = orthant.ONMF(n_clusters=made.n_clusters, cluster="features").fit(images)

# Every row of components_ is a part: a group of pixels that no other part shares.
assert (np.count_nonzero(model.components_, axis=0) <= 1).all()
for name, of_part in zip(made.target_names, range(made.n_clusters)):
    labels = model.labels_[made.target == of_part]
    print(f"{name:20} {len(labels)} pixels, found as part {labels[0]}")

# %%
# The parts, side by side.
figure, axes = plt.subplots(nrows=2, ncols=9, figsize=(10, 4), layout="constrained")
for ax in axes.flat:
    ax.set_axis_off()
for i, ax in enumerate(axes.flat[: made.n_clusters]):
    ax.imshow(model.components_[i].reshape(made.shape, order=made.order), cmap="gray_r")
    ax.set_title(f"part {i}", fontsize=8)
plt.show()

# %%
# An image is a sum of parts.
strengths = model.transform(images)
print(f"the first image is made of parts {np.flatnonzero(strengths[0] > 1e-9)}")

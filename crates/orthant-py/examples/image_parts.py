"""Parts that do not overlap: the limbs of a swimmer from 256 images."""

import numpy as np

from orthant import ONMF, datasets

made = datasets.make_swimmer()
images = made.data.T  # 256 images in rows, 220 pixels in columns

model = ONMF(n_clusters=made.n_clusters, cluster="features").fit(images)

# Every row of components_ is a part: a group of pixels that no other part shares.
assert (np.count_nonzero(model.components_, axis=0) <= 1).all()
for name, of_part in zip(made.target_names, range(made.n_clusters)):
    labels = model.labels_[made.target == of_part]
    print(f"{name:20} {len(labels)} pixels, found as part {labels[0]}")

letters = np.array(list("abcdefghijklmnopq."))
print("\n".join("".join(row) for row in letters[model.labels_].reshape(made.shape, order=made.order)))
strengths = model.transform(images)
print(f"the first image is made of parts {np.flatnonzero(strengths[0] > 1e-9)}")

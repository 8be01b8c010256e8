"""
Texts: from documents to the words of each cluster
==================================================

Counts of words are nonnegative, long documents have more of them, and what a document is about does not depend on how long
it is. This is what ONMF is made for: a document is a multiple of its cluster's direction.
"""

# %%
# Texts of three subjects. Any list of strings would do; files are read by :func:`orthant.read`.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import orthant

subjects = {
    "cooking": "butter onion garlic oven bake sauce salt pepper flour sugar recipe boil".split(),
    "astronomy": "star galaxy telescope orbit planet light comet nebula dust moon spectrum red".split(),
    "football": "goal match striker defender penalty league season coach team pitch ball fans".split(),
}
common = "the and with first time people".split()
rng = np.random.default_rng(0)
texts = [
    " ".join(rng.choice(words + common, size=rng.integers(10, 60))) for words in subjects.values() for _ in range(40)
]
vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(texts)
counts

# %%
# The default method searches in several ways and keeps the lowest error; with the same seed it always gives the same bits.
model = orthant.ONMF(n_clusters=3).fit(counts)
print(f"relative error {model.relative_error_:.3f}; no clusters can be below {model.lower_bound_:.3f}")

# %%
# What sets each cluster apart: features whose share there is larger than elsewhere. Words that are everywhere are no markers.
found = orthant.findings(model, counts, feature_names=vectorizer.get_feature_names_out())
for i, cluster in enumerate(found.clusters):
    typical = cluster.typical[0][0]
    print(f"cluster {i}, {np.sum(model.labels_ == i)} documents:", ", ".join(marker[0] for marker in cluster.markers[:6]))
    print("   most typical:", texts[typical][:70])

# %%
# The markers as bars: how much of the cluster's words each of them is.
figure, axes = plt.subplots(ncols=3, figsize=(10, 3.2), layout="constrained")
for i, (ax, cluster) in enumerate(zip(axes, found.clusters)):
    names, shares, *_ = zip(*cluster.markers[:8])
    ax.barh(names, shares, color=f"C{i}")
    ax.invert_yaxis()
    ax.set_title(f"cluster {i}")
plt.show()

# %%
# New texts go to the nearest direction; a text without any known word has no cluster (-1).
model.predict(vectorizer.transform(["a comet near the moon", "salt the sauce", "zzz"]))

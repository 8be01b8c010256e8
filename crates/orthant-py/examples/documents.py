"""From texts to the words of each cluster."""

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from orthant import ONMF

subjects = {
    "cooking": "butter onion garlic oven bake sauce salt pepper flour sugar recipe boil".split(),
    "astronomy": "star galaxy telescope orbit planet light comet nebula dust moon spectrum red".split(),
    "football": "goal match striker defender penalty league season coach team pitch ball fans".split(),
}
rng = np.random.default_rng(0)
texts = [" ".join(rng.choice(words, size=15)) for words in subjects.values() for _ in range(40)]

vectorizer = CountVectorizer()
counts = vectorizer.fit_transform(texts)
model = ONMF(n_clusters=3).fit(counts)

words = vectorizer.get_feature_names_out()
for i, component in enumerate(model.components_):
    typical = np.argmax(np.where(model.labels_ == i, model.weights_, 0))
    print(f"cluster {i}, {np.sum(model.labels_ == i)} documents:", ", ".join(words[np.argsort(-component)[:6]]))
    print("   most typical:", texts[typical])
print(f"relative error {model.relative_error_:.3f}; nothing of rank 3 is below {model.lower_bound_:.3f}")

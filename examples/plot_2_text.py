"""
How do I tag texts with 20,000 different words?
===============================================

Texts are wide and sparse: tens of thousands of words, of which a text has a hundred. Neighbours in
the space of all words are unreliable, because two texts on one topic may share hardly a word. A
reducer that knows the tags learns which words belong together, and never makes the data dense.
"""

# %%
# Generated texts: each of twelve tags has some hundred words of its own, and all other words are
# common to all tags. Frequent words say little about the tags, as in a real language.
import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.pipeline import make_pipeline

from skml_kalda import BinaryRelevanceKNN, MultiLabelKaLDA
from skml_kalda.metrics import precision_at_k

rng = np.random.default_rng(0)
n_texts, n_words, n_tags = 1500, 20_000, 12
frequency = 1 / np.arange(5, n_words + 5)
chances = np.tile(frequency, (n_tags, 1))
for tag in range(n_tags):
    chances[tag, rng.choice(np.arange(500, n_words), 300, replace=False)] *= 20
chances /= chances.sum(axis=1, keepdims=True)

y = np.zeros((n_texts, n_tags), dtype=int)
counts = []
for text in range(n_texts):
    tags = rng.choice(n_tags, rng.integers(1, 4), replace=False)
    y[text, tags] = 1
    words = rng.choice(n_words, 120, p=chances[tags].mean(axis=0))
    counts.append(np.bincount(words, minlength=n_words))
X = sparse.csr_array(np.array(counts, dtype=float))
train, test = slice(0, 1000), slice(1000, n_texts)
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} different words per text")

# %%
# Tf-idf scales samples to unit length. Compare neighbours by the cosine distance on all words, on
# the leading singular directions, and on the directions of kaLDA. The ten nearest texts vote,
# nearer ones with more weight.
steps = {
    "all words": [],
    "TruncatedSVD": [TruncatedSVD(n_tags - 1, random_state=0)],
    "kaLDA": [MultiLabelKaLDA(constraint="none")],
}
found = {}
for name, reducer in steps.items():
    knn = BinaryRelevanceKNN(10, weights="distance", metric="cosine")
    model = make_pipeline(TfidfTransformer(), *reducer, knn).fit(X[train], y[train])
    found[name] = model.predict_proba(X[test])

# %%
# Precision at k: the share of right tags among the first k suggestions.
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
places = np.arange(1, 6)
for name, color in zip(found, ("0.6", "#56b4e9", "#d55e00"), strict=True):
    precision = [precision_at_k(y[test], found[name], k=k) for k in places]
    axis.plot(places, precision, "o-", color=color, label=name)
    axis.annotate(f" {precision[0]:.2f}", (1, precision[0]), color=color, va="bottom")
best = [precision_at_k(y[test], y[test], k=k) for k in places]
axis.plot(places, best, ":", color="0.3", label="the best possible")
axis.set(xlabel="number of suggested tags", ylabel="share of right tags")
axis.set(xticks=places, ylim=(0, 1.05))
axis.legend(frameon=False)
plt.show()

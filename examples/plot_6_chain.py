"""
Does a scikit-multilearn chain gain from a reducer?
===================================================

A classifier chain predicts one label after the other, and each prediction becomes a feature for the
next. Among 294 features, a few predictions have little influence. Among the five directions of a
reducer they have much.
"""

# %%
# Scene images. Three problem transformations of scikit-multilearn, each with neighbours as the base
# classifier: on all features, and after two reducers.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skmultilearn.problem_transform import BinaryRelevance, ClassifierChain, LabelPowerset

from skml_kalda import KernelKaLDA, MultiLabelKaLDA
from skml_kalda.datasets import load_dataset

X, y = load_dataset("scene", split="train", return_X_y=True)
X_test, y_test = load_dataset("scene", split="test", return_X_y=True)
reducers = {
    "all features": None,
    "MultiLabelKaLDA": MultiLabelKaLDA(constraint="none"),
    "KernelKaLDA": KernelKaLDA(n_landmarks=200, random_state=0),
}
classifiers = {
    "BinaryRelevance": BinaryRelevance(KNeighborsClassifier(10)),
    "ClassifierChain": ClassifierChain(KNeighborsClassifier(10)),
    "LabelPowerset": LabelPowerset(KNeighborsClassifier(10)),
}

# %%
# Subset accuracy: the share of images whose labels are all right. It is what chains are for.
scores = {
    (name, kind): accuracy_score(
        y_test,
        make_pipeline(StandardScaler(), reducer, classifier).fit(X, y).predict(X_test),
    )
    for name, reducer in reducers.items()
    for kind, classifier in classifiers.items()
}

# %%
figure, axis = plt.subplots(figsize=(7.5, 4), layout="constrained")
places = np.arange(len(classifiers))
for (name, color), shift in zip(
    {"all features": "0.6", "MultiLabelKaLDA": "#56b4e9", "KernelKaLDA": "#d55e00"}.items(),
    (-0.26, 0, 0.26),
    strict=True,
):
    heights = [scores[name, kind] for kind in classifiers]
    bars = axis.bar(places + shift, heights, 0.24, color=color, label=name)
    axis.bar_label(bars, fmt="%.2f", fontsize=8)
axis.set(xticks=places, xticklabels=list(classifiers), ylabel="subset accuracy", ylim=(0, 0.85))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, ncols=3, loc="upper left")
plt.show()

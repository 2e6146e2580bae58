"""
At which probability should a label be predicted?
=================================================

Most classifiers predict a label if its probability is at least one half. For F1 that is a poor
choice: rare labels are then seldom predicted. It also distorts comparisons, because methods
differ in how they spread their probabilities. The figure shows macro F1 against the threshold.
"""

# %%
# Genes of yeast with 14 labels, half of them rare. Three classifiers, fitted on the published
# training part.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import KernelKaLDA, MLkNN
from skml_kalda.datasets import load_dataset
from skml_kalda.model_selection import TunedThresholdsCV

X, y = load_dataset("yeast", split="train", return_X_y=True)
X_test, y_test = load_dataset("yeast", split="test", return_X_y=True)
classifiers = {
    "MLkNN": MLkNN(20),
    "KernelKaLDA, MLkNN": make_pipeline(KernelKaLDA(n_landmarks=200, random_state=0), MLkNN(20)),
    "logistic regression": MultiOutputClassifier(LogisticRegression(C=0.1)),
}

# %%
# `TunedThresholdsCV` finds a threshold on held-out training samples: it does not see the test part.
# The curves are those of the test part, to show how good its choice is.
figure, axis = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
thresholds = np.linspace(0.02, 0.8, 60)
for (name, classifier), color in zip(
    classifiers.items(), ("0.5", "#d55e00", "#0072b2"), strict=True
):
    tuned = TunedThresholdsCV(make_pipeline(StandardScaler(), classifier), cv=3).fit(X, y)
    probability = tuned.predict_proba(X_test)
    if isinstance(probability, list):  # as scikit-learn's MultiOutputClassifier returns them
        probability = np.column_stack([label[:, 1] for label in probability])
    f1 = [f1_score(y_test, probability >= t, average="macro", zero_division=0) for t in thresholds]
    chosen = tuned.thresholds_[np.isfinite(tuned.thresholds_)][0]
    score = f1_score(y_test, tuned.predict(X_test), average="macro", zero_division=0)
    axis.plot(thresholds, f1, color=color, label=name)
    axis.plot(chosen, score, "o", color=color, markersize=9)
axis.axvline(0.5, color="0.7", linestyle=":")
axis.annotate("the usual threshold", (0.505, 0.17), color="0.5")
axis.set(xlabel="threshold", ylabel="macro F1 of the test part", ylim=(0.15, None))
axis.legend(frameon=False, loc="upper right", title="dot: the threshold chosen")
plt.show()

# %%
# At one half the three differ widely. At their own thresholds they are much closer, and all are
# better. Compare methods after choosing thresholds for all of them.

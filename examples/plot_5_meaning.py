"""
What do the directions mean?
============================

A linear reducer can be read. Its *loadings* say which features a direction is made of, and its
*label profile* says which labels lie on which side of it.
"""

# %%
# Songs again: 72 features of sound, six emotions. Standardise, so that loadings are comparable.
import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from skml_kalda import MultiLabelKaLDA
from skml_kalda.datasets import load_dataset
from skml_kalda.inspection import LabelProfileDisplay, LoadingsDisplay, loadings

X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(X)
kalda = MultiLabelKaLDA(3, constraint="none").fit(X, y)

# %%
# Each direction adds a share to the alignment. The first one has most of it:
print(kalda.explained_alignment_ratio_.round(2))

# %%
# The features with the largest loadings, as a table and as a figure, next to the label profile.
print(loadings(kalda).iloc[:, 0].abs().nlargest(5).round(2))

# %%
figure, axes = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")
LoadingsDisplay.from_estimator(kalda, ax=axes[0])
LabelProfileDisplay.from_estimator(kalda, X, y, ax=axes[1])
axes[0].set_title("loadings: what a direction is made of")
axes[1].set_title("label profile: where the labels lie")
plt.show()

# %%
# The first direction leads from quiet and sad songs to angry and amazed ones, and consists mostly
# of timbre. Read loadings with care: of two correlated features, either may have the weight.

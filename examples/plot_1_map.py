"""
What do multi-label data look like in two dimensions?
=====================================================

Songs often evoke several emotions at once. A map of songs should therefore show all labels of a
song, and place songs with similar labels close together. This example compares PCA, which does not
see the labels, with two reducers that do. All dots are held-out songs.
"""

# %%
# Hold out a third of the songs. The features have different units, so they are standardised.
import matplotlib.pyplot as plt
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import KernelKaLDA, MultiLabelKaLDA
from skml_kalda.datasets import load_dataset
from skml_kalda.inspection import ProjectionDisplay
from skml_kalda.model_selection import multilabel_train_test_split

X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = multilabel_train_test_split(
    X, y, test_size=1 / 3, random_state=0
)

# %%
# Fit the three on the other songs, and draw each held-out song as a pie with a wedge for each
# label.
reducers = {
    "PCA (no labels)": PCA(2),
    "MultiLabelKaLDA (linear)": MultiLabelKaLDA(2, constraint="none"),
    "KernelKaLDA (not linear)": KernelKaLDA(2, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
for axis, (title, reducer) in zip(axes, reducers.items(), strict=True):
    model = make_pipeline(StandardScaler(), reducer).fit(X_train, y_train)
    display = ProjectionDisplay.from_transformed(
        model.transform(X_test), y_test, ax=axis, legend=axis is axes[-1] and "right"
    )
    axis.set(title=title, xlabel="", ylabel="", xticks=[], yticks=[], adjustable="datalim")
plt.show()

# %%
# With the labels, calm and quiet songs are separated from angry and amazed ones, and songs with two
# labels lie between those with one. The axes of such a map have no unit: only distances mean
# something.

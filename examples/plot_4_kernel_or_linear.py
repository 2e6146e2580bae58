"""
Kernel or linear?
=================

A linear map can stretch and drop directions, but it cannot separate labels whose regions no
straight cut separates. A kernel can.
"""

# %%
# Generated data: points in the plane with three labels. "Near" and "far" depend on the distance
# from the centre, "right" on the side. Eighteen features of noise are added, so that it is not too
# easy.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline

from skml_kalda import KernelKaLDA, MLkNN, MultiLabelKaLDA
from skml_kalda.inspection import ProjectionDisplay

rng = np.random.default_rng(0)
plane = rng.normal(size=(900, 2))
radius = np.linalg.norm(plane, axis=1)
y = np.column_stack([radius < 0.9, radius > 1.5, plane[:, 0] > 0]).astype(int)
X = np.column_stack([plane, 0.35 * rng.normal(size=(900, 18))])
train, test = slice(0, 600), slice(600, None)
names = ["near", "far", "right"]

# %%
# The two reducers, each in two dimensions, with the score of neighbours after them.
figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), layout="constrained")
ProjectionDisplay.from_transformed(
    plane[test], y[test], ax=axes[0], label_names=names, legend=False
)
axes[0].set_title("two of the features")
for axis, reducer in zip(
    axes[1:], (MultiLabelKaLDA(2, constraint="none"), KernelKaLDA(2, random_state=0)), strict=True
):
    model = make_pipeline(reducer, MLkNN(10)).fit(X[train], y[train])
    score = f1_score(y[test], model.predict(X[test]), average="macro")
    ProjectionDisplay.from_transformed(
        model[:-1].transform(X[test]),
        y[test],
        ax=axis,
        label_names=names,
        legend=axis is axes[-1] and "right",
    )
    axis.set_title(f"{type(reducer).__name__}: macro F1 {score:.2f}")
for axis in axes:
    axis.set(xlabel="", ylabel="", xticks=[], yticks=[], adjustable="datalim")
plt.show()

# %%
# The linear map finds "right" and nothing else: the mean of all near points and the mean of all far
# points are the same. The kernel separates the rings. But its functions cannot be read like the
# loadings of a linear map, and a fit takes longer. Real data lie between these extremes; the page
# "Which one do I use?" has the measurements.

"""
What does alignment look like? (Theorem 1 by eye)
=================================================

Kernel alignment compares two square images. The kernel of the labels is bright where two samples
have the same class. The kernel of the data is bright where two samples are similar. kaLDA projects
the data so that the second image looks like the first. Theorem 1 of the paper says that this is
what LDA's scatter matrices measure.
"""

# %%
# Wines of three growers, sorted by grower, with twenty features of noise added.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from skml_kalda import MultiLabelKaLDA

X, grower = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
X = StandardScaler().fit_transform(np.column_stack([X, rng.normal(size=(len(X), 20))]))
Y = np.eye(3)[grower]


def alignment(K1, K2):
    """Return the cosine of the angle between two kernels."""
    return np.sum(K1 * K2) / np.linalg.norm(K1) / np.linalg.norm(K2)


# %%
# Three kernels: of the labels, of the data, and of the data after kaLDA.
kalda = MultiLabelKaLDA(shrinkage=None).fit(X, grower)
Z = kalda.transform(X)
labels = Y / Y.sum(axis=0) @ Y.T
kernels = {"the labels": labels, "the data": X @ X.T, "the data after kaLDA": Z @ Z.T}

# %%
# The alignment that the reducer reports is that of the two images, and by Theorem 1 a ratio of
# scatters: the three numbers are equal.
m = X.mean(axis=0)
means, sizes = (Y / Y.sum(axis=0)).T @ X, Y.sum(axis=0)
S_b = (means - m).T @ (sizes[:, None] * (means - m))
S_t = (X - m).T @ (X - m)
G = kalda.components_.T
ratio = np.trace(G.T @ S_b @ G) / np.linalg.norm(G.T @ S_t @ G) / np.sqrt(3)
print(f"{kalda.alignment_:.6f} {alignment(Z @ Z.T, labels):.6f} {ratio:.6f}")

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
for axis, (name, kernel) in zip(axes, kernels.items(), strict=True):
    limit = np.quantile(np.abs(kernel), 0.98)
    axis.imshow(kernel, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axis.set(title=f"kernel of {name}", xticks=[], yticks=[])
    axis.set_xlabel("" if name == "the labels" else f"alignment {alignment(kernel, labels):.2f}")
plt.show()

# %%
# Noise blurs the kernel of the data. After kaLDA there are three clear blocks. The label kernel is
# not centred, so an alignment of 1 is impossible: with three classes it is at most √(2/3) = 0.82.

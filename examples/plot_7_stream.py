"""
What if the data do not fit into memory?
========================================

A linear reducer needs only sums over the samples. `partial_fit` adds a batch to the sums and drops
its samples, so memory does not grow with their number, and after the last batch the directions are
those of a fit on all samples at once.
"""

# %%
# A stream of generated samples with 60 features, in which a hidden subspace of three directions
# determines five labels. Only one batch exists at a time.
import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles

from skml_kalda import MultiLabelKaLDA

rng = np.random.default_rng(0)
hidden = np.linalg.qr(rng.normal(size=(60, 3)))[0]
meaning = rng.normal(size=(3, 5))


def batches(number, size=2000):
    """Yield batches of features and labels."""
    for _ in range(number):
        X = rng.normal(size=(size, 60))
        yield X, (X @ hidden @ meaning + rng.normal(size=(size, 5)) > 1).astype(int)


# %%
# After some batches, read the directions so far. Reading them solves once for the current sums, and
# the stream goes on. The angle to the hidden subspace shows how accurate they are.
kalda = MultiLabelKaLDA(3, constraint="none")
seen, angles = [], []
for number, (X, y) in enumerate(batches(50), start=1):
    kalda.partial_fit(X, y)
    if number in (1, 2, 3, 5, 8, 12, 20, 32, 50):
        seen.append(2000 * number)
        angles.append(np.degrees(subspace_angles(kalda.components_.T, hidden)[0]))

# %%
figure, axis = plt.subplots(figsize=(7, 4.2), layout="constrained")
axis.loglog(seen, angles, "o-", color="#d55e00", label="largest angle to the hidden subspace")
axis.loglog(
    seen, angles[0] * np.sqrt(seen[0] / np.array(seen)), ":", color="0.4", label="1 / √samples"
)
axis.set(xlabel="samples seen", ylabel="degrees")
axis.legend(frameon=False)
axis.grid(color="0.92", which="both")
plt.show()

# %%
# The error falls with the square root of the number of samples, as it must for random data. Arrays
# on disk come from `numpy.memmap`, which `fit` reads in blocks by itself, and data on several
# machines from dask.

"""
How good is a closed form against systems built for tagging?
============================================================

The Extreme Classification Repository publishes what large systems reach on bibtex: 7,395 entries,
1,836 words and 159 tags. Closed-form kaLDA with the votes of neighbours, and ``KaLDAClassifier``,
were measured on the ten splits that come with its data. The measurement takes too long for this
page and needs the data, so the figure shows the kept result.
``python -m skml_kalda.bench run outside`` repeats it.
"""

# %%
# The published table comes with the package. The kept result is part of the repository; elsewhere,
# the figure shows the table alone.
from pathlib import Path

import matplotlib.pyplot as plt

from skml_kalda.bench import read_results
from skml_kalda.bench.reporting.tables import published_outside

here = Path.cwd()
folders = [each / "benchmarks/results/bench/outside" for each in (here, *here.parents)]
runs = [read_results(folder).frame() for folder in folders if folder.exists()]
theirs = published_outside().query("dataset == 'bibtex-xc'")
published = theirs.pivot_table(index="method", columns="score", values="value", sort=False)

# %%
# Each split is a tick, and the dot is their mean. All settings are fixed.
figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
for axis, k in zip(axes, (1, 3, 5), strict=True):
    values = published[f"precision_at_{k}"]
    axis.plot(values, values.index, "o", color="0.45", markersize=8)
    for run in runs:
        ours = run.query("dataset == 'bibtex-xc' and method != 'ML-kNN'")
        for name, splits in ours.groupby("method", sort=False)[f"precision_at_{k}"]:
            axis.plot(splits.mean(), name, "o", color="#d55e00", markersize=10)
            axis.plot(splits, [name] * len(splits), "|", color="black", markersize=16)
    axis.set(title=f"precision at {k}", ylim=(-0.6, len(values) + 1.6))
    axis.grid(axis="y", color="0.9")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(length=0)
plt.show()

# %%
# The recipe is short: samples of unit length, kaLDA, then the smoothly weighted votes of the
# nearest samples by cosine distance.
#
# .. code-block:: python
#
#    make_pipeline(
#        Normalizer(),
#        MultiLabelKaLDA(constraint="none"),
#        BinaryRelevanceKNN(100, weights="tricube", metric="cosine"),
#    )
#
# Compare a difference between two systems with the spread over the splits.

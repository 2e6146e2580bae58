"""The measured part of the README, made from kept results.

Run from the root of the project after a kept result was replaced:
``python -m benchmarks.headline``. A test checks that README.md shows the kept results.
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.common import RESULTS, markdown_table
from skml_kalda.bench import read_results
from skml_kalda.bench.methods import label
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import agreement, fold_means, published_outside

PAGE = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
# By place in the README: what stands for no reduction, linear reduction, reduction with a kernel,
# and what a user would take instead.
SHOWN = ("none", "PCA", "kaLDA, shrunk", "MLDA", "KernelKaLDA", "KernelOPLS")
SHOWN += ("LogisticRegression", "SVC", "ExtraTrees", "BOOMER", "XGBoost", "LightGBM", "CatBoost")
SHOWN += ("KaLDAClassifier",)
JUDGED_BY = ("macro_f1_tuned", "micro_f1_tuned", "average_precision", "macro_f1")
TITLES = ("macro F1", "micro F1", "average precision", "macro F1 at 0.5")


def tuned():
    """Write mean ranks in the tuned comparison, the best of all methods in bold."""
    results = read_results(RESULTS / "bench" / "tuned")
    (classifier,) = results.plan.classifiers
    ranks = [rank_methods(fold_means(results, score, classifier)).mean_ranks for score in JUDGED_BY]
    rows = [[label(method), *(_rank(found, method) for found in ranks)] for method in SHOWN]
    sets, methods = len(results.plan.datasets), len(results.plan.methods)
    return markdown_table([f"mean rank of {methods} on {sets} datasets", *TITLES], rows)


def _rank(ranks, method):
    text = f"{ranks[method]:.1f}"
    return f"**{text}**" if ranks[method] == ranks.min() else text


def bibtex():
    """Write how two of our methods compare with the best system of a published table."""
    scores = [f"precision_at_{k}" for k in (1, 3, 5)]
    found = read_results(RESULTS / "bench" / "outside").frame()
    ours = found.query("dataset == 'bibtex-xc'").groupby("method")[scores].mean()
    theirs = published_outside().query("dataset == 'bibtex-xc'")
    theirs = theirs.pivot_table(index="method", columns="score", values="value")[scores]
    best = theirs.loc[theirs["precision_at_1"].idxmax()]
    shown = (ours.loc["kaLDA, tricube votes"], ours.loc["KaLDAClassifier"], best)
    votes, classifier, published = (" / ".join(f"{100 * v:.1f}" for v in each) for each in shown)
    return (
        "- **Tagging (bibtex).** On the ten official splits of the Extreme Classification "
        f"Repository, closed-form kaLDA and tricube votes reach a precision at 1 / 3 / 5 of "
        f"{votes}, `KaLDAClassifier()` {classifier}; {best.name}, the best of its table of 2020, "
        f"has {published}.\n"
    )


def speed():
    """Write how many times as fast the neighbour classifiers are."""
    rows = json.loads((RESULTS / "speed-neighbors.json").read_text("utf-8"))["rows"]
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    return (
        f"- **Speed.** `MLkNN` and `BinaryRelevanceKNN` are {min(ratios):.0f} to {max(ratios):.0f} "
        "times as fast as the scikit-multilearn classifiers whose predictions they repeat.\n"
    )


def paper():
    """Write whether the lead of kaLDA in the paper is confirmed."""
    found = agreement(read_results(RESULTS / "bench" / "multilabel"))
    first = [found[column].str.contains(r"\bkaLDA\b").sum() for column in found.columns[1:3]]
    return (
        "- **The paper's lead is not confirmed.** Among the paper's methods kaLDA is first on "
        f"{first[0]} of {len(found)} multi-label datasets in the paper, and on {first[1]} here.\n"
    )


def summary():
    """Write all of it."""
    return "\n".join([tuned(), bibtex() + speed() + paper()])


def with_summary(page):
    """Return the page with the summary between its two marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + summary() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(with_summary(PAGE.read_text("utf-8")), "utf-8")

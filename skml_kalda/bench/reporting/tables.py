"""Tables of numbers: ours, the paper's and those of others. Made from results only."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from skml_kalda._core.messages import check_name
from skml_kalda.bench.methods import ITSELF, NO_REDUCTION, label
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES, Score
from skml_kalda.datasets.manifest import read_manifest

SWAPPED = (
    "The paper swaps the names of the two averages: its “macro F1” is the standard micro F1 "
    "(pooled over labels) and its “micro F1” is the standard macro F1 (mean over labels). "
    "Here both have their standard names, also where the paper's numbers are shown."
)
PUBLISHED = Path(__file__).parents[1] / "published"
# What comes first in a table: the measures that do not depend on the threshold of a classifier,
# which also rank the methods of a tuned comparison, and then those that do.
_RANKED = (
    "macro_f1_tuned", "micro_f1_tuned", "average_precision", "ranking_loss", "macro_f1", "micro_f1",
)  # fmt: skip
_FIRST = (*_RANKED, "subset_accuracy", "accuracy")
_GROUP = ["dataset", "classifier", "method", "dimension"]


@cache
def published() -> dict[tuple[str, str, str, str], float]:
    """Return the paper's values by dataset, method, classifier and score (standard name).

    Examples
    --------
    >>> from skml_kalda.bench.reporting.tables import published
    >>> published()["yeast", "MLDA", "1-NN", "micro_f1"]
    0.5693
    """
    found = pd.concat(pd.read_csv(path) for path in sorted(PUBLISHED.glob("*.csv")))
    columns = (found[name] for name in ("dataset", "method", "classifier", "score"))
    return dict(zip(zip(*columns, strict=True), found["value"].tolist(), strict=True))


@cache
def published_outside() -> pd.DataFrame:
    """Return published results of others: dataset, method, train_rows, score, value and source.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.tables import published_outside
    >>> rows = published_outside().query("dataset == 'bibtex-xc' and score == 'precision_at_1'")
    >>> rows.set_index("method")["value"].idxmax()
    'SLEEC'
    """
    return pd.read_csv(PUBLISHED / "outside" / "outside.csv")


def table(results: Results, score: str = "accuracy") -> pd.DataFrame:
    """Tabulate a score, ours and the paper's.

    Parameters
    ----------
    results : Results
        From `run` or `read_results`.
    score : str, default="accuracy"
        The standard name of a score.

    Returns
    -------
    pandas.DataFrame
        For each dataset, classifier, method and dimension (0 means K - 1), in the order of the
        plan: the mean, the standard deviation over the folds, their number, the published value
        and our mean minus it.

    Examples
    --------
    >>> import tempfile
    >>> from skml_kalda.bench import run, table
    >>> from skml_kalda.bench.plan import Plan
    >>> plan = Plan("mine", "Mine", datasets=("emotions",), methods=("OCM", "MLDA"), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = table(run(plan, folder), "macro_f1")
    >>> list(found["method"]), list(found.columns[-4:])
    (['OCM', 'MLDA'], ['sd', 'folds', 'paper', 'difference'])
    """
    check_name("score", score, SCORES)
    frame = results.frame()
    if score not in frame:
        return pd.DataFrame(columns=[*_GROUP, "mean", "sd", "folds", "paper", "difference"])
    found = frame.groupby(_GROUP, sort=False)[score].agg(["mean", "std", "count"]).reset_index()
    found.columns = pd.Index([*_GROUP, "mean", "sd", "folds"])
    keys = zip(found["dataset"], found["method"], found["classifier"], strict=True)
    paper = pd.Series([published().get((*key, score), float("nan")) for key in keys])
    found["paper"] = paper.where(found["dimension"] == 0)
    found["difference"] = found["mean"] - found["paper"]
    return found


def classifiers_in(results: Results) -> list[str]:
    """Return the classifiers of the plan that have results; ITSELF if no other one has."""
    found = {row["classifier"] for row in results.ok}
    return [name for name in results.plan.classifiers if name in found] or [ITSELF]


def rows_with(found: pd.DataFrame, classifier: str) -> pd.DataFrame:
    """Return the rows of a classifier, and those of methods that classify by themselves."""
    return found[found["classifier"].isin([classifier, ITSELF])]


def size_of(results: Results, name: str) -> Mapping[str, Any]:
    """Return the numbers of samples, features and labels (or classes) of a dataset."""
    if name in results.plan.data:
        return results.data[name]
    manifest = read_manifest(name)
    return {"rows": manifest.n, "features": manifest.p, "labels": manifest.K}


def scores_in(results: Results) -> list[str]:
    """Return the names of the scores that the results have."""
    found = {name for row in results.ok for name in row["scores"] or {}}
    return [score for score in SCORES if score in found]


def has_swapped_names(results: Results) -> bool:
    """Whether the paper's F1 numbers, whose names it swaps, are shown."""
    shown = [score for score in ("macro_f1", "micro_f1") if score in scores_in(results)]
    return any(table(results, score)["paper"].notna().any() for score in shown)


def main_scores(results: Results) -> tuple[str, ...]:
    """Return the scores that rank the methods; the one that these were tuned by comes first."""
    tune = results.plan.tune
    theirs = published_outside()
    theirs = theirs[theirs["dataset"].isin(results.plan.train_rows)]
    if not theirs.empty:
        return tuple(dict.fromkeys(theirs["score"]))
    if not tune:
        found = scores_in(results)
        # The paper's main score, where it has numbers; it says little about rare labels.
        of_paper = table(results)["paper"].notna().any()
        if "macro_f1_tuned" in found:
            return ("macro_f1_tuned",)
        return ("macro_f1",) if "subset_accuracy" in found and not of_paper else ("accuracy",)
    return tuple(
        dict.fromkeys([*results.plan.tuned_by(), *(s for s in _RANKED if s in scores_in(results))])
    )


def ordered_scores(results: Results) -> list[Score]:
    """Return the scores that the results have, those that matter most first."""
    names = dict.fromkeys([*main_scores(results), *_FIRST, *SCORES])
    found = set(scores_in(results))
    return [SCORES[name] for name in names if name in found]


def fold_means(results: Results, score: str, classifier: str) -> pd.DataFrame:
    """Return the mean over folds, a row for each dataset and a column for each method."""
    found = rows_with(table(results, score), classifier)
    found = found[found["dimension"] == 0]
    means = found.pivot_table(index="dataset", columns="method", values="mean", sort=False)
    return means.dropna()


def agreement(results: Results) -> pd.DataFrame:
    """Return which of the paper's methods has the best accuracy, in the paper and here.

    Methods without a number in the paper are left out, and so are datasets with fewer than two
    methods left.
    """
    found = table(results).dropna(subset=["paper"])
    rows = []
    for name, part in found.groupby("dataset", sort=False):
        if len(part) < 2:
            continue
        both = part.set_index("method")[["paper", "mean"]]
        best = [" = ".join(both.index[both[k] > both[k].max() - 1e-9]) for k in both]
        first, second = both["mean"].nlargest(2)
        ranks = both.round(9).rank(ascending=False, method="min").astype(int)
        places = ["not run"] * 2
        if "kaLDA" in ranks.index:
            places = [f"place {rank} of {len(part)}" for rank in ranks.loc["kaLDA"]]
        rows.append([name, *best, f"{first - second:.4f}", *places])
    columns = ["dataset", "best in the paper", "best here", "margin here"]
    return pd.DataFrame(rows, columns=[*columns, "kaLDA, paper", "kaLDA, here"])


def compare(a: Results, b: Results, score: str = "accuracy") -> pd.DataFrame:
    """Compare two runs: their means, the difference, and the ratio of their fit times."""
    both = _means(a, score).add_suffix("_a").join(_means(b, score).add_suffix("_b"), how="inner")
    both["difference"] = both[f"{score}_b"] - both[f"{score}_a"]
    both["fit_time_ratio"] = both["fit_seconds_b"] / both["fit_seconds_a"]
    both.loc[both.index.get_level_values("method") == NO_REDUCTION, "fit_time_ratio"] = None
    columns = [f"{score}_a", f"{score}_b", "difference", "fit_time_ratio"]
    return both[columns].reset_index()


def _means(results: Results, score: str) -> pd.DataFrame:
    frame = results.frame()
    if check_name("score", score, SCORES) not in frame:
        raise ValueError(f"the results in {results.folder} have no {score!r}")
    return frame.groupby(_GROUP, sort=False)[[score, "fit_seconds"]].mean()


def candidate(method: str, classifier: str) -> str:
    """Return the name of a method with the classifier that follows it."""
    return label(method) if classifier in (ITSELF, "") else f"{label(method)} + {classifier}"


def with_candidates(results: Results) -> pd.DataFrame:
    """Return the cells that did not fail, with a method and its classifier as "candidate"."""
    frame = results.frame()
    return frame.assign(candidate=list(map(candidate, frame["method"], frame["classifier"])))


def mean_over_datasets(found: pd.DataFrame) -> pd.DataFrame:
    """Return the means of a table over its datasets, of the methods that failed on none."""
    groups = found.groupby(["method", "classifier"], sort=False)["mean"]
    means = groups.agg(["mean", "count"]).reset_index()
    return means[means["count"] == found["dataset"].nunique()].assign(
        sd=float("nan"), paper=float("nan")
    )


def time_ratios(results: Results, kind: str = "train_seconds") -> pd.DataFrame:
    """Return the median time over the folds as a ratio to the fastest on each dataset.

    Parameters
    ----------
    results : Results
        The results of a plan with scores.
    kind : {"train_seconds", "predict_seconds"}, default="train_seconds"
        To fit everything, or to project and classify the test samples.

    Returns
    -------
    pandas.DataFrame
        A row for each dataset, a column for each method and classifier; empty if the results
        have no such times.
    """
    frame = with_candidates(results).dropna(subset=[kind])
    if frame.empty:
        return pd.DataFrame()
    times = frame.groupby(["dataset", "candidate"], sort=False)[kind].median().unstack(sort=False)
    times = times.clip(lower=1e-6)
    return times.div(times.min(axis=1), axis=0)

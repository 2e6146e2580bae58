"""Kept results as Markdown: one function for each table or list on the site."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from skml_kalda.bench import read_results
from skml_kalda.bench import table as score_table
from skml_kalda.bench.methods import NO_REDUCTION, label
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import (
    agreement,
    classifiers_in,
    fold_means,
    published_outside,
    rows_with,
)
from skml_kalda.bench.scores import SCORES
from skml_kalda.datasets.manifest import manifest_names, read_manifest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
FIGURES = RESULTS / "bench" / "figures"

PARTS: dict[str, Callable[[], str]] = {}
# What the tuned comparison is judged by.
TUNED_BY = ("macro_f1_tuned", "micro_f1_tuned", "average_precision", "ranking_loss", "macro_f1")


def part(function: Callable[[], str]) -> Callable[[], str]:
    """Make a function available to the directive, under its name with hyphens."""
    PARTS[function.__name__.replace("_", "-")] = function
    return function


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table in Markdown; numbers have three digits."""
    lines = [header, ["---"] * len(header), *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value).replace("|", r"\|")


@cache
def kept_run(plan: str) -> Any:
    """Return the kept run of a plan."""
    return read_results(RESULTS / "bench" / plan)


def json_rows(name: str) -> list[dict[str, Any]]:
    """Return the rows of a kept measurement."""
    rows: list[dict[str, Any]] = json.loads((RESULTS / f"{name}.json").read_text("utf-8"))["rows"]
    return rows


def _means(plan: str, score: str) -> pd.DataFrame:
    results = kept_run(plan)
    (classifier,) = results.plan.classifiers
    return fold_means(results, score, classifier)[list(results.plan.methods)]


@part
def tuned_macro_f1() -> str:
    """Macro F1 with tuned thresholds."""
    return _tuned_scores("macro_f1_tuned")


@part
def tuned_micro_f1() -> str:
    """Micro F1 with tuned thresholds."""
    return _tuned_scores("micro_f1_tuned")


@part
def tuned_average_precision() -> str:
    """Average precision of the ranking of the labels."""
    return _tuned_scores("average_precision")


@part
def tuned_macro_f1_at_half() -> str:
    """Macro F1 of the labels that the classifiers predict by themselves."""
    return _tuned_scores("macro_f1")


def _tuned_scores(score: str) -> str:
    """Write a row for each method, and the best of each dataset in bold."""
    means = _means("tuned", score).round(3)
    best = SCORES[score].best(means.T)
    rows = [[label(method), *map(_with_best, column, best)] for method, column in means.items()]
    return table([SCORES[score].title, *map(str, means.index)], rows)


def _with_best(value: float, best: float) -> str:
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _ranking(score: str) -> Any:
    ascending = SCORES[score].lower_is_better
    return rank_methods(_means("tuned", score), ascending=ascending)


@part
def tuned_summary() -> str:
    """For every method: its mean ranks, and on how many datasets it gains or loses."""
    ranks = {score: _ranking(score).mean_ranks for score in TUNED_BY}
    best = {score: found.min() for score, found in ranks.items()}
    gains = _differences(kept_run("tuned"), TUNED_BY[0])
    rows = []
    for method in ranks[TUNED_BY[0]].index:
        places = [_rank_cell(ranks[score][method], best[score]) for score in TUNED_BY]
        rows.append([label(method), *places, *_gain_cells(gains[gains["method"] == method])])
    header = ["mean rank in", *(_short(score) for score in TUNED_BY)]
    return table([*header, "datasets with a gain", "with a loss", "largest loss"], rows)


def _short(score: str) -> str:
    return "macro F1 at 0.5" if score == "macro_f1" else SCORES[score].title


def _differences(results: Any, score: str, baseline: str = NO_REDUCTION) -> pd.DataFrame:
    """Return the mean difference to a baseline by dataset, classifier and method.

    With the standard error over the folds, which is too small, because folds share training
    samples.
    """
    folds = ["dataset", "classifier", "repeat", "fold"]
    frame = results.frame()
    parts = [rows_with(frame, name).assign(classifier=name) for name in classifiers_in(results)]
    wide = pd.concat(parts).pivot_table(index=folds, columns="method", values=score, sort=False)
    minus = wide.sub(wide[baseline], axis=0).drop(columns=baseline)
    long = minus.melt(var_name="method", value_name="difference", ignore_index=False)
    groups = long.groupby(["dataset", "classifier", "method"], sort=False)["difference"]
    return groups.agg(["mean", "sem"]).set_axis(["difference", "se"], axis=1).reset_index()


def _rank_cell(rank: float, best: float) -> str:
    return f"**{rank:.1f}**" if rank == best else f"{rank:.1f}"


def _gain_cells(gains: pd.DataFrame) -> list[str]:
    if gains.empty:
        return ["–"] * 3
    difference, error = gains["difference"], gains["se"]
    smallest = gains.loc[difference.idxmin()]
    loss = f"{smallest['difference']:+.3f} ({smallest['dataset']})"
    return [
        str(int((difference > error).sum())),
        str(int((difference < -error).sum())),
        loss if smallest["difference"] < 0 else "none",
    ]


@part
def tuned_certainty() -> str:
    """How far the tuned comparison can tell methods apart."""
    lines = []
    for score in TUNED_BY:
        ranking = _ranking(score)
        lines.append(
            f"- By {_short(score)}, Friedman's test over the {ranking.n_datasets} datasets has "
            f"p = {ranking.p_value:.2g}. Two mean ranks that are less than "
            f"{ranking.critical_difference:.1f} apart cannot be distinguished (Nemenyi, 5 %)."
        )
    return "\n".join(lines) + "\n"


@part
def defaults() -> str:
    """Every reducer with its defaults, against no reduction."""
    rows = json_rows("defaults")
    sets = list(dict.fromkeys(row["dataset"] for row in rows))
    methods = list(dict.fromkeys(row["method"] for row in rows))
    score = {(row["method"], row["dataset"]): row for row in rows}
    lines = [
        [label(method), *(_default_cell(score.get((method, name))) for name in sets)]
        for method in methods
    ]
    return table(["macro F1", *sets], lines)


def _default_cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "–"
    return f"{row['macro_f1']:.3f}" + (" ↓" if row.get("below") else "")


@part
def weights() -> str:
    """What counting samples once gains over counting labels once, by score."""
    titles = {"MultiLabelKaLDA": "weights, orthonormal", "the closed form": "weights, closed form"}
    return _pairs(titles | {"KernelKaLDA": "weights, kernel"})


@part
def scaler() -> str:
    """What `AlignmentScaler` gains before neighbours and before reducers."""
    titles = {"neighbours": "scaler, neighbours"}
    titles["neighbours, power ½"] = "scaler of power 1/2, neighbours"
    titles |= {"closed-form kaLDA": "scaler, closed form", "KernelKaLDA": "scaler, kernel"}
    return _pairs(titles)


def _pairs(titles: Mapping[str, str]) -> str:
    """Write differences by dataset, those beyond two standard errors in bold."""
    found = {(row["pair"], row["dataset"]): row for row in json_rows("pairs")}
    sets = list(dict.fromkeys(name for _, name in found))
    rows = [
        [f"{score}, {title}", *(_difference(found[pair, name][score]) for name in sets)]
        for score in ("macro F1", "macro F1, tuned", "average precision")
        for title, pair in titles.items()
    ]
    return table(["gain in", *sets], rows)


def _difference(found: dict[str, float]) -> str:
    mark = "**" if abs(found["difference"]) > 2 * found["standard error"] else ""
    return f"{mark}{found['difference']:+.3f}{mark}"


def _paper_scores(plan: str, classifier: str) -> str:
    found = score_table(kept_run(plan))
    found = found[(found["classifier"] == classifier) & (found["dimension"] == 0)]
    methods = list(dict.fromkeys(found["method"]))
    rows = []
    for name, lines in found.groupby("dataset", sort=False):
        by_method = lines.set_index("method").reindex(methods)
        rows.append([str(name), *map(_paper_cell, by_method["mean"], by_method["paper"])])
    return table([f"accuracy, {classifier}", *map(label, methods)], rows)


def _paper_cell(ours: float, paper: float) -> str:
    if pd.isna(ours):
        return "–"
    return f"{ours:.4f}" if pd.isna(paper) else f"{ours:.4f} ({paper:.4f})"


def _agreement(plan: str) -> str:
    found = agreement(kept_run(plan))
    return table(list(found.columns), found.to_numpy().tolist())


@part
def paper_multilabel() -> str:
    """The paper's multi-label accuracies beside ours."""
    return _paper_scores("multilabel", "1-NN")


@part
def paper_multilabel_verdict() -> str:
    """Which method is best on each multi-label set, in the paper and here."""
    return _agreement("multilabel")


@part
def paper_singlelabel() -> str:
    """The paper's single-label accuracies beside ours."""
    return _paper_scores("singlelabel", kept_run("singlelabel").plan.classifiers[0])


@part
def paper_singlelabel_verdict() -> str:
    """Which method is best on each single-label set, in the paper and here."""
    return _agreement("singlelabel")


@part
def paper_splits() -> str:
    """How far the choice of splits moves the scores."""
    results = kept_run("splits")
    frame = results.frame()
    lines = []
    for (name, method), rows in frame.groupby(["dataset", "method"], sort=False):
        means = rows.groupby("repeat")["macro_f1"].mean()
        lines.append([name, method, *_spread(means)])
    return table(["dataset", "method", "splits", "macro F1", "sd", "lowest", "highest"], lines)


def _spread(means: pd.Series[float]) -> list[str]:
    facts = means.mean(), means.std(), means.min(), means.max()
    return [str(len(means)), *(f"{fact:.4f}" for fact in facts)]


@part
def votes() -> str:
    """Mean rank over the datasets of each way to vote, by score: weights and k."""
    frame = pd.DataFrame(json_rows("votes"))
    settings = ["metric", "weights", "k"]
    rows = []
    for score in ("precision at 1", "average precision", "macro F1"):
        ranks = frame.groupby("dataset")[score].rank(ascending=False)
        means = ranks.groupby([frame[name] for name in settings]).mean().unstack()
        for (metric, weights), of_k in means.iterrows():
            cells = [_rank_cell(rank, means.min(axis=None)) for rank in of_k]
            rows.append([score, metric, f"`{weights}`", *cells])
    return table(["mean rank in", "distance", "weights", *(f"k = {k}" for k in means)], rows)


@part
def outside_bibtex() -> str:
    """Measures of rankings on bibtex in per cent: as published, and over the official splits."""
    names = ("precision", "propensity_scored_precision", "ndcg")
    scores = [f"{name}_at_{k}" for name in names for k in (1, 3, 5)]
    theirs = published_outside().query("dataset == 'bibtex-xc'")
    published = theirs.pivot_table(index="method", columns="score", values="value", sort=False)
    rows = [
        [name, *(f"{100 * row[score]:.2f}" if score in row else "–" for score in scores)]
        for name, row in published.iterrows()
    ]
    found = kept_run("outside").frame().query("dataset == 'bibtex-xc'")
    for method, part in found.groupby("method", sort=False)[scores]:
        values = zip(100 * part.mean(), 100 * part.std(), strict=True)
        rows.append([f"**{label(method)}**", *(f"{mean:.2f} ± {sd:.2f}" for mean, sd in values)])
    return table(["method", *(SCORES[score].title for score in scores)], rows)


@part
def datasets() -> str:
    """What is known about each dataset: sizes, where it comes from, its licence."""
    rows = []
    for name in manifest_names():
        about = read_manifest(name)
        sizes = about.n, about.p, about.K
        rows.append([f"`{name}`", about.title, *sizes, about.origin, about.licence])
    return table(["name", "data", "samples", "features", "labels", "origin", "licence"], rows)

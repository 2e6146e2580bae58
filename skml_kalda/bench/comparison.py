"""How methods compare across data sets: ranks, tests, and the gain over no reduction."""

from __future__ import annotations

from collections.abc import Iterator

from skml_kalda.bench.document import Block, Entry, Grid
from skml_kalda.bench.methods import NO_REDUCTION, label
from skml_kalda.bench.ranks import post_hoc, rank_methods
from skml_kalda.bench.results import Results
from skml_kalda.bench.scores import SCORES
from skml_kalda.bench.tables import (
    choices,
    differences,
    fold_means,
    lower_is_better,
    main_scores,
)

__all__ = ["comparison"]


def comparison(results: Results, classifier: str) -> Iterator[Block]:
    """Rank the methods by accuracy; tuned ones by more scores, with all that follows."""
    for score in main_scores(results):
        yield from _friedman(results, score, classifier)
        if results.plan.tune:
            yield from _post_hoc(results, score, classifier)
    if results.plan.tune:
        for score in main_scores(results):
            yield from _against_none(results, score)
        yield _choices(results)


def _friedman(results: Results, score: str, classifier: str) -> Iterator[Block]:
    means = fold_means(results, score, classifier)
    ranking = rank_methods(means, ascending=lower_is_better(score))
    if ranking is None:
        return
    ranks = [Entry(f"{value:.2f}") for value in ranking.mean_ranks]
    caption = (
        f"Mean rank by {_short(score)} with {classifier} on {ranking.n_datasets} data sets. "
        f"Friedman's test: p = {ranking.p_value:.3g}; critical difference at 5 % (Nemenyi): "
        f"{ranking.critical_difference:.2f}"
    )
    header = ["", *map(label, ranking.mean_ranks.index)]
    yield Grid(caption, header, [[Entry("mean rank"), *ranks]])


def _short(score: str) -> str:
    return SCORES[score].split(" (")[0]


def _post_hoc(results: Results, score: str, classifier: str) -> Iterator[Block]:
    means = fold_means(results, score, classifier)
    ascending = lower_is_better(score)
    ranking = rank_methods(means, ascending=ascending)
    if ranking is None:
        return
    found = post_hoc(means, ascending=ascending).drop(columns="mean rank").T
    rows = [
        [Entry(str(test)), *(Entry(f"{p:.3g}", best=bool(p < 0.05)) for p in values)]
        for test, values in zip(found.index, found.to_numpy(), strict=True)
    ]
    least = 2 * 0.5 ** len(means) * (means.shape[1] - 1)
    caption = (
        f"p-values of {label(str(ranking.mean_ranks.index[0]))}, the best by {_short(score)}, "
        f"against each other method; below 5 % bold. Wilcoxon's cannot be less than {least:.2g} "
        "on so few data sets"
    )
    yield Grid(caption, ["test", *map(label, map(str, found.columns))], rows)


def _against_none(results: Results, score: str) -> Iterator[Block]:
    if NO_REDUCTION not in set(results.frame()["method"]):
        return
    found = differences(results, score)
    methods = [name for name in results.plan.methods if name in set(found["method"])]
    lines = []
    for name, part in found.groupby("dataset", sort=False):
        rows = part.set_index("method").reindex(methods)
        lines.append([Entry(str(name)), *map(_difference, rows["difference"], rows["se"])])
    caption = (
        f"Against no reduction: difference in {_short(score)}, ± its standard error over the outer "
        "folds; bold where it is more than one"
    )
    yield Grid(caption, ["data set", *map(label, methods)], lines)


def _difference(value: float, error: float) -> Entry:
    return Entry(f"{value:+.4f} ± {error:.4f}", best=bool(value > error))


def _choices(results: Results) -> Grid:
    lines = [
        [
            Entry(label(row["method"])),
            Entry(row["parameter"]),
            Entry(", ".join(f"{value}: {n}" for value, n in row["counts"].items() if n)),
        ]
        for row in choices(results).to_dict("records")
    ]
    caption = "How often each value was chosen, over all data sets and outer folds"
    return Grid(caption, ["method", "parameter", "value: times"], lines)

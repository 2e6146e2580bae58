"""How methods compare across data sets: ranks, tests, and the gain over no reduction."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from skml_kalda.bench.methods import NO_REDUCTION, label
from skml_kalda.bench.reporting.document import Block, Entry, Grid
from skml_kalda.bench.reporting.ranks import Ranking, post_hoc, rank_methods
from skml_kalda.bench.reporting.tables import choices, differences, fold_means, main_scores
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES, Score


def comparison(results: Results, classifier: str) -> Iterator[Block]:
    """Rank the methods by accuracy; after a tuning by more scores, with tests and choices."""
    tuned = bool(results.plan.tune)
    scores = [SCORES[name] for name in main_scores(results)]
    for score in scores:
        means = fold_means(results, score.name, classifier)
        ranking = rank_methods(means, ascending=score.lower_is_better)
        if ranking is not None:
            yield _mean_ranks(ranking, score, classifier)
        if ranking is not None and tuned:
            yield _post_hoc(means, score)
    if tuned:
        for score in scores:
            yield from _against_none(results, score)
        yield _choices(results)


def _mean_ranks(ranking: Ranking, score: Score, classifier: str) -> Grid:
    ranks = [Entry(f"{value:.2f}") for value in ranking.mean_ranks]
    caption = (
        f"Mean rank by {score.title} with {classifier} on {ranking.n_datasets} data sets. "
        f"Friedman's test: p = {ranking.p_value:.3g}; critical difference at 5 % (Nemenyi): "
        f"{ranking.critical_difference:.2f}"
    )
    header = ["", *map(label, ranking.mean_ranks.index)]
    return Grid(caption, header, [[Entry("mean rank"), *ranks]])


def _post_hoc(means: pd.DataFrame, score: Score) -> Grid:
    found = post_hoc(means, ascending=score.lower_is_better).drop(columns="mean rank").T
    (best,) = {label(str(name)) for name in set(means) - set(found)}
    rows = [
        [Entry(str(test)), *(Entry(f"{p:.3g}", best=bool(p < 0.05)) for p in values)]
        for test, values in zip(found.index, found.to_numpy(), strict=True)
    ]
    least = 2 * 0.5 ** len(means) * len(found.columns)
    caption = (
        f"p-values of {best}, the best by {score.title}, against each other method; bold below "
        f"5 %. On {len(means)} data sets the smallest p-value of Wilcoxon's test cannot be below "
        f"{least:.2g}"
    )
    return Grid(caption, ["test", *map(label, map(str, found.columns))], rows)


def _against_none(results: Results, score: Score) -> Iterator[Block]:
    if NO_REDUCTION not in set(results.frame()["method"]):
        return
    found = differences(results, score.name)
    methods = [name for name in results.plan.methods if name in set(found["method"])]
    lines = []
    for name, part in found.groupby("dataset", sort=False):
        rows = part.set_index("method").reindex(methods)
        sign = -1 if score.lower_is_better else 1
        pairs = zip(rows["difference"], rows["se"], strict=True)
        lines.append([Entry(str(name)), *(_difference(*pair, sign) for pair in pairs)])
    caption = (
        f"Against no reduction: difference in {score.title}, ± its standard error over the outer "
        "folds; bold where the gain exceeds its standard error"
    )
    yield Grid(caption, ["data set", *map(label, methods)], lines)


def _difference(value: float, error: float, sign: int) -> Entry:
    return Entry(f"{value:+.4f} ± {error:.4f}", best=bool(sign * value > error))


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

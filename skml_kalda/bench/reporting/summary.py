"""The summary of a run: which method leads, by how much, how sure that is, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from skml_kalda.bench.reporting.costs import ratio_text, time_ratios, with_candidates
from skml_kalda.bench.reporting.document import Block, Entry, Grid, Text, capitalized
from skml_kalda.bench.reporting.tables import main_scores, scores_in, size_of
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import SCORES, Score

_SHOWN = (
    "macro_f1_tuned", "macro_f1", "micro_f1_tuned", "micro_f1", "accuracy", "subset_accuracy",
    "average_precision", "ranking_loss",
)  # fmt: skip


@dataclass(frozen=True)
class Lead:
    """The best method by a score, and the next one."""

    score: Score
    best: str
    second: str
    value: float
    """The mean score of the best one over the data sets."""
    lead: float
    """How much it is ahead of the second one; positive is better."""
    p_values: Sequence[float]
    """Of the corrected t-test of both on each data set, where the best one is ahead."""
    n_datasets: int

    def sureness(self) -> str:
        """Return how sure the lead is, in words."""
        clear = sum(p < 0.05 for p in self.p_values)
        if self.n_datasets == 1:
            p = self.p_values[0] if self.p_values else 1.0
            return f"p = {p:.2g}, {'clear' if clear else 'not clear'}"
        ahead = f"ahead on {len(self.p_values)} of {self.n_datasets}"
        return f"{ahead}, clearly on {clear or 'none'}"


def leader(results: Results, score: Score) -> Lead | None:
    """Find the method with the best mean over the data sets, None if there is only one method."""
    wide = with_candidates(results).pivot_table(
        index=["dataset", "repeat", "fold"], columns="candidate", values=score.name, sort=False
    )
    wide = wide.dropna(axis=1)
    if wide.shape[1] < 2:
        return None
    sign = -1 if score.lower_is_better else 1
    means = wide.groupby(level="dataset", sort=False).mean()
    best, second = (sign * means.mean()).sort_values(ascending=False, kind="stable").index[:2]
    gaps = sign * (wide[best] - wide[second])
    p_values = [
        corrected_t_test(part.to_numpy(), _test_share(results, str(name)))
        for name, part in gaps.groupby(level="dataset", sort=False)
        if part.mean() > 0
    ]
    lead = float(sign * (means[best] - means[second]).mean())
    return Lead(score, best, second, float(means[best].mean()), lead, p_values, len(means))


def _test_share(results: Results, name: str) -> float:
    """Return the number of test rows of a split for each training row."""
    train = results.plan.train_rows.get(name, 0)
    if not train:
        return 1 / (results.plan.folds - 1)
    n: int = size_of(results, name)["rows"]
    return (min(n, results.plan.max_rows.get(name, 0) or n) - train) / train


def corrected_t_test(differences: Any, test_share: float) -> float:
    """Return the p-value of paired differences over folds or random splits of the same rows.

    The variance is that of Nadeau and Bengio (2003): splits share training rows, so their scores
    are not independent, and the usual t-test would find too many differences. `test_share` is the
    number of test rows for each training row.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.summary import corrected_t_test
    >>> round(corrected_t_test([0.02, 0.03, 0.01, 0.02, 0.02], 1 / 4), 3)
    0.014
    """
    gaps = np.asarray(differences, dtype=float)
    if len(gaps) < 2:
        return 1.0
    error = gaps.std(ddof=1) * np.sqrt(1 / len(gaps) + test_share)
    if error == 0:
        return float(gaps.mean() == 0)
    return float(2 * stats.t.sf(abs(gaps.mean()) / error, len(gaps) - 1))


def summary(results: Results) -> Iterator[Block]:
    """Yield the summary of a run with scores."""
    shown = [name for name in _SHOWN if name in scores_in(results)]
    found = [lead for name in shown if (lead := leader(results, SCORES[name])) is not None]
    if not found:
        return
    main = leader(results, SCORES[main_scores(results)[0]])
    if main is not None:
        yield Text(" ".join([_sentence(main), _cost(results, main.best)]))
    yield _leaders(results, found)


def _sentence(lead: Lead) -> str:
    title, where = lead.score.title, "in the mean over the data sets "
    value = f"{lead.value:.4f} {where if lead.n_datasets > 1 else ''}".strip()
    text = f"By {title}, {lead.best} leads with {value}, {lead.lead:.4f} ahead of {lead.second}"
    if lead.n_datasets > 1:
        return f"{text}. Of the data sets, it is {lead.sureness()}."
    clear = any(p < 0.05 for p in lead.p_values)
    verdict = "a clear lead" if clear else "too little to tell the two apart on this many folds"
    return f"{text}: {verdict} ({lead.sureness().split(',')[0]})."


def _cost(results: Results, best: str) -> str:
    words = []
    for kind, verb in {"train_seconds": "train", "predict_seconds": "predict"}.items():
        ratios = time_ratios(results, kind)
        if best in ratios:
            words.append(f"{ratio_text(float(ratios[best].median()))} times as long to {verb}")
    if not words:
        return ""
    several = " (median over the data sets)" if len(ratios) > 1 else ""
    return f"It takes {' and '.join(words)} as the fastest{several}."


def _leaders(results: Results, found: Sequence[Lead]) -> Grid:
    ratios = time_ratios(results)
    rows = [
        [
            Entry(capitalized(lead.score.title)),
            Entry(lead.best, best=True),
            Entry(f"{lead.value:.4f}"),
            Entry(lead.second),
            Entry(f"{lead.lead:.4f}"),
            Entry(lead.sureness()),
            Entry(ratio_text(float(ratios[lead.best].median()))),
        ]
        for lead in found
    ]
    header = ["measure", "leader", "score", "second", "lead", "how sure", "time to train"]
    caption = (
        "Who leads, by measure. How sure: t-test over the folds, corrected for the training rows "
        "that they share; clear is p < 5 %. The same scores found the leader, so its lead is "
        "probably overstated. Time is the ratio to the fastest"
    )
    return Grid(caption, header, rows)

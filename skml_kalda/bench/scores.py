"""The scores of a prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn import metrics

from skml_kalda.metrics import (
    ndcg_at_k,
    one_error,
    precision_at_k,
    propensity_scored_precision_at_k,
)


@dataclass(frozen=True)
class Score:
    """A score, and what a table or a ranking needs to know about it.

    Parameters
    ----------
    name : str
        Its standard name, which differs from the paper's: see `reporting.tables.SWAPPED`.
    title : str
        What a reader sees.
    function : callable
        Returns the score of the true labels and of the predicted ones, or of scores of labels.
    note : str, default=""
        An explanation of the title.
    lower_is_better : bool, default=False
        Whether the best value is the smallest.
    needs_probabilities : bool, default=False
        Whether `function` takes probabilities or other scores of labels instead of predictions.
    needs_propensities : bool, default=False
        Whether `function` also takes the propensities of the labels.
    n_labels : int, default=0
        How many labels it needs; 0 if it also has a meaning where each sample has one class.
    tuned_for : str, default=""
        The average F1 that the threshold on the scores of labels was tuned for; empty for the
        labels that the classifier itself predicts.
    """

    name: str
    title: str
    function: Callable[..., float]
    note: str = ""
    lower_is_better: bool = False
    needs_probabilities: bool = False
    needs_propensities: bool = False
    n_labels: int = 0
    tuned_for: str = ""

    @property
    def label(self) -> str:
        """The title with all notes, in brackets."""
        notes = [*filter(None, [self.note]), *["lower is better"] * self.lower_is_better]
        return f"{self.title} ({'; '.join(notes)})" if notes else self.title

    def best(self, values: Any) -> Any:
        """Return the best of an array, a series or a group of values."""
        return values.min() if self.lower_is_better else values.max()


def _accuracy(y: Any, predicted: Any) -> float:
    if y.ndim == 1:
        return float(metrics.accuracy_score(y, predicted))
    return 1 - float(metrics.hamming_loss(y, predicted))


def _average_precision(average: str) -> Callable[[Any, Any], float]:
    """Return scikit-learn's, in which a label without a sample counts as zero."""

    def score(y: Any, scores: Any) -> float:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No positive class found")
            return float(metrics.average_precision_score(y, scores, average=average))

    return score


def _roc_auc(y: Any, scores: Any) -> float:
    """Return the mean over the labels that some samples have and others have not."""
    varies = y.min(axis=0) < y.max(axis=0)
    if not varies.any():
        return float("nan")
    return float(metrics.roc_auc_score(y[:, varies], scores[:, varies], average="macro"))


def _f1(average: str) -> Callable[[Any, Any], float]:
    return partial(metrics.f1_score, average=average, zero_division=0)


_of_labels = partial(Score, n_labels=1)
_of_ranking = partial(Score, n_labels=1, needs_probabilities=True)
_loss = partial(_of_ranking, lower_is_better=True)
_tuned = partial(_of_labels, note="one threshold for all labels, tuned on the training samples")
# Without a label in a sample, predicting none is right.
_jaccard = partial(metrics.jaccard_score, average="samples", zero_division=1.0)
_at_k = [
    _of_ranking(
        f"{function.__name__.removesuffix('k')}{k}",
        f"{title} at {k}",
        partial(function, k=k),
        n_labels=k,
        needs_propensities=function is propensity_scored_precision_at_k,
    )
    for title, function in (
        ("precision", precision_at_k),
        ("nDCG", ndcg_at_k),
        ("propensity-scored precision", propensity_scored_precision_at_k),
    )
    for k in (1, 3, 5)
]
SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "accuracy", _accuracy, "multi-label: 1 − Hamming loss"),
        Score("macro_f1", "macro F1", _f1("macro")),
        Score("micro_f1", "micro F1", _f1("micro")),
        _tuned("macro_f1_tuned", "macro F1, tuned", _f1("macro"), tuned_for="macro"),
        _tuned("micro_f1_tuned", "micro F1, tuned", _f1("micro"), tuned_for="micro"),
        _of_labels("samples_f1", "F1, mean over samples", _f1("samples")),
        _of_labels("subset_accuracy", "subset accuracy", metrics.accuracy_score),
        _of_labels("hamming_loss", "Hamming loss", metrics.hamming_loss, lower_is_better=True),
        _of_labels("jaccard", "Jaccard index, mean over samples", _jaccard),
        _of_ranking(
            "average_precision",
            "label ranking average precision",
            metrics.label_ranking_average_precision_score,
        ),
        _of_ranking(
            "macro_average_precision", "macro average precision", _average_precision("macro")
        ),
        _of_ranking(
            "micro_average_precision", "micro average precision", _average_precision("micro")
        ),
        _of_ranking("roc_auc", "macro ROC AUC", _roc_auc, "labels that vary in the test samples"),
        _loss("one_error", "one-error", one_error),
        _loss("coverage", "coverage error", metrics.coverage_error),
        _loss("ranking_loss", "ranking loss", metrics.label_ranking_loss),
        *_at_k,
    )
}
# The scores of the paper. None of them needs probabilities.
MAIN = ("accuracy", "macro_f1", "micro_f1")


def scores_of(
    y: Any,
    predicted: Any,
    probability: Any,
    thresholds: Mapping[str, Any],
    propensities: Any = None,
) -> dict[str, float]:
    """Return all scores of a prediction that have a meaning for its labels.

    Parameters
    ----------
    y, predicted : array of shape (n,) or (n, K)
        Classes or indicators of labels: the true and the predicted ones.
    probability : array of shape (n, K) or None
        Scores of the labels, if the classifier has any.
    thresholds : mapping
        Thresholds on them that were tuned on other samples, by the average F1 that they maximise.
    propensities : array of shape (K,) or None
        Of the labels, by their frequency in the training samples.
    """
    found = {}
    for name, score in SCORES.items():
        given = probability if score.needs_probabilities else predicted
        if score.tuned_for:
            cut = thresholds.get(score.tuned_for)
            given = None if cut is None else probability >= cut
        more = {"propensities": propensities} if score.needs_propensities else {}
        if given is None or (y.shape[1] if y.ndim == 2 else 0) < score.n_labels:
            continue
        if not score.needs_propensities or propensities is not None:
            found[name] = float(score.function(y, given, **more))
    return found

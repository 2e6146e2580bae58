"""The scores of a prediction."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils import gen_batches

from skml_kalda.metrics import ndcg_at_k, one_error, precision_at_k
from skml_kalda.reducers.kalda.search.scoring import OF_MATRICES

# Up to so many labels, in batches of so many comparisons.
_FEW_LABELS = 200
_CELLS = 2**22
_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Score:
    """A score, and what a table or a ranking needs to know about it.

    Parameters
    ----------
    name : str
        Its standard name, which differs from the paper's: see `reporting.published`.
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
    multilabel_only : bool, default=False
        Whether it has no meaning where each row has one class.
    tuned_for : str, default=""
        The average F1 that the threshold on the scores of labels was tuned for; empty for the
        labels that the classifier itself predicts.
    """

    name: str
    title: str
    function: Callable[[Any, Any], float]
    note: str = ""
    lower_is_better: bool = False
    needs_probabilities: bool = False
    multilabel_only: bool = False
    tuned_for: str = ""

    @property
    def label(self) -> str:
        """The title with all notes, in brackets."""
        notes = [self.note] if self.note else []
        notes += ["lower is better"] if self.lower_is_better else []
        return f"{self.title} ({'; '.join(notes)})" if notes else self.title

    def of(
        self, y: Any, predicted: Any, probability: Any, thresholds: Mapping[str, Any] = _NONE
    ) -> float | None:
        """Return the score of a prediction, None if the prediction lacks what it needs."""
        if self.multilabel_only and y.ndim == 1:
            return None
        if self.needs_probabilities:
            return None if probability is None else float(self.function(y, probability))
        if not self.tuned_for:
            return float(self.function(y, predicted))
        if self.tuned_for not in thresholds:
            return None
        return float(self.function(y, probability >= thresholds[self.tuned_for]))

    def best(self, values: Any) -> Any:
        """Return the best of an array, a series or a group of values."""
        return values.min() if self.lower_is_better else values.max()


def _accuracy(y: Any, predicted: Any) -> float:
    if y.ndim == 1:
        return float(metrics.accuracy_score(y, predicted))
    return 1 - float(metrics.hamming_loss(y, predicted))


def _label_ranking_average_precision(y: Any, scores: Any) -> float:
    """Return scikit-learn's, which takes a row at a time, from comparisons of all labels."""
    if y.shape[1] > _FEW_LABELS:
        return float(metrics.label_ranking_average_precision_score(y, scores))
    true = y > 0
    of_rows = np.ones(len(y))
    for rows in gen_batches(len(y), 1 + _CELLS // y.shape[1] ** 2):
        part, labels = scores[rows], true[rows]
        at_least = part[:, np.newaxis, :] >= part[:, :, np.newaxis]
        hits = (at_least & labels[:, np.newaxis, :]).sum(axis=2)
        precision = np.where(labels, hits / at_least.sum(axis=2), 0.0)
        n_labels = labels.sum(axis=1)
        # A row without labels is ranked right in any order.
        of_rows[rows] = np.where(n_labels > 0, precision.sum(axis=1) / np.maximum(n_labels, 1), 1)
    return float(of_rows.mean())


def _average_precision(y: Any, scores: Any, average: str) -> float:
    """Return scikit-learn's, in which a label without a row counts as zero."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "No positive class found")
        return float(metrics.average_precision_score(y, scores, average=average))


def _roc_auc(y: Any, scores: Any) -> float:
    """Return the mean over the labels that some rows have and others have not."""
    varies = y.min(axis=0) < y.max(axis=0)
    if not varies.any():
        return float("nan")
    return float(metrics.roc_auc_score(y[:, varies], scores[:, varies], average="macro"))


def _f1(average: str) -> Callable[[Any, Any], float]:
    return partial(metrics.f1_score, average=average, zero_division=0)


_of_labels = partial(Score, multilabel_only=True)
_of_ranking = partial(_of_labels, needs_probabilities=True)
_tuned = partial(_of_labels, note="one threshold for all labels, tuned on the training rows")

SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "accuracy", _accuracy, "multi-label: 1 − Hamming loss"),
        Score("macro_f1", "macro F1", _f1("macro")),
        Score("micro_f1", "micro F1", _f1("micro")),
        *(
            _tuned(f"{average}_f1_tuned", f"{average} F1, tuned", _f1(average), tuned_for=average)
            for average in ("macro", "micro")
        ),
        _of_labels("samples_f1", "F1, mean over rows", _f1("samples")),
        _of_labels("subset_accuracy", "subset accuracy", metrics.accuracy_score),
        _of_labels("hamming_loss", "Hamming loss", metrics.hamming_loss, lower_is_better=True),
        _of_labels(
            "jaccard",
            "Jaccard index, mean over rows",
            # A row without labels is correct if no label is predicted for it.
            partial(metrics.jaccard_score, average="samples", zero_division=1.0),
        ),
        _of_ranking(
            "average_precision",
            "label ranking average precision",
            _label_ranking_average_precision,
        ),
        *(
            _of_ranking(
                f"{average}_average_precision",
                f"{average} average precision",
                partial(_average_precision, average=average),
            )
            for average in ("macro", "micro")
        ),
        _of_ranking("roc_auc", "macro ROC AUC", _roc_auc, "labels that vary in the test rows"),
        _of_ranking("one_error", "one-error", one_error, lower_is_better=True),
        _of_ranking("coverage", "coverage error", metrics.coverage_error, lower_is_better=True),
        _of_ranking(
            "ranking_loss", "ranking loss", metrics.label_ranking_loss, lower_is_better=True
        ),
        *(
            _of_ranking(f"{name}_at_{k}", f"{title} at {k}", partial(function, k=k))
            for name, title, function in (
                ("precision", "precision", precision_at_k),
                ("ndcg", "nDCG", ndcg_at_k),
            )
            for k in (1, 3, 5)
        ),
    )
}
# The scores of the paper. None of them needs probabilities.
MAIN = ("accuracy", "macro_f1", "micro_f1")
_QUICK = {"accuracy": "label_accuracy", "macro_f1": "f1_macro", "micro_f1": "f1_micro"}


def quick_score(name: str, y: Any, predicted: Any) -> float:
    """Return one of the `MAIN` scores of an indicator matrix, without scikit-learn's checks."""
    return OF_MATRICES[_QUICK[name]](y > 0, predicted > 0)


def scores_of(
    y: Any, predicted: Any, probability: Any, thresholds: Mapping[str, Any] = _NONE
) -> dict[str, float]:
    """Return all scores of a prediction that have a meaning for its labels.

    Parameters
    ----------
    y, predicted : array of shape (n,) or (n, K)
        Classes or indicators of labels: the true and the predicted ones.
    probability : array of shape (n, K) or None
        Scores of the labels, if the classifier has any.
    thresholds : mapping
        Thresholds on them that were tuned on other rows, by the average F1 that they maximise.
    """
    found = {name: s.of(y, predicted, probability, thresholds) for name, s in SCORES.items()}
    return {name: value for name, value in found.items() if value is not None}

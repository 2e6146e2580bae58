"""The scores of a prediction."""

from __future__ import annotations

from typing import Any

from sklearn import metrics

from skml_kalda.reducers._scoring import OF_MATRICES

__all__ = ["MAIN", "SCORES", "quick_score", "scores_of", "short_name"]

# Standard names. Those of the paper differ: see `paper`.
SCORES = {
    "accuracy": "accuracy (multi-label: 1 − Hamming loss)",
    "macro_f1": "macro F1",
    "micro_f1": "micro F1",
    "subset_accuracy": "subset accuracy",
    "jaccard": "Jaccard index, mean over rows",
    "coverage": "coverage error (lower is better)",
    "ranking_loss": "ranking loss (lower is better)",
    "average_precision": "label ranking average precision",
}
# Those of the paper, which need no probabilities.
MAIN = ("accuracy", "macro_f1", "micro_f1")
_QUICK = {"accuracy": "label_accuracy", "macro_f1": "f1_macro", "micro_f1": "f1_micro"}


def short_name(score: str) -> str:
    """Write a score's name without what stands in brackets."""
    return SCORES[score].split(" (")[0]


def quick_score(name: str, y: Any, predicted: Any) -> float:
    """Score predicted indicators by one of `MAIN`, without scikit-learn's costly checks."""
    return OF_MATRICES[_QUICK[name]](y > 0, predicted > 0)


def scores_of(y: Any, predicted: Any, probability: Any) -> dict[str, float]:
    """Score a prediction; of single-label data only what makes sense there."""
    scores = {
        "accuracy": _accuracy(y, predicted),
        "macro_f1": metrics.f1_score(y, predicted, average="macro", zero_division=0),
        "micro_f1": metrics.f1_score(y, predicted, average="micro", zero_division=0),
    }
    if y.ndim == 2:
        scores |= _multilabel(y, predicted, probability)
    return {name: float(score) for name, score in scores.items()}


def _accuracy(y: Any, predicted: Any) -> float:
    if y.ndim == 1:
        return float(metrics.accuracy_score(y, predicted))
    return 1 - float(metrics.hamming_loss(y, predicted))


def _multilabel(y: Any, predicted: Any, probability: Any) -> dict[str, float]:
    return {
        "subset_accuracy": metrics.accuracy_score(y, predicted),
        # A row without labels for which none is predicted is right, not worth nothing.
        "jaccard": metrics.jaccard_score(y, predicted, average="samples", zero_division=1.0),
        "coverage": metrics.coverage_error(y, probability),
        "ranking_loss": metrics.label_ranking_loss(y, probability),
        "average_precision": metrics.label_ranking_average_precision_score(y, probability),
    }

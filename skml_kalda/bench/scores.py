"""The scores of a prediction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn import metrics

from skml_kalda.reducers.kalda.search.scoring import OF_MATRICES


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
        Returns the score of the true labels and of the predicted ones, or of the probabilities.
    note : str, default=""
        An explanation of the title.
    lower_is_better : bool, default=False
        Whether the best value is the smallest.
    needs_probabilities : bool, default=False
        Whether `function` takes probabilities instead of predicted labels.
    multilabel_only : bool, default=False
        Whether it has no meaning where each row has one class.
    """

    name: str
    title: str
    function: Callable[[Any, Any], float]
    note: str = ""
    lower_is_better: bool = False
    needs_probabilities: bool = False
    multilabel_only: bool = False

    @property
    def label(self) -> str:
        """The title with all notes, in brackets."""
        notes = [self.note] if self.note else []
        notes += ["lower is better"] if self.lower_is_better else []
        return f"{self.title} ({'; '.join(notes)})" if notes else self.title

    def of(self, y: Any, predicted: Any, probability: Any) -> float:
        """Return the score of a prediction."""
        return float(self.function(y, probability if self.needs_probabilities else predicted))

    def best(self, values: Any) -> Any:
        """Return the best of an array, a series or a group of values."""
        return values.min() if self.lower_is_better else values.max()


def _accuracy(y: Any, predicted: Any) -> float:
    if y.ndim == 1:
        return float(metrics.accuracy_score(y, predicted))
    return 1 - float(metrics.hamming_loss(y, predicted))


_of_labels = partial(Score, multilabel_only=True)
_of_ranking = partial(_of_labels, needs_probabilities=True)

SCORES = {
    score.name: score
    for score in (
        Score("accuracy", "accuracy", _accuracy, "multi-label: 1 − Hamming loss"),
        Score("macro_f1", "macro F1", partial(metrics.f1_score, average="macro", zero_division=0)),
        Score("micro_f1", "micro F1", partial(metrics.f1_score, average="micro", zero_division=0)),
        _of_labels("subset_accuracy", "subset accuracy", metrics.accuracy_score),
        _of_labels(
            "jaccard",
            "Jaccard index, mean over rows",
            # A row without labels is correct if no label is predicted for it.
            partial(metrics.jaccard_score, average="samples", zero_division=1.0),
        ),
        _of_ranking("coverage", "coverage error", metrics.coverage_error, lower_is_better=True),
        _of_ranking(
            "ranking_loss", "ranking loss", metrics.label_ranking_loss, lower_is_better=True
        ),
        _of_ranking(
            "average_precision",
            "label ranking average precision",
            metrics.label_ranking_average_precision_score,
        ),
    )
}
# The scores of the paper. None of them needs probabilities.
MAIN = ("accuracy", "macro_f1", "micro_f1")
_QUICK = {"accuracy": "label_accuracy", "macro_f1": "f1_macro", "micro_f1": "f1_micro"}


def quick_score(name: str, y: Any, predicted: Any) -> float:
    """Return one of the `MAIN` scores of an indicator matrix, without scikit-learn's checks."""
    return OF_MATRICES[_QUICK[name]](y > 0, predicted > 0)


def scores_of(y: Any, predicted: Any, probability: Any) -> dict[str, float]:
    """Return all scores of a prediction that have a meaning for its labels."""
    return {
        name: score.of(y, predicted, probability)
        for name, score in SCORES.items()
        if y.ndim == 2 or not score.multilabel_only
    }

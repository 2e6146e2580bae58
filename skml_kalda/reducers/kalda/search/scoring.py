"""Scores of predicted labels: common ones computed here, all others by scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer, get_scorer_names

Labels = NDArray[np.bool_]


def _f1(true: Labels, predicted: Labels, axis: int | None) -> NDArray[np.float64]:
    """Return 2 hits / (true + predicted), or zero if both are empty, as in scikit-learn."""
    hits = np.asarray(np.count_nonzero(true & predicted, axis=axis))
    size = np.asarray(np.count_nonzero(true, axis=axis) + np.count_nonzero(predicted, axis=axis))
    return np.divide(2 * hits, size, out=np.zeros(size.shape), where=size > 0)


def _f1_of_present(true: Labels, predicted: Labels) -> float:
    present = np.any(true | predicted, axis=0)
    return float(np.mean(_f1(true[:, present], predicted[:, present], 0)))


def _share_of_rows(true: Labels, predicted: Labels) -> float:
    return float(np.mean(np.all(true == predicted, axis=1)))


OF_MATRICES: dict[str, Callable[[Labels, Labels], float]] = {
    "f1_macro": lambda true, predicted: float(np.mean(_f1(true, predicted, 0))),
    "f1_micro": lambda true, predicted: float(_f1(true, predicted, None)),
    "f1_samples": lambda true, predicted: float(np.mean(_f1(true, predicted, 1))),
    "accuracy": _share_of_rows,
    "label_accuracy": lambda true, predicted: float(np.mean(true == predicted)),
}
# One class per row: scikit-learn averages over the classes that occur.
_OF_CLASSES: dict[str, Callable[[Labels, Labels], float]] = {
    "f1_macro": _f1_of_present,
    "f1_micro": _share_of_rows,
    "accuracy": _share_of_rows,
    "label_accuracy": _share_of_rows,
}
SCORES = {*get_scorer_names(), *OF_MATRICES}


class _Echo(BaseEstimator):
    """Returns its input as the prediction, because scikit-learn's scorers need an estimator."""

    def predict(self, X: Any) -> Any:
        return X


@dataclass(frozen=True)
class NeighborScore:
    """The score of a vote among neighbours, from the share of them that carries each label.

    Parameters
    ----------
    scoring : str or callable
        A name of `SCORES`, a scorer of scikit-learn, or a function of the true and the
        predicted labels.
    classes : array of shape (K,)
        The class labels.
    is_matrix : bool
        Whether the labels are an indicator matrix rather than one class per row.
    """

    scoring: Any
    classes: NDArray[Any]
    is_matrix: bool

    def __call__(self, true: Labels, shares: NDArray[Any], threshold: float) -> float:
        """Score the labels above this share, or the most frequent class of each row."""
        predicted = shares > threshold if self.is_matrix else _most_frequent(shares)
        known = OF_MATRICES if self.is_matrix else _OF_CLASSES
        if isinstance(self.scoring, str) and self.scoring in known:
            return known[self.scoring](true, predicted)
        value = float(self._by_scikit_learn(self._form(true), self._form(predicted)))
        if np.isnan(value):
            raise ValueError(
                f"scoring={self.scoring!r} returned NaN on some fold: pass a score that is "
                "defined for all predictions."
            )
        return value

    def _by_scikit_learn(self, true: NDArray[Any], predicted: NDArray[Any]) -> float:
        scorer = get_scorer(self.scoring)
        if not isinstance(self.scoring, str) and not hasattr(scorer, "set_score_request"):
            return scorer(true, predicted)
        try:
            return scorer(_Echo(), predicted, true)
        except AttributeError as error:
            raise ValueError(
                f"scoring={self.scoring!r} needs more than predictions, but a vote of neighbours "
                'gives only predictions: pass a score of predictions, such as "f1_macro".'
            ) from error

    def _form(self, labels: Labels) -> NDArray[Any]:
        return labels.astype(int) if self.is_matrix else self.classes[labels.argmax(axis=1)]


def _most_frequent(shares: NDArray[Any]) -> Labels:
    return np.arange(shares.shape[1]) == shares.argmax(axis=1)[:, None]

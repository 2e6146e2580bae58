"""Label scores of all rows seen, their probabilities and their thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._core.arrays import Array
from skml_kalda._core.streams import RandomSample
from skml_kalda._core.scores.calibration import Sigmoids, label_sigmoids, softmax_slope
from skml_kalda._core.scores.leave_one_out import RidgePath
from skml_kalda._core.scores.thresholds import best_thresholds, without_unknown
from skml_kalda._core.streams import added
from skml_kalda.classifiers._choice import best_shrinkage, leave_one_out, scatter_of
from skml_kalda.classifiers._labelled_rows import Rows
from skml_kalda.classifiers._spaces import Features

Average: TypeAlias = Literal["macro", "micro"]

# Leave-one-out scores of at most this many rows determine shrinkage, probabilities, thresholds.
MANY_JUDGED = 5000


class Scores(NamedTuple):
    """Fitted scores of labels, or of classes."""

    features: Features
    coefficients: Array
    """Coefficients of `features.values`, shape (m, K)."""
    offset: Array
    """Shape (K,)."""
    sigmoids: Sigmoids
    """Turn scores into log-odds."""
    thresholds: Array
    """Probabilities from which labels are predicted, shape (K,)."""
    shrinkage: float
    error: float
    """Leave-one-out squared error, as a share of the variance of the labels."""

    def log_odds(self, X: Any) -> Array:
        """Return the log-odds of the labels of rows; those of classes up to a constant."""
        sums = safe_sparse_dot(self.features.values(X), self.coefficients, dense_output=True)
        return _log_odds(sums + self.offset, self.sigmoids)


class SeenRows:
    """What is kept of all rows: the scatter of their features, and a random sample of them.

    Parameters
    ----------
    features : Features
        Features of the space chosen.
    rows : Rows
        The first rows.
    rng : RandomState
        Draws the sample.
    """

    def __init__(self, features: Features, rows: Rows, rng: np.random.RandomState) -> None:
        self._features, self._rng = features, rng
        self._scatter = scatter_of(features, rows)
        self._sample = RandomSample.of(MANY_JUDGED, rows.columns(), rng)

    def add(self, rows: Rows) -> None:
        """Add further rows."""
        self._scatter = added(self._scatter, scatter_of(self._features, rows))
        self._sample += RandomSample.of(MANY_JUDGED, rows.columns(), self._rng)

    def solve(self, shrinkages: Sequence[float], average: Average | None) -> Scores:
        """Fit scores to all rows, with the shrinkage of least leave-one-out error.

        Parameters
        ----------
        shrinkages : sequence of floats
            Shrinkages to choose from.
        average : {"macro", "micro"} or None
            F1 that thresholds maximise. None means that every row has one class.
        """
        rows = Rows.of_columns(*self._sample.columns)
        features, scatter = self._features.fitted_to(self._scatter.filled(rows.Y.shape[1]))
        path = RidgePath.of(scatter)
        others = leave_one_out(path, features, rows)
        shrinkage, error = best_shrinkage([others], shrinkages)
        ridge = path.ridge(shrinkage)
        weights = path.weights(ridge)
        offset = path.label_mean - path.mean @ weights
        calibrated = _calibrated(others.scores(ridge), rows, average)
        return Scores(
            features, features.coefficients(weights), offset, *calibrated, shrinkage, error
        )


def _calibrated(scores: Array, rows: Rows, average: Average | None) -> tuple[Sigmoids, Array]:
    """Fit probabilities, and thresholds on them, to leave-one-out scores."""
    Y = rows.Y.toarray()
    K = Y.shape[1]
    if average is None:
        slope = softmax_slope(scores, Y.argmax(axis=1), rows.weight)
        return Sigmoids(np.full(K, slope), np.zeros(K)), np.full(K, np.nan)
    unknown = None if rows.unknown is None else rows.unknown.toarray()
    sigmoids = label_sigmoids(scores, Y, rows.weight, unknown)
    probabilities = without_unknown(expit(_log_odds(scores, sigmoids)), rows.unknown)
    best = best_thresholds(probabilities, rows.Y, average=average, per_label=average == "macro")
    # Where scores carry no information, F1 would be best if every row got the label.
    says_nothing = (sigmoids.slope == 0) & np.isfinite(best)
    return sigmoids, np.where(says_nothing, 0.5, best)


def _log_odds(scores: Array, sigmoids: Sigmoids) -> Array:
    return scores * sigmoids.slope + sigmoids.intercept

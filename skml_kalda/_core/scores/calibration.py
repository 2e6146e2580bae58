"""Probabilities from scores: monotone maps, fitted to out-of-sample scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit, log_softmax, logit

from skml_kalda._core.arrays import Array

# How much the sigmoid of all labels counts in that of a single label: about as this many rows.
_FIRMNESS = 3.0
# Keeps the sigmoid of all labels finite where the scores separate the rows perfectly.
_LOOSENESS = 1e-3
_STEPS = 50
# Largest slope.
_STEEPEST = 1e3


class Sigmoids(NamedTuple):
    """Log-odds ``slope * score + intercept`` of every label, slope ≥ 0."""

    slope: Array
    intercept: Array


def label_sigmoids(
    scores: Array, Y: Array, weight: Array, unknown: Array | None = None
) -> Sigmoids:
    """Fit a sigmoid to the out-of-sample scores of each label.

    Labels learn from one another: one sigmoid is fitted to all of them together, on scores in
    units of the standard deviation of their label, and each label then departs from it as far
    as its own rows support. A label whose scores carry no information gets its prevalence.

    Parameters
    ----------
    scores : array of shape (n, K)
        Scores of rows by fits without them.
    Y : array of shape (n, K)
        Labels 0 and 1.
    weight : array of shape (n,)
        Weights of the rows.
    unknown : array of shape (n, K) or None, default=None
        One where a label is unknown; the row then has no weight for that label.
    """
    missing: Array | float = 0.0 if unknown is None else weight @ unknown
    prevalence = (weight @ Y + 0.5) / (weight.sum() - missing + 1)
    unit = np.sqrt(prevalence * (1 - prevalence))
    each = weight[:, None] if unknown is None else weight[:, None] * (1 - unknown)
    rows = _Rows((scores - prevalence) / unit, Y, logit(prevalence), each)
    common = _penalised(rows.pooled(), np.array([[1.0], [0.0]]), _LOOSENESS)
    own = _penalised(rows, np.repeat(common, len(unit), axis=1), _FIRMNESS)
    slope, shift = np.where(own[0] > 0, own, 0)
    return Sigmoids(slope / unit, rows.offset + shift - slope * prevalence / unit)


class _Rows(NamedTuple):
    """The data of logistic regressions; every field broadcasts to the shape of x."""

    x: Array
    y: Array
    offset: Array
    """Log-odds if slope and shift are zero."""
    weight: Array

    def pooled(self) -> _Rows:
        """Put all labels below one another, in one column."""
        return _Rows(*(each.reshape(-1, 1) for each in np.broadcast_arrays(*self)))


def _penalised(rows: _Rows, prior: Array, firmness: float) -> Array:
    """Return slopes and shifts, shape (2, K): logistic regressions with a Gaussian prior.

    Newton's method for all columns at once; a step is halved until it lowers the loss.
    """

    def loss(theta: Array) -> Array:
        z = rows.offset + theta[0] * rows.x + theta[1]
        fit = np.sum(rows.weight * (np.logaddexp(0, z) - rows.y * z), axis=0)
        return fit + firmness / 2 * np.sum((theta - prior) ** 2, axis=0)

    theta = prior.copy()
    reached = loss(theta)
    for _ in range(_STEPS):
        step = _newton_step(rows, theta, firmness * (theta - prior), firmness)
        ahead = loss(theta - step)
        while np.any(worse := ahead > reached + 1e-12 * np.abs(reached)):
            step[:, worse] /= 2
            ahead = loss(theta - step)
        theta, reached = theta - step, ahead
        if np.max(np.abs(step), initial=0.0) < 1e-6:
            break
    return theta


def _newton_step(rows: _Rows, theta: Array, pull: Array, firmness: float) -> Array:
    x, y, offset, weight = rows
    p = expit(offset + theta[0] * x + theta[1])
    residual, curvature = weight * (p - y), weight * p * (1 - p)
    slope, shift = np.stack([np.sum(residual * x, axis=0), np.sum(residual, axis=0)]) + pull
    xx = np.sum(curvature * x * x, axis=0) + firmness
    x1 = np.sum(curvature * x, axis=0)
    ones = np.sum(curvature, axis=0) + firmness
    # Divided first, because a square of weights may overflow.
    slope, shift, xx, x1 = (each / ones for each in (slope, shift, xx, x1))
    step: Array = np.stack([slope - x1 * shift, xx * shift - x1 * slope])
    return step / (xx - x1 * x1)


def softmax_slope(scores: Array, classes: NDArray[np.intp], weight: Array) -> float:
    """Return the β > 0 for which the true classes are most likely under softmax(β scores).

    Parameters
    ----------
    scores : array of shape (n, K)
        Scores of rows by fits without them.
    classes : array of shape (n,)
        Column of the class of each row.
    weight : array of shape (n,)
        Weights of the rows.
    """

    def loss(log_slope: float) -> float:
        likelihood = log_softmax(np.exp(log_slope) * scores, axis=1)
        return -float(weight @ np.take_along_axis(likelihood, classes[:, None], axis=1)[:, 0])

    bounds = np.log([1 / _STEEPEST, _STEEPEST])
    return float(np.exp(optimize.minimize_scalar(loss, bounds=bounds, method="bounded").x))

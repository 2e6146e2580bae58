"""Ridge regression of the labels, its leave-one-out scores, and probabilities from these scores.

With the scatter of the features S = U diag(Λ) Uᵀ and z_i = Uᵀ(x_i − m), the scores of a ridge λ
are f_i = ȳ + z_iᵀ diag(1/(Λ + λ)) UᵀC, where C = Σ w_i (x_i − m) y_iᵀ. A sample pulls its own score
towards its labels with the leverage h_i = w_i (1/Σw + Σ_j z_ij² / (Λ_j + λ)), and a fit without it
would have given y_i − (y_i − f_i) / (1 − h_i). One eigendecomposition serves all ridges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit, log_softmax, logit
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import positive_eigenpairs
from skml_kalda._core.scatter import PrimalScatter

# How much the sigmoid of all labels counts in that of a single label: about as this many samples.
_COMMON_STRENGTH = 3.0
# Keeps the sigmoid of all labels finite where the scores separate the samples perfectly.
_LEAST_STRENGTH = 1e-3
_MAX_STEPS = 50
# Cells into which the range of scores is divided; a sigmoid hardly changes within one.
_GROUPS = 400
# Random combinations of labels that stand for more labels than that, and samples for more samples.
_MANY_LABELS, _MANY_SAMPLES = 100, 2000
_LARGEST_SLOPE = 1e3


@dataclass(frozen=True)
class RidgePath:
    """Ridge regressions of the labels on the features; the mean is not shrunk."""

    # Σ w_i.
    weight: float
    # m, shape (p,).
    mean: Array
    # ȳ, shape (K,).
    label_mean: Array
    # Λ > 0, shape (r,).
    values: Array
    # U, shape (p, r).
    basis: Array
    # UᵀC, shape (r, K).
    loadings: Array

    @classmethod
    def of(cls, scatter: PrimalScatter) -> RidgePath:
        """Decompose the scatter of samples that count once each, with labels b_i = y_i."""
        # With a ridge, rounding errors in the smallest eigenvalues make no difference.
        values, basis = positive_eigenpairs(scatter.total, eigh=np.linalg.eigh)
        label_mean = scatter.label_weight / scatter.weight
        loadings = basis.T @ scatter.cross
        return cls(scatter.weight, scatter.mean, label_mean, values, basis, loadings)

    def ridge(self, shrinkage: float) -> float:
        """Return the λ of a shrinkage a: a / (1 − a) times the mean eigenvalue of S on its range.

        It is infinite for a = 1. The eigenvalues on the range are those of the kernel of the
        samples, so that λ does not depend on which of the two was decomposed.
        """
        if shrinkage == 1 or not len(self.values):
            return np.inf
        return float(shrinkage / (1 - shrinkage) * self.values.mean())

    def weights(self, ridge: float) -> Array:
        """Return W with scores ȳ + (x − m)ᵀW, shape (p, K)."""
        return self.basis @ (self.loadings / (self.values + ridge)[:, None])

    def without_each(
        self, X: Any, Y: Array, weight: Array, known: Array | float = 1.0
    ) -> LeaveOneOut:
        """Prepare the leave-one-out scores of some of the samples that the scatter was made of.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            Features.
        Y : array of shape (n, K)
            Labels.
        weight : array of shape (n,)
            Weights. A sample of weight zero is not part of the fit.
        known : array of shape (n, K) or 1, default=1
            Zero where a label is unknown: the fit took its mean, and errors there do not count.
        """
        Z = safe_sparse_dot(X, self.basis, dense_output=True) - self.mean @ self.basis
        return LeaveOneOut(self, Z, Y + (1 - known) * self.label_mean, weight, known)


@dataclass(frozen=True)
class LeaveOneOut:
    """Scores of samples by the fit to all other samples."""

    path: RidgePath
    # Coordinates z_i of the samples, shape (n, r).
    Z: Array
    # Their labels, shape (n, K).
    Y: Array
    # Their weights, shape (n,).
    weight: Array
    # Zero where a label is unknown, else one.
    known: Array | float

    def scores(self, ridge: float) -> Array:
        """Return the scores of a fit with the same λ, shape (n, K)."""
        path = self.path
        fitted = self.Z @ (path.loadings / (path.values + ridge)[:, None])
        centred = self.Y - path.label_mean
        return self.Y - (centred - fitted) / self._remaining(np.array([ridge]))

    def _remaining(self, ridges: Array) -> Array:
        """Return one minus the leverages, shape (n, number of ridges)."""
        inverse = 1 / (self.path.values[:, None] + ridges)
        leverage = self.weight[:, None] * (1 / self.path.weight + self.Z**2 @ inverse)
        # With a ridge, leverages are below one. Without, a sample that alone spans a direction
        # has leverage one, and any score fits it.
        return np.maximum(1 - leverage, np.finfo(np.float64).eps)

    def squared_errors(self, ridges: Array) -> Array:
        """Return Σ w_i ‖y_i − f_i‖² over the leave-one-out scores of known labels, for each λ."""
        centred = self.Y - self.path.label_mean
        weight = self.weight[:, None] / self._remaining(ridges) ** 2
        errors = np.empty(len(ridges))
        for i, ridge in enumerate(ridges):
            residual = self.Z @ (self.path.loadings / (self.path.values + ridge)[:, None])
            residual -= centred
            errors[i] = weight[:, i] @ np.sum(self.known * residual**2, axis=1)
        return errors

    def condensed(self) -> LeaveOneOut:
        """Return fewer scores with about the same errors, relative to one another, if K is large.

        Random combinations of labels have the same squared lengths but for a small error.
        """
        K = self.Y.shape[1]
        if K <= _MANY_LABELS or isinstance(self.known, np.ndarray):
            return self
        R = np.random.RandomState(0).standard_normal((K, _MANY_LABELS)) / np.sqrt(_MANY_LABELS)
        path = self.path
        path = replace(path, label_mean=path.label_mean @ R, loadings=path.loadings @ R)
        rows = np.arange(0, len(self.Z), -(-len(self.Z) // _MANY_SAMPLES))
        return LeaveOneOut(path, self.Z[rows], self.Y[rows] @ R, self.weight[rows], self.known)


def best_shrinkage(
    parts: Sequence[LeaveOneOut], shrinkages: Sequence[float]
) -> tuple[float, float]:
    """Return the shrinkage with the least error over the samples of all parts, and that error.

    The error is a share of the variance of the labels; zero if they do not vary.
    """
    tried = (*shrinkages, 1.0)
    by_part = [
        part.condensed().squared_errors(np.array([part.path.ridge(a) for a in tried]))
        for part in parts
    ]
    errors = np.sum(by_part, axis=0)
    best, variance = int(np.argmin(errors[:-1])), errors[-1]
    return shrinkages[best], float(errors[best] / variance) if variance else 0.0


class Sigmoids(NamedTuple):
    """Log-odds ``slope * score + intercept`` of every label, slope ≥ 0."""

    slope: Array
    intercept: Array


def label_sigmoids(scores: Array, Y: Array, weight: Array, known: Array | float = 1.0) -> Sigmoids:
    """Fit a sigmoid to the leave-one-out scores of each label.

    Labels learn from one another: one sigmoid is fitted to all of them together, on scores in
    units of the standard deviation of their label, and each label then departs from it as far
    as its own samples support. A label whose scores carry no information gets its prevalence.
    The parameters are those of `RidgePath.without_each`, with scores in place of features.
    """
    each = weight[:, None] * known
    prevalence = (weight @ Y + 0.5) / (each.sum(axis=0) + 1)
    unit = np.sqrt(prevalence * (1 - prevalence))
    data = _Logistic((scores - prevalence) / unit, Y, logit(prevalence), each).grouped()
    common = data.pooled().fit(np.array([[1.0], [0.0]]), _LEAST_STRENGTH)
    own = data.fit(np.repeat(common, len(unit), axis=1), _COMMON_STRENGTH)
    slope, shift = np.where(own[0] > 0, own, 0)
    return Sigmoids(slope / unit, data.offset + shift - slope * prevalence / unit)


class _Logistic(NamedTuple):
    """Logistic regressions, one in each column; every field broadcasts to the shape of x."""

    x: Array
    y: Array
    # Log-odds if slope and shift are zero.
    offset: Array
    weight: Array

    def grouped(self) -> _Logistic:
        """Put samples of nearly the same x together, label by label, if there are many."""
        n, K = self.x.shape
        if n <= 4 * _GROUPS:
            return self
        lowest, spread = self.x.min(axis=0), np.ptp(self.x, axis=0)
        per_unit = _GROUPS / np.where(spread > 0, spread, 1)
        group = np.minimum((self.x - lowest) * per_unit, _GROUPS - 1).astype(np.intp)
        group += _GROUPS * np.arange(K)

        def sums(values: Array) -> Array:
            added = np.bincount(group.ravel(), values.ravel(), minlength=_GROUPS * K)
            return np.asarray(added, dtype=float).reshape(K, _GROUPS).T

        weight = np.broadcast_to(self.weight, self.x.shape)
        total = sums(weight)
        divisor = np.where(total > 0, total, 1)
        x, y = (sums(weight * each) / divisor for each in (self.x, self.y))
        return _Logistic(x, y, self.offset, total)

    def pooled(self) -> _Logistic:
        """Put all labels below one another, in one column."""
        return _Logistic(*(each.reshape(-1, 1) for each in np.broadcast_arrays(*self)))

    def fit(self, prior: Array, strength: float) -> Array:
        """Return slopes and shifts, shape (2, K), with a Gaussian prior.

        Newton's method for all columns at once; a step is halved until it lowers the loss.
        """

        def loss(theta: Array) -> Array:
            z = self.offset + theta[0] * self.x + theta[1]
            fit = np.sum(self.weight * (np.logaddexp(0, z) - self.y * z), axis=0)
            return fit + strength / 2 * np.sum((theta - prior) ** 2, axis=0)

        theta = prior.copy()
        reached = loss(theta)
        for _ in range(_MAX_STEPS):
            step = self._newton_step(theta, strength * (theta - prior), strength)
            next_loss = loss(theta - step)
            while np.any(worse := next_loss > reached + 1e-12 * np.abs(reached)):
                step[:, worse] /= 2
                next_loss = loss(theta - step)
            theta, reached = theta - step, next_loss
            if np.max(np.abs(step), initial=0.0) < 1e-6:
                break
        return theta

    def _newton_step(self, theta: Array, pull: Array, strength: float) -> Array:
        x, y, offset, weight = self
        p = expit(offset + theta[0] * x + theta[1])
        residual, curvature = weight * (p - y), weight * p * (1 - p)
        slope, shift = np.stack([np.sum(residual * x, axis=0), np.sum(residual, axis=0)]) + pull
        xx = np.sum(curvature * x * x, axis=0) + strength
        x1 = np.sum(curvature * x, axis=0)
        ones = np.sum(curvature, axis=0) + strength
        step: Array = np.stack([ones * slope - x1 * shift, xx * shift - x1 * slope])
        return step / (ones * xx - x1 * x1)


def softmax_slope(scores: Array, classes: NDArray[np.intp], weight: Array) -> float:
    """Return the β > 0 for which the true classes are most likely under softmax(β scores).

    Parameters
    ----------
    scores : array of shape (n, K)
        Leave-one-out scores.
    classes : array of shape (n,)
        Column of the class of each sample.
    weight : array of shape (n,)
        Weights of the samples.
    """

    def loss(log_slope: float) -> float:
        likelihood = log_softmax(np.exp(log_slope) * scores, axis=1)
        return -float(weight @ np.take_along_axis(likelihood, classes[:, None], axis=1)[:, 0])

    bounds = np.log([1 / _LARGEST_SLOPE, _LARGEST_SLOPE])
    return float(np.exp(optimize.minimize_scalar(loss, bounds=bounds, method="bounded").x))

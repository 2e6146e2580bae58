"""The choice of the shrinkage of S_t from the scatter alone."""

from __future__ import annotations

from typing import Literal

import numpy as np

from skml_kalda._core.scatter import Scatter

# Candidate ridges as multiples of the mean eigenvalue of S_t. Descending, so that the largest of
# several equally good ones is chosen.
_RIDGES = np.logspace(4, -4, 321)


def relative_ridge(scatter: Scatter, ridge: float | Literal["auto"]) -> float:
    """Return a ridge as a multiple of the mean eigenvalue of S_t, chosen if it is "auto"."""
    return best_ridge(scatter) if ridge == "auto" else float(ridge)


def shrinkage_of(scatter: Scatter, shrinkage: float | Literal["auto"] | None) -> float:
    """Return a shrinkage a as a number, chosen if it is "auto": the ridge a/(1 − a)."""
    if shrinkage == "auto":
        ridge = best_ridge(scatter)
        return ridge / (1 + ridge)
    return 0.0 if shrinkage is None else float(shrinkage)


def best_ridge(scatter: Scatter) -> float:
    """Return the ridge for which ridge regression predicts the labels best.

    With S_t + λI the axes of kaLDA span those of the ridge regression of Ω^½(b − b̄)L on
    Ω^½X̃, where L = diag(n_k^(-½)), or a multiple of I if every sample counts once; the
    ridge is λ in units of Tr(S_t)/p. The chosen λ minimises the generalised cross-validation error
    RSS / (n − degrees of freedom)² among those that leave half of the degrees of freedom. The
    others are too close to interpolation, where the error is unreliable: one repeated sample
    makes it zero.
    """
    # The number of samples that count: Σ ρ_i‖y_i/ρ_i‖² is that of samples with labels.
    n = scatter.weight if scatter.sample_weighted else scatter.gram.diagonal().sum()
    density = scatter.density
    ridge = _RIDGES[:, None] * scatter.mean_eigenvalue
    share = density.values / (density.values + ridge)
    total = np.sum(scatter.label_variance * scatter.label_scale**2)
    residual = total - ((2 - share) / (density.values + ridge)) @ density.energy
    left = n - 1 - share @ density.counts  # the mean takes one degree of freedom
    enough = left >= max(n - 1, 0) / 2
    left = np.where(enough, left / n, 1)  # as a fraction, whose square never overflows
    error = np.where(enough, residual / left / left, np.inf)
    return float(_RIDGES[np.argmin(error)])

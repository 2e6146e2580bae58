"""Rules that take the shrinkage of S_t from the scatter alone."""

from __future__ import annotations

import numpy as np

from skml_kalda._scatter import AnyScatter, Array

# Ridges that are tried, over the mean eigenvalue of S_t; the first of equally good is the largest.
_RIDGES = np.logspace(4, -6, 401)


def oracle_approximating(scatter: AnyScatter, values: Array) -> float:
    """Shrinkage of Chen et al., the best in mean square for Gaussian rows."""
    p = scatter.n_features
    n = np.trace(scatter.gram)  # Σ ρ_i‖y_i/ρ_i‖²: the number of labelled rows
    spread = np.sum(values**2) / p**2
    level = (np.sum(values) / p) ** 2
    excess = (n + 1) * (spread - level / p)
    return 1.0 if excess <= 0 else min(1.0, float((spread + level) / excess))


def generalised_cross_validation(scatter: AnyScatter, values: Array, factor: Array) -> float:
    """Shrinkage for which the labels are best regressed on the rows.

    With S_t + λI the axes of kaLDA span those of the ridge regression of Ω^½(b − b̄)N^(-½) on
    Ω^½X̃, where N = diag(n_k); shrinkage a is λ = a/(1 − a)·Tr(S_t)/p. The λ taken minimises
    the generalised cross-validation error RSS / (n − degrees of freedom)² among those that
    leave half of the degrees of freedom: near to interpolation the error says little, and one
    repeated row makes it zero.
    """
    n = np.trace(scatter.gram)
    explained = np.sum(factor**2, axis=0) / values  # of the labels, by each eigenvector
    total = np.sum(np.diag(scatter.label_scatter) * scatter.class_scale**2)
    share = values / (values + _RIDGES[:, None] * (scatter.trace / scatter.n_features))
    residual = total - share * (2 - share) @ explained
    left = n - 1 - share.sum(axis=1)  # one degree of freedom is the mean's
    enough = left >= max(n - 1, 0) / 2
    error = np.divide(residual, left**2, out=np.full(left.shape, np.inf), where=enough)
    ratio = _RIDGES[np.argmin(error)]
    return float(ratio / (1 + ratio))

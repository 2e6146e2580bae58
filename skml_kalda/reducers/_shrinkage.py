"""The shrinkage of S_t, chosen from the scatter alone."""

from __future__ import annotations

import numpy as np

from skml_kalda._density import Density
from skml_kalda._scatter import AnyScatter

# Ridges that are tried, over the mean eigenvalue of S_t; the first of equally good is the largest.
_RIDGES = np.logspace(4, -6, 401)


def generalised_cross_validation(scatter: AnyScatter, density: Density) -> float:
    """Shrinkage for which the labels are best regressed on the rows.

    With S_t + λI the axes of kaLDA span those of the ridge regression of Ω^½(b − b̄)N^(-½) on
    Ω^½X̃, where N = diag(n_k); shrinkage a is λ = a/(1 − a)·Tr(S_t)/p. The λ taken minimises
    the generalised cross-validation error RSS / (n − degrees of freedom)² among those that
    leave half of the degrees of freedom: near to interpolation the error says little, and one
    repeated row makes it zero.
    """
    n = np.trace(scatter.gram)  # Σ ρ_i‖y_i/ρ_i‖²: the number of labelled rows
    ridge = _RIDGES[:, None] * (scatter.trace / scatter.n_features)
    share = density.values / (density.values + ridge)
    total = np.sum(np.diag(scatter.label_scatter) * scatter.class_scale**2)
    residual = total - ((2 - share) / (density.values + ridge)) @ density.energy
    left = n - 1 - share @ density.counts  # one degree of freedom is the mean's
    enough = left >= max(n - 1, 0) / 2
    error = np.divide(residual, left**2, out=np.full(left.shape, np.inf), where=enough)
    ratio = _RIDGES[np.argmin(error)]
    return float(ratio / (1 + ratio))

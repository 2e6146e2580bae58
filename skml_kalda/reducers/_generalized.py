"""What the reducers share that solve A g = λ B g with A of low rank."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._base import BaseReducer
from skml_kalda._pencil import Normalization, Pencil, absolute_ridge, normalized, solve_pencil
from skml_kalda._scatter import AnyScatter, Array

RIDGE: list[Any] = [Interval(Real, 0, None, closed="left")]
NORMALIZE: list[Any] = [StrOptions({"B", "within", "unit", "sqrt_eig", "qr"})]
# Where A exceeds B nothing is left within the classes.
NORMALIZE_WHOLE: list[Any] = [StrOptions({"B", "unit", "sqrt_eig", "qr"})]


class GeneralizedReducer(BaseReducer):
    """Base of the methods that solve S_b g = λ (S_t + γI) g, or the same with another S_b.

    A subclass may give the label side L of S_b = (CL)(CL)ᵀ (`_label_side`), where
    C = Σ w_i (x_i − m) b_iᵀ, or the whole eigenproblem (`_pencil`).
    """

    ridge: float = 0.0
    normalize: Normalization = "B"
    _rank: ClassVar[str] = "the rank of the between-class scatter"

    def _label_side(self, scatter: AnyScatter) -> Array:
        return np.diag(scatter.class_scale)

    def _pencil(self, scatter: AnyScatter) -> Pencil:
        ridge = absolute_ridge(scatter, self.ridge)
        return solve_pencil(scatter, self._label_side(scatter), ridge)

    def _default(self, scatter: AnyScatter, rank: int) -> int:
        return scatter.n_classes - 1

    def _directions(self, scatter: AnyScatter) -> Array:
        values, vectors = self._pencil(scatter)
        default = self._default(scatter, len(values))
        k = self._number_of_components(default, len(values), self._rank)
        self.eigenvalues_ = values[:k]
        return normalized(Pencil(values[:k], vectors[:, :k]), scatter.weight, self.normalize)

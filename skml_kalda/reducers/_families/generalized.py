"""Base of the reducers that solve A g = λ B g with A of low rank."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import (
    Eigenpairs,
    Normalization,
    generalized_eigenpairs,
    normalized,
)
from skml_kalda._core.scatter import AnyScatter
from skml_kalda._core.streams import Results
from skml_kalda.reducers._base import RANK_OF_CLASSES, BaseReducer, Directions, chosen_ridge
from skml_kalda.reducers._streamed import Fitted

PENALTY: list[Any] = [Interval(Real, 0, None, closed="left")]
RIDGE: list[Any] = [*PENALTY, StrOptions({"auto"})]
TOLERANCE: list[Any] = [Interval(Real, 0, None, closed="neither")]
NORMALIZE: list[Any] = [StrOptions({"B", "within", "unit", "sqrt_eig", "qr"})]
# Without "within": it needs B − A, which is not positive where A exceeds B.
NORMALIZE_WHOLE: list[Any] = [StrOptions({"B", "unit", "sqrt_eig", "qr"})]


class GeneralizedReducer(BaseReducer):
    """Base of the methods that solve S_b g = λ (S_t + γI) g, or the same with another S_b.

    A subclass may define the label side L of S_b = (CL)(CL)ᵀ (`_label_side`), where
    C = Σ w_i (x_i − m) b_iᵀ, or the whole eigenproblem (`_eigenpairs`).
    """

    eigenvalues_ = Fitted[Array]()
    ridge_ = Fitted[float]()
    ridge: float | Literal["auto"] = 0.0
    normalize: Normalization = "B"
    _limit: ClassVar[str] = RANK_OF_CLASSES
    """What limits the number of directions."""

    def _label_side(self, scatter: AnyScatter) -> Array:
        return scatter.class_scale

    def _ridge(self, scatter: AnyScatter) -> float:
        """Return the ridge as a multiple of the mean eigenvalue of S_t."""
        return chosen_ridge(type(self).__name__, self.ridge, scatter)

    def _eigenpairs(self, scatter: AnyScatter, ridge: float) -> Eigenpairs:
        gamma = ridge * scatter.mean_eigenvalue
        return generalized_eigenpairs(scatter, self._label_side(scatter), gamma, self.n_components)

    def _default(self, scatter: AnyScatter, rank: int) -> int:
        return scatter.label_dimensions

    def _depends_on_units(self, results: Results) -> bool:
        return self.normalize == "qr" or bool(results["ridge_"] > 0)

    def _directions(self, scatter: AnyScatter) -> Directions:
        ridge = self._ridge(scatter)
        pairs = self._eigenpairs(scatter, ridge)
        rank = len(pairs.values)
        k = self._number_of_components(self._default(scatter, rank), rank, self._limit)
        leading = pairs.leading(k)
        G = normalized(leading, scatter.weight, self.normalize)
        return Directions(G, {"eigenvalues_": leading.values, "ridge_": ridge})

"""Semi-definite positive linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from skml_kalda._core.scatter import AnyScatter
from skml_kalda.reducers._base import chosen_ridge
from skml_kalda.reducers._families.generalized import RIDGE
from skml_kalda.reducers._families.scatter_difference import Difference, ScatterDifferenceReducer
from skml_kalda.reducers._streamed import Fitted


class SDPLDA(ScatterDifferenceReducer):
    r"""Semi-definite positive linear discriminant analysis.

    Maximises the spread between the classes minus the spread within them, with a weight for
    which the difference is not positive in any direction:

    .. math:: \max_G \mathrm{Tr}\left[G^T (S_b - \lambda_1 S_w) G\right], \quad G^T G = I,

    where :math:`\lambda_1` is the largest eigenvalue of :math:`S_w^{-1} S_b` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to the diagonal of :math:`S_w`, as a multiple of the mean eigenvalue of
        :math:`S_t`. With fewer rows than features :math:`S_w` is singular, and
        :math:`\lambda_1` would be infinite without a ridge.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    lambda_ : float
        :math:`\lambda_1`, with the ridge.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \lambda_1 S_w) / n`, with the ridge, descending. The
        first is zero.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, each weighted by its number of labels.
    classes_ : ndarray
        Classes with at least one row: labels, or the columns of `y`, by name if it has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    LDA : The same for one direction, without a ridge.
    MMC : The same with one in place of :math:`\lambda_1`.
    TraceRatio : The same with the best ratio in place of :math:`\lambda_1`.

    Notes
    -----
    The paper does not say what to do when :math:`S_w` is singular. The ridge is this package's
    choice; it affects the directions only through :math:`\lambda_1`. The result depends on
    the scaling of the features. The problem is solved on the range of :math:`S_t`. For
    large sparse X the Lanczos method finds the directions; it refuses those whose variance it
    cannot distinguish from zero.

    References
    ----------
    .. [1] D. Kong and C. Ding, "A semi-definite positive linear discriminant analysis and its
       applications", ICDM 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import SDPLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SDPLDA(ridge=0.0).fit(X, y).lambda_, 2)
    32.19
    """

    lambda_ = Fitted[float]()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScatterDifferenceReducer._parameter_constraints,
        "ridge": RIDGE,
    }

    def __init__(
        self, n_components: int | None = None, *, ridge: float | Literal["auto"] = "auto"
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _ridge(self, scatter: AnyScatter) -> float:
        return chosen_ridge("SDPLDA", self.ridge, scatter)

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float, dict[str, Any]]:
        ratio = self._largest_ratio(difference)
        return 1 + ratio, ratio, {"lambda_": ratio}  # S_b − λ₁S_w = (1 + λ₁) S_b − λ₁S_t

    def _largest_ratio(self, difference: Difference) -> float:
        # If λ₁ is an eigenvalue of (S_b, S_w + γI), λ₁ / (1 + λ₁) is one of (S_b, S_t + γI).
        share = difference.largest_share()
        if share > 1 - 1e-10:
            raise ValueError(
                "SDPLDA divides by the spread within the classes, which is zero along some "
                f"direction of X, and ridge={self.ridge} is too small: use a larger ridge."
            )
        return share / (1 - share)

"""Semi-definite positive linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

from skml_kalda.reducers._generalized import RIDGE
from skml_kalda.reducers._scatter_difference import Difference, ScatterDifferenceReducer


class SDPLDA(ScatterDifferenceReducer):
    r"""Semi-definite positive linear discriminant analysis.

    Maximises the spread between the classes minus the spread within, weighted so that no
    direction gains,

    .. math:: \max_G \mathrm{Tr}\left[G^T (S_b - \lambda_1 S_w) G\right], \quad G^T G = I,

    where :math:`\lambda_1` is the largest eigenvalue of :math:`S_w^{-1} S_b` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        classes that have rows, minus one, or that rank.
    ridge : float, default=1e-4
        Added to :math:`S_w`, as a multiple of the mean eigenvalue of :math:`S_t`: with fewer
        rows than features :math:`S_w` is singular and :math:`\lambda_1` would be infinite.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal, the largest entry of each positive.
    lambda_ : float
        :math:`\lambda_1`, with the ridge.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \lambda_1 S_w) / n`, descending; without a ridge the first
        is zero.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, each weighted by its number of labels.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    LDA : The same for one direction, without a ridge.
    MMC : The difference with one in place of :math:`\lambda_1`.
    TraceRatio : The same with the best ratio in place of :math:`\lambda_1`.

    Notes
    -----
    The paper does not say what to do with singular :math:`S_w`; the ridge is this package's
    choice, and enters the directions through :math:`\lambda_1` alone. The result depends on
    the scaling of the features. The problem is solved on the range of :math:`S_t`. For
    large sparse X the directions are found by the Lanczos method; those of least variance,
    which it cannot tell from directions of none, are refused.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ScatterDifferenceReducer._parameter_constraints,
        "ridge": RIDGE,
    }

    def __init__(self, n_components: int | None = None, *, ridge: float = 1e-4) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float]:
        self.lambda_ = self._largest_ratio(difference)
        return 1 + self.lambda_, self.lambda_  # S_b − λ₁S_w = (1 + λ₁) S_b − λ₁S_t

    def _largest_ratio(self, difference: Difference) -> float:
        # λ of (S_b, S_t + γI) is λ₁ / (1 + λ₁) of (S_b, S_w + γI).
        share = difference.largest_share(self.ridge)
        if share > 1 - 1e-10:
            raise ValueError(
                "SDPLDA divides by the spread within the classes, which is zero in some "
                "direction of these data: use ridge > 0."
            )
        return share / (1 - share)

"""Trace ratio discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from skml_kalda._core.scatter import AnyScatter
from skml_kalda.reducers._base import chosen_ridge
from skml_kalda.reducers._families.generalized import RIDGE
from skml_kalda.reducers._families.scatter_difference import Difference, ScatterDifferenceReducer
from skml_kalda.reducers._streamed import Fitted

_MAX_ITER = 100


class TraceRatio(ScatterDifferenceReducer):
    r"""Trace ratio discriminant analysis.

    Maximises the spread between the classes relative to the total spread, over orthonormal
    directions:

    .. math:: \max_G \frac{\mathrm{Tr}(G^T S_b G)}{\mathrm{Tr}(G^T S_t G)}, \quad G^T G = I.

    At the maximum :math:`\rho` the sum of the largest eigenvalues of :math:`S_b - \rho S_t` is
    zero. Newton's method finds this root: it converges monotonically to the global maximum,
    quadratically at the end [1]_ [2]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to :math:`S_t`, as a multiple of its mean eigenvalue. "auto" chooses the value
        for which a ridge regression of the labels on the features is best in generalised
        cross-validation. Zero is the original method.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    ratio_ : float
        :math:`\rho`, the ratio at the solution.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \rho S_t) / n`, with the ridge, descending; their sum is
        zero.
    ridge_ : float
        The ridge used.
    n_iter_ : int
        Number of Newton steps.
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
    LDA : Has a trace of a ratio in place of a ratio of traces; the same for one direction.
    MultiLabelKaLDA : Has a norm as its denominator; the same for one direction.

    Notes
    -----
    The directions are the same with :math:`S_w` in place of :math:`S_t`. The result depends
    on the scaling of the features. The problem is solved on the range of :math:`S_t`. For
    large sparse X the Lanczos method finds the directions; it refuses those whose variance it
    cannot distinguish from zero.

    References
    ----------
    .. [1] H. Wang, S. Yan, D. Xu, X. Tang and T. Huang, "Trace ratio vs. ratio trace for
       dimensionality reduction", CVPR 2007.
    .. [2] Y. Jia, F. Nie and C. Zhang, "Trace ratio problem revisited", IEEE Transactions on
       Neural Networks 20, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import TraceRatio
    >>> X, y = load_iris(return_X_y=True)
    >>> tr = TraceRatio(ridge=0).fit(X, y)
    >>> round(tr.ratio_, 4)
    0.9596
    """

    ratio_ = Fitted[float]()
    n_iter_ = Fitted[int]()

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
        return chosen_ridge("TraceRatio", self.ridge, scatter)

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float, dict[str, Any]]:
        rho, ratio, n_iter = -1.0, 0.0, 0
        while ratio > rho and n_iter < _MAX_ITER:  # it rises until rounding stops it
            rho = ratio
            _, G = difference.top(1.0, rho, k)
            ratio = difference.ratio(G)
            n_iter += 1
        ratio = max(rho, ratio)
        return 1.0, ratio, {"ratio_": ratio, "n_iter_": n_iter}

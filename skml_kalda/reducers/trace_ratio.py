"""Trace ratio discriminant analysis."""

from __future__ import annotations

from skml_kalda.reducers._scatter_difference import Difference, ScatterDifferenceReducer

_MAX_ITER = 100


class TraceRatio(ScatterDifferenceReducer):
    r"""Trace ratio discriminant analysis.

    Maximises the spread between the classes relative to the total spread in orthonormal
    directions,

    .. math:: \max_G \frac{\mathrm{Tr}(G^T S_b G)}{\mathrm{Tr}(G^T S_t G)}, \quad G^T G = I.

    The maximum :math:`\rho` is the root of the sum of the largest eigenvalues of
    :math:`S_b - \rho S_t`, found by Newton's method: monotone, global, and locally
    quadratic [1]_ [2]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        classes that have rows, minus one, or that rank.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal, the largest entry of each positive.
    ratio_ : float
        :math:`\rho`, the ratio at the solution.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \rho S_t) / n`, descending; their sum is zero.
    n_iter_ : int
        Number of Newton steps.
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
    LDA : The ratio of determinants in place of traces; the same for one direction.
    MultiLabelKaLDA : The norm in place of the trace below; the same for one direction.

    Notes
    -----
    With :math:`S_w` in place of :math:`S_t` the directions are the same. The result depends
    on the scaling of the features. The problem is solved on the range of :math:`S_t`. For
    large sparse X the directions are found by the Lanczos method; those of least variance,
    which it cannot tell from directions of none, are refused.

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
    >>> tr = TraceRatio().fit(X, y)
    >>> round(tr.ratio_, 4)
    0.9596
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float]:
        rho = -1.0
        ratio = 0.0
        for step in range(1, _MAX_ITER + 1):
            if ratio <= rho:  # monotone until rounding
                break
            rho = ratio
            _, G = difference.top(1.0, rho, k)
            ratio = difference.ratio(G)
            self.n_iter_ = step
        self.ratio_ = max(rho, ratio)
        return 1.0, self.ratio_

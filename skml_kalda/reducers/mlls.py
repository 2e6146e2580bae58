"""Shared-subspace multi-label least squares."""

from __future__ import annotations

from typing import Any, ClassVar

from skml_kalda._base import BaseReducer
from skml_kalda._grassmann import orthonormal
from skml_kalda._pencil import RANK_RTOL, positive_eigenpairs, regression
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import RIDGE


class MLLS(BaseReducer):
    r"""Shared subspace of multi-label least squares.

    Ridge regression of the labels in which part of the weights of all labels lives in one
    subspace :math:`\Theta`, which is the reducer: with X and Y centred,

    .. math:: \min_{U, V, \Theta} \frac{1}{n} \|X U - Y\|_F^2 + \alpha \|U - \Theta V\|_F^2
              + \beta \|U\|_F^2, \quad \Theta^T \Theta = I.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if each row has the same number of them. None means the number of classes that
        have rows, minus one, or that rank.
    alpha : float, default=1.0
        Penalty of the weights outside of the subspace.
    beta : float, default=1.0
        Penalty of all weights.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, :math:`\Theta^T`, orthonormal, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Descending; :math:`\alpha` times their sum is what the subspace takes off the
        objective of ridge regression with penalty :math:`\alpha + \beta`.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    MLR : Without the penalty :math:`\alpha`.
    OPLS : The limit of large :math:`\alpha`, for a ridge of :math:`n \beta`.
    MDDM : The limit of large :math:`\beta`.

    Notes
    -----
    The solution is global and needs no iteration. With :math:`R_c = (X^T X / n + c I)^{-1}
    X^T Y / n` and :math:`R_{\alpha+\beta}^T R_\beta = Q \Lambda Q^T`, the subspace is the span
    of the leading columns of :math:`R_\beta Q`: two linear systems with as many right-hand
    sides as labels, solved by iteration for large sparse X. The penalties are in the units of
    the variance of the features, so put a `StandardScaler` in front. Every row counts once,
    with labels or without.

    References
    ----------
    .. [1] S. Ji, L. Tang, S. Yu and J. Ye, "A shared-subspace learning framework for
       multi-label classification", ACM Transactions on Knowledge Discovery from Data 4, 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MLLS
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> MLLS(alpha=10.0).fit_transform(X, Y).shape
    (100, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "alpha": RIDGE,
        "beta": RIDGE,
    }
    _counts_rows_once = True

    def __init__(
        self, n_components: int | None = None, *, alpha: float = 1.0, beta: float = 1.0
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta

    def _directions(self, scatter: AnyScatter) -> Array:
        n = scatter.weight
        R = regression(scatter, n * self.beta)
        T = regression(scatter, n * (self.alpha + self.beta)).T @ R
        values, Q = positive_eigenpairs((T + T.T) / 2, RANK_RTOL)
        reason = "the rank of the covariance of X and y"
        k = self._number_of_components(scatter.n_classes - 1, len(values), reason)
        self.eigenvalues_ = values[:k]
        return orthonormal(R @ Q[:, :k])

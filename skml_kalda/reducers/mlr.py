"""Multi-label linear regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from skml_kalda._base import BaseReducer
from skml_kalda._moments import RANGE_RTOL
from skml_kalda._pencil import absolute_ridge, regression
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import RIDGE


class MLR(BaseReducer):
    r"""Multi-label linear regression as a reducer.

    The scores of ridge regression of the labels, or their best approximation in fewer
    dimensions: with X and Y centred,

    .. math:: \min_W \|X W - Y\|_F^2 + \gamma \|W\|_F^2, \quad
              \min_{\mathrm{rank}\,G \le k} \|W W^T - G G^T\|_F.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`W`: the number of labels, or one less
        if each row has the same number of them. None means that rank; distances between
        projected rows are then those between their scores :math:`X W`.
    ridge : float, default=0.1
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`X^T X`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions: orthogonal, each as long as its singular value of :math:`W`, the
        largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the singular values of :math:`W`, descending.
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
    MLLS : Ridge regression with a subspace that all labels share.
    sklearn.linear_model.Ridge : Ridge regression for any targets.

    Notes
    -----
    Every row counts once, with labels or without. One linear system with as many right-hand
    sides as labels is solved; for large sparse X by iteration, in memory of the size of X.

    References
    ----------
    .. [1] A. E. Hoerl and R. W. Kennard, "Ridge regression: biased estimation for
       nonorthogonal problems", Technometrics 12, 1970.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MLR
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> MLR().fit_transform(X, Y).shape
    (100, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "ridge": RIDGE,
    }
    _counts_rows_once = True

    def __init__(self, n_components: int | None = None, *, ridge: float = 0.1) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _directions(self, scatter: AnyScatter) -> Array:
        W = regression(scatter, absolute_ridge(scatter, self.ridge))
        left, singular, _ = linalg.svd(W, full_matrices=False)
        rank = int(np.sum(singular > RANGE_RTOL * singular.max(initial=0)))
        k = self._number_of_components(rank, rank, "the rank of the regression weights")
        self.eigenvalues_ = singular[:k] ** 2
        return left[:, :k] * singular[:k]

"""Multi-label linear regression."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import positive
from skml_kalda._core.scatter import TOL, Scatter, graded_svd
from skml_kalda.reducers.base import (
    RIDGE,
    TOLERANCE,
    BaseReducer,
    Directions,
    Results,
    chosen_ridge,
    documented,
)


@documented
class MLR(BaseReducer):
    r"""Multi-label linear regression as a reducer.

    Projects on the scores of a ridge regression of the labels, or on their best approximation
    in fewer dimensions. With X and Y centred,

    .. math:: \min_W \|X W - Y\|_F^2 + \gamma \|W\|_F^2, \quad
              \min_{\mathrm{rank}\,G \le k} \|W W^T - G G^T\|_F.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`W`: the number of labels, or one less
        if every sample has the same number of labels. None means that rank; the distances between
        projected samples are then the distances between their scores :math:`X W`.
    ridge : float or "auto", default="auto"
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`X^T X`.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    {tol}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthogonal directions, each as long as its singular value of :math:`W`, signed so that
        the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the singular values of :math:`W`, descending.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    MLLS : Ridge regression with a subspace that all labels share.
    sklearn.linear_model.Ridge : Ridge regression for any targets.

    Notes
    -----
    Every sample counts once, with labels or without. The method solves one linear system with
    as many right-hand sides as labels; for large sparse X it does so by iteration, in memory
    of the size of X. {units}

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

    ridge_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "ridge": RIDGE,
        "tol": TOLERANCE,
    }

    _sample_weighted = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float | Literal["auto"] = "auto",
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.tol = tol

    def _depends_on_units(self, attributes: Results) -> bool:
        return bool(attributes["ridge_"] > 0)

    def _directions(self, scatter: Scatter) -> Directions:
        ridge = chosen_ridge("MLR", self.ridge, scatter)
        W = scatter.regression_weights(ridge * scatter.mean_eigenvalue)
        singular, right = _right_side(W, scatter, ridge)
        rank = len(singular)
        k = self._number_of_components(rank, rank, "the rank of the regression weights")
        attributes = {"eigenvalues_": singular[:k] ** 2, "ridge_": ridge}
        # Not from the left singular vectors: each row of W keeps its digits, in any units.
        return Directions(W @ right[:k].T, attributes)


def _right_side(W: Array, scatter: Scatter, ridge: float) -> tuple[Array, Array]:
    """Return the positive singular values of W and their right singular vectors, as samples."""
    _, singular, right = linalg.svd(W, full_matrices=False)
    rank = int(np.sum(positive(singular)))
    if ridge == 0 and not scatter.has_similar_scales:
        # The rank of W does not depend on units, but small singular values are lost in large ones.
        even = W * np.sqrt(scatter.diagonal)[:, None]
        found, rank = rank, int(np.sum(positive(linalg.svdvals(even))))
        if rank > found:
            _, singular, right = graded_svd(W, rank)
    return singular[:rank], right[:rank]

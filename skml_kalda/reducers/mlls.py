"""Shared-subspace multi-label least squares."""

from __future__ import annotations

from typing import Any, ClassVar

from skml_kalda._core.eigenproblem import RANK_RTOL, orthonormal, positive_eigenpairs
from skml_kalda._core.scatter import TOL, Scatter
from skml_kalda.reducers.base import (
    PENALTY,
    RANK_OF_COVARIANCE,
    TOLERANCE,
    BaseReducer,
    Directions,
    documented,
)


@documented
class MLLS(BaseReducer):
    r"""Shared subspace of multi-label least squares.

    Ridge regression in which the weights of all labels share a subspace :math:`\Theta`; the
    reducer projects on that subspace. With X and Y centred, it solves

    .. math:: \min_{U, V, \Theta} \frac{1}{n} \|X U - Y\|_F^2 + \alpha \|U - \Theta V\|_F^2
              + \beta \|U\|_F^2, \quad \Theta^T \Theta = I.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if every sample has the same number of labels. None means that number, counting only
        labels that have samples.
    alpha : float, default=1.0
        Penalty on the weights outside the subspace.
    beta : float, default=1.0
        Penalty on all weights.
    {tol}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The orthonormal directions :math:`\Theta^T`, signed so that the largest entry of each is
        positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues, descending. Their sum times :math:`\alpha` is what the subspace subtracts
        from the objective of ridge regression with penalty :math:`\alpha + \beta`.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    MLR : The same without the penalty :math:`\alpha`.
    OPLS : The limit of large :math:`\alpha`, for a ridge of :math:`n \beta`.
    MDDM : The limit of large :math:`\beta`.

    Notes
    -----
    The solution is global and needs no iteration. With :math:`R_c = (X^T X / n + c I)^{-1}
    X^T Y / n` and :math:`R_{\alpha+\beta}^T R_\beta = Q \Lambda Q^T`, the subspace is the span
    of the leading columns of :math:`R_\beta Q`. This takes two linear systems with as many
    right-hand sides as labels, which are solved by iteration for large sparse X. The penalties
    have the unit of the variance of the features, so standardise these first. Every sample
    counts once, with labels or without.

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
    (100, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "alpha": PENALTY,
        "beta": PENALTY,
        "tol": TOLERANCE,
    }

    _sample_weighted = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float = 1.0,
        beta: float = 1.0,
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.tol = tol

    def _directions(self, scatter: Scatter) -> Directions:
        n = scatter.weight
        R = scatter.regression_weights(n * self.beta)
        T = scatter.regression_weights(n * (self.alpha + self.beta)).T @ R
        values, Q = positive_eigenpairs((T + T.T) / 2, RANK_RTOL)
        limit, default = len(values), scatter.label_dimensions
        k = self._number_of_components(default, limit, RANK_OF_COVARIANCE)
        return Directions(orthonormal(R @ Q[:, :k]), {"eigenvalues_": values[:k]})

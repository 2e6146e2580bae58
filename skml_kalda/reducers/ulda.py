"""Uncorrelated linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from skml_kalda._core.scatter import AnyScatter
from skml_kalda._core.scatter.base import TOL
from skml_kalda.reducers._families.generalized import RIDGE, TOLERANCE, GeneralizedReducer


class ULDA(GeneralizedReducer):
    r"""Uncorrelated linear discriminant analysis.

    Finds all the directions of LDA and makes them uncorrelated and of unit variance, apart
    from the ridge:

    .. math:: \max_G \mathrm{Tr}(G^T S_b G), \quad G^T S_t G = n I,

    on the range of :math:`S_t`, so that :math:`S_t` may be singular [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`. None means that rank.
    ridge : float or "auto", default="auto"
        Added to :math:`S_t`, as a multiple of its mean eigenvalue. "auto" chooses the value
        for which a ridge regression of the labels on the features is best in generalised
        cross-validation. Zero is the original method.
    tol : float, default=1e-4
        Accuracy on large sparse X, where the method iterates: about the largest angle between
        the directions and the exact ones. It has no effect where the solution is direct.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t)`, descending, between zero and one.
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
    LDA : The same directions with a choice of scale.
    OLDA : The same directions made orthonormal.

    Notes
    -----
    When several eigenvalues are equal, as happens with fewer rows than features, their
    directions are chosen mutually orthogonal, the shortest first.

    References
    ----------
    .. [1] J. Ye, "Characterization of a family of algorithms for generalized discriminant
       analysis on undersampled problems", Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import ULDA
    >>> X, y = load_iris(return_X_y=True)
    >>> np.cov(ULDA(ridge=0).fit_transform(X, y).T, bias=True).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "ridge": RIDGE,
        "tol": TOLERANCE,
    }

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

    def _default(self, scatter: AnyScatter, rank: int) -> int:
        return rank

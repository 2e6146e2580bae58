"""Uncorrelated linear discriminant analysis."""

from __future__ import annotations

from skml_kalda._scatter import AnyScatter
from skml_kalda.reducers._generalized import GeneralizedReducer


class ULDA(GeneralizedReducer):
    r"""Uncorrelated linear discriminant analysis.

    All the directions of LDA, made uncorrelated and of unit variance,

    .. math:: \max_G \mathrm{Tr}(G^T S_b G), \quad G^T S_t G = n I,

    on the range of :math:`S_t`, so that :math:`S_t` may be singular [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None means as many as there are, the rank of :math:`S_b`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t)`, descending, between zero and one.
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
    LDA : The same directions with a choice of scale.
    OLDA : The same directions made orthonormal.

    Notes
    -----
    Where several eigenvalues are equal, as with fewer rows than features, the directions of
    each are those of mutually orthogonal coefficients, the shortest first.

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
    >>> np.cov(ULDA().fit_transform(X, y).T, bias=True).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _default(self, scatter: AnyScatter, rank: int) -> int:
        return rank

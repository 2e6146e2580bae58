"""Orthogonal linear discriminant analysis."""

from __future__ import annotations

from skml_kalda._pencil import Normalization
from skml_kalda.reducers.ulda import ULDA


class OLDA(ULDA):
    r"""Orthogonal linear discriminant analysis.

    The span of the directions of :class:`ULDA`, in orthonormal coordinates:
    :math:`G = Q` of the QR decomposition of those, so that :math:`G^T G = I` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None means as many as there are, the rank of :math:`S_b`. The
        first k directions span the same as the first k of ULDA.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal, the largest entry of each positive.
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
    ULDA : The same span with uncorrelated coordinates.
    TraceRatio : Orthonormal directions that are best as such.

    Notes
    -----
    With linearly independent rows this is null-space LDA.

    References
    ----------
    .. [1] J. Ye, "Characterization of a family of algorithms for generalized discriminant
       analysis on undersampled problems", Journal of Machine Learning Research 6, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import OLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> G = OLDA().fit(X, y).components_
    >>> (G @ G.T).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """

    normalize: Normalization = "qr"

"""Orthogonal linear discriminant analysis."""

from __future__ import annotations

from skml_kalda._core.eigenproblem import Normalization
from skml_kalda.reducers.ulda import ULDA


class OLDA(ULDA):
    r"""Orthogonal linear discriminant analysis.

    Finds the directions of :class:`ULDA` and makes them orthonormal: :math:`G` is the factor
    :math:`Q` of their QR decomposition, so that :math:`G^T G = I` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`. None means that rank. The first k
        directions have the same span as the first k of ULDA.
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
        Orthonormal directions, signed so that the largest entry of each is positive.
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
    ULDA : The same span with uncorrelated coordinates.
    TraceRatio : Optimises over orthonormal directions.

    Notes
    -----
    With linearly independent rows and without a ridge this is null-space LDA.

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

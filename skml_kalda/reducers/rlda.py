"""Regularised linear discriminant analysis."""

from __future__ import annotations

from skml_kalda.reducers.lda import LDA


class RLDA(LDA):
    r"""Regularised linear discriminant analysis.

    LDA with a ridge on the total scatter,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (S_t + \gamma I) G)^{-1} G^T S_b G\right],
              \quad \gamma = \text{ridge} \cdot \mathrm{Tr}(S_t) / p,

    which is shrinkage of the covariance towards a multiple of the identity [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`S_t`. A ridge of
        :math:`a/(1-a)` is a shrinkage of :math:`a`; ``ridge=0`` is LDA.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = n I`, close to unit
        variance. "within": the same with :math:`S_t - S_b`. "unit": directions of unit
        length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr": orthonormal directions.
    tol : float, default=1e-4
        Accuracy on large sparse X, where the method iterates: about the largest angle between
        the directions and the exact ones. It has no effect where the solution is direct.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending, between zero and one.
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
    LDA : The same method under the name that is usual without a ridge.
    MultiLabelKaLDA : Has a ridge too, as `shrinkage`.

    Notes
    -----
    The result depends on the scaling of the features: standardise them first
    (`StandardScaler`) unless they share a unit. The method solves one linear system with as
    many right-hand sides as classes; for large sparse X it does so by iteration, in memory of
    the size of X.

    References
    ----------
    .. [1] Y. Guo, T. Hastie and R. Tibshirani, "Regularized linear discriminant analysis and
       its application in microarrays", Biostatistics 8, 2007. Their soft threshold of the
       centroids concerns classification and is left out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skml_kalda import RLDA
    >>> X, y = load_digits(return_X_y=True)
    >>> RLDA(n_components=4).fit_transform(X, y).shape
    (1797, 4)
    """

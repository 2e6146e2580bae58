"""Maximum margin criterion."""

from __future__ import annotations

from skml_kalda.reducers._scatter_difference import Difference, ScatterDifferenceReducer


class MMC(ScatterDifferenceReducer):
    r"""Maximum margin criterion.

    Maximises the spread between the classes minus the spread within,

    .. math:: \max_G \mathrm{Tr}\left[G^T (S_b - S_w) G\right], \quad G^T G = I,

    by the eigenvectors of the algebraically largest eigenvalues [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        classes that have rows, minus one, or that rank.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, orthonormal, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - S_w) / n`, descending. Where they are negative, the
        classes overlap more than they differ, and a direction says little.
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
    TraceRatio : The ratio in place of the difference.
    SDPLDA : The difference with the spread within weighted more.

    Notes
    -----
    At most as many eigenvalues are positive as there are classes, minus one; on data with
    several labels per row often none. The result depends on the scaling of the features. The
    problem is solved on the range of :math:`S_t`. For large sparse X the directions are found
    by the Lanczos method; those of least variance, which it cannot tell from directions of
    none, are refused.

    References
    ----------
    .. [1] H. Li, T. Jiang and K. Zhang, "Efficient and robust feature extraction by maximum
       margin criterion", IEEE Transactions on Neural Networks 17, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import MMC
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC().fit(X, y).eigenvalues_.round(2)
    array([ 3.64, -0.02])
    """

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float]:
        return 2.0, 1.0  # S_b − S_w = 2 S_b − S_t

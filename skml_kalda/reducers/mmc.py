"""Maximum margin criterion."""

from __future__ import annotations

from typing import Any

from skml_kalda.reducers._families.scatter_difference import Difference, ScatterDifferenceReducer


class MMC(ScatterDifferenceReducer):
    r"""Maximum margin criterion.

    Maximises the spread between the classes minus the spread within them,

    .. math:: \max_G \mathrm{Tr}\left[G^T (S_b - S_w) G\right], \quad G^T G = I.

    The directions are the eigenvectors of the algebraically largest eigenvalues [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        non-empty classes minus one, or that rank if smaller.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - S_w) / n`, descending. A negative eigenvalue means
        that the classes overlap more than they differ along that direction.
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
    TraceRatio : Maximises the ratio instead of the difference.
    SDPLDA : The same with a larger weight on the spread within the classes.

    Notes
    -----
    At most K − 1 eigenvalues are positive, for K classes; on data with several labels per row
    often none is. The result depends on the scaling of the features. The
    problem is solved on the range of :math:`S_t`. For large sparse X the Lanczos method finds the
    directions; it refuses those whose variance it cannot distinguish from zero.

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

    @property
    def _needs_class_means(self) -> bool:
        return False  # then it maximises −S_w, and still prefers some directions

    def _coefficients(self, difference: Difference, k: int) -> tuple[float, float, dict[str, Any]]:
        return 2.0, 1.0, {}  # S_b − S_w = 2 S_b − S_t

"""Orthogonal centroid method."""

from __future__ import annotations

from skml_kalda._core.eigenproblem import Eigenpairs, Normalization, orthonormal_eigenpairs
from skml_kalda._core.scatter import AnyScatter
from skml_kalda._core.streams import Results
from skml_kalda.reducers._families.generalized import GeneralizedReducer


class OCM(GeneralizedReducer):
    r"""Orthogonal centroid method.

    Keeps the spread between the class means and ignores the spread within the classes,

    .. math:: \max_G \mathrm{Tr}(G^T S_b G), \quad G^T G = I.

    The directions are the leading eigenvectors of :math:`S_b`, which span the differences
    :math:`m_k - m` of the class means [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Variance between the classes along each direction, descending.
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
    LDA : Weighs the spread of the class means by the spread of the rows.
    MDDM : The same with the labels in place of the class means.

    Notes
    -----
    The original takes a QR decomposition of the uncentred class means, which has one more
    direction: towards the overall mean. No linear system is solved; the cost is that of
    computing the class means. The result depends on the scaling of the features.

    References
    ----------
    .. [1] H. Park, M. Jeon and J. B. Rosen, "Lower dimensional representation of text data
       based on centroids and least squares", BIT Numerical Mathematics 43, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import OCM
    >>> X, y = load_iris(return_X_y=True)
    >>> OCM().fit(X, y).eigenvalues_.round(3)
    array([3.913, 0.034])
    """

    normalize: Normalization = "unit"

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _ridge(self, scatter: AnyScatter) -> float:
        return 0.0  # nothing is inverted

    def _depends_on_units(self, results: Results) -> bool:
        return True

    def _eigenpairs(self, scatter: AnyScatter, ridge: float) -> Eigenpairs:
        values, vectors = orthonormal_eigenpairs(scatter, self._label_side(scatter))
        return Eigenpairs(values / scatter.weight, vectors)

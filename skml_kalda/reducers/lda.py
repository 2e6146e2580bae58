"""Linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

from skml_kalda._pencil import Normalization
from skml_kalda.reducers._generalized import NORMALIZE, GeneralizedReducer


class LDA(GeneralizedReducer):
    r"""Linear discriminant analysis.

    Maximises the spread between the classes relative to the total spread,

    .. math:: \max_G \mathrm{Tr}\left[(G^T S_t G)^{-1} G^T S_b G\right],

    by the leading eigenvectors of :math:`S_b g = \lambda S_t g` on the range of
    :math:`S_t` [1]_. With several labels per row, each row counts once for each.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is below the number of
        classes. None means the number of classes that have rows, minus one, or that rank.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions, whose span alone is given by the problem. "B": the
        projected rows have unit variance. "within": unit variance within the classes, as in
        scikit-learn. "unit": directions of unit length. "sqrt_eig": variance
        :math:`\lambda`, which favours the directions that separate well. "qr": orthonormal
        directions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending, between zero and one.
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
    RLDA : The same with a ridge; the one to use with few rows or large sparse data.
    MLDA : The same with other weights of several labels.
    ULDA : LDA with all its directions, uncorrelated.

    Notes
    -----
    The directions do not depend on the scaling of the features. With fewer rows than
    features every class collapses to a point on the training data: prefer :class:`RLDA`.
    Sparse X is never made dense, but without a ridge the scatter matrix of the features (or
    of the rows, if they are fewer) is.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
       Eugenics 7, 1936.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import LDA
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = LDA().fit(X, y)
    >>> lda.transform(X).shape
    (150, 2)
    >>> lda.eigenvalues_.round(3)
    array([0.97 , 0.222])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "normalize": NORMALIZE,
    }

    def __init__(self, n_components: int | None = None, *, normalize: Normalization = "B") -> None:
        self.n_components = n_components
        self.normalize = normalize

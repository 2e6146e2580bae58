"""Linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from skml_kalda._core.eigenproblem import Normalization
from skml_kalda._core.scatter.base import TOL
from skml_kalda.reducers._families.generalized import (
    NORMALIZE,
    RIDGE,
    TOLERANCE,
    GeneralizedReducer,
)


class LDA(GeneralizedReducer):
    r"""Linear discriminant analysis.

    Maximises the spread between the classes relative to the total spread,

    .. math:: \max_G \mathrm{Tr}\left[(G^T S_t G)^{-1} G^T S_b G\right].

    The solution is given by the leading eigenvectors of :math:`S_b g = \lambda S_t g` on the
    range of :math:`S_t` [1]_. A row with several labels counts once for each of them.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to :math:`S_t`, as a multiple of its mean eigenvalue. "auto" chooses the value
        for which a ridge regression of the labels on the features is best in generalised
        cross-validation. Zero is the classical method.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions; the problem determines only their span. "B": the
        projected rows have unit variance. "within": unit variance within the classes, as in
        scikit-learn. "unit": directions of unit length. "sqrt_eig": variance
        :math:`\lambda`, which favours directions that separate the classes well. "qr": orthonormal
        directions.
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
    RLDA : The same method under the name that is usual with a ridge.
    MLDA : The same with a choice of weights for rows with several labels.
    ULDA : LDA with all its directions, uncorrelated.

    Notes
    -----
    Without a ridge the directions do not depend on the units of the features, and with fewer
    rows than features every class collapses to a point on the training data. Sparse X is
    never made dense.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
       Eugenics 7, 1936.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import LDA
    >>> X, y = load_iris(return_X_y=True)
    >>> lda = LDA(ridge=0).fit(X, y)
    >>> lda.transform(X).shape
    (150, 2)
    >>> lda.eigenvalues_.round(3)
    array([0.97 , 0.222])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "ridge": RIDGE,
        "normalize": NORMALIZE,
        "tol": TOLERANCE,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float | Literal["auto"] = "auto",
        normalize: Normalization = "sqrt_eig",
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.normalize = normalize
        self.tol = tol

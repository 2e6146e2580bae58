"""Linear discriminant analysis: LDA, and what it is called with a ridge or another scale."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import (
    Eigenpairs,
    Normalization,
    generalized_eigenpairs,
    normalized,
)
from skml_kalda._core.scatter import TOL, Scatter
from skml_kalda.reducers.base import (
    RANK_OF_CLASSES,
    RIDGE,
    TOLERANCE,
    BaseReducer,
    Directions,
    Results,
    chosen_ridge,
    documented,
)

NORMALIZE: list[Any] = [StrOptions({"B", "unit", "sqrt_eig", "qr"})]


class GeneralizedReducer(BaseReducer):
    """Base of the methods that solve S_b g = λ (S_t + γI) g, or the same with another S_b.

    A subclass may define the label side L of S_b = (CL)(CL)ᵀ (`_label_side`), where
    C = Σ w_i (x_i − m) b_iᵀ, or the whole eigenproblem (`_eigenpairs`).
    """

    ridge_: float
    ridge: float | Literal["auto"]
    normalize: Normalization
    # What limits the number of directions.
    _limit: ClassVar[str] = RANK_OF_CLASSES

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
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

    def _label_side(self, scatter: Scatter) -> Array:
        return scatter.class_scale

    def _ridge(self, scatter: Scatter) -> float:
        """Return the ridge as a multiple of the mean eigenvalue of S_t."""
        return chosen_ridge(type(self).__name__, self.ridge, scatter)

    def _eigenpairs(self, scatter: Scatter, ridge: float) -> Eigenpairs:
        gamma = ridge * scatter.mean_eigenvalue
        return generalized_eigenpairs(scatter, self._label_side(scatter), gamma, self.n_components)

    def _default(self, scatter: Scatter, rank: int) -> int:
        """Return the number of directions by default."""
        return scatter.label_dimensions

    def _depends_on_units(self, attributes: Results) -> bool:
        return self.normalize == "qr" or bool(attributes["ridge_"] > 0)

    def _directions(self, scatter: Scatter) -> Directions:
        ridge = self._ridge(scatter)
        pairs = self._eigenpairs(scatter, ridge)
        rank = len(pairs.values)
        k = self._number_of_components(self._default(scatter, rank), rank, self._limit)
        leading = pairs.leading(k)
        G = normalized(leading, scatter.weight, self.normalize)
        return Directions(G, {"eigenvalues_": leading.values, "ridge_": ridge})


@documented
class LDA(GeneralizedReducer):
    r"""Linear discriminant analysis.

    Maximises the spread between the classes relative to the total spread,

    .. math:: \max_G \mathrm{Tr}\left[(G^T S_t G)^{-1} G^T S_b G\right].

    The solution is given by the leading eigenvectors of :math:`S_b g = \lambda S_t g` on the
    range of :math:`S_t` [1]_. A sample with several labels counts once for each of them.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to :math:`S_t`, as a multiple of its mean eigenvalue. "auto" chooses the value
        for which a ridge regression of the labels on the features is best in generalised
        cross-validation. Zero is the classical method.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions; the problem determines only their span. "B": the
        projected samples have unit variance. "unit": directions of unit length. "sqrt_eig":
        variance
        :math:`\lambda`, which favours directions that separate the classes well. "qr": orthonormal
        directions.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending, between zero and one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    RLDA : The same method under the name that is usual with a ridge.
    MLDA : The same with a choice of weights for samples with several labels.
    ULDA : LDA with all its directions, uncorrelated.

    Notes
    -----
    {units} Then every class collapses to a point on the training data. Sparse X is never made
    dense.

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


@documented
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
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = n I`, close to unit
        variance. "unit": directions of unit
        length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr": orthonormal directions.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending, between zero and one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

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


@documented
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
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t)`, descending, between zero and one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    LDA : The same directions with a choice of scale.
    OLDA : The same directions made orthonormal.

    Notes
    -----
    When several eigenvalues are equal, as happens with fewer samples than features, their
    directions are chosen mutually orthogonal, the shortest first. {units}

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
        **BaseReducer._parameter_constraints,
        "ridge": RIDGE,
        "tol": TOLERANCE,
    }

    normalize: Normalization = "B"

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

    def _default(self, scatter: Scatter, rank: int) -> int:
        return rank


@documented
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
    {tol}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t)`, descending, between zero and one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    ULDA : The same span with uncorrelated coordinates.
    TraceRatio : Optimises over orthonormal directions.

    Notes
    -----
    With linearly independent samples and without a ridge this is null-space LDA.

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

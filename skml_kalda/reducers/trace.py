"""Differences of scatters: trace ratio, SDPLDA, maximum margin criterion, orthogonal centroids."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import (
    Eigenpairs,
    Normalization,
    orthonormal_eigenpairs,
    polar,
    resolve_ties,
)
from skml_kalda._core.scatter import Scatter
from skml_kalda.reducers.base import (
    RANK_OF_DATA,
    RIDGE,
    BaseReducer,
    Directions,
    Results,
    chosen_ridge,
    documented,
)
from skml_kalda.reducers.lda import GeneralizedReducer

_MAX_ITER = 100


# a, b and the fitted attributes of the method.
Coefficients: TypeAlias = tuple[float, float, dict[str, Any]]


class ScatterDifference:
    """The matrices a S_b − b S in the eigenbasis of S_t, for S = S_t + γI.

    Parameters
    ----------
    scatter : scatter
        Holds S_b and S_t; both are divided by Σ w_i here.
    gamma : float
        γ.
    """

    def __init__(self, scatter: Scatter, gamma: float) -> None:
        values, self.basis = scatter.spectrum
        self.total = (values + gamma) / scatter.weight
        self.factor = np.asarray(self.basis.T @ scatter.between).T / np.sqrt(scatter.weight)

    @property
    def rank(self) -> int:
        """Rank of S_t."""
        return len(self.total)

    def top(self, a: float, b: float, k: int) -> tuple[Array, Array]:
        """Return the algebraically largest eigenvalues, descending, and their eigenvectors."""
        matrix = (a * self.factor.T) @ self.factor
        matrix.flat[:: self.rank + 1] -= b * self.total
        # Resolve ties among all directions that separate classes before keeping k of them.
        m = min(max(k, len(self.factor) - 1), self.rank)
        largest = (self.rank - m, self.rank - 1)
        values, vectors = linalg.eigh(matrix, subset_by_index=largest, check_finite=False)
        values, vectors = values[::-1], vectors[:, ::-1]
        scale = max(a, b) * self.total[0]
        vectors = resolve_ties(values, vectors, self.total, scale)
        return values[:k], vectors[:, :k]

    def ratio(self, G: Array) -> float:
        """Return Tr GᵀS_bG / Tr GᵀSG."""
        return float(np.sum((self.factor @ G) ** 2) / np.sum(self.total[:, None] * G**2))

    def largest_share(self) -> float:
        """Return the largest eigenvalue of (S_b, S)."""
        return float(linalg.norm(self.factor / np.sqrt(self.total), 2) ** 2)


class ScatterDifferenceReducer(BaseReducer):
    """Base of the methods that maximise Tr Gᵀ(a S_b − b S)G over GᵀG = I, S = S_t + γI."""

    ridge_: float
    _needs_spectrum = _needs_similar_units = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "ridge": RIDGE,
    }

    def __init__(
        self, n_components: int | None = None, *, ridge: float | Literal["auto"] = "auto"
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge

    def _ridge(self, scatter: Scatter) -> float:
        """Return γ as a multiple of the mean eigenvalue of S_t."""
        return chosen_ridge(type(self).__name__, self.ridge, scatter)

    @abstractmethod
    def _coefficients(self, difference: ScatterDifference, k: int) -> Coefficients:
        """Return a, b and the fitted attributes of the method."""

    def _directions(self, scatter: Scatter) -> Directions:
        ridge = self._ridge(scatter)
        gamma = ridge * scatter.mean_eigenvalue
        difference = ScatterDifference(scatter, gamma)
        k = self._number_of_components(scatter.label_dimensions, difference.rank, RANK_OF_DATA)
        a, b, attributes = self._coefficients(difference, k)
        eigenvalues, G = difference.top(a, b, k)
        attributes |= {"eigenvalues_": eigenvalues, "ridge_": ridge}
        return Directions(polar(difference.basis @ G), attributes)


@documented
class TraceRatio(ScatterDifferenceReducer):
    r"""Trace ratio discriminant analysis.

    Maximises the spread between the classes relative to the total spread, over orthonormal
    directions:

    .. math:: \max_G \frac{\mathrm{Tr}(G^T S_b G)}{\mathrm{Tr}(G^T S_t G)}, \quad G^T G = I.

    At the maximum :math:`\rho` the sum of the largest eigenvalues of :math:`S_b - \rho S_t` is
    zero. Newton's method finds this root: it converges monotonically to the global maximum,
    quadratically at the end [1]_ [2]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to :math:`S_t`, as a multiple of its mean eigenvalue. "auto" chooses the value
        for which a ridge regression of the labels on the features is best in generalised
        cross-validation. Zero is the original method.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    ratio_ : float
        :math:`\rho`, the ratio at the solution.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \rho S_t) / n`, with the ridge, descending; their sum is
        zero.
    ridge_ : float
        The ridge used.
    n_iter_ : int
        Number of Newton steps.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    LDA : Has a trace of a ratio in place of a ratio of traces; the same for one direction.
    MultiLabelKaLDA : Has a norm as its denominator; the same for one direction.

    Notes
    -----
    The directions are the same with :math:`S_w` in place of :math:`S_t`. The result depends
    on the scaling of the features. The problem is solved on the range of :math:`S_t`. It needs a
    square array with the shorter side of X, also for sparse X.

    References
    ----------
    .. [1] H. Wang, S. Yan, D. Xu, X. Tang and T. Huang, "Trace ratio vs. ratio trace for
       dimensionality reduction", CVPR 2007.
    .. [2] Y. Jia, F. Nie and C. Zhang, "Trace ratio problem revisited", IEEE Transactions on
       Neural Networks 20, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import TraceRatio
    >>> X, y = load_iris(return_X_y=True)
    >>> tr = TraceRatio(ridge=0).fit(X, y)
    >>> round(tr.ratio_, 4)
    0.9596
    """

    ratio_: float
    n_iter_: int

    def _coefficients(self, difference: ScatterDifference, k: int) -> Coefficients:
        rho, ratio, n_iter = -1.0, 0.0, 0
        while ratio > rho and n_iter < _MAX_ITER:  # it rises until rounding stops it
            rho = ratio
            _, G = difference.top(1.0, rho, k)
            ratio = difference.ratio(G)
            n_iter += 1
        ratio = max(rho, ratio)
        return 1.0, ratio, {"ratio_": ratio, "n_iter_": n_iter}


@documented
class SDPLDA(ScatterDifferenceReducer):
    r"""Semi-definite positive linear discriminant analysis.

    Maximises the spread between the classes minus the spread within them, with a weight for
    which the difference is not positive in any direction:

    .. math:: \max_G \mathrm{Tr}\left[G^T (S_b - \lambda_1 S_w) G\right], \quad G^T G = I,

    where :math:`\lambda_1` is the largest eigenvalue of :math:`S_w^{-1} S_b` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data. None means the number of
        non-empty classes minus one, or that rank if smaller.
    ridge : float or "auto", default="auto"
        Added to the diagonal of :math:`S_w`, as a multiple of the mean eigenvalue of
        :math:`S_t`. With fewer samples than features :math:`S_w` is singular, and
        :math:`\lambda_1` would be infinite without a ridge.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, signed so that the largest entry of each is positive.
    lambda_ : float
        :math:`\lambda_1`, with the ridge.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(S_b - \lambda_1 S_w) / n`, with the ridge, descending. The
        first is zero.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    LDA : The same for one direction, without a ridge.
    MMC : The same with one in place of :math:`\lambda_1`.
    TraceRatio : The same with the best ratio in place of :math:`\lambda_1`.

    Notes
    -----
    The paper does not say what to do when :math:`S_w` is singular. The ridge is this package's
    choice; it affects the directions only through :math:`\lambda_1`. The result depends on
    the scaling of the features. The problem is solved on the range of :math:`S_t`. It needs a
    square array with the shorter side of X, also for sparse X.

    References
    ----------
    .. [1] D. Kong and C. Ding, "A semi-definite positive linear discriminant analysis and its
       applications", ICDM 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skml_kalda import SDPLDA
    >>> X, y = load_iris(return_X_y=True)
    >>> round(SDPLDA(ridge=0.0).fit(X, y).lambda_, 2)
    32.19
    """

    lambda_: float

    def _coefficients(self, difference: ScatterDifference, k: int) -> Coefficients:
        ratio = self._largest_ratio(difference)
        return 1 + ratio, ratio, {"lambda_": ratio}  # S_b − λ₁S_w = (1 + λ₁) S_b − λ₁S_t

    def _largest_ratio(self, difference: ScatterDifference) -> float:
        # If λ₁ is an eigenvalue of (S_b, S_w + γI), λ₁ / (1 + λ₁) is one of (S_b, S_t + γI).
        share = difference.largest_share()
        if share > 1 - 1e-10:
            raise ValueError(
                "SDPLDA divides by the spread within the classes, which is zero along some "
                f"direction of X, and ridge={self.ridge} is too small: use a larger ridge."
            )
        return share / (1 - share)


@documented
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
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    TraceRatio : Maximises the ratio instead of the difference.
    SDPLDA : The same with a larger weight on the spread within the classes.

    Notes
    -----
    At most K − 1 eigenvalues are positive, for K classes; on data with several labels per sample
    often none is. The result depends on the scaling of the features. The
    problem is solved on the range of :math:`S_t`. It needs a
    square array with the shorter side of X, also for sparse X.

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

    _parameter_constraints = BaseReducer._parameter_constraints
    # Without differences of class means it maximises −S_w, and still prefers some directions.
    _needs_class_means = False

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _ridge(self, scatter: Scatter) -> float:
        return 0.0  # nothing is inverted

    def _coefficients(self, difference: ScatterDifference, k: int) -> Coefficients:
        return 2.0, 1.0, {}  # S_b − S_w = 2 S_b − S_t


@documented
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
        Mean of the samples, each weighted by its number of labels.
    {classes_and_features}

    See Also
    --------
    LDA : Weighs the spread of the class means by the spread of the samples.
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
    _parameter_constraints = BaseReducer._parameter_constraints

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    def _ridge(self, scatter: Scatter) -> float:
        return 0.0  # nothing is inverted

    def _depends_on_units(self, attributes: Results) -> bool:
        return True

    def _eigenpairs(self, scatter: Scatter, ridge: float) -> Eigenpairs:
        values, vectors = orthonormal_eigenpairs(scatter, self._label_side(scatter))
        return Eigenpairs(values / scatter.weight, vectors)

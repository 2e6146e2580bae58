"""Regularised linear discriminant analysis."""

from __future__ import annotations

from typing import Any, ClassVar

from skml_kalda._pencil import Normalization
from skml_kalda.reducers._generalized import NORMALIZE, RIDGE, GeneralizedReducer


class RLDA(GeneralizedReducer):
    r"""Regularised linear discriminant analysis.

    LDA with a ridge on the total scatter,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (S_t + \gamma I) G)^{-1} G^T S_b G\right],
              \quad \gamma = \text{ridge} \cdot \mathrm{Tr}(S_t) / p,

    which is shrinkage of the covariance towards a multiple of the identity [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is below the number of
        classes. None means the number of classes that have rows, minus one, or that rank.
    ridge : float, default=0.1
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`S_t`. A ridge of
        :math:`a/(1-a)` is a shrinkage of :math:`a`; zero is LDA.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = n I`, near to unit
        variance. "within": the same with :math:`S_t - S_b`. "unit": directions of unit
        length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr": orthonormal directions.

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
    LDA : The same without a ridge.
    MultiLabelKaLDA : Has a ridge too, as `shrinkage`.

    Notes
    -----
    The result depends on the scaling of the features: put a `StandardScaler` in front unless
    they share a unit. One linear system with as many right-hand sides as classes is solved;
    for large sparse X it is solved by iteration, in memory of the size of X.

    References
    ----------
    .. [1] Y. Guo, T. Hastie and R. Tibshirani, "Regularized linear discriminant analysis and
       its application in microarrays", Biostatistics 8, 2007. Their soft threshold of the
       centroids is a matter of classification and left out.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skml_kalda import RLDA
    >>> X, y = load_digits(return_X_y=True)
    >>> RLDA(n_components=4).fit_transform(X, y).shape
    (1797, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "ridge": RIDGE,
        "normalize": NORMALIZE,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float = 0.1,
        normalize: Normalization = "B",
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.normalize = normalize

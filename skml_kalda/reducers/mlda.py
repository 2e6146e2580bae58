"""Multi-label linear discriminant analysis with a choice of label weights."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from skml_kalda._labels import Weighted, omega_weighted
from skml_kalda._pencil import Normalization
from skml_kalda._scatter import Array
from skml_kalda.reducers._generalized import NORMALIZE, RIDGE, GeneralizedReducer
from skml_kalda.reducers._label_weights import correlation, dependence, entropy, fuzzy


class MLDA(GeneralizedReducer):
    r"""Multi-label linear discriminant analysis.

    LDA in which row i belongs to class k with weight :math:`W_{ik} \ge 0`,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (S_t + \gamma I) G)^{-1} G^T S_b G\right], \quad
              S_t = \sum_{ik} W_{ik} (x_i - m)(x_i - m)^T, \quad
              S_b = \sum_{ik} W_{ik} (m_k - m)(m_k - m)^T,

    where :math:`m` and :math:`m_k` are the means weighted likewise. The weights make the
    method: this is the family of [1]_ to [5]_. With one label per row all are LDA.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is below the number of
        classes. None means the number of classes that have rows, minus one, or that rank.
    weights : {"binary", "entropy", "correlation", "fuzzy", "dependence"}, default="binary"
        With :math:`\rho_i` the number of labels of row i:

        - "binary": one for each label, :math:`W = Y` [1]_.
        - "entropy": a row counts once in all, :math:`W_{ik} = Y_{ik} / \rho_i` [2]_.
        - "correlation": labels count for those they occur with,
          :math:`W = \mathrm{diag}(1/\rho) Y C`, where C holds the cosines of the columns of
          Y [3]_. It can be positive for labels a row does not have.
        - "fuzzy": a row counts once in all, the more for a class the nearer its centre,
          :math:`W_{ik} \propto Y_{ik} / \|x_i - c_k\|^2` [4]_.
        - "dependence": a row counts for that one of its labels for which the labels depend
          most on X [5]_.
    ridge : float, default=0.0
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`S_t`.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = \sum W_{ik} I`, unit
        variance but for the ridge. "within": the same with :math:`S_t - S_b`. "unit":
        directions of unit length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr":
        orthonormal directions.
    random_state : int, RandomState instance or None, default=None
        Order in which "dependence" visits the rows; other weights do not use it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t + \gamma I)`, descending, between zero and
        one.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, each weighted by :math:`\sum_k W_{ik}`.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    LDA : The same with "binary" weights.
    MultiLabelKaLDA : Aligns kernels, with the scatters of "binary" weights.

    Notes
    -----
    Rows without labels count for nothing. All means are weighted by W, so that the rank of
    :math:`S_b` stays below the number of classes; implementations that take another mean for
    "correlation" gain a direction that tells nothing. The centres of "fuzzy" are taken as
    found when they move by less than a hundredth of their spread, or after 100 rounds.
    "correlation", "fuzzy" and "dependence" need all rows at once: they have no `partial_fit`.
    With ``ridge > 0`` large sparse X is handled in memory of its own size.

    References
    ----------
    .. [1] C. H. Park and M. Lee, "On applying linear discriminant analysis for multi-labeled
       problems", Pattern Recognition Letters 29, 2008.
    .. [2] W. Chen, J. Yan, B. Zhang, Z. Chen and Q. Yang, "Document transformation for
       multi-label feature selection in text categorization", ICDM 2007.
    .. [3] H. Wang, C. Ding and H. Huang, "Multi-label linear discriminant analysis", ECCV
       2010.
    .. [4] X. Lin and X.-W. Chen, "Mr.KNN: soft relevance for multi-label classification",
       CIKM 2010.
    .. [5] J. Xu, "A weighted linear discriminant analysis framework for multi-label feature
       extraction", Neurocomputing 275, 2018.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MLDA
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> MLDA(weights="correlation").fit_transform(X, Y).shape
    (100, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "weights": [StrOptions({"binary", "entropy", "correlation", "fuzzy", "dependence"})],
        "ridge": RIDGE,
        "normalize": NORMALIZE,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        weights: Literal["binary", "entropy", "correlation", "fuzzy", "dependence"] = "binary",
        ridge: float = 0.0,
        normalize: Normalization = "B",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.ridge = ridge
        self.normalize = normalize
        self.random_state = random_state

    def _why_no_stream(self) -> str:
        if self.weights in ("binary", "entropy"):
            return ""
        return f"weights={self.weights!r} need all rows at once."

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        return omega_weighted(self._class_weights(X, Y, sample_weight), sample_weight)

    def _class_weights(self, X: Any, Y: Any, sample_weight: Array) -> Any:
        """W, shape (n, K)."""
        match self.weights:
            case "binary":
                return Y
            case "entropy":
                return entropy(Y)
            case "correlation":
                return correlation(Y, sample_weight)
            case "fuzzy":
                return fuzzy(X, Y, sample_weight)
            case _:
                rng = check_random_state(self.random_state)
                return dependence(X, Y, sample_weight, rng)

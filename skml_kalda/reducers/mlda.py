"""Multi-label linear discriminant analysis with a choice of label weights."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import Normalization
from skml_kalda._core.labels import Weighted, omega_weighted, row_shares
from skml_kalda._core.scatter.base import TOL
from skml_kalda.reducers._families.generalized import (
    NORMALIZE,
    RIDGE,
    TOLERANCE,
    GeneralizedReducer,
)
from skml_kalda.reducers._families.label_weights import correlation, dependence, fuzzy


class MLDA(GeneralizedReducer):
    r"""Multi-label linear discriminant analysis.

    LDA in which row i belongs to class k with weight :math:`W_{ik} \ge 0`,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (S_t + \gamma I) G)^{-1} G^T S_b G\right], \quad
              S_t = \sum_{ik} W_{ik} (x_i - m)(x_i - m)^T, \quad
              S_b = \sum_{ik} W_{ik} (m_k - m)(m_k - m)^T,

    where :math:`m` and :math:`m_k` are means with the same weights. The choice of weights
    gives the methods of [1]_ to [5]_. With one label per row all of them are LDA.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.
    weights : {"binary", "entropy", "correlation", "fuzzy", "dependence"}, default="binary"
        With :math:`\rho_i` the number of labels of row i:

        - "binary": one for each label, :math:`W = Y` [1]_.
        - "entropy": every row has total weight one, :math:`W_{ik} = Y_{ik} / \rho_i` [2]_.
        - "correlation": a label also counts for the labels that it occurs with,
          :math:`W = \mathrm{diag}(1/\rho) Y C`, where C holds the cosines of the columns of
          Y [3]_. The weight can be positive for labels that a row does not have.
        - "fuzzy": every row has total weight one, with more weight on classes whose centre is
          near, :math:`W_{ik} \propto Y_{ik} / \|x_i - c_k\|^2` [4]_.
        - "dependence": every row counts for one of its labels, chosen so that the labels depend
          most on X [5]_.
    ridge : float or "auto", default="auto"
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`S_t`.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = \sum W_{ik} I`, which
        is unit variance apart from the ridge. "within": the same with :math:`S_t - S_b`. "unit":
        directions of unit length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr":
        orthonormal directions.
    tol : float, default=1e-4
        Accuracy on large sparse X, where the method iterates: about the largest angle between
        the directions and the exact ones. It has no effect where the solution is direct.
    random_state : int, RandomState instance or None, default=None
        Determines the order in which "dependence" visits the rows. Other weights ignore it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, signed so that the largest entry of each is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t + \gamma I)`, descending, between zero and
        one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, each weighted by :math:`\sum_k W_{ik}`.
    classes_ : ndarray
        Classes with at least one row: labels, or the columns of `y`, by name if it has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    LDA : The same with "binary" weights.
    MultiLabelKaLDA : Kernel alignment on the scatters of "binary" weights.

    Notes
    -----
    Rows without labels are ignored. All means are weighted by W, so the rank of :math:`S_b`
    is less than the number of classes. Implementations that use another mean for
    "correlation" gain a direction that carries no information. The iteration of "fuzzy" stops
    when the centres move by less than a hundredth of their spread, or after 100 rounds.
    "correlation", "fuzzy" and "dependence" need all rows at once: they have no `partial_fit`.
    With ``ridge > 0``, large sparse X needs only memory of its own size.

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
        "tol": TOLERANCE,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        weights: Literal["binary", "entropy", "correlation", "fuzzy", "dependence"] = "binary",
        ridge: float | Literal["auto"] = "auto",
        normalize: Normalization = "sqrt_eig",
        tol: float = TOL,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.weights = weights
        self.ridge = ridge
        self.normalize = normalize
        self.tol = tol
        self.random_state = random_state

    def _needs_all_rows(self) -> str | None:
        if self.weights in ("binary", "entropy"):
            return None
        return f"weights={self.weights!r} need all rows at once."

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        return omega_weighted(self._class_weights(X, Y, sample_weight), sample_weight)

    def _class_weights(self, X: Any, Y: Any, sample_weight: Array) -> Any:
        """Return W, shape (n, K)."""
        match self.weights:
            case "binary":
                return Y
            case "entropy":
                return row_shares(Y)
            case "correlation":
                return correlation(Y, sample_weight)
            case "fuzzy":
                return fuzzy(X, Y, sample_weight)
            case _:
                rng = check_random_state(self.random_state)
                return dependence(X, Y, sample_weight, rng)

"""Multi-label linear discriminant analysis with a choice of label weights."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg, sparse
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from skml_kalda._core.arrays import Array, check_columns, weighted_mean
from skml_kalda._core.centred import full_column_shift, shifted
from skml_kalda._core.eigenproblem import Normalization
from skml_kalda._core.labels import Weighted, omega_weighted, row_shares
from skml_kalda._core.scatter import TOL, label_gram
from skml_kalda.reducers.base import documented
from skml_kalda.reducers.lda import GeneralizedReducer

# Rounds of the weights "fuzzy", their tolerance, and rounds of the weights "dependence".
_MAX_FUZZY = 100
_FUZZY_TOL = 1e-2
_MAX_EPOCHS = 1000


@documented
class MLDA(GeneralizedReducer):
    r"""Multi-label linear discriminant analysis.

    LDA in which sample i belongs to class k with weight :math:`W_{ik} \ge 0`,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (S_t + \gamma I) G)^{-1} G^T S_b G\right], \quad
              S_t = \sum_{ik} W_{ik} (x_i - m)(x_i - m)^T, \quad
              S_b = \sum_{ik} W_{ik} (m_k - m)(m_k - m)^T,

    where :math:`m` and :math:`m_k` are means with the same weights. The choice of weights
    gives the methods of [1]_ to [5]_. With one label per sample all of them are LDA.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`S_b`, which is less than the number of
        classes. None means the number of non-empty classes minus one, or that rank if smaller.
    weights : {"binary", "entropy", "correlation", "fuzzy", "dependence"}, default="binary"
        With :math:`\rho_i` the number of labels of sample i:

        - "binary": one for each label, :math:`W = Y` [1]_.
        - "entropy": every sample has total weight one, :math:`W_{ik} = Y_{ik} / \rho_i` [2]_.
        - "correlation": a label also counts for the labels that it occurs with,
          :math:`W = \mathrm{diag}(1/\rho) Y C`, where C holds the cosines of the columns of
          Y [3]_. The weight can be positive for labels that a sample does not have.
        - "fuzzy": every sample has total weight one, with more weight on classes whose centre is
          near, :math:`W_{ik} \propto Y_{ik} / \|x_i - c_k\|^2` [4]_.
        - "dependence": every sample counts for one of its labels, chosen so that the labels depend
          most on X [5]_.
    ridge : float or "auto", default="auto"
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`S_t`.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (S_t + \gamma I) G = \sum W_{ik} I`, which
        is unit variance apart from the ridge. "unit":
        directions of unit length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr":
        orthonormal directions.
    {tol}
    random_state : int, RandomState instance or None, default=None
        Determines the order in which "dependence" visits the samples. Other weights ignore it.

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        Generalised eigenvalues of :math:`(S_b, S_t + \gamma I)`, descending, between zero and
        one.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by :math:`\sum_k W_{ik}`.
    {classes_and_features}

    See Also
    --------
    LDA : The same with "binary" weights.
    MultiLabelKaLDA : Kernel alignment on the scatters of "binary" weights.

    Notes
    -----
    Samples without labels are ignored. All means are weighted by W, so the rank of :math:`S_b`
    is less than the number of classes. Implementations that use another mean for
    "correlation" gain a direction that carries no information. The iteration of "fuzzy" stops
    when the centres move by less than a hundredth of their spread, or after 100 rounds.
    "correlation", "fuzzy" and "dependence" need all samples at once: they have no `partial_fit`.
    With ``ridge > 0``, large sparse X needs only memory of its own size. {units}

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

    def _needs_all_samples(self) -> str | None:
        if self.weights in ("binary", "entropy"):
            return None
        return f"weights={self.weights!r} need all samples at once."

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        return omega_weighted(self._class_weights(X, Y, sample_weight), sample_weight)

    def _class_weights(self, X: Any, Y: Any, sample_weight: Array) -> Any:
        """Return W, shape (n, K)."""
        sample_weight = sample_weight * (Y.sum(axis=1) > 0)  # the others count for nothing
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


def correlation(Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Return W = diag(1/ρ) Y C, where C holds the cosines of the columns of Y."""
    C = label_gram(Y, sample_weight)
    length = np.sqrt(C.diagonal())
    return sparse.csr_array(row_shares(Y) @ (C / np.outer(length, length)))


def fuzzy(X: Any, Y: Any, sample_weight: Array) -> sparse.csr_array:
    """Return weights that fall with the distance to the class centres, as in fuzzy c-means.

    W_ik ∝ 1/d_ik² over the labels of sample i, and the centres c_k = Σ_i W_ik² x_i / Σ_i W_ik²,
    are updated in turn until the centres no longer move.
    """
    X, mean = _near_origin(X, sample_weight)
    sample_weight = sample_weight / sample_weight.max()  # its size cancels, and may overflow
    W = row_shares(Y)
    centres = _centres(X, W, sample_weight, np.tile(mean, (Y.shape[1], 1)))
    for _ in range(_MAX_FUZZY):
        W = _closeness(X, Y, centres)
        before, centres = centres, _centres(X, W, sample_weight, centres)
        if linalg.norm(centres - before) <= _FUZZY_TOL * linalg.norm(centres - mean):
            break
    return W


def _centres(X: Any, W: Any, sample_weight: Array, before: Array) -> Array:
    """Return the centres; that of a class without weight stays where it was."""
    squares = (W * W * sample_weight[:, None]).tocsr()
    sums: Array = safe_sparse_dot(squares.T, X, dense_output=True)
    mass = squares.sum(axis=0)[:, None]
    return np.divide(sums, mass, out=before.copy(), where=mass > 0)


def _closeness(X: Any, Y: Any, centres: Array) -> sparse.csr_array:
    squares = row_norms(X, squared=True)[:, None] + row_norms(centres, squared=True)
    squares -= 2 * safe_sparse_dot(X, centres.T, dense_output=True)
    return row_shares(Y.multiply(1 / np.maximum(squares, 1e-300)))


def dependence(
    X: Any, Y: Any, sample_weight: Array, rng: np.random.RandomState
) -> sparse.csr_array:
    """Return weights that assign each sample to one of its classes, to maximise dependence on X.

    Ascends Tr(Wᵀ X̃ X̃ᵀ W), the HSIC of linear kernels, over the rows of W on the simplex, sample
    by row in random order. The maximum over one sample is at a corner, so W becomes one-hot.
    """
    state = _Assignment(X, Y, sample_weight)
    several = np.flatnonzero((Y.sum(axis=1) > 1) & (sample_weight > 0))
    for _ in range(_MAX_EPOCHS):
        moved = [state.move(i) for i in rng.permutation(several)]
        if not any(moved):
            break
    return sparse.csr_array(state.W)


class _Assignment:
    """W, and the sums over all samples that determine the best class of a sample."""

    def __init__(self, X: Any, Y: Any, sample_weight: Array) -> None:
        self.X, mean = _near_origin(X, sample_weight)
        self.Y, self.weight = Y, sample_weight
        self.W = row_shares(Y).toarray()
        weighted = sample_weight[:, None] * self.W
        self.sums = np.asarray(self.X.T @ weighted)  # Σ s_j x_j W_jᵀ
        self.mass = weighted.sum(axis=0)  # Σ s_j W_j
        self.level = mean @ mean
        self.along = self.X @ mean
        self.across = mean @ self.sums
        self.squares = row_norms(self.X, squared=True) - 2 * self.along + self.level

    def move(self, i: int) -> bool:
        """Assign sample i to its best class; return whether that changed anything."""
        own = slice(*self.Y.indptr[i : i + 2])
        labels = self.Y.indices[own]
        change = -self.W[i]
        change[labels[np.argmax(self._pull(i)[labels])]] += 1
        if not change.any():
            return False
        self.W[i] += change
        change *= self.weight[i]
        where, values = _row(self.X, i)
        self.sums[where] += np.outer(values, change)
        self.mass += change
        self.across += self.along[i] * change
        return True

    def _pull(self, i: int) -> Array:
        """Return Σ_{j≠i} s_j (x̃_i · x̃_j) W_j."""
        where, values = _row(self.X, i)
        pull: Array = values @ self.sums[where] - self.across
        pull += (self.level - self.along[i]) * self.mass
        return pull - self.weight[i] * self.squares[i] * self.W[i]


def _row(X: Any, i: int) -> tuple[Any, Array]:
    """Return the columns in which sample i is stored, and its values there."""
    if sparse.issparse(X):
        stored = slice(*X.indptr[i : i + 2])
        return X.indices[stored], X.data[stored]
    return slice(None), X[i]


def _near_origin(X: Any, weight: Array) -> tuple[Any, Array]:
    """Return X in float64 without large offsets where samples have weight, and its mean.

    Dense X is centred, so its mean is zero. Only the full columns of sparse X are shifted.
    """
    X = X.astype(np.float64, copy=False)
    if sparse.issparse(X):
        X = shifted(X, full_column_shift(X, weight > 0))
        mean, squares = weighted_mean(X, weight), X.multiply(X).sum(axis=0)
    else:
        X = X - weighted_mean(X, weight)
        mean, squares = np.zeros(X.shape[1]), np.sum(X**2, axis=0)
    check_columns(~np.isfinite(np.asarray(squares)), "large")
    return X, mean

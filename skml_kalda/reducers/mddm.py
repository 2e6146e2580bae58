"""Multi-label dimensionality reduction via dependence maximisation."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._labels import Weighted
from skml_kalda._pencil import (
    Normalization,
    Pencil,
    positive_eigenpairs,
    solve_orthonormal,
    solve_pencil,
)
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import NORMALIZE_WHOLE, GeneralizedReducer


class MDDM(GeneralizedReducer):
    r"""Multi-label dimensionality reduction via dependence maximisation.

    Maximises the dependence of the projected data on the labels, as the Hilbert-Schmidt
    independence criterion measures it: with X centred and a kernel L of the labels,

    .. math:: \max_G \frac{1}{n^2} \mathrm{Tr}(G^T X^T L X G),

    with orthonormal directions (MDDMp) or uncorrelated features (MDDMf) [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T L X`, which for the linear kernel
        is at most the number of labels. None means the number of classes that have rows (for
        another kernel: the rank of L) minus one, or that rank.
    projection : {"p", "f"}, default="p"
        The constraint: "p" for orthonormal directions, :math:`G^T G = I`; "f" for features
        with :math:`G^T (\mu X^T X + (1 - \mu) I) G = I`.
    mu : float in [0, 1], default=0.5
        :math:`\mu` of ``projection="f"``. One leaves out the identity.
    label_kernel : "linear", callable or array of shape (n_samples, n_samples), default="linear"
        The kernel L: :math:`Y Y^T`, a function of the dense indicator matrix such as
        `sklearn.metrics.pairwise.rbf_kernel`, or the kernel of the training rows itself. It
        must be symmetric and positive semi-definite.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": the constraint, for "f" with n in place of one. "unit":
        directions of unit length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr":
        orthonormal directions. For "p" all but "sqrt_eig" are the same.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Descending. For "p": what each direction adds to the criterion. For "f": eigenvalues
        of :math:`X^T L X g = n \lambda (\mu X^T X + (1 - \mu) I) g`.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    OPLS : The same as "f" with a ridge of :math:`(1 - \mu) / \mu`.
    OCM : The same as "p" with labels scaled by the size of their class.

    Notes
    -----
    Every row counts once, with labels or without. :math:`X^T X` is a sum, not a mean, as in
    the original: the more rows, the less the identity counts. ``projection="p"`` solves no
    system; "f" solves one with as many right-hand sides as labels. There is no `partial_fit`
    unless the label kernel is linear.

    References
    ----------
    .. [1] Y. Zhang and Z.-H. Zhou, "Multilabel dimensionality reduction via dependence
       maximization", ACM Transactions on Knowledge Discovery from Data 4, 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from skml_kalda import MDDM
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> MDDM().fit_transform(X, Y).shape
    (100, 3)
    >>> MDDM(n_components=5, label_kernel=rbf_kernel).fit_transform(X, Y).shape
    (100, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "projection": [StrOptions({"p", "f"})],
        "mu": [Interval(Real, 0, 1, closed="both")],
        "label_kernel": [StrOptions({"linear"}), callable, "array-like"],
        "normalize": NORMALIZE_WHOLE,
    }
    _counts_rows_once = True
    _rank = "the rank of the covariance of X and the label kernel"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        projection: Literal["p", "f"] = "p",
        mu: float = 0.5,
        label_kernel: Literal["linear"] | Callable[[Array], Array] | Array = "linear",
        normalize: Normalization = "B",
    ) -> None:
        self.n_components = n_components
        self.projection = projection
        self.mu = mu
        self.label_kernel = label_kernel
        self.normalize = normalize

    def _why_no_stream(self) -> str:
        return "" if self._is_linear() else "a label kernel needs all rows at once."

    def _is_linear(self) -> bool:
        return isinstance(self.label_kernel, str)

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        if self._is_linear():
            return super()._weigh(X, Y, sample_weight)
        kernel = (
            self.label_kernel(Y.toarray()) if callable(self.label_kernel) else self.label_kernel
        )
        return Weighted(sparse.csr_array(_factor(kernel, Y.shape[0])), sample_weight)

    def _pencil(self, scatter: AnyScatter) -> Pencil:
        L = np.eye(scatter.n_classes) / np.sqrt(scatter.weight)
        if self.projection == "p" or self.mu == 0:
            values, vectors = solve_orthonormal(scatter, L)
            return Pencil(values / scatter.weight, vectors / np.sqrt(scatter.weight))
        values, vectors = solve_pencil(scatter, L, (1 - self.mu) / self.mu)
        return Pencil(values / self.mu, vectors / np.sqrt(self.mu))


def _factor(kernel: Any, n: int) -> Array:
    """Z with L = Z Zᵀ."""
    L = check_array(kernel, input_name="label_kernel")
    if L.shape != (n, n):
        raise ValueError(f"label_kernel has shape {L.shape}, but X has {n} rows: pass ({n}, {n}).")
    values, vectors = positive_eigenpairs(L)
    Z = vectors * np.sqrt(values)
    if not np.allclose(Z @ Z.T, L, atol=1e-8 * np.abs(L).max()):
        raise ValueError("label_kernel must be symmetric and positive semi-definite.")
    return Z

"""Multi-label dimensionality reduction via dependence maximisation."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import (
    Eigenpairs,
    Normalization,
    generalized_eigenpairs,
    orthonormal_eigenpairs,
    positive_eigenpairs,
)
from skml_kalda._core.labels import Weighted
from skml_kalda._core.scatter import TOL, Scatter
from skml_kalda.reducers.base import TOLERANCE, BaseReducer, Results, documented
from skml_kalda.reducers.lda import NORMALIZE, GeneralizedReducer


@documented
class MDDM(GeneralizedReducer):
    r"""Multi-label dimensionality reduction via dependence maximisation.

    Maximises the dependence between the projected data and the labels, as measured by the
    Hilbert-Schmidt independence criterion. With X centred and a kernel L of the labels,

    .. math:: \max_G \frac{1}{n^2} \mathrm{Tr}(G^T X^T L X G),

    with orthonormal directions (MDDMp) or uncorrelated features (MDDMf) [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T L X`, which for the linear kernel
        is at most the number of labels. None means the number of non-empty classes (for
        another kernel: the rank of L), minus one if every sample has the same number of labels,
        or that rank if smaller.
    projection : {"p", "f"}, default="p"
        The constraint: "p" for orthonormal directions, :math:`G^T G = I`; "f" for features
        with :math:`G^T (\mu X^T X + (1 - \mu) I) G = I`.
    mu : float in [0, 1], default=0.5
        :math:`\mu` of ``projection="f"``; ``mu=1`` drops the identity.
    label_kernel : "linear", callable or array of shape (n_samples, n_samples), default="linear"
        The kernel L: "linear" for :math:`Y Y^T`, a function of the dense indicator matrix such
        as `sklearn.metrics.pairwise.rbf_kernel`, or the kernel matrix of the training samples. It
        must be symmetric and positive semi-definite.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": the constraint above, for "f" with n I in place of I.
        "unit": directions of unit length. "sqrt_eig": "B" times :math:`\sqrt\lambda`. "qr":
        orthonormal directions. For "p" all except "sqrt_eig" are the same.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues, descending. For "p": what each direction adds to the criterion. For "f":
        those of :math:`X^T L X g = n \lambda (\mu X^T X + (1 - \mu) I) g`.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    OPLS : Equals ``projection="f"`` with a ridge of :math:`(1 - \mu) / \mu`.
    OCM : Equals ``projection="p"`` with labels scaled by the size of their class.

    Notes
    -----
    Every sample counts once, with labels or without. As in the original, :math:`X^T X` is a sum
    and not a mean, so the identity matters less with more samples. ``projection="p"`` solves no
    linear system; "f" solves one with as many right-hand sides as labels. `partial_fit` exists
    only for the linear label kernel.

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
    (100, 4)
    >>> MDDM(n_components=5, label_kernel=rbf_kernel).fit_transform(X, Y).shape
    (100, 5)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "projection": [StrOptions({"p", "f"})],
        "mu": [Interval(Real, 0, 1, closed="both")],
        "label_kernel": [StrOptions({"linear"}), callable, "array-like"],
        "normalize": NORMALIZE,
        "tol": TOLERANCE,
    }

    _sample_weighted = True
    _limit = "the rank of the covariance of X and the label kernel"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        projection: Literal["p", "f"] = "p",
        mu: float = 0.5,
        label_kernel: Literal["linear"] | Callable[[Array], Array] | Array = "linear",
        normalize: Normalization = "B",
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.projection = projection
        self.mu = mu
        self.label_kernel = label_kernel
        self.normalize = normalize
        self.tol = tol

    def _needs_all_samples(self) -> str | None:
        return None if self._is_linear() else "a label kernel needs all samples at once."

    def _needs_known_labels(self) -> str | None:
        return None if self._is_linear() else "a label kernel compares whole samples of labels"

    def _depends_on_units(self, attributes: Results) -> bool:
        return True

    def _is_linear(self) -> bool:
        return isinstance(self.label_kernel, str)

    def _weigh(self, X: Any, Y: Any, sample_weight: Array) -> Weighted:
        if self._is_linear():
            return super()._weigh(X, Y, sample_weight)
        kernel = (
            self.label_kernel(Y.toarray()) if callable(self.label_kernel) else self.label_kernel
        )
        return Weighted(sparse.csr_array(_factor(kernel, Y.shape[0])), sample_weight)

    def _ridge(self, scatter: Scatter) -> float:
        return 0.0  # if anything regularises, it is the identity added to XᵀX

    def _eigenpairs(self, scatter: Scatter, ridge: float) -> Eigenpairs:
        L = np.full(scatter.n_classes, 1 / np.sqrt(scatter.weight))
        if self.projection == "p" or self.mu == 0:
            values, vectors = orthonormal_eigenpairs(scatter, L)
            return Eigenpairs(values / scatter.weight, vectors / np.sqrt(scatter.weight))
        gamma = (1 - self.mu) / self.mu
        values, vectors = generalized_eigenpairs(scatter, L, gamma, self.n_components)
        return Eigenpairs(values / self.mu, vectors / np.sqrt(self.mu))


def _factor(kernel: Any, n: int) -> Array:
    """Return Z with L = Z Zᵀ."""
    L = check_array(kernel, input_name="label_kernel")
    if L.shape != (n, n):
        raise ValueError(
            f"label_kernel has shape {L.shape}, but X has {n} samples: pass ({n}, {n})."
        )
    values, vectors = positive_eigenpairs(L)
    Z = vectors * np.sqrt(values)
    if not np.allclose(Z @ Z.T, L, atol=1e-8 * np.abs(L).max()):
        raise ValueError("label_kernel must be symmetric and positive semi-definite.")
    return Z

"""Multi-label informed latent semantic indexing."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import (
    RANGE_RTOL,
    RANK_RTOL,
    Eigenpairs,
    Normalization,
    generalized_eigenpairs,
    normalized,
    positive_eigenpairs,
)
from skml_kalda._core.scatter import TOL, Scatter
from skml_kalda.reducers.base import (
    RANK_OF_COVARIANCE,
    RANK_OF_DATA,
    RIDGE,
    TOLERANCE,
    BaseReducer,
    Directions,
    chosen_ridge,
    documented,
    no_direction,
    number_of_components,
)
from skml_kalda.reducers.lda import NORMALIZE

# The ridge "auto" of the inverse form, which is in other units.
_INVERSE_RIDGE = 0.1


@documented
class MLSI(BaseReducer):
    r"""Multi-label informed latent semantic indexing.

    Finds latent features that reconstruct both the data and the labels. With X and Y centred
    and of unit Frobenius norm, it solves

    .. math:: \min_{G, A, B} (1-\beta) \|X - V A\|_F^2 + \beta \|Y - V B\|_F^2,
              \quad V = X G, \quad V^T V = I.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data (for ``beta=1``: the rank
        of :math:`X^T Y`). None means the number of non-empty classes, minus one if every sample has
        the same number of labels, or that rank if smaller.
    beta : float in [0, 1], default=0.5
        Weight of the labels: ``beta=0`` is whitened PCA, ``beta=1`` is OPLS.
    form : {"direct", "inverse"}, default="direct"
        The eigenproblem. With :math:`C = (1-\beta) X X^T + \beta Y Y^T`, "direct" maximises
        :math:`\mathrm{Tr}(V^T C V)`, which solves the problem above:
        :math:`X^T C X g = \lambda (X^T X + \gamma I) g`. "inverse" minimises
        :math:`\mathrm{Tr}(V^T C^{-1} V)`, as in the original:
        :math:`X^T X g = \lambda (X^T C^{-1} X + \gamma I) g`; it needs ``beta < 1``.
    ridge : float or "auto", default="auto"
        For "direct": :math:`\gamma` as a multiple of the mean eigenvalue of :math:`X^T X`. For
        "inverse": :math:`\gamma` itself; the same multiple of :math:`\mathrm{Tr}(C) / p` is also
        added to the diagonal of :math:`C`. "auto" chooses the value for which a ridge
        regression of the labels on the features is best in generalised cross-validation; for
        "inverse" it is 0.1.
    scale : bool, default=True
        Whether to scale X and Y to unit Frobenius norm, so that the meaning of :math:`\beta`
        does not depend on their units.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": latent features of unit variance (for "direct", apart
        from the ridge). "unit": directions of unit length. "sqrt_eig": "B" times
        :math:`\sqrt\lambda`. "qr": orthonormal directions.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    OPLS : The case ``beta=1``.
    sklearn.decomposition.PCA : The case ``beta=0``.

    Notes
    -----
    The two forms are not equivalent. If the columns of X and Y together are linearly
    independent, :math:`X^T C^{-1} X` is a multiple of the identity, and "inverse" is PCA: the
    labels have no effect. With fewer samples than features both take the leading eigenvectors of
    :math:`C`. Every sample counts once, with labels or without. The result depends on the
    scaling of the features. For large sparse X, "direct" iterates in a subspace, and "inverse"
    needs a square array with the shorter side of X.

    References
    ----------
    .. [1] K. Yu, S. Yu and V. Tresp, "Multi-label informed latent semantic indexing", SIGIR
       2005.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MLSI
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> MLSI(n_components=6).fit_transform(X, Y).shape
    (100, 6)
    """

    ridge_: float

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "beta": [Interval(Real, 0, 1, closed="both")],
        "form": [StrOptions({"direct", "inverse"})],
        "ridge": RIDGE,
        "scale": ["boolean"],
        "normalize": NORMALIZE,
        "tol": TOLERANCE,
    }

    _sample_weighted = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        beta: float = 0.5,
        form: Literal["direct", "inverse"] = "direct",
        ridge: float | Literal["auto"] = "auto",
        scale: bool = True,
        normalize: Normalization = "sqrt_eig",
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.form = form
        self.ridge = ridge
        self.scale = scale
        self.normalize = normalize
        self.tol = tol

    @property
    def _needs_class_means(self) -> bool:
        return self.beta == 1  # otherwise it explains the data too

    @property
    def _needs_spectrum(self) -> bool:
        return self.form == "inverse"

    def _directions(self, scatter: Scatter) -> Directions:
        x, y = 1.0, 1.0
        if self.scale:
            x, y = scatter.trace, float(scatter.label_variance.sum())
            if y <= RANGE_RTOL * scatter.gram.diagonal().sum():
                raise no_direction("MLSI", "the variance of the labels")
        ridge = self._ridge(scatter)
        values, G = (
            self._spectral(scatter, ridge, x, y)
            if scatter.spectrum is not None
            else self._iterated(scatter, ridge, x, y)
        )
        G = normalized(Eigenpairs(values, G), scatter.weight, self.normalize)
        return Directions(G, {"eigenvalues_": values, "ridge_": ridge})

    def _ridge(self, scatter: Scatter) -> float:
        if self.ridge == "auto" and self.form == "inverse":
            return _INVERSE_RIDGE
        return chosen_ridge("MLSI", self.ridge, scatter)

    def _spectral(self, scatter: Any, ridge: float, x: float, y: float) -> Eigenpairs:
        values, basis = scatter.spectrum
        cross = np.asarray(basis.T @ scatter.cross)
        moments = _Moments(values / x, cross / (np.sqrt(x) * np.sqrt(y)), scatter.label_scatter / y)
        latent = self._direct if self.form == "direct" else self._inverse
        values, G = latent(moments, ridge, self._k(scatter, moments, ridge))
        return Eigenpairs(values, np.asarray(basis @ (G / np.sqrt(x))))

    def _iterated(self, scatter: Any, ridge: float, x: float, y: float) -> Eigenpairs:
        """Return the leading pairs of the direct form from products with the data alone."""
        gamma, default = ridge * scatter.mean_eigenvalue, scatter.label_dimensions
        if self.beta == 1:
            L = np.full(scatter.n_classes, 1 / np.sqrt(y))
            pairs = generalized_eigenpairs(scatter, L, gamma, self.n_components)
            limit = len(pairs.values)
            return pairs.leading(self._number_of_components(default, limit, RANK_OF_COVARIANCE))
        limit = min(scatter.n_features, scatter.n_samples - 1)
        k = self._number_of_components(default, limit, RANK_OF_DATA)
        C, a, b = scatter.cross, (1 - self.beta) / x, self.beta / y

        def product(V: Array) -> Array:
            return a * scatter.matmul(scatter.matmul(V)) + C @ (b * (C.T @ V))

        rng = np.random.default_rng(0)
        start = C @ rng.standard_normal((scatter.n_classes, min(k, scatter.n_classes)))
        rest = scatter.matmul(rng.standard_normal((scatter.n_features, k - start.shape[1])))
        pairs = scatter.leading_eigenpairs(product, gamma, np.hstack([start, rest]), k)
        found, name = len(pairs.values), type(self).__name__
        return pairs.leading(number_of_components(name, self.n_components, k, found, RANK_OF_DATA))

    def _k(self, scatter: Scatter, moments: _Moments, ridge: float) -> int:
        limit, reason = len(moments.data), RANK_OF_DATA
        if self.beta == 1:
            # In the metric of the ridge, so that without one it does not depend on units.
            N = moments.cross / self._root(moments, ridge)[:, None]
            limit = int(np.linalg.matrix_rank(N, rtol=RANGE_RTOL))
            reason = RANK_OF_COVARIANCE
        return self._number_of_components(scatter.label_dimensions, limit, reason)

    def _root(self, moments: _Moments, ridge: float) -> Array:
        """Return the root of S_t + γI in the eigenbasis of S_t."""
        s = moments.data
        return np.asarray(np.sqrt(s + ridge * s.sum() / self.n_features_in_))

    def _direct(self, moments: _Moments, ridge: float, k: int) -> Eigenpairs:
        s, N, _ = moments
        root = self._root(moments, ridge)
        N = N / root[:, None]
        M = self.beta * N @ N.T
        M.flat[:: len(s) + 1] += (1 - self.beta) * (s / root) ** 2
        values, P = linalg.eigh(M, subset_by_index=(len(s) - k, len(s) - 1))
        return Eigenpairs(values[::-1], P[:, ::-1] / root[:, None])

    def _inverse(self, moments: _Moments, ridge: float, k: int) -> Eigenpairs:
        s = moments.data
        B = self._inner(moments, ridge)
        B.flat[:: len(s) + 1] += ridge
        values, W = linalg.eigh(np.diag(s), B, subset_by_index=(len(s) - k, len(s) - 1))
        # So far gᵀXᵀXg = λ. Scale the latent features to unit norm.
        return Eigenpairs(values[::-1], (W / np.sqrt(values))[:, ::-1])

    def _inner(self, moments: _Moments, ridge: float) -> Array:
        """Return XᵀC⁻¹X, computed from H = ΦᵀΦ with Φ = [√(1−β) X, √β Y], so that C = ΦΦᵀ."""
        if self.beta == 1:
            raise ValueError(
                'MLSI needs beta < 1 for form="inverse", because beta=1 leaves no XXᵀ in C.'
            )
        s, N, gram = moments
        r = len(s)
        side = np.concatenate([np.full(r, 1 - self.beta), np.full(len(gram), self.beta)]) ** 0.5
        H = np.block([[np.diag(s), N], [N.T, gram]]) * np.outer(side, side)
        values, vectors = positive_eigenpairs(H, RANK_RTOL)
        delta = ridge * np.trace(H) / self.n_features_in_
        vectors = vectors[:r]
        return (vectors * (values / (values + delta))) @ vectors.T / (1 - self.beta)


class _Moments(NamedTuple):
    """Second moments in the eigenbasis of XᵀX."""

    # Eigenvalues of XᵀX, shape (r,).
    data: Array
    # XᵀY, shape (r, K).
    cross: Array
    # YᵀY, shape (K, K).
    labels: Array

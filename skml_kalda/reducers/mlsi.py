"""Multi-label informed latent semantic indexing."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import linalg
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._base import BaseReducer
from skml_kalda._implicit import NO_SPECTRUM, ImplicitScatter
from skml_kalda._moments import RANGE_RTOL
from skml_kalda._pencil import Normalization, Pencil, normalized
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import NORMALIZE_WHOLE, RIDGE
from skml_kalda.reducers._latent import Latent


class MLSI(BaseReducer):
    r"""Multi-label informed latent semantic indexing.

    Latent features that reconstruct both the data and the labels: with X and Y centred and
    of unit Frobenius norm,

    .. math:: \min_{G, A, B} (1-\beta) \|X - V A\|_F^2 + \beta \|Y - V B\|_F^2,
              \quad V = X G, \quad V^T V = I.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of the centred data (for ``beta=1``: the rank
        of :math:`X^T Y`). None means the number of classes that have rows, minus one, or that
        rank.
    beta : float in [0, 1], default=0.5
        Weight of the labels: zero is whitened PCA, one is OPLS.
    form : {"direct", "inverse"}, default="direct"
        The eigenproblem. With :math:`C = (1-\beta) X X^T + \beta Y Y^T`, "direct" maximises
        :math:`\mathrm{Tr}(V^T C V)`, which solves the problem above:
        :math:`X^T C X g = \lambda (X^T X + \gamma I) g`. "inverse" minimises
        :math:`\mathrm{Tr}(V^T C^{-1} V)`, as in the original:
        :math:`X^T X g = \lambda (X^T C^{-1} X + \gamma I) g`; it needs ``beta < 1``.
    ridge : float, default=1e-6
        :math:`\gamma` of "direct", as a multiple of the mean eigenvalue of :math:`X^T X`. For
        "inverse", :math:`\gamma` itself, and what is added to :math:`C` as a multiple of
        :math:`\mathrm{Tr}(C) / p`.
    scale : bool, default=True
        Whether X and Y are brought to unit Frobenius norm, so that :math:`\beta` means the
        same for any units.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": latent features of unit variance, for "direct" but for
        the ridge. "unit": directions of unit length. "sqrt_eig": "B" times
        :math:`\sqrt\lambda`. "qr": orthonormal directions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending.
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
    OPLS : The case ``beta=1``.
    sklearn.decomposition.PCA : The case ``beta=0``.

    Notes
    -----
    The two forms are not equivalent. If the columns of X and Y together are linearly
    independent, :math:`X^T C^{-1} X` is a multiple of the identity, and "inverse" is PCA: the
    labels have no effect. With fewer rows than features both take the leading eigenvectors of
    :math:`C`. Every row counts once, with labels or without. The result depends on the
    scaling of the features. For large sparse X "direct" is found by the Arnoldi method;
    "inverse" needs the whole spectrum of :math:`X^T X` and is refused.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "beta": [Interval(Real, 0, 1, closed="both")],
        "form": [StrOptions({"direct", "inverse"})],
        "ridge": RIDGE,
        "scale": ["boolean"],
        "normalize": NORMALIZE_WHOLE,
    }
    _counts_rows_once = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        beta: float = 0.5,
        form: Literal["direct", "inverse"] = "direct",
        ridge: float = 1e-6,
        scale: bool = True,
        normalize: Normalization = "B",
    ) -> None:
        self.n_components = n_components
        self.beta = beta
        self.form = form
        self.ridge = ridge
        self.scale = scale
        self.normalize = normalize

    def _directions(self, scatter: AnyScatter) -> Array:
        label_scatter = scatter.label_scatter
        x, y = (scatter.trace, float(np.trace(label_scatter))) if self.scale else (1.0, 1.0)
        if isinstance(scatter, ImplicitScatter):
            pencil = self._implicit(scatter, x, y)
        else:
            values, basis = scatter.spectrum()
            cross = np.asarray(basis.T @ scatter.cross)
            moments = _Moments(values / x, cross / np.sqrt(x * y), label_scatter / y)
            k = self._k(scatter, moments)
            latent = self._direct if self.form == "direct" else self._inverse
            values, G = latent(moments, k)
            pencil = Pencil(values, np.asarray(basis @ G))
        self.eigenvalues_ = pencil.values
        pencil = Pencil(pencil.values, pencil.vectors / np.sqrt(x))
        return normalized(pencil, scatter.weight, self.normalize)

    def _implicit(self, scatter: ImplicitScatter, x: float, y: float) -> Pencil:
        if self.form == "inverse":
            raise ValueError(f'MLSI(form="inverse") {NO_SPECTRUM}: use form="direct".')
        gamma = self.ridge * scatter.trace / x / scatter.n_features
        latent = Latent.of(scatter, self.beta, gamma, x, y)
        limit, reason = (
            min(scatter.n_features, scatter.n_samples) - 2,
            "the size of the data, less 2",
        )
        if self.beta == 1:
            limit, reason = latent.weights.shape[1], "the rank of the covariance of X and y"
        return latent.top(self._number_of_components(scatter.n_classes - 1, limit, reason))

    def _k(self, scatter: AnyScatter, moments: _Moments) -> int:
        limit, reason = len(moments.data), "the rank of the centred data"
        if self.beta == 1:
            limit = int(np.linalg.matrix_rank(moments.cross, rtol=RANGE_RTOL))
            reason = "the rank of the covariance of X and y"
        return self._number_of_components(scatter.n_classes - 1, limit, reason)

    def _direct(self, moments: _Moments, k: int) -> Pencil:
        s, N, _ = moments
        root = np.sqrt(s + self.ridge * s.sum() / self.n_features_in_)
        N = N / root[:, None]
        M = self.beta * N @ N.T
        M.flat[:: len(s) + 1] += (1 - self.beta) * (s / root) ** 2
        values, P = linalg.eigh(M, subset_by_index=(len(s) - k, len(s) - 1))
        return Pencil(values[::-1], P[:, ::-1] / root[:, None])

    def _inverse(self, moments: _Moments, k: int) -> Pencil:
        s = moments.data
        B = self._inner(moments)
        B.flat[:: len(s) + 1] += self.ridge
        values, W = linalg.eigh(np.diag(s), B, subset_by_index=(len(s) - k, len(s) - 1))
        # gᵀXᵀXg = λ so far; the latent features have unit norm.
        return Pencil(values[::-1], (W / np.sqrt(values))[:, ::-1])

    def _inner(self, moments: _Moments) -> Array:
        """XᵀC⁻¹X, from H = ΦᵀΦ of Φ = [√(1−β) X, √β Y], for which C = ΦΦᵀ."""
        if self.beta == 1:
            raise ValueError('MLSI needs beta < 1 for form="inverse": XXᵀ drops out of C.')
        s, N, gram = moments
        r = len(s)
        side = np.concatenate([np.full(r, 1 - self.beta), np.full(len(gram), self.beta)]) ** 0.5
        H = np.block([[np.diag(s), N], [N.T, gram]]) * np.outer(side, side)
        values, vectors = linalg.eigh(H)
        delta = self.ridge * np.trace(H) / self.n_features_in_
        keep = values > 1e-12 * values[-1]
        values, vectors = values[keep], vectors[:r, keep]
        return (vectors * (values / (values + delta))) @ vectors.T / (1 - self.beta)


class _Moments(NamedTuple):
    """Second moments in the eigenbasis of XᵀX."""

    data: Array
    """Eigenvalues of XᵀX, shape (r,)."""
    cross: Array
    """XᵀY, shape (r, K)."""
    labels: Array
    """YᵀY, shape (K, K)."""

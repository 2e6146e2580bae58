"""The scatter of labelled samples: the one statistic from which every reducer is computed.

Samples x_i carry weights w_i and label vectors b_i. In the paper's setting w_i = ρ_i, the number
of labels of a sample (Ω = diag(ρ)), and b_i = y_i / ρ_i, so that Σ w_i b_i = n_k. Methods that
resemble regression take w_i = 1 and b_i = y_i.

Here S_t is held as an array: of p × p numbers (`PrimalScatter`, which can be added up over batches)
or of n × n (`DualScatter`). `skml_kalda._core.operator` knows it through products only.
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator

from skml_kalda._core.arrays import (
    Array,
    check_finite,
    check_labels,
    check_memory,
    row_blocks,
    weighted_mean,
)
from skml_kalda._core.centred import CentredSamples
from skml_kalda._core.eigenproblem import RANK_RTOL, Eigenpairs, positive, positive_eigenpairs

Form: TypeAlias = Literal["primal", "dual", "operator"]

# Default accuracy of iterative solutions.
TOL = 1e-4
# Features whose spreads differ by less than this factor count as having the same unit.
_SIMILAR = 100.0
# If no feature correlates with labels by more than this, all that is left is rounding. The same
# holds for the variance of the label sums as a fraction of their squares.
_ROUNDING = 1e-12
# A solve loses as many digits as the condition number of B has. If that is larger than the
# inverse of this, S_t is restricted to its range first.
_RCOND = 1e-6
# Divide and conquer loses singular values below this fraction of the largest to rounding.
_GRADED = 1e-8
# Numbers of a basis of sparse samples that is formed where inner products lose digits: 256 MB.
_LARGEST_BASIS = 2**25
# Sparse data are never turned into a square array with a longer side: 3.2 GB.
_LARGE = 20_000
# With more labels, sparse data never get an array with one column per label.
_LABELS = 5_000
# Features of which p × p arrays cost little, even one for each of many blocks: 32 MB.
_SMALL = 2_000
# An iterative solve costs, per stored entry and label, as much as this many operations on a
# square array.
_ITERATIVE = 4_000
_forced_form: ContextVar[Form | None] = ContextVar("forced_form", default=None)


def scatter_of(X: Any, labels: Any, weight: Array, *, needs_spectrum: bool = False) -> Scatter:
    """Return the scatter of X in the cheapest form.

    Parameters
    ----------
    X : array, CSR of shape (n, p), or samples on workers
        Sparse X stays sparse.
    labels : CSR of shape (n, K)
        b_i.
    weight : array of shape (n,)
        w_i ≥ 0.
    needs_spectrum : bool, default=False
        Whether products with S_t do not suffice, even if an array takes long.
    """
    remote = hasattr(X, "blocks")
    nnz = X.nnz if remote or sparse.issparse(X) else None
    form = _forced_form.get() or cheapest_form(X.shape[0], X.shape[1], labels.shape[1], nnz)
    if form == "operator" and needs_spectrum:
        form = "dual" if X.shape[0] < X.shape[1] else "primal"
    if form == "operator":
        from skml_kalda._core.operator import OperatorScatter

        return OperatorScatter.of(X, labels, weight)
    if remote:  # inner products of samples would have to travel
        return X.primal(labels, weight)
    return (PrimalScatter if form == "primal" else DualScatter).of(X, labels, weight)


def cheapest_form(n: int, p: int, n_labels: int, nnz: int | None) -> Form:
    """Choose the form for n samples of p features and K labels, `nnz` entries stored.

    None for `nnz` means dense. A square array of the smaller side m costs m³ operations to
    solve with; conjugate gradients cost some hundred products of 4 nnz K operations each,
    which run an order of magnitude slower than dense ones (benchmarks/results/scale-forms.json).
    """
    side = min(n, p)
    many = n_labels > _LABELS or side > _LARGE
    if nnz is not None and (many or side**3 > _ITERATIVE * nnz * n_labels):
        return "operator"
    return "dual" if n < p else "primal"


def adds_up(n_features: int, n_labels: int = 1) -> bool:
    """Whether the p × p form is the cheapest for blocks of samples, whatever these are."""
    if form := _forced_form.get():
        return form != "operator"
    return n_features <= _SMALL and n_labels <= _LABELS


@contextmanager
def forced_form(form: Form | None) -> Iterator[None]:
    """Take this form instead of the cheapest within a with statement, to compare the forms."""
    token = _forced_form.set(form)
    try:
        yield
    finally:
        _forced_form.reset(token)


class Spectrum(NamedTuple):
    """S_t on its range: S_t = U diag(values) Uᵀ, values descending and positive."""

    values: Array
    # U, of shape (p, r): an array, or an operator where U would be as large as dense X.
    basis: Any


class Density(NamedTuple):
    """Points that represent the eigenvalues of S_t: all of them, or an estimate."""

    values: Array
    # Number of eigenvalues that each point represents.
    counts: Array
    # Σ ‖Fᵀu‖² over their eigenvectors u, where S_b = F Fᵀ.
    energy: Array


@dataclass(frozen=True)
class Scatter(metaclass=ABCMeta):
    """The moments of samples and labels; each form holds S_t in its own way."""

    # Number of samples of positive weight w_i.
    n_samples: int
    # Σ w_i.
    weight: float
    # m = Σ w_i x_i / Σ w_i, shape (p,).
    mean: Array
    # n_k = Σ w_i b_ik, shape (K,).
    label_weight: Array
    # C = Σ w_i (x_i − m) b_iᵀ, shape (p, K).
    cross: Any
    # Σ w_i b_i b_iᵀ, shape (K, K).
    gram: Any

    # Whether S_b is that of regression: labels centred, and all on the same scale.
    sample_weighted: bool = field(default=False, kw_only=True)

    # Approximate largest angle between an iterative solution and the exact one.
    tol: float = field(default=TOL, kw_only=True)

    @cached_property
    @abstractmethod
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""

    @cached_property
    @abstractmethod
    def density(self) -> Density:
        """The distribution of the eigenvalues of S_t."""

    @property
    @abstractmethod
    def spectrum(self) -> Any:
        """`Spectrum` of S_t on its range; None if S_t is known through products only."""

    @abstractmethod
    def matmul(self, V: Array) -> Array:
        """Return S_t V."""

    @abstractmethod
    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L, shape (p, q): one solve with q right-hand sides.

        Without a ridge, features with different units are scaled to equal variance first,
        because the rank of S_t must not depend on units. If S_t is singular, W has least norm
        after that scaling.
        """

    @abstractmethod
    def eigenpairs(self, L: Array, ridge: float, k: int | None) -> Eigenpairs:
        """Solve (C L)(C L)ᵀ g = λ (S_t + γI) g; see `generalized_eigenpairs`."""

    @abstractmethod
    def rescaled(self, units: Array) -> Self:
        """Return the scatter of the samples times `units`, feature by feature."""

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(self.diagonal.sum())

    @property
    def mean_eigenvalue(self) -> float:
        """Tr(S_t) / p, the unit of ridges."""
        return self.trace / self.n_features

    @property
    def n_features(self) -> int:
        """Dimension p of the data."""
        return self.mean.shape[0]

    @property
    def n_classes(self) -> int:
        """Number K of label columns."""
        return self.label_weight.shape[0]

    @cached_property
    def varying(self) -> NDArray[np.bool_]:
        """Which features vary by more than the rounding error of their mean, shape (p,)."""
        return exceeds_rounding(self.diagonal, self.weight, self.mean)

    @property
    def has_class_means(self) -> bool:
        """Whether C is more than rounding, as its product with a random vector shows.

        If it is not, a direction of the largest entries of C would mean nothing.
        """
        probe = np.random.default_rng(0).standard_normal(self.n_classes)
        bound = np.sqrt(self.diagonal) * np.sqrt(probe @ (self.gram @ probe))  # Cauchy-Schwarz
        return bool(np.any(np.abs(self.cross @ probe) > _ROUNDING * bound))

    @property
    def units(self) -> Array:
        """Factors that scale features to equal variance; zero for constant features."""
        return np.where(self.varying, 1 / np.sqrt(np.where(self.varying, self.diagonal, 1)), 0)

    @property
    def has_similar_scales(self) -> bool:
        """Whether all features that vary have about the same unit.

        If not, the smallest eigenvalues of S_t may be lost in the rounding errors of the largest.
        Results that do not depend on units are then computed from features of equal variance.
        """
        diagonal = self.diagonal[self.varying]
        return bool(diagonal.max(initial=0.0) <= _SIMILAR**2 * diagonal.min(initial=np.inf))

    def cleaned(self) -> Self:
        """Return the scatter with the rounding errors of constant features set to zero."""
        noise = ~self.varying & (self.diagonal > 0)
        return self.rescaled(np.where(noise, 0.0, 1.0)) if noise.any() else self

    @property
    def class_scale(self) -> Array:
        """n_k^(-½), shape (K,); zero for a class without weight."""
        occupied = self.label_weight > 0
        return np.where(occupied, 1 / np.sqrt(np.where(occupied, self.label_weight, 1)), 0)

    @property
    def label_scale(self) -> Array:
        """The diagonal of L in S_b = (CL)(CL)ᵀ, shape (K,): n_k^(-½).

        If every sample counts once it is (Σ w_i)^(-½), so that S_b has the unit of S_t.
        """
        if self.sample_weighted:
            return np.full(self.n_classes, 1 / np.sqrt(self.weight))
        return self.class_scale

    @property
    def between(self) -> Any:
        """F with S_b = F Fᵀ, shape (p, K): column k is √n_k (m_k − m)."""
        return self.cross * self.label_scale

    @property
    def label_scatter(self) -> Array:
        """Σ w_i (b_i − b̄)(b_i − b̄)ᵀ, shape (K, K)."""
        return np.asarray(self.gram - np.outer(self.label_weight / self.weight, self.label_weight))

    @property
    def label_variance(self) -> Array:
        """Diagonal of `label_scatter`, shape (K,)."""
        share = self.label_weight / self.weight  # a square of weights may overflow
        return np.asarray(self.gram.diagonal() - self.label_weight * share)

    @property
    def label_norm(self) -> float:
        """Frobenius norm of the label kernel L Σ w_i b_i b_iᵀ L; centred if `sample_weighted`."""
        kernel = self.label_scatter if self.sample_weighted else self.gram
        return float(np.linalg.norm(self.label_scale[:, None] * kernel * self.label_scale))

    @property
    def label_dimensions(self) -> int:
        """Number of dimensions in which the labels vary, if they are linearly independent.

        It is K, or K − 1 if the entries of every b_i have the same sum: with one class per sample,
        or if a sample counts once for each of its labels.
        """
        total, sums = float(self.gram.sum()), float(self.label_weight.sum())
        varying = total - sums / self.weight * sums
        return self.n_classes - (varying <= _ROUNDING * total)

    def regression_weights(self, ridge: float) -> Array:
        """Return ridge weights of the label combinations that vary, shape (p, rank); same W Wᵀ."""
        return self.ridge_weights(varying(self.label_scatter), ridge)

    def varying_side(self, L: Array) -> Array:
        """Return L times a basis of the combinations of its columns that vary, shape (K, rank).

        F = C L vanishes on the rest, such as the sum of one-hot labels, whatever X is. Solving for
        it would return directions made of rounding errors.
        """
        if L.ndim == 1:
            return L[:, None] * varying(L[:, None] * self.label_scatter * L)
        return np.asarray(L @ varying(L.T @ self.label_scatter @ L))


@dataclass(frozen=True)
class ArrayScatter(Scatter):
    """A scatter that holds S_t as a square array, and so has its spectrum."""

    @cached_property
    @abstractmethod
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""

    @abstractmethod
    def _solve(self, L: Array, ridge: float) -> Array | None:
        """Solve without a spectrum; None if S_t + γI is too close to singular."""

    @cached_property
    def density(self) -> Density:
        """Every eigenvalue of S_t that is resolved."""
        values, basis = self._resolved
        energy = np.sum(np.asarray(basis.T @ self.between) ** 2, axis=1)
        return Density(values, np.ones(len(values)), energy)

    @property
    def _resolved(self) -> Spectrum:
        return self.spectrum

    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L; see `Scatter`."""
        if ridge == 0 and not self.has_similar_scales:
            units = self.units
            return units[:, None] * self.rescaled(units).ridge_weights(L, ridge)
        W = None if "spectrum" in vars(self) else self._solve(L, ridge)
        if W is not None:
            return W
        values, basis = self.spectrum
        return np.asarray(basis @ ((basis.T @ self.cross @ L) / (values + ridge)[:, None]))

    def eigenpairs(self, L: Array, ridge: float, k: int | None) -> Eigenpairs:
        """Solve (C L)(C L)ᵀ g = λ (S_t + γI) g exactly."""
        L = self.varying_side(L)
        R = self.ridge_weights(L, ridge)
        T = L.T @ (self.cross.T @ R)
        values, Q = positive_eigenpairs((T + T.T) / 2, RANK_RTOL)
        return Eigenpairs(values, (R @ Q) / np.sqrt(values))


@dataclass(frozen=True)
class PrimalScatter(ArrayScatter):
    """S_t as a p × p array; ``a + b`` is the scatter of the samples of both."""

    # S_t = Σ w_i (x_i − m)(x_i − m)ᵀ, shape (p, p).
    total: Array

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> PrimalScatter:
        """Add up the samples; dense ones as a whole, or block by block about their own means."""
        check_memory(X.shape[1])
        check_labels(X.shape[1], labels.shape[1])
        if sparse.issparse(X):
            T = CentredSamples(X, weight)
            moments = label_moments(labels, weight, T.mean)
            return cls(*moments, T.cross(labels), label_gram(labels, weight), T.total_array())
        if (whole := cls._of_whole(X, labels, weight)) is not None:
            return whole
        work: list[Array] = []
        # Blocks large enough to hide the p × p merge.
        blocks = row_blocks(X, at_least=2048)
        return reduce(add, (cls._of_block(x, labels[i], weight[i], work) for i, x in blocks))

    @classmethod
    def _of_whole(cls, X: Array, labels: Any, weight: Array) -> PrimalScatter | None:
        """Multiply dense X as it is and centre the products, where that costs at most a digit.

        Samples of unit weight need no copy then, and centring them costs half as much as XᵀX.
        None if X or its weights do not allow it.
        """
        if X.dtype != np.float64 or not X.flags.forc or np.any(weight != 1):
            return None
        first, n = X[:1024], len(X)
        with np.errstate(over="ignore", invalid="ignore"):
            if not _is_central(np.einsum("ij,ij->j", first, first), len(first), first.mean(axis=0)):
                return None
            sums = labels.T @ X
            if np.all(labels.sum(axis=1) == 1):
                mean = sums.sum(axis=0) / n  # saves reading X once more
            else:
                mean = weighted_mean(X, weight)
            # A value of X that is not finite shows in the mean; the blocks then tell which it is.
            if not np.isfinite(mean).all():
                return None
            total = X.T @ X
            if not _is_central(total.diagonal(), n, mean):
                return None
        total -= np.outer(n * mean, mean)
        moments = label_moments(labels, weight, mean)
        cross = (sums - np.outer(moments[-1], mean)).T
        return cls(*moments, cross, label_gram(labels, weight), total)

    @classmethod
    def of_blocks(cls, blocks: Iterable[tuple[Array, Any, Array]]) -> PrimalScatter:
        """Add up blocks of dense samples, labels and weights. The samples are overwritten."""
        return reduce(add, (cls._of_block(x, b, w, [x]) for x, b, w in blocks))

    @classmethod
    def _of_block(cls, X: Array, labels: Any, weight: Array, work: list[Array]) -> PrimalScatter:
        mean = weighted_mean(X, weight)
        root = np.sqrt(weight)
        if not work:
            # One workspace for all blocks, because allocating memory costs as much as summing.
            work.append(np.empty(X.shape))
        T = np.subtract(X, mean, out=work[0][: len(X)])  # Ω^½ X̃
        if np.any(root != 1):
            T *= root[:, None]
        moments = label_moments(labels, weight, mean)
        cross = ((sparse.diags_array(root) @ labels).T @ T).T
        # Labels are not centred, so the rounding of a large mean would add up.
        cross -= np.outer(root @ T / (weight.sum() or 1.0), moments[-1])
        return cls(*moments, cross, label_gram(labels, weight), T.T @ T)

    def __add__(self, other: PrimalScatter) -> PrimalScatter:
        moments, factor, apart = merged(self, other)
        total = np.outer(factor * apart, apart)
        total += self.total
        total += other.total
        return replace(
            self,
            **moments,
            n_samples=self.n_samples + other.n_samples,
            gram=self.gram + other.gram,
            total=total,
        )

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        return self.total.diagonal()

    def rescaled(self, units: Array) -> PrimalScatter:
        """Return the scatter of the samples times `units`, feature by feature."""
        return replace(
            self,
            mean=self.mean * units,
            cross=self.cross * units[:, None],
            total=(self.total * units) * units[:, None],
        )

    def mapped(self, A: Array) -> PrimalScatter:
        """Return the scatter of the samples x_i A, for A of shape (p, r)."""
        return replace(self, mean=self.mean @ A, cross=A.T @ self.cross, total=A.T @ self.total @ A)

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        return np.asarray(self.total @ V)

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        # NumPy's eigh: SciPy has a faster driver, but switching to its BLAS threads costs more.
        if self.has_similar_scales:
            return Spectrum(*positive_eigenpairs(self.total, eigh=np.linalg.eigh))
        # S_t = AAᵀ, where A has one column for each positive eigenvalue of S_t scaled to a unit
        # diagonal. Singular values of A resolve variances that eigenvalues of S_t do not.
        units = self.units
        values, vectors = positive_eigenpairs(self.rescaled(units).total)
        spread = np.divide(1, units, out=np.zeros_like(units), where=units > 0)
        return _spectrum_of_square(np.sqrt(values) * vectors * spread[:, None], len(values))

    def _solve(self, L: Array, ridge: float) -> Array | None:
        return _cholesky_solve(self.total, ridge, self.cross @ L)

    def select(self, classes: NDArray[Any]) -> PrimalScatter:
        """Keep only the given label columns."""
        return replace(
            self,
            label_weight=self.label_weight[classes],
            cross=self.cross[:, classes],
            gram=self.gram[np.ix_(classes, classes)],
        )

    def filled(self, n_labels: int) -> PrimalScatter:
        """Put the known mean in place of unknown labels, if the columns are [Y, U].

        U marks the unknown labels. The result has the labels Y + U diag(ȳ), where ȳ is the mean
        over the samples in which a label is known. See `Indicator.filled`.
        """
        if self.n_classes == n_labels:
            return self
        A = filling(self.weight, self.label_weight)
        return replace(
            self,
            label_weight=self.label_weight @ A,
            cross=self.cross @ A,
            gram=A.T @ self.gram @ A,
        )

    def widen(self, n_classes: int, positions: NDArray[Any]) -> PrimalScatter:
        """Put label column j at ``positions[j]`` among `n_classes`; the others are empty."""
        gram = np.zeros((n_classes, n_classes))
        gram[np.ix_(positions, positions)] = self.gram
        return replace(
            self,
            label_weight=widened(self.label_weight, n_classes, positions),
            cross=widened(self.cross, n_classes, positions),
            gram=gram,
        )


@dataclass(frozen=True)
class DualScatter(ArrayScatter):
    """S_t through the n × n array of inner products, for fewer samples than features."""

    # T = Ω^½ X̃, shape (n, p): an array, or an operator over sparse X.
    samples: Any
    # T Tᵀ, shape (n, n).
    kernel: Array
    # Ω^½ (b − b̄), shape (n, K): C is Tᵀ of it.
    targets: Array

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> DualScatter:
        """Keep the centred samples of X."""
        check_memory(X.shape[0])
        check_labels(X.shape[1], labels.shape[1])
        samples: Any
        root = np.sqrt(weight)[:, None]
        label_mean = np.asarray(labels.T @ weight) / weight.sum()
        targets = root * (labels.toarray() - label_mean)
        if sparse.issparse(X):
            samples = CentredSamples(X, weight)
            mean, kernel = samples.mean, samples.kernel()
        else:
            samples = np.array(X, dtype=np.float64)
            check_finite(samples)
            mean = weighted_mean(samples, weight)
            samples -= mean
            samples *= root
            kernel = samples @ samples.T
        moments = label_moments(labels, weight, mean)
        gram = label_gram(labels, weight)
        return cls(*moments, samples.T @ targets, gram, samples, kernel, targets)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        if self._is_dense:
            return np.einsum("ij,ij->j", self.samples, self.samples)
        return np.asarray(self.samples.diagonal())

    @property
    def _is_dense(self) -> bool:
        return isinstance(self.samples, np.ndarray)

    def rescaled(self, units: Array) -> DualScatter:
        """Return the scatter of the samples times `units`, feature by feature."""
        if self._is_dense:
            samples: Any = self.samples * units
            kernel = samples @ samples.T
        else:
            samples = self.samples.rescaled(units)
            kernel = samples.kernel()
        cross = self.cross * units[:, None]
        return replace(self, mean=self.mean * units, cross=cross, samples=samples, kernel=kernel)

    def matmul(self, V: Array) -> Array:
        """Return S_t V."""
        return np.asarray(self.samples.T @ (self.samples @ V))

    @cached_property
    def _rank(self) -> int:
        """Rank of S_t, which does not depend on the units of the features."""
        scaled = self if self.has_similar_scales else self.rescaled(self.units)
        return len(positive_eigenpairs(scaled.kernel)[0])

    @cached_property
    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        if self._is_dense:
            if not self.has_similar_scales:
                return _spectrum_of_square(self.samples.T, self._rank)
            # Through QR, so that the basis is orthonormal even where eigenvalues are tiny.
            Q, R = linalg.qr(self.samples.T, mode="economic", check_finite=False)
            left, singular, _ = linalg.svd(R, full_matrices=False, check_finite=False)
            keep = positive(singular**2)
            return Spectrum(singular[keep] ** 2, Q @ left[:, keep])
        if self.has_similar_scales:
            return self._resolved
        if self._rank * self.n_features > _LARGEST_BASIS:
            found = len(self._resolved.values)
            if found == self._rank:
                return self._resolved
            raise ValueError(
                f"The units of the columns of X differ so much that {self._rank - found} of "
                f"{self._rank} directions are lost to rounding: scale X first, for example with a "
                "MaxAbsScaler."
            )
        # A of shape (p, rank) with S_t = A Aᵀ, through samples in similar scales.
        units = self.units
        scaled = self.rescaled(units)
        _, vectors = positive_eigenpairs(scaled.kernel)
        spread = np.divide(1, units, out=np.zeros_like(units), where=units > 0)
        A = np.asarray(spread[:, None] * (scaled.samples.T @ vectors))
        return _spectrum_of_square(A, self._rank)

    @cached_property
    def _resolved(self) -> Spectrum:
        """The spectrum, or the part of it that the inner products of sparse samples resolve."""
        if self._is_dense:
            return self.spectrum
        values, vectors = positive_eigenpairs(self.kernel)
        if not self.has_similar_scales:
            values, vectors = values[: self._rank], vectors[:, : self._rank]
        return Spectrum(values, self.samples.T @ aslinearoperator(vectors / np.sqrt(values)))

    def _solve(self, L: Array, ridge: float) -> Array | None:
        # (TᵀT + γI)⁻¹Tᵀ = Tᵀ(TTᵀ + γI)⁻¹
        dual = _cholesky_solve(self.kernel, ridge, self.targets @ L)
        return None if dual is None else np.asarray(self.samples.T @ dual)


def label_moments(labels: Any, weight: Array, mean: Array) -> tuple[int, float, Array, Array]:
    """Return the first fields of `Scatter`."""
    return int(np.count_nonzero(weight)), float(weight.sum()), mean, labels.T @ weight


def label_gram(labels: Any, weight: Array) -> Array:
    """Return Σ w_i b_i b_iᵀ, shape (K, K)."""
    return np.asarray((labels.T @ labels.multiply(weight[:, None])).toarray())


def varying(N: Array) -> Array:
    """Return a basis of the range of N = Lᵀ Σ w_i (b_i − b̄)(b_i − b̄)ᵀ L, shape (q, rank)."""
    return positive_eigenpairs(N)[1]


def exceeds_rounding(squares: Array, weight: float, mean: Array) -> NDArray[np.bool_]:
    """Whether Σ w_i (x_i − m)² is more than the rounding of the mean of a feature makes it."""
    return squares > 1e-28 * weight * mean**2


def _is_central(squares: Array, n: int, mean: Array) -> bool:
    """Whether Σ (x_i − m)² keeps its digits when it is Σ x_i² − n m²; false if not finite."""
    return bool(np.all(n * mean**2 <= 0.9 * squares) and np.isfinite(squares).all())


def widened(sums: Array, n_classes: int, positions: NDArray[Any]) -> Array:
    """Put column j of sums by label at ``positions[j]`` among `n_classes`; the others are zero."""
    wide = np.zeros((*sums.shape[:-1], n_classes))
    wide[..., positions] = sums
    return wide


class Merged(NamedTuple):
    """The first moments of the samples of two statistics (Chan, Golub & LeVeque 1983)."""

    # The fields `weight`, `mean`, `label_weight` and `cross` of the sum.
    moments: dict[str, Any]
    factor: float
    # Second moments about the mean grow by `factor` times `apart` `apart`ᵀ.
    apart: Array


def merged(a: Any, b: Any) -> Merged:
    """Merge the first moments of two statistics of the same features and labels."""
    weight = a.weight + b.weight
    share = b.weight / weight if weight else 0.0
    apart = b.mean - a.mean
    cross = a.cross + b.cross
    cross -= np.outer(share * apart, a.label_weight)
    cross += np.outer((1 - share) * apart, b.label_weight)
    moments = {
        "weight": weight,
        "mean": a.mean + share * apart,
        "label_weight": a.label_weight + b.label_weight,
        "cross": cross,
    }
    return Merged(moments, a.weight * share, apart)


def filling(weight: float, label_weight: Array) -> Array:
    """Return A, shape (2K, K), for which [Y, U] A = Y + U diag(ȳ).

    Parameters
    ----------
    weight : float
        Σ w_i.
    label_weight : array of shape (2K,)
        Weights of the samples that have each label, then of those in which it is unknown.
    """
    found, unknown = np.split(label_weight, 2)
    known = weight - unknown
    mean = np.divide(found, known, out=np.zeros_like(found), where=known > 0)
    return np.vstack([np.eye(len(mean)), np.diag(mean)])


def _spectrum_of_square(A: Array, rank: int) -> Spectrum:
    """Return the spectrum of S_t = A Aᵀ, for A of shape (p, r), in any units of the features."""
    left, singular, _ = graded_svd(A, rank)
    return Spectrum(singular**2, left)


def graded_svd(A: Array, rank: int) -> tuple[Array, Array, Array]:
    """Return `rank` singular values of A and their vectors, for rows of any size.

    QR of A with its rows sorted by size and its columns pivoted keeps the digits of every row,
    however small (Cox & Higham 1998). What is left is graded from large to small, and its singular
    values are all right to full precision if those of A in similar scales are.
    """
    order = np.argsort(-np.abs(A).max(axis=1, initial=0.0), kind="stable")
    Q, R, pivots = linalg.qr(A[order], mode="economic", pivoting=True, check_finite=False)
    size = np.abs(R.diagonal())[:rank]
    driver = "gesdd" if size[-1] > _GRADED * size[0] else "gesvd"
    inner, singular, rotation = linalg.svd(
        R, full_matrices=False, check_finite=False, lapack_driver=driver
    )
    left, right = np.empty((len(A), rank)), np.empty((rank, A.shape[1]))
    left[order] = Q @ inner[:, :rank]
    right[:, pivots] = rotation[:rank]
    return left, singular[:rank], right


def _cholesky_solve(S: Array, ridge: float, right: Array) -> Array | None:
    """Solve (S + γI) W = right; None if the matrix is too close to singular."""
    B = S.copy()
    B.flat[:: len(B) + 1] += ridge
    size = linalg.norm(B, 1)
    try:
        factor, lower = linalg.cho_factor(B, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    reciprocal_condition, _ = linalg.lapack.dpocon(factor, size, uplo="L" if lower else "U")
    if reciprocal_condition < _RCOND:
        return None
    solution: Array = linalg.cho_solve((factor, lower), right, check_finite=False)
    return solution

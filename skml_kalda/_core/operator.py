"""The scatter known through products with sparse X, here or on workers; the iterative solver.

X stays as it is: in memory as one block, or on the workers of a cluster as many. A product with
S_t is a sum over the blocks of TᵀT V, so p numbers travel for every column of V, however many
samples there are. All linear systems are solved by one loop, `solve`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches, gen_even_slices

from skml_kalda._core.arrays import Array, check_labels, dots, ratio
from skml_kalda._core.centred import CentredSamples, SingleSamples, shifted
from skml_kalda._core.eigenproblem import (
    RANGE_RTOL,
    RANK_RTOL,
    Eigenpairs,
    orthonormal,
    positive_eigenpairs,
)
from skml_kalda._core.scatter import Density, Scatter

Product: TypeAlias = Callable[[Array], Array]

MAX_ITER = 1000
# Numbers in the arrays of one block of columns: 256 MB. Columns of one product in float64.
_WORK, _COLUMNS = 2**25, 16
# Residual that single precision reaches before it is computed again in double precision.
_SINGLE_TOL = 1e-5
_MAX_ROUNDS = 60
# Eigenvalues of many labels are nearly equal: further rounds only change which of them are found.
_MANY_ROUNDS = 12
# Accuracy, and largest number of products, of solutions that only need the right direction.
_ROUGH, _ROUGH_ITER = 0.3, 200
# Random vectors that show the smallest eigenvalue of S_t, and the accuracy they need for that.
_QUIET, _QUIET_TOL = 4, 1e-5
# A column adds to a subspace if more than this share of it is outside.
_NEW = 1e-5
# With more labels, a few leading directions are found without solving for every label.
_MANY_LABELS = 1_000
# Random vectors and Lanczos steps: enough for an accuracy of a few per cent at any ridge.
_PROBES, _STEPS, _SKETCH = 32, 60, 64


class System(NamedTuple):
    """The matrix A + γI, for symmetric A without negative eigenvalues."""

    # V -> A V, in double precision.
    product: Product
    # γ ≥ 0.
    ridge: float
    # V -> A V / scale, in single precision; None if only double precision will do.
    single: Product | None = None
    scale: float = 1.0
    # Diagonal preconditioner, shape (m, 1).
    inverse: Array | None = None
    # The rows of vectors that inner products are taken over; the others are carried along.
    measured: slice = slice(None)

    def double_product(self, V: Array) -> Array:
        """Return (A + γI) V."""
        image = self.product(V)
        image += self.ridge * V
        return image

    def single_product(self, V: Array) -> Array:
        """Return (A + γI) V / scale."""
        assert self.single is not None
        image = self.single(V)
        image += np.float32(self.ridge / self.scale) * V
        return image


def solve(system: System, right: Array, tol: float, max_iter: int = MAX_ITER) -> tuple[Array, bool]:
    """Solve (A + γI) W = right by conjugate gradients, some columns at a time.

    They run in single precision, which takes half the time, as long as each pass gains a digit.
    The residual is computed in double precision after each pass and solved for again. Then double
    precision takes over.

    Parameters
    ----------
    system : System
        The matrix.
    right : array of shape (m, q)
        Right-hand sides. Without a ridge they are in the range of A, and the solution has least
        norm.
    tol : float
        Largest residual of a column, relative to its right-hand side.
    max_iter : int
        Largest number of products.

    Returns
    -------
    W : array of shape (m, q)
        The solution, or the best iterate.
    converged : bool
        Whether the residual is as small as requested.
    """
    W, converged = np.empty_like(right), True
    for columns in column_blocks(*right.shape):
        W[:, columns], done = _refined(system, right[:, columns], tol, max_iter)
        converged &= done
    return W, converged


def _refined(system: System, right: Array, tol: float, max_iter: int) -> tuple[Array, bool]:
    part = system.measured
    size = _lengths(right[part])
    W, residual, worst = np.zeros_like(right), right, 1.0
    for single in (True, False) if system.single else (False,):
        while worst > tol and max_iter > 0:
            length = _lengths(residual[part])
            unit = ratio(residual, np.broadcast_to(length, residual.shape))
            # Less than the tolerance, because the residual of the loop drifts from the true one.
            aim = max(0.7 * tol / worst, _SINGLE_TOL if single else 0.0)
            step, used = _conjugate_gradients(system, unit, aim, max_iter, single=single)
            max_iter -= used
            step *= length
            step += W
            after = right - system.double_product(step)
            reached = float(np.max(ratio(_lengths(after[part]), size), initial=0.0))
            before = worst
            if reached < before:  # false, too, if it is not a number
                W, residual, worst = step, after, reached
            if not reached < before / (10 if single else 1):
                break
    return W, worst <= tol


@np.errstate(over="ignore", invalid="ignore")  # the residual tells, and double precision follows
def _conjugate_gradients(
    system: System, right: Array, tol: float, max_iter: int, *, single: bool
) -> tuple[Array, int]:
    """Iterate until every residual is at most `tol`, for right-hand sides of unit length.

    Return the solution, in double precision, and the number of products. Columns are independent:
    one that has converged or broken down no longer moves.
    """
    dtype = np.float32 if single else np.float64
    product = system.single_product if single else system.double_product
    inverse: Array | None = None
    if system.inverse is not None:
        inverse = (system.inverse * system.scale if single else system.inverse).astype(dtype)
    part = system.measured
    # Sparse products take four columns at a time: twenty are faster than nineteen.
    q = right.shape[1]
    residual: Array = np.pad(right.astype(dtype), ((0, 0), (0, -q % 4)))
    W, work = np.zeros_like(residual), np.empty_like(residual)
    direction = residual.copy() if inverse is None else inverse * residual
    size, used = dots(residual[part], direction[part]), 0
    while used < max_iter and np.any(dots(residual[part], residual[part]) > tol**2):
        used += 1
        image = product(direction)
        step = ratio(size, dots(direction[part], image[part]))
        # In place, because allocating every vector would cost more than the products.
        W += np.multiply(step, direction, out=work)
        residual -= np.multiply(step, image, out=image)
        following: Array = residual if inverse is None else np.multiply(inverse, residual, out=work)
        before, size = size, dots(residual[part], following[part])
        direction *= ratio(size, before)
        direction += following
        if not np.any(step > 0):
            break
    solution: Array = W[:, :q].astype(np.float64)
    return solution / (system.scale if single else 1.0), used


def _lengths(V: Array) -> Array:
    return np.sqrt(dots(V, V))


def column_blocks(m: int, q: int) -> Iterator[slice]:
    """Yield slices of q columns of m numbers, about equally many each, within working memory."""
    width = min(128, max(1, _WORK // (4 * m)))
    return iter(gen_even_slices(q, max(1, -(-q // width))))


def warn_not_converged() -> None:
    """Warn that a system did not converge, and say what to do."""
    warnings.warn(
        f"The linear system of the method did not converge in {MAX_ITER} iterations: "
        "increase the ridge (RLDA in place of LDA, shrinkage of kaLDA), or put a scaler "
        "such as MaxAbsScaler before this estimator.",
        ConvergenceWarning,
        stacklevel=3,
    )


class Blocks(Protocol):
    """Blocks of samples. Functions are called where the blocks are."""

    @property
    def local(self) -> Any:
        """The only block, if it is in memory; None if blocks are on workers."""

    def keep(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Blocks:
        """Return the blocks function(block, *shared), or with one argument of `each` more."""

    def gather(self, function: Callable[..., Any], *shared: Any) -> list[Any]:
        """Return function(block, *shared) for every block."""

    def total(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Any:
        """Return the sum of function(block, *shared) over all blocks."""


class LocalBlock(NamedTuple):
    """All samples in one block, in memory."""

    local: Any

    def keep(self, function: Any, *shared: Any, each: Any = None) -> LocalBlock:
        """Return the block function(block, *shared)."""
        return LocalBlock(self.total(function, *shared, each=each))

    def gather(self, function: Any, *shared: Any) -> list[Any]:
        """Return function(block, *shared) in a list."""
        return [function(self.local, *shared)]

    def total(self, function: Any, *shared: Any, each: Any = None) -> Any:
        """Return function(block, *shared)."""
        return function(self.local, *shared, *(each or ()))


class Block(CentredSamples):
    """Some samples about the mean of all, with their labels about the mean of all labels."""

    def __init__(self, X: Any, shift: Array, offset: Array, label_mean: Array, own: Any) -> None:
        self.labels, weight = own
        self.label_mean = label_mean
        super().__init__(X, weight, shift, offset)

    def image(self, V: Array) -> Array:
        """Return T V."""
        return self._matmat(V)

    def pulled(self, U: Array) -> Array:
        """Return TᵀU."""
        return self._rmatmat(U)

    def targets(self, L: Array) -> Array:
        """Return Ω^½ (b − b̄) L, shape (n, q)."""
        return np.asarray(self._root * (self.labels @ L - self.label_mean @ L))

    def cross(self, L: Array) -> Array:
        """Return Σ w_i (x_i − m)(b_i − b̄)ᵀ L, shape (p, q)."""
        return self._rmatmat(self.targets(L))

    def cross_transposed(self, V: Array) -> Array:
        """Return Σ w_i (b_i − b̄)(x_i − m)ᵀ V, shape (K, q)."""
        Z = self._root * self._matmat(V)
        product: Array = self.labels.T @ Z
        product -= np.outer(self.label_mean, Z.sum(axis=0))
        return product

    def __sizeof__(self) -> int:
        # Dask's scheduler uses this to estimate the cost of moving a block.
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes)


class LabelCross(LinearOperator):
    """C = Σ w_i (x_i − m) b_iᵀ of shape (p, K), each column times a scale, as products.

    It is never stored, because its p × K numbers may be many more than X has.
    """

    def __init__(self, blocks: Blocks, shape: tuple[int, int], scale: Array) -> None:
        self.blocks, self.scale = blocks, scale
        super().__init__(np.float64, shape)

    def scaled(self, scale: Array) -> LabelCross:
        """Return C times a diagonal matrix."""
        return LabelCross(self.blocks, self.shape, self.scale * scale)

    def targets(self, L: Array) -> Array:
        """Return E with C L = TᵀE, shape (n, q)."""
        return np.vstack(self.blocks.gather(Block.targets, self.scale[:, None] * L))

    def _matmat(self, L: Array) -> Array:
        product: Array = self.blocks.total(Block.cross, self.scale[:, None] * L)
        return product

    def _rmatmat(self, V: Array) -> Array:
        product: Array = self.blocks.total(Block.cross_transposed, V)
        return self.scale[:, None] * product

    def _rmatvec(self, v: Array) -> Array:
        return self._rmatmat(v.reshape(-1, 1)).ravel()


@dataclass(frozen=True)
class OperatorScatter(Scatter):
    """The scatter of sparse data with many samples and many features, as products with S_t."""

    # `Block`s of samples.
    blocks: Blocks
    # The mean of the shifted samples, shape (p,).
    offset: Array
    # Number of samples in each block.
    lengths: tuple[int, ...]

    spectrum: ClassVar[None] = None

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> OperatorScatter:
        """Leave sparse X as it is: in memory, or on workers."""
        if not (remote := hasattr(X, "blocks")) and not sparse.issparse(X):
            raise ValueError("Only sparse X is used through products alone.")
        rows: Blocks = X.blocks if remote else LocalBlock(X)
        cut = X.cut if remote else lambda array: [array]
        weights, total = cut(weight), max(weight.sum(), np.finfo(np.float64).tiny)
        # Columns without an implicit zero may have a large offset: they are centred first.
        stored, sums = rows.total(_column_sums, each=weights)
        shift = np.where(stored == np.count_nonzero(weight), sums / total, 0.0)
        offset = rows.total(_shifted_sums, shift, each=weights) / total
        label_mean = np.asarray(labels.T @ weight) / total
        own = list(zip(cut(labels), weights, strict=True))
        blocks = rows.keep(Block, shift, offset, label_mean, each=own)
        K = labels.shape[1]
        return cls(
            n_samples=int(np.count_nonzero(weight)),
            weight=float(weight.sum()),
            mean=offset + shift,
            label_weight=labels.T @ weight,
            cross=LabelCross(blocks, (X.shape[1], K), np.ones(K)),
            gram=sparse.csr_array(labels.T @ labels.multiply(weight[:, None])),
            blocks=blocks,
            offset=offset,
            lengths=X.lengths if remote else (len(weight),),
        )

    @property
    def between(self) -> LabelCross:
        """F with S_b = F Fᵀ, shape (p, K), as products."""
        return self.cross.scaled(self.label_scale)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of S_t, shape (p,)."""
        squares = self.blocks.total(Block.squares)
        return np.maximum(squares - self.weight * self.offset**2, 0)

    @property
    def label_scatter(self) -> Array:
        """Σ w_i (b_i − b̄)(b_i − b̄)ᵀ, shape (K, K)."""
        check_labels(self.n_features, self.n_classes)
        return super().label_scatter

    @property
    def label_norm(self) -> float:
        """Frobenius norm of the label kernel; see `Scatter`."""
        scale = self.label_scale
        kernel = self.gram.multiply(scale[:, None]).multiply(scale).tocsr()
        squares = kernel.data @ kernel.data
        if self.sample_weighted:
            weight = scale * self.label_weight
            squares -= 2 * (weight @ (kernel @ weight)) / self.weight
            squares += (weight @ weight) ** 2 / self.weight**2
        return float(np.sqrt(squares))

    def rescaled(self, units: Array) -> OperatorScatter:
        """Return the scatter of the samples times `units`, feature by feature."""
        blocks = self.blocks.keep(Block.rescaled, units)
        cross = LabelCross(blocks, self.cross.shape, self.cross.scale)
        mean, offset = self.mean * units, self.offset * units
        return replace(self, mean=mean, offset=offset, cross=cross, blocks=blocks)

    def matmul(self, V: Array) -> Array:
        """Return S_t V = TᵀT V, in memory some columns at a time, to bound what is in between."""
        if V.ndim == 1:
            return self.matmul(V[:, None])[:, 0]
        result = np.empty_like(V)
        # On workers every product is one round, whatever the number of columns.
        width = _COLUMNS if self.blocks.local is not None else max(V.shape[1], 1)
        for columns in gen_batches(V.shape[1], width):
            result[:, columns] = self.blocks.total(Block.total, V[:, columns])
        return result

    def image(self, V: Array) -> Array:
        """Return T V, shape (n, q)."""
        return np.vstack(self.blocks.gather(Block.image, V))

    def pulled(self, U: Array) -> Array:
        """Return TᵀU, shape (p, q)."""
        parts = np.split(U, np.cumsum(self.lengths)[:-1])
        pulled: Array = self.blocks.total(Block.pulled, each=parts)
        return pulled

    def ridge_weights(self, L: Array, ridge: float) -> Array:
        """Return W = (S_t + γI)⁺ C L; see `Scatter`."""
        if ridge == 0 and not self.has_similar_scales:
            units = self.units
            return units[:, None] * self.rescaled(units).ridge_weights(L, ridge)
        dual = self._has_dual(ridge)
        right = self.cross.targets(L) if dual else np.asarray(self.cross @ L)
        sides, back = orthonormal_sides(right)
        system = self._dual_system(ridge) if dual else self.system(ridge)
        W, converged = solve(system, right @ sides, self.tol / 3)
        if converged and not dual:
            converged = self._refine(W, system, right @ sides)
        if not converged:
            warn_not_converged()
        # Tᵀ(T Tᵀ + γI)⁻¹ E: vectors of n entries instead of p.
        W = self.blocks.local.T @ W if dual else W
        return np.asarray(W @ back)

    def _refine(self, W: Array, system: System, right: Array) -> bool:
        """Improve W until the errors that residuals hide are small; return whether they are.

        Along a quiet direction, one of a small eigenvalue λ of the matrix, an error may be as large
        as 1/λ of the residual. The smallest λ is γ, or what random vectors show.
        """
        quiet = system.ridge
        if not quiet:
            rng = np.random.default_rng(0)
            probes = self.pulled(rng.standard_normal((sum(self.lengths), _QUIET)))
            probes, _ = solve(system, probes, _QUIET_TOL)
            quiet = 1 / dots(probes, probes).max()
        residual = right - system.double_product(W)
        least = linalg.svdvals(np.linalg.qr(W, mode="r"))[-1]
        enough = self.tol / 3 * quiet * least / np.sqrt(W.shape[1])
        size = max(_lengths(residual).max(), np.finfo(np.float64).tiny)
        step, converged = solve(system, residual, enough / size)
        W += step
        # The other forms leave out directions as quiet as rounding. This one may not have.
        Q = orthonormal(W)
        quietest = np.linalg.eigvalsh(Q.T @ system.double_product(Q))[0]
        return converged and bool(quietest > RANGE_RTOL * self.trace)

    def _has_dual(self, ridge: float) -> bool:
        # With blocks on workers T TᵀU would take two rounds, and n numbers of U that travel.
        return ridge > 0 and self.n_samples < self.n_features and self.blocks.local is not None

    def system(self, ridge: float) -> System:
        """Return the matrix S_t + γI.

        With γ > 0 and n ≥ p the diagonal is the preconditioner. Otherwise there is none, because
        only plain conjugate gradients stay in the range of S_t. Without a ridge they converge to
        the solution of least norm. With fewer samples than features they never meet the eigenvalue
        γ outside the range, which would cost more iterations than the diagonal saves.
        """
        if ridge == 0:  # single precision would leave the range of S_t
            return System(self.matmul, ridge)
        regular = self.n_samples >= self.n_features
        inverse = 1 / (self.diagonal + ridge)[:, None] if regular else None
        single, factor = self._single

        def product(V: Array) -> Array:
            image: Array = single.total(SingleSamples.total, V)
            return image

        return System(self.matmul, ridge, product, factor**-2, inverse)

    def _dual_system(self, ridge: float) -> System:
        samples = self.blocks.local
        single, factor = self._single

        def kernel(U: Array) -> Array:
            return np.asarray(samples @ (samples.T @ U))

        return System(kernel, ridge, single.local.kernel, factor**-2)

    @cached_property
    def _single(self) -> tuple[Blocks, float]:
        """T in single precision, and the factor that keeps its squares within its range."""
        factor = 2.0 ** -np.round(np.log2(self.diagonal.max()) / 2)
        return self.blocks.keep(Block.single, factor), float(factor)

    def eigenpairs(self, L: Array, ridge: float, k: int | None) -> Eigenpairs:
        """Solve (C L)(C L)ᵀ g = λ (S_t + γI) g within the span of W, known to a tolerance.

        The eigenvalues are right to the square of that tolerance, and G is B-orthonormal.
        """
        if self.n_classes > _MANY_LABELS and L.ndim == 1 and k and ridge:
            return self._leading_of_many_labels(L, ridge, k)
        L = self.varying_side(L)
        W = self.ridge_weights(L, ridge)
        cross = (self.cross @ L).T @ W
        left, singular, _ = linalg.svd(cross)
        # Columns of F that combine to zero do so in FᵀW up to rounding, in W only up to the
        # tolerance.
        Q = left[:, singular > 10 * RANK_RTOL * singular.max(initial=0.0)]
        gram = Q.T @ (W.T @ self.matmul(W) + ridge * (W.T @ W)) @ Q
        scale = 1 / np.sqrt(gram.diagonal())
        gram = scale[:, None] * (gram + gram.T) / 2 * scale
        lengths, axes = positive_eigenpairs(gram, RANK_RTOL)
        Q = Q @ (scale[:, None] * axes / np.sqrt(lengths))
        _, singular, right = linalg.svd(cross @ Q, full_matrices=False)
        return Eigenpairs(singular**2, W @ (Q @ right.T))

    def _leading_of_many_labels(self, scale: Array, ridge: float, k: int) -> Eigenpairs:
        """Return the k leading pairs from a sketch of the labels: the cost depends on k, not K."""
        F = self.cross.scaled(scale)
        sketch = np.random.default_rng(0).standard_normal((self.n_classes, k + 10))
        return self.leading_eigenpairs(
            lambda V: F @ (F.T @ V), ridge, F @ sketch, k, max_rounds=_MANY_ROUNDS
        )

    def leading_eigenpairs(
        self,
        product: Product,
        ridge: float,
        start: Array,
        k: int,
        max_rounds: int = _MAX_ROUNDS,
    ) -> Eigenpairs:
        """Return the k leading pairs of A g = λ B g for B = S_t + γI, and A known through products.

        They are the best ones within a subspace, to which B⁻¹ times their residuals are added,
        until these are small. When it becomes large, only the leading directions are kept.
        There are fewer pairs than k if S_t has a lower rank.

        Parameters
        ----------
        product : callable
            V -> A V.
        ridge : float
            γ ≥ 0.
        start : array of shape (p, q)
            q ≥ k vectors in the range of S_t; B⁻¹ times them span the first subspace.
        k : int
            Number of pairs.
        max_rounds : int
            How often residuals are added at most.
        """
        system, tol = self.system(ridge), max(self.tol, 1e-10)
        nothing = np.empty((len(start), 0))
        Z, _ = solve(system, start, _ROUGH, _ROUGH_ITER)
        V, BV = extension(nothing, nothing, Z, system.double_product)
        AV = product(V)
        errors, worst = np.empty(0), np.empty(0, dtype=np.intp)
        for _ in range(max_rounds):
            values, P = np.linalg.eigh(V.T @ AV)
            values, P = values[::-1], P[:, ::-1]
            if V.shape[1] > 3 * k + 10:
                V, BV, AV = V @ P[:, : 2 * k], BV @ P[:, : 2 * k], AV @ P[:, : 2 * k]
                values, P = values[: 2 * k], np.eye(V.shape[1])
            P = P[:, :k]
            G, residual = V @ P, AV @ P - (BV @ P) * values[:k]
            if len(errors) < P.shape[1]:
                errors, worst = np.full(P.shape[1], np.inf), np.arange(P.shape[1])
            # Only for the pairs that had not converged the last time.
            Z, _ = solve(system, residual[:, worst], _ROUGH, _ROUGH_ITER)
            gap = np.maximum(values[:k] - (values[k] if len(values) > k else 0), 1e-3 * values[:k])
            errors[worst] = np.sqrt(np.maximum(dots(residual[:, worst], Z), 0)) / gap[worst]
            still = errors[worst] > tol / np.sqrt(k)
            Z, BZ = extension(V, BV, Z[:, still], system.double_product)
            worst = worst[still]
            if np.linalg.norm(errors) <= tol or not Z.shape[1]:
                break
            V, BV, AV = (np.hstack(pair) for pair in ((V, Z), (BV, BZ), (AV, product(Z))))
        else:
            warnings.warn(
                f"The {k} leading directions are known to an angle of about "
                f"{min(np.linalg.norm(errors), np.pi / 2):.0e} only: some eigenvalues are nearly "
                "equal. Pass another n_components, or a larger tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        # Rounding may lead to directions along which the samples do not vary.
        varying = dots(G, self.matmul(G)) > RANGE_RTOL * self.trace * dots(G, G)
        return Eigenpairs(values[: len(varying)][varying], G[:, varying])

    @cached_property
    def density(self) -> Density:
        """An estimate of the distribution of the eigenvalues of S_t, by Lanczos quadrature.

        References
        ----------
        S. Ubaru, J. Chen and Y. Saad, "Fast estimation of tr(f(A)) via stochastic Lanczos
        quadrature", SIAM Journal on Matrix Analysis and Applications 38, 2017.
        """
        K = self.n_classes
        labels = np.eye(K)
        if K > _MANY_LABELS:  # the expected energy is the same
            labels = np.random.default_rng(1).choice([-1.0, 1.0], (K, _SKETCH)) / np.sqrt(_SKETCH)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (self.n_features, _PROBES))
        values, counts = self._quadrature(signs)
        nodes, energy = self._quadrature(self.between @ labels)
        return Density(
            np.concatenate([values, nodes]),
            np.concatenate([counts / _PROBES, np.zeros_like(nodes)]),
            np.concatenate([np.zeros_like(values), energy]),
        )

    def _quadrature(self, V: Array) -> tuple[Array, Array]:
        """Return points and weights with Σ weights·f(points) = Σ vᵀf(S_t)v over the columns v."""
        parts = [self._lanczos(V[:, columns]) for columns in column_blocks(*V.shape)]
        values, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
        return np.maximum(values, 0), weights

    def _lanczos(self, V: Array) -> tuple[Array, Array]:
        length = _lengths(V)
        previous, current = np.zeros_like(V), V * ratio(np.ones_like(length), length)
        beta = np.zeros_like(length)
        steps = min(_STEPS, len(V))
        T = np.zeros((V.shape[1], steps, steps))  # the tridiagonal matrix of each column
        for j in range(steps):
            following = self.matmul(current) - beta * previous
            T[:, j, j] = dots(current, following)
            following -= T[:, j, j] * current
            beta = _lengths(following)
            if j + 1 < steps:
                T[:, j, j + 1] = T[:, j + 1, j] = beta
            previous, current = current, following * ratio(np.ones_like(beta), beta)
        values, vectors = np.linalg.eigh(T)
        return values.ravel(), (length[:, None] ** 2 * vectors[:, 0] ** 2).ravel()


def extension(
    V: Array,
    BV: Array,
    Z: Array,
    product: Product | None = None,
    measured: slice = slice(None),
) -> tuple[Array, Array]:
    """Return a B-orthonormal basis of what the columns of Z add to span(V), and B times it.

    Columns that add no more than rounding errors are dropped.

    Parameters
    ----------
    V, BV : arrays of shape (p, m)
        A B-orthonormal basis, and B times it.
    Z : array of shape (p, q)
        The columns.
    product : callable, optional
        V -> B V; by default B = I.
    measured : slice, optional
        The rows that inner products are taken over: see `System`.
    """
    length = _lengths(Z[measured])
    for _ in range(2):  # once leaves rounding errors
        Z = Z - V @ (BV[measured].T @ Z[measured])
    Z = Z[:, _lengths(Z[measured]) > _NEW * length]
    BZ = Z if product is None else product(Z)
    gram = Z[measured].T @ BZ[measured]
    scale = 1 / np.sqrt(gram.diagonal())
    scaled = scale[:, None] * (gram + gram.T) / 2 * scale
    # NumPy's eigh, because that of SciPy before 1.14 refuses arrays without columns.
    values, axes = positive_eigenpairs(scaled, _NEW**2, eigh=np.linalg.eigh)
    T = scale[:, None] * axes / np.sqrt(values)
    return Z @ T, BZ @ T


def orthonormal_sides(right: Array) -> tuple[Array, Array]:
    """Return A for which the columns of right A are orthonormal, and B with right A B = right.

    Right-hand sides are correlated: solving for an orthonormal basis of them makes the error of
    their span that of each. Combinations of them that are rounding are left out.
    """
    _, singular, axes = linalg.svd(np.linalg.qr(right, mode="r"), full_matrices=False)
    keep = singular > RANK_RTOL * singular.max(initial=0.0)
    return axes[keep].T / singular[keep], singular[keep, None] * axes[keep]


def _column_sums(X: Any, weight: Array) -> Array:
    """Return the number of stored entries and Σ w_i x_i of each column, where w_i > 0."""
    counted = X.indices[np.repeat(weight > 0, np.diff(X.indptr))]
    return np.stack([np.bincount(counted, minlength=X.shape[1]), X.T @ weight])


def _shifted_sums(X: Any, shift: Array, weight: Array) -> Array:
    return np.asarray(shifted(X, shift).T @ weight)

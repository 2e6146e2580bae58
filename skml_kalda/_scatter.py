"""The scatter statistic that every reducer is computed from.

Rows x_i carry weights w_i and label vectors b_i. In the paper's setting w_i = ρ_i, the
number of labels of row i (Ω = diag(ρ)), and b_i = y_i / ρ_i, so that Σ w_i b_i = n_k;
regression-like methods take w_i = 1 and b_i = y_i.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import aslinearoperator
from sklearn.utils import assert_all_finite

from skml_kalda._blocks import row_blocks
from skml_kalda._implicit import ImplicitScatter as ImplicitScatter
from skml_kalda._moments import Moments, Spectrum, label_gram, label_moments, positive
from skml_kalda._rows import Array as Array
from skml_kalda._rows import CentredRows, weighted_mean

# The largest side of a square array that sparse data are turned into, 3.2 GB.
LARGE = 20_000
# Operations on a square array that cost as much as a solve by iteration does for each stored
# entry and label.
DEAR = 4_000


@dataclass(frozen=True)
class Scatter(Moments):
    """Moments about the weighted mean; ``a + b`` is the scatter of the rows of both."""

    total: Array
    """S_t = Σ w_i (x_i − m)(x_i − m)ᵀ, shape (p, p)."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> Scatter:
        """Add up the rows of X; dense ones block by block, each centred about its own mean.

        Parameters
        ----------
        X : array or CSR of shape (n, p)
            Sparse X stays sparse.
        labels : CSR of shape (n, K)
            b_i.
        weight : array of shape (n,)
            w_i ≥ 0.
        """
        _check_fits(X.shape[1])
        if sparse.issparse(X):
            return cls._of_sparse(X, labels, weight)
        work: list[Array] = []
        # Blocks large enough to hide the p × p merge.
        blocks = row_blocks(X, at_least=2048)
        return reduce(add, (cls._of_dense(x, labels[i], weight[i], work) for i, x in blocks))

    @classmethod
    def _of_dense(cls, X: Array, labels: Any, weight: Array, work: list[Array]) -> Scatter:
        mean = weighted_mean(X, weight)
        root = np.sqrt(weight)
        if not work:
            # One workspace for all blocks: fresh memory for each would cost as much as its sums.
            work.append(np.empty(X.shape))
        T = np.subtract(X, mean, out=work[0][: len(X)])  # Ω^½ X̃
        if np.any(root != 1):
            T *= root[:, None]
        cross = ((sparse.diags_array(root) @ labels).T @ T).T
        return cls(*label_moments(labels, weight, mean), cross, label_gram(labels, weight), T.T @ T)

    @classmethod
    def _of_sparse(cls, X: Any, labels: Any, weight: Array) -> Scatter:
        rows = CentredRows(X, weight)
        head = label_moments(labels, weight, rows.mean)
        return cls(*head, rows.cross(labels), label_gram(labels, weight), rows.total())

    def __add__(self, other: Scatter) -> Scatter:
        """Pairwise update of the moments (Chan, Golub & LeVeque 1983)."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        apart = other.mean - self.mean
        cross = self.cross + other.cross
        cross -= np.outer(share * apart, self.label_weight)
        cross += np.outer((1 - share) * apart, other.label_weight)
        return Scatter(
            self.n_samples + other.n_samples,
            weight,
            self.mean + share * apart,
            self.label_weight + other.label_weight,
            cross,
            self.gram + other.gram,
            self.total + other.total + (self.weight * share) * np.outer(apart, apart),
        )

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(np.trace(self.total))

    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        # NumPy's: a switch to the threads of SciPy's BLAS costs more than the driver saves.
        values, basis = np.linalg.eigh(self.total)
        keep = positive(values)
        return Spectrum(values[keep][::-1], basis[:, keep][:, ::-1])

    def select(self, classes: NDArray[Any]) -> Scatter:
        """Keep the given label columns only."""
        return replace(
            self,
            label_weight=self.label_weight[classes],
            cross=self.cross[:, classes],
            gram=self.gram[np.ix_(classes, classes)],
        )

    def widen(self, n_classes: int, positions: NDArray[Any]) -> Scatter:
        """Put label column j at ``positions[j]`` among `n_classes`; the others are empty."""
        label_weight = np.zeros(n_classes)
        cross = np.zeros((self.n_features, n_classes))
        gram = np.zeros((n_classes, n_classes))
        label_weight[positions] = self.label_weight
        cross[:, positions] = self.cross
        gram[np.ix_(positions, positions)] = self.gram
        return replace(self, label_weight=label_weight, cross=cross, gram=gram)


@dataclass(frozen=True)
class RowScatter(Moments):
    """The scatter of fewer rows than features: no p × p array, everything through n × n."""

    rows: Any
    """T = Ω^½ X̃, shape (n, p): an array, or an operator over sparse X."""
    kernel: Array
    """T Tᵀ, shape (n, n)."""
    targets: Array
    """Ω^½ (b − b̄), shape (n, K): the sum `cross` is Tᵀ of it."""

    @classmethod
    def of(cls, X: Any, labels: Any, weight: Array) -> RowScatter:
        """Keep the centred rows of X; parameters as in :meth:`Scatter.of`."""
        _check_fits(X.shape[0])
        rows: Any
        root = np.sqrt(weight)[:, None]
        label_mean = np.asarray(labels.T @ weight) / weight.sum()
        targets = root * (labels.toarray() - label_mean)
        if sparse.issparse(X):
            rows = CentredRows(X, weight)
            mean, kernel = rows.mean, rows.kernel()
        else:
            rows = np.array(X, dtype=np.float64)
            assert_all_finite(rows, input_name="X")
            mean = weighted_mean(rows, weight)
            rows -= mean
            rows *= root
            kernel = rows @ rows.T
        head = label_moments(labels, weight, mean)
        return cls(*head, rows.T @ targets, label_gram(labels, weight), rows, kernel, targets)

    @cached_property
    def trace(self) -> float:
        """Tr S_t."""
        return float(np.trace(self.kernel))

    def spectrum(self) -> Spectrum:
        """Eigendecomposition of S_t on its range."""
        if isinstance(self.rows, np.ndarray):
            # Through QR: orthonormal to rounding even where eigenvalues are tiny.
            Q, R = linalg.qr(self.rows.T, mode="economic", check_finite=False)
            left, singular, _ = linalg.svd(R, full_matrices=False, check_finite=False)
            keep = positive(singular**2)
            return Spectrum(singular[keep] ** 2, Q @ left[:, keep])
        values, vectors = linalg.eigh(self.kernel, check_finite=False)
        keep = positive(values)
        values, vectors = values[keep][::-1], vectors[:, keep][:, ::-1]
        return Spectrum(values, self.rows.T @ aslinearoperator(vectors / np.sqrt(values)))


AnyScatter: TypeAlias = Scatter | RowScatter | ImplicitScatter
Form: TypeAlias = Literal["auto", "moments", "rows", "implicit"]
_FORMS: dict[Form, type[AnyScatter]] = {
    "moments": Scatter,
    "rows": RowScatter,
    "implicit": ImplicitScatter,
}
_form: ContextVar[Form] = ContextVar("scatter_form", default="auto")


@contextmanager
def scatter_form(form: Form) -> Iterator[None]:
    """Choose how `fit` keeps the scatter of the data, within a ``with`` statement.

    All forms give the same directions; they differ in memory and time.

    Parameters
    ----------
    form : {"auto", "moments", "rows", "implicit"}
        "moments" keeps the p × p array :math:`S_t`, "rows" the n × n array of inner products
        of the rows, "implicit" neither: sparse data are kept as they are and systems are
        solved by iteration. "auto" takes the cheapest. `partial_fit` always adds up moments.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MultiLabelKaLDA, scatter_form
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> with scatter_form("implicit"):
    ...     kalda = MultiLabelKaLDA(constraint="none").fit(csr_array(X), Y)
    >>> kalda.components_.shape
    (3, 20)
    """
    if form not in ("auto", *_FORMS):
        raise ValueError(f'form must be "auto", "moments", "rows" or "implicit", not {form!r}.')
    token = _form.set(form)
    try:
        yield
    finally:
        _form.reset(token)


def scatter_of(X: Any, labels: Any, weight: Array) -> AnyScatter:
    """Scatter of X in the form chosen by :func:`scatter_form`, or the cheapest."""
    form = _form.get()
    if form == "auto":
        n, p = X.shape
        form = cheapest_form(n, p, labels.shape[1], X.nnz if sparse.issparse(X) else None)
    if form == "implicit" and not sparse.issparse(X):
        raise ValueError('scatter_form("implicit") needs sparse X: use "moments" or "rows".')
    return _FORMS[form].of(X, labels, weight)


def cheapest_form(n: int, p: int, n_labels: int, nnz: int | None) -> Form:
    """Choose the form for n rows of p features and K labels, `nnz` entries stored.

    None for `nnz` means dense. A square array of the smaller side m costs m³ operations to
    solve with; conjugate gradients cost some hundred products of 4 nnz K operations each,
    which run an order of magnitude slower than dense ones (benchmarks/results/scale-forms.json).
    """
    side = min(n, p)
    if nnz is not None and (side > LARGE or side**3 > DEAR * nnz * n_labels):
        return "implicit"
    return "rows" if n < p else "moments"


def _check_fits(side: int) -> None:
    """Refuse a square array that the machine cannot hold, before others have to pay for it."""
    # Two of them, and their sum.
    needed, there = 24 * side**2, _physical_memory()
    if needed > there:
        raise MemoryError(
            f"{needed / 1e9:.0f} GB are needed for {side} × {side} arrays, and this machine has "
            f"{there / 1e9:.0f} GB. partial_fit always needs arrays of the side of the number of "
            "features: reduce that first, for example with feature selection or hashing, or "
            "call fit on sparse X, which needs none."
        )


def _physical_memory() -> float:
    names = getattr(os, "sysconf_names", {})
    if not {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= names.keys():  # not told by Windows
        return np.inf
    return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))

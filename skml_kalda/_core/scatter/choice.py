"""The choice among the forms of the scatter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeAlias

from scipy import sparse

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter.implicit import ImplicitScatter
from skml_kalda._core.scatter.moments import MomentScatter
from skml_kalda._core.scatter.remote import RemoteRows, RemoteScatter
from skml_kalda._core.scatter.rows import RowScatter

# Sparse data are never turned into a square array with a longer side: 3.2 GB.
LARGE = 20_000
# With more labels, sparse data never get an array with one column per label.
LABELS = 5_000
# Features of which p × p arrays cost little, even one for each of many blocks: 32 MB.
FEW = 2_000
# An iterative solve costs, per stored entry and label, as much as this many operations on a
# square array.
DEAR = 4_000

AnyScatter: TypeAlias = MomentScatter | RowScatter | ImplicitScatter
Form: TypeAlias = Literal["auto", "moments", "rows", "implicit"]
_FORMS: dict[Form, type[AnyScatter]] = {
    "moments": MomentScatter,
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
        "moments" stores the p × p array :math:`S_t`, "rows" the n × n array of inner products
        of the rows. "implicit" stores only the sparse data and solves systems by iteration.
        "auto" chooses the cheapest. `partial_fit` always adds up moments, and "rows" means
        "moments" on dask data.

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
    """Return the scatter of X in the form chosen by :func:`scatter_form`, or the cheapest."""
    form = _form.get()
    n, p = X.shape
    if isinstance(X, RemoteRows):
        if form == "auto":
            # Inner products of rows would have to travel: the only square array is p × p.
            form = cheapest_form(max(n, p), p, labels.shape[1], X.nnz)
        of = RemoteScatter.of if form == "implicit" else RemoteRows.moments
        return of(X, labels, weight)
    if form == "auto":
        form = cheapest_form(n, p, labels.shape[1], X.nnz if sparse.issparse(X) else None)
    if form == "implicit" and not sparse.issparse(X):
        raise ValueError('scatter_form("implicit") needs sparse X: use "moments" or "rows".')
    return _FORMS[form].of(X, labels, weight)


def adds_up(n_features: int, n_labels: int = 1) -> bool:
    """Whether moments are the cheapest form of blocks of rows, whatever these are."""
    form = _form.get()
    if form == "auto":
        return n_features <= FEW and n_labels <= LABELS
    return form != "implicit"


def cheapest_form(n: int, p: int, n_labels: int, nnz: int | None) -> Form:
    """Choose the form for n rows of p features and K labels, `nnz` entries stored.

    None for `nnz` means dense. A square array of the smaller side m costs m³ operations to
    solve with; conjugate gradients cost some hundred products of 4 nnz K operations each,
    which run an order of magnitude slower than dense ones (benchmarks/results/scale-forms.json).
    """
    side = min(n, p)
    many = n_labels > LABELS or side > LARGE
    if nnz is not None and (many or side**3 > DEAR * nnz * n_labels):
        return "implicit"
    return "rows" if n < p else "moments"

"""The forms of the scatter against each other, on data too wide or too large for any but one."""

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import skml_kalda
from benchmarks.speed.reducers import sparse_data
from skml_kalda import framework, scatter_form
from skml_kalda._core.labels import indicator, omega_weighted
from skml_kalda._core.scatter import ImplicitScatter, PrimalScatter, RowScatter, scatter_of
from skml_kalda._core.scatter import TOL
from skml_kalda._core.scatter import cheapest_form
from tests.classic import LDA, MLSI, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.core.test_scatter import weighted
from tests.reducers.test_contracts import REDUCERS as BASELINES
from tests.reducers.test_contracts import thinned

REDUCERS = {
    "kaLDA": MultiLabelKaLDA(tol=1e-10),
    "kaLDA-shrunk": MultiLabelKaLDA(shrinkage=0.2, tol=1e-10),
    "kaLDA-sphered": MultiLabelKaLDA(shrinkage=1.0, tol=1e-10),
    "kaLDA-two": MultiLabelKaLDA(n_components=2, tol=1e-10),
    "kaLDA-free": MultiLabelKaLDA(constraint="none"),
    "kaLDA-free-shrunk": MultiLabelKaLDA(constraint="none", shrinkage=0.2),
    "kaLDA-free-sphered": MultiLabelKaLDA(constraint="none", shrinkage=1.0),
    "MLSI-ridge": MLSI(ridge=0.5, beta=0.7),
    "MLSI-none": MLSI(ridge=0.0, scale=False),
    "MLSI-labels": MLSI(beta=1),
    "MLSI-data": MLSI(beta=0, ridge=0.1),
    **BASELINES,
}
# Needs every eigenvalue of S_t, the least included.
NEVER_IMPLICIT = {"MLSI-inverse"}
# Take directions of little variance. Where S_t is singular, there are others of none, and
# products with S_t may or may not tell them apart: refused rather than guessed.
AT_TIMES_IMPLICIT = {"MMC", "SDPLDA", "TraceRatio"}
SHAPES = pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])
# Where forms are compared to eight digits.
EXACT = 1e-12
EVERY = pytest.mark.parametrize("name", list(REDUCERS))


def fitted(name, X, Y, form="auto", **params):
    reducer = clone(REDUCERS[name])
    if reducer.get_params().get("tol") == TOL:
        reducer.set_params(tol=EXACT)
    with scatter_form(form):
        return reducer.set_params(**params).fit(X, Y)


def implicit(name, X, Y, **params):
    """Fit without square arrays; None if that is refused by one of those that may."""
    try:
        reducer = fitted(name, X, Y, "implicit", **params)
    except ValueError as error:
        if name in NEVER_IMPLICIT | AT_TIMES_IMPLICIT and "the whole spectrum of" in str(error):
            return None
        raise
    assert name not in NEVER_IMPLICIT
    return reducer


def assert_same(a, b, atol=1e-8):
    np.testing.assert_allclose(a.components_, b.components_, atol=atol)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(a.mean_, b.mean_, atol=1e-10)
    for name in ("objective_", "upper_bound_", "alignment_", "shrinkage_", "ratio_", "lambda_"):
        assert getattr(a, name, 0) == pytest.approx(getattr(b, name, 0), rel=1e-8)


def test_every_registered_reducer_is_here():
    names = {type(reducer).__name__ for reducer in REDUCERS.values()}
    # Those that have a kernel instead, kaLDA itself, fitted on folds, and those that keep every
    # feature: they have no scatter in three forms.
    others = {"KernelKaLDA", "KernelKaLDACV", "MultiLabelKaLDACV"}
    others |= {"AlignmentScaler", "LandmarkFeatures"}
    assert names | others == set(framework.transformers())


@EVERY
@SHAPES
def test_all_forms_give_the_same(name, shape):
    X, Y = made(*shape)
    X = sparse.csr_array(thinned(X))
    moments = fitted(name, X, Y, "moments")
    assert_same(fitted(name, X, Y, "rows"), moments)
    assert_same(fitted(name, X.toarray(), Y, "moments"), moments)
    thin = implicit(name, X, Y)
    assert thin or name in NEVER_IMPLICIT or shape[0] < shape[1]
    if thin:
        assert_same(thin, moments)


def short_and_wide(n, p, occupied, K, seed=0):
    """Labelled rows with entries in few columns, the others empty; and those columns."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(p, occupied, replace=False))
    Y = np.eye(K, dtype=int)[np.arange(n) % K]
    Y[rng.random(n) < 0.3, 0] = 1
    dense = (rng.random((n, occupied)) < 0.1) * (1 + Y @ rng.normal(2, 2, size=(K, occupied)))
    small = sparse.csr_array(dense)
    X = sparse.csr_array((small.data, columns[small.indices], small.indptr), shape=(n, p))
    return X, Y, columns


def assert_restricted(reducer, name, X, Y, columns, atol=1e-7):
    """Directions are zero in empty columns, and beside them those of the other columns alone."""
    fewer = {
        key: value * len(columns) / X.shape[1]  # a multiple of Tr(S_t)/p
        for key, value in reducer.get_params().items()
        if key == "ridge"
    }
    small = fitted(name, X[:, columns], Y, **fewer).components_
    scale = np.abs(small).max()
    beside = np.setdiff1d(np.arange(X.shape[1]), columns)
    assert np.abs(reducer.components_[:, beside]).max() <= 1e-12 * scale
    np.testing.assert_allclose(reducer.components_[:, columns] / scale, small / scale, atol=atol)


# Shrinkage, and the ridge of the inverse form, depend on empty columns in another way.
BLIND_TO_EMPTY = [n for n in REDUCERS if not {"inverse", "shrunk", "sphered"} & set(n.split("-"))]


@pytest.mark.parametrize("name", BLIND_TO_EMPTY)
def test_short_and_wide_data_need_no_array_of_the_side_of_the_features(name):
    X, Y, columns = short_and_wide(120, 50_000, 150, 4)  # p × p: 20 GB
    reducer = fitted(name, X, Y)
    assert_restricted(reducer, name, X, Y, columns)
    assert reducer.transform(X).shape == (120, len(reducer.components_))


@pytest.fixture(scope="module")
def too_large():
    """Sparse data of 7.2 GB if made dense: 30,000 × 30,000, most rows without labels."""
    X, Y, columns = short_and_wide(400, 30_000, 12, 3)
    rows = np.arange(0, 30_000, 75)
    X, Y = X.tocoo(), sparse.coo_array(Y)
    X = sparse.csr_array((X.data, (rows[X.row], X.col)), shape=(30_000, 30_000))
    Y = sparse.csr_array((Y.data, (rows[Y.row], Y.col)), shape=(30_000, 3))
    return X, Y, columns


# A label kernel is an n × n array by its nature; of kaLDA and MLSI the quick ones.
LEFT_OUT = {"MDDM-kernel", "kaLDA", "kaLDA-shrunk", "kaLDA-sphered"}
LEFT_OUT |= {"MLSI-ridge", "MLSI-none", "MLSI-labels", "MLSI-data"}
ACCEPT_LARGE = [n for n in REDUCERS if n not in LEFT_OUT]


@pytest.mark.parametrize("name", ACCEPT_LARGE)
def test_nothing_makes_large_sparse_data_dense(name, too_large):
    X, Y, columns = too_large
    loose = {"tol": 1e-6} if name.startswith("kaLDA") else {}
    tracemalloc.start()
    try:
        reducer = implicit(name, X, Y, **loose)
        if reducer:
            assert reducer.transform(X).shape == (30_000, len(reducer.components_))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5e7  # dense, it has 7.2e9 bytes, and so has p × p
    if reducer and name in BLIND_TO_EMPTY:
        assert_restricted(reducer, name, X, Y, columns, atol=1e-4 if loose else 1e-7)


def test_large_sparse_data_are_implicit_of_themselves(too_large):
    X, Y, _ = too_large
    assert isinstance(
        scatter_of(X, *omega_weighted(indicator(Y).matrix, np.ones(30_000))), ImplicitScatter
    )


@pytest.mark.parametrize(
    ("n", "p", "K", "nnz", "form"),
    [
        (30_000, 30_000, 1_000, 90_000_000, "implicit"),  # 7 GB, whatever the time
        (14_000, 100_000, 30_000, 1_050_000, "implicit"),  # a column for each label: 24 GB
        (1_000, 50, 5, None, "moments"),
        (50, 1_000, 5, None, "rows"),
        (120_919, 1_001, 28, 2_300_000, "moments"),  # imdb
        (7_395, 1_836, 159, 500_000, "moments"),  # bibtex
        (300, 200_000, 5, 30_000, "rows"),
        (20_000, 10_000, 20, 1_000_000, "implicit"),
        (10_000, 20_000, 20, 1_000_000, "implicit"),
        (30_000, 30_000, 1_000, None, "moments"),  # dense X is as large itself
    ],
)
def test_the_rule_takes_the_cheapest_form(n, p, K, nnz, form):
    assert cheapest_form(n, p, K, nnz) == form


@pytest.mark.parametrize(
    ("form", "kind"),
    [("moments", PrimalScatter), ("rows", RowScatter), ("implicit", ImplicitScatter)],
)
def test_a_form_can_be_forced_for_a_while(form, kind):
    X, Y = made()
    X, labels = sparse.csr_array(X), weighted(Y)
    with scatter_form(form):
        assert type(scatter_of(X, *labels)) is kind
        with scatter_form("auto"):
            assert type(scatter_of(X, *labels)) is PrimalScatter
    assert type(scatter_of(X, *labels)) is PrimalScatter
    with pytest.raises(RuntimeError, match="stop"), scatter_form(form):
        raise RuntimeError("stop")
    assert type(scatter_of(X, *labels)) is PrimalScatter


def test_a_form_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="form must be"), scatter_form("columns"):
        pass
    with pytest.raises(ValueError, match="needs sparse X"), scatter_form("implicit"):
        LDA().fit(*made())


def test_ill_conditioned_systems_are_reported_but_end():
    rng = np.random.default_rng(0)
    X, Y = made(200, 50)
    # Nearly dependent features: no choice of units makes them less so.
    turn = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    X = sparse.csr_array(X @ (turn * 10.0 ** rng.uniform(-9, 0, 50)) @ turn.T)
    with scatter_form("implicit"), pytest.warns(ConvergenceWarning, match="increase the ridge"):
        LDA(tol=EXACT).fit(X, Y)
    with scatter_form("implicit"), warnings.catch_warnings():
        warnings.simplefilter("error")
        RLDA().fit(X, Y)


# One linear system, or two.
SOLVED = {
    "kaLDA": skml_kalda.MultiLabelKaLDA(constraint="none", shrinkage=0.1),
    "RLDA": skml_kalda.RLDA(ridge=0.1),
    "MLDA": skml_kalda.MLDA(ridge=0.1),
    "OLDA": skml_kalda.OLDA(ridge=0.1),
    "OPLS": skml_kalda.OPLS(ridge=0.1),
    "CCA": skml_kalda.CCA(ridge=0.1),
    "MLR": skml_kalda.MLR(ridge=0.1),
    "MLLS": skml_kalda.MLLS(),
    "MDDM": skml_kalda.MDDM(projection="f"),
}


@pytest.mark.parametrize("shape", [(600, 200), (200, 600)], ids=["tall", "wide"])
@pytest.mark.parametrize("name", list(SOLVED))
def test_directions_are_as_exact_as_asked_for(name, shape):
    """The oracle is the spectrum of S_t: no iteration."""
    X, Y = sparse_data(*shape, K=6, words=20)
    exact = clone(SOLVED[name])
    with scatter_form("rows" if shape[0] < shape[1] else "moments"):
        exact.fit(X, Y)
    for tol, limit in [(1e-4, 1e-4), (1e-12, 1e-8)]:
        with scatter_form("implicit"):
            reducer = clone(SOLVED[name]).set_params(tol=tol).fit(X, Y)
        angles = linalg.subspace_angles(reducer.components_.T, exact.components_.T)
        assert angles.max() < limit

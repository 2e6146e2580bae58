"""Closed forms against SciPy's dense eigensolver, in every form of the scatter, on every data.

Hypothesis draws one-hot, hashed, text-like, rank-deficient, offset and constant features, fewer
features than labels, samples without labels and samples of zero weight.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone

from skml_kalda import MDDM, OCM
from tests.classic import CCA, LDA, MLDA, MLSI, OPLS, RLDA, MultiLabelKaLDA
from tests.conftest import made
from tests.forms import FORMS, fitted
from tests.oracles import covariances, shrunk, top, weighted_scatters
from tests.reducers.cases import BY_LABELS, KALDA, KINDS, REDUCERS, assert_same

EXACT = {"tol": 1e-12}


def label_scatters(X, Y, weight):
    rho, n_k = weight * Y.sum(axis=1), weight @ Y
    X = X - rho @ X / rho.sum()
    F = X.T @ (weight[:, None] * Y) / np.sqrt(n_k)
    return F @ F.T, (X.T * rho) @ X, rho


def lda(ridge):
    def pencil(X, Y, weight):
        S_b, S_t, rho = label_scatters(X, Y, weight)
        return S_b, shrunk(S_t, ridge), rho, 1, "B"

    return pencil


def kalda(X, Y, weight):
    S_b, S_t, rho = label_scatters(X, Y, weight)
    return S_b, 0.7 * shrunk(S_t, 3 / 7), rho, 1, "sqrt_eig"


def kalda_of_samples(X, Y, weight):
    S, C, _ = covariances(X, Y, weight)
    return C @ C.T / weight.sum(), 0.7 * shrunk(S, 3 / 7), weight, 1, "sqrt_eig"


def entropy(X, Y, weight):
    W = weight[:, None] * Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    S_b, S_t = weighted_scatters(X, W)
    return S_b, shrunk(S_t, 0.3), W.sum(axis=1), 1, "B"


def opls(X, Y, weight):
    S, C, _ = covariances(X, Y, weight)
    return C @ C.T, shrunk(S, 0.3), weight, weight.sum(), "B"


def cca(X, Y, weight):
    S, C, L = covariances(X, Y, weight)
    return C @ linalg.solve(shrunk(L, 0.1), C.T), shrunk(S, 0.3), weight, 1, "B"


def mddm_p(X, Y, weight):
    _, C, _ = covariances(X, Y, weight)
    return C @ C.T, np.eye(len(C)), weight, weight.sum() ** 2, "orthonormal"


def mddm_f(X, Y, weight):
    S, C, _ = covariances(X, Y, weight)
    return C @ C.T, 0.5 * S + 0.5 * np.eye(len(C)), weight, weight.sum(), "B"


def ocm(X, Y, weight):
    S_b, _, rho = label_scatters(X, Y, weight)
    return S_b, np.eye(len(S_b)), rho, rho.sum(), "orthonormal"


METHODS = {
    "LDA": (LDA(), lda(0.0)),
    "LDA-ridge": (LDA(ridge=0.3, **EXACT), lda(0.3)),
    "RLDA": (RLDA(ridge=0.01, **EXACT), lda(0.01)),
    "MLDA": (MLDA(ridge=0.3, **EXACT), lda(0.3)),
    "MLDA-entropy": (MLDA(weights="entropy", ridge=0.3, **EXACT), entropy),
    "kaLDA": (MultiLabelKaLDA(constraint="none", shrinkage=0.3).set_params(**EXACT), kalda),
    "kaLDA-samples": (
        MultiLabelKaLDA(constraint="none", shrinkage=0.3, weights="rows").set_params(**EXACT),
        kalda_of_samples,
    ),
    "OPLS": (OPLS(ridge=0.3, **EXACT), opls),
    "CCA": (CCA(ridge=0.3, label_ridge=0.1, **EXACT), cca),
    "MDDM-p": (MDDM(), mddm_p),
    "MDDM-f": (MDDM(projection="f", **EXACT), mddm_f),
    "OCM": (OCM(), ocm),
}


def assert_is_its_definition(name, form, X, Y, weight):
    reducer, pencil = METHODS[name]
    A, B, weights, unit, scale = pencil(X, Y, weight)
    values, V = top(A, B, len(A))
    rank = int(np.sum(values > 1e-9 * values[0]))
    values, V = values[:rank], V[:, :rank]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # too few samples without a ridge
        found = fitted(
            clone(reducer).set_params(n_components=rank), X, Y, form, sample_weight=weight
        )
    np.testing.assert_allclose(found.eigenvalues_, values / unit, rtol=1e-6, atol=1e-9 * values[0])
    varying = X[weights > 0].std(axis=0) > 1e-9
    mean = weights @ X[:, varying] / weights.sum()
    np.testing.assert_allclose(found.mean_[varying], mean, rtol=1e-9, atol=1e-9)
    size = {"B": weights.sum(), "sqrt_eig": weights.sum() * values, "orthonormal": 1}[scale]
    rows = X - weights @ X / weights.sum()
    expected = rows @ (V * size) @ V.T @ rows.T
    Z = found.transform(X)
    Z -= weights @ Z / weights.sum()
    np.testing.assert_allclose(Z @ Z.T, expected, atol=1e-6 * np.abs(expected).max())
    with pytest.raises(ValueError, match="n_components"):
        clone(reducer).set_params(n_components=rank + 1).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=3)
@given(seed=st.integers(0, 50), absent=st.integers(0, 8))
def test_closed_forms_are_their_dense_eigenproblems(name, kind, form, seed, absent):
    X, Y = KINDS[kind](seed)
    if form == "operator" and name == "LDA" and kind != "tall":
        return  # iterative solves of a singular S_t may be refused
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 2, len(X))
    weight[rng.permutation(np.arange(Y.shape[1], len(X)))[:absent]] = 0
    assert_is_its_definition(name, form, X, Y, weight)


MAY_REFUSE = {"MMC", "SDPLDA", "TraceRatio", "MLSI-inverse"}  # products, where S_t is singular
ALL = REDUCERS | KALDA | {
    "MLSI-ridge": MLSI(ridge=0.5, beta=0.7),
    "MLSI-labels": MLSI(beta=1),
    "MLSI-data": MLSI(beta=0, ridge=0.1),
    "kaLDA-sphered": MultiLabelKaLDA(shrinkage=1.0, tol=1e-10),
    "kaLDA-all": MultiLabelKaLDA(n_components=3, shrinkage=0.1, tol=1e-10),
}  # fmt: skip


def exact(name):
    reducer = clone(ALL[name])
    if "tol" in reducer.get_params() and "kaLDA" not in name:
        reducer.set_params(**EXACT)
    return reducer


@pytest.mark.parametrize("ignored", ["weight", "labels"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ALL)
def test_sparse_columns_far_off_keep_their_digits_beside_samples_that_do_not_count(
    name, form, ignored
):
    """The zeros of those samples are implicit: the columns are full where it matters."""
    if ignored == "labels" and name not in {*BY_LABELS, *KALDA} - {"kaLDA-samples"}:
        return  # samples without labels count
    X, Y = made()
    X = np.round(X * 2**10) / 2**10 + [1e6, 0, -1e8, 0, 0, 0, 1e8, 0]
    there = np.arange(60) % 10 > 0
    Y[:4], Y[10:14] = Y[10:14], np.eye(4)
    weight = np.where(there, 1.0, ignored == "labels")
    if ignored == "labels":
        Y[~there] = 0
    expected = fitted(exact(name), X[there], Y[there], "primal")
    try:
        full = sparse.csr_array(X * there[:, None])
        assert_same(fitted(exact(name), full, Y, form, sample_weight=weight), expected)
    except ValueError:
        assert name in MAY_REFUSE
        assert form == "operator"


@pytest.mark.parametrize("form", FORMS)
def test_a_small_eigenvalue_is_no_rounding_error(form):
    """Three classes, whose means differ by 6 in one direction and by 1e-5 in the other."""
    means = np.array([[3, 5e-6], [-3, 5e-6], [0, -1e-5]])
    around = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    X = np.concatenate([mean + around for mean in means])
    found = fitted(LDA(2, **EXACT), X, np.repeat([0, 1, 2], 4), form)
    np.testing.assert_allclose(found.eigenvalues_, [6 / 7, 5e-11], rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_nearly_equal_features_are_two(form, store):
    """Only their difference, of 1e-4 of their size, depends on the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=50)
    Z = np.column_stack([rng.normal(size=50), y + 0.3 * rng.normal(size=50)])
    near = Z[:, [0]] + 1e-4 * Z[:, [1]] * [0, 1]
    found, expected = (fitted(LDA(), store(x), y, form).eigenvalues_ for x in (near, Z))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_columns_of_equal_eigenvalue_do_not_depend_on_rounding():
    X, y = KINDS["wide"]()[0][:12], np.arange(12) % 4  # independent samples: λ = 1 three times
    rotate = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 30)))[0]
    G, H = LDA().fit(X, y).components_, LDA().fit(X @ rotate, y).components_ @ rotate.T
    np.testing.assert_allclose(np.abs(np.sum(G * H, axis=1)), np.sum(G * G, axis=1))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["OPLS", "CCA", "MDDM-p"])
def test_one_label_per_sample_leaves_one_direction_less(name, form):
    """At any offset: labels of one sum have one dimension less, and rounding is no direction."""
    X, y = KINDS["tall"]()[0], np.arange(60) % 5
    for offset in (0.0, 1e6):
        assert len(fitted(METHODS[name][0], X + offset, y, form).components_) == 4
        with pytest.raises(ValueError, match="n_components=5"):
            fitted(clone(METHODS[name][0]).set_params(n_components=5), X + offset, y, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", [n for n in REDUCERS if n[:4] not in {"MLSI", "MMC"}])
def test_directions_of_rounding_are_refused(name, form):
    """Every class has the same samples. Their order leaves class means that are not quite equal."""
    rows, _ = KINDS["tall"]()
    order = np.random.default_rng(0).permutation(180)
    X, y = np.vstack([rows, rows, rows])[order], np.repeat([0, 1, 2], 60)[order]
    with pytest.raises(ValueError, match="direction"):
        fitted(REDUCERS[name], X, y, form)

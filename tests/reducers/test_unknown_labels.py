"""NaN in y: a (sample, label) pair that is unknown counts for nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import linalg, sparse
from sklearn.base import clone

from skml_kalda import CCA, MDDM, MLR, OPLS, AlignmentScaler, KernelKaLDA, MultiLabelKaLDA
from tests.reducers.cases import BY_LABELS, KALDA, REDUCERS

COUNT_LABELS = {
    "kaLDA": KALDA["kaLDA-shrunk"],
    "kaLDA closed": KALDA["kaLDA-free-shrunk"],
    "KernelKaLDA": KernelKaLDA(
        kernel="linear", weights="labels", shrinkage=0.2, landmarks="random", random_state=0
    ),
    **{name: REDUCERS[name] for name in BY_LABELS if "MLDA-" not in name or "binary" in name},
}
COUNT_ROWS = {
    "kaLDA rows": MultiLabelKaLDA(constraint="none", weights="rows", shrinkage="auto"),
    "KernelKaLDA rows": KernelKaLDA(weights="rows", shrinkage="auto", random_state=0),
    "AlignmentScaler": AlignmentScaler(),
    **{name: REDUCERS[name] for name in ("CCA", "MDDM-p", "MLLS", "MLR", "MLSI-direct", "OPLS")},
}
ALL = COUNT_LABELS | COUNT_ROWS


@pytest.fixture(scope="module")
def data():
    """Samples, their labels, and which of these are unknown: all those of one sample."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5)) + 3
    scores = (X - 3) @ rng.normal(size=(5, 4)) + rng.normal(size=(60, 4))
    Y = (scores > 0.5).astype(float)
    unknown = rng.random(Y.shape) < 0.25
    unknown[7] = True
    return X, Y, unknown


def with_nan(Y, unknown):
    return np.where(unknown, np.nan, Y)


def projected(reducer, X, y, **fit_params):
    rows = reducer.fit(X, y, **fit_params).transform(X)
    return rows.toarray() if sparse.issparse(rows) else rows


@pytest.mark.parametrize("name", COUNT_LABELS)
def test_methods_that_count_labels_see_the_known_pairs_only(name, data):
    """A sample that counts once per label is as many samples of one class each."""
    X, Y, unknown = data
    weight = np.linspace(1, 2, len(X))
    rows, labels = np.nonzero((Y == 1) & ~unknown)
    pairs = clone(COUNT_LABELS[name]).fit(X[rows], labels, sample_weight=weight[rows])
    found = clone(COUNT_LABELS[name]).fit(X, with_nan(Y, unknown), sample_weight=weight)
    if name == "KernelKaLDA":  # its landmarks are those of other samples
        assert_allclose(found.eigenvalues_, pairs.eigenvalues_)
        return
    assert_allclose(found.components_, pairs.components_, atol=1e-6)
    assert_allclose(found.mean_, pairs.mean_)


def known_sums(X, Y, unknown, w):
    """Add up, pair by pair, what is known: S_t, C and the scatter of the labels."""
    n, K = Y.shape
    centred = X - np.average(X, axis=0, weights=w)
    total = sum(w[i] * np.outer(centred[i], centred[i]) for i in range(n))
    known = [[i for i in range(n) if not unknown[i, k]] for k in range(K)]
    mean = [sum(w[i] * Y[i, k] for i in known[k]) / sum(w[i] for i in known[k]) for k in range(K)]
    cross, labels = np.zeros((X.shape[1], K)), np.zeros((K, K))
    for k in range(K):
        for i in known[k]:
            cross[:, k] += w[i] * centred[i] * (Y[i, k] - mean[k])
        for j in range(K):
            for i in set(known[k]) & set(known[j]):
                labels[k, j] += w[i] * (Y[i, k] - mean[k]) * (Y[i, j] - mean[j])
    return total, cross, labels


def largest(A, B, k):
    return linalg.eigh(A, B, eigvals_only=True)[::-1][:k]


def test_methods_that_count_samples_take_covariances_with_known_labels(data):
    X, Y, unknown = data
    w = np.linspace(1, 2, len(X))
    S, C, labels = known_sums(X, Y, unknown, w)
    y = with_nan(Y, unknown)
    ridge = 0.1 * np.trace(S) / 5 * np.eye(5)

    opls = OPLS(3, ridge=0.1).fit(X, y, w)
    assert_allclose(opls.eigenvalues_, largest(C @ C.T, (S + ridge), 3) / w.sum())
    cca = CCA(3, ridge=0.1, label_ridge=0.0).fit(X, y, w)
    assert_allclose(
        cca.eigenvalues_, largest(C @ np.linalg.inv(labels) @ C.T, S + ridge, 3), rtol=1e-9
    )
    mlr = MLR(ridge=0.1).fit(X, y, w)
    weights = np.linalg.solve(S + ridge, C)
    assert_allclose(mlr.components_.T @ mlr.components_, weights @ weights.T, atol=1e-12)
    kalda = MultiLabelKaLDA(3, constraint="none", weights="rows", shrinkage=None).fit(X, y, w)
    assert_allclose(kalda.eigenvalues_, largest(C @ C.T, S, 3) / w.sum())


def test_relevance_is_the_correlation_with_known_labels(data):
    X, Y, unknown = data
    w = np.linspace(1, 2, len(X))
    S, C, labels = known_sums(X, Y, unknown, w)
    alignment = np.mean(C**2 / np.outer(np.diag(S), np.diag(labels)), axis=1)
    found = AlignmentScaler().fit(X, with_nan(Y, unknown), w).relevance_
    assert_allclose(found, np.maximum(alignment - 1 / w.sum(), 0.02 / w.sum()))


@pytest.mark.parametrize("name", ALL)
def test_a_label_that_nobody_knows_is_left_out(name, data):
    X, Y, _ = data
    y = np.column_stack([Y[:, :2], np.full(len(Y), np.nan), Y[:, 2:]])
    reducer = ALL[name]
    expected = projected(reducer, X, Y)
    if name == "AlignmentScaler":  # nothing is left out, because a label is no direction
        assert_allclose(projected(reducer, X, y), expected)
        return
    with pytest.warns(UserWarning, match=r"\[2\]"):
        found = projected(reducer, X, y)
    assert_allclose(found, expected, atol=1e-7)
    assert_array_equal(reducer.classes_, [0, 1, 3, 4])


def test_a_label_kernel_refuses_with_a_reason_and_the_line_to_write(data):
    X, Y, unknown = data
    y = pd.DataFrame(with_nan(Y, unknown), columns=["sea", "sun", "sky", "sand"])
    reducer = MDDM(label_kernel=lambda Y: Y @ Y.T)
    with pytest.raises(ValueError, match=r"\['sea', 'sun', 'sky', 'sand'\]: .*kernel") as error:
        reducer.fit(X, y)
    scope = {"pd": pd, "X": X, "y": y}
    exec(str(error.value).rpartition(": ")[2], scope)
    assert len(scope["X"]) == len(scope["y"]) == np.sum(~unknown.any(axis=1))
    reducer.fit(scope["X"], scope["y"])

"""Every linear reducer as published, and the data on which the forms of the scatter differ."""

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import linear_kernel

from skml_kalda import MDDM, MLLS, MMC, OCM
from tests.classic import (
    CCA,
    LDA,
    MLDA,
    MLR,
    MLSI,
    OLDA,
    OPLS,
    RLDA,
    SDPLDA,
    ULDA,
    MultiLabelKaLDA,
    TraceRatio,
)
from tests.conftest import made

REDUCERS = {
    "CCA": CCA(),
    "LDA": LDA(),
    "MDDM-p": MDDM(),
    "MDDM-f": MDDM(projection="f"),
    "MDDM-kernel": MDDM(label_kernel=linear_kernel),
    "MLDA-binary": MLDA(),
    "MLDA-entropy": MLDA(weights="entropy"),
    "MLDA-correlation": MLDA(weights="correlation"),
    "MLDA-fuzzy": MLDA(weights="fuzzy"),
    "MLDA-dependence": MLDA(weights="dependence", random_state=0),
    "MLLS": MLLS(),
    "MLR": MLR(),
    "MLSI-direct": MLSI(),
    "MLSI-inverse": MLSI(form="inverse", ridge=0.1),
    "MMC": MMC(),
    "OCM": OCM(),
    "OLDA": OLDA(),
    "OPLS": OPLS(),
    "RLDA": RLDA(),
    "SDPLDA": SDPLDA(),
    "TraceRatio": TraceRatio(),
    "ULDA": ULDA(),
}
KALDA = {
    "kaLDA": MultiLabelKaLDA(tol=1e-10),
    "kaLDA-shrunk": MultiLabelKaLDA(shrinkage=0.2, tol=1e-10),
    "kaLDA-two": MultiLabelKaLDA(n_components=2, shrinkage=0.2, tol=1e-10),
    "kaLDA-free": MultiLabelKaLDA(constraint="none"),
    "kaLDA-free-shrunk": MultiLabelKaLDA(constraint="none", shrinkage=0.2),
    "kaLDA-samples": MultiLabelKaLDA(constraint="none", shrinkage=0.2, weights="rows"),
}
# Cannot add up batches.
ALL_AT_ONCE = {"MDDM-kernel", "MLDA-correlation", "MLDA-fuzzy", "MLDA-dependence"}
# A sample counts once per label, so one without labels counts for nothing.
BY_LABELS = [n for n in REDUCERS if n[:4] not in {"CCA", "MDDM", "MLLS", "MLR", "MLSI", "OPLS"}]


def assert_same(a, b, atol=1e-8):
    """Two fitted linear reducers are one."""
    np.testing.assert_allclose(a.components_, b.components_, atol=atol)
    np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-6, atol=atol)
    np.testing.assert_allclose(a.mean_, b.mean_, rtol=1e-7, atol=atol)
    np.testing.assert_array_equal(a.classes_, b.classes_)
    for name in ("objective_", "upper_bound_", "alignment_", "shrinkage_", "ratio_", "lambda_"):
        np.testing.assert_allclose(getattr(a, name, 0), getattr(b, name, 0), rtol=1e-7)


def thinned(X, seed=1):
    return X * (np.random.default_rng(seed).random(X.shape) < 0.5)


def _labels(scores, rng):
    """Labels that depend on the data: each about a third of the samples, some without any."""
    noisy = scores + 0.5 * scores.std() * rng.normal(size=scores.shape)
    Y = (noisy > np.quantile(noisy, 0.65, axis=0)).astype(int)
    Y[: Y.shape[1]] = np.eye(Y.shape[1], dtype=int)
    return Y


def one_hot(n=80, seed=0, levels=(3, 4, 5)):
    """Categories as indicators: columns of a category add up to one, so S_t is singular."""
    rng = np.random.default_rng(seed)
    X = np.hstack([np.eye(m)[np.arange(n) * 7 % m if i else rng.integers(m, size=n)]
                   for i, m in enumerate(levels)])  # fmt: skip
    return X, _labels(X @ rng.normal(size=(X.shape[1], 4)), rng)


def hashed(n=70, seed=0, p=16):
    """Words hashed into few signed columns, some of which nothing falls into."""
    rng = np.random.default_rng(seed)
    words = rng.poisson(0.15, size=(n, 60))
    table = np.zeros((60, p))
    table[np.arange(60), rng.integers(p - 2, size=60)] = rng.choice([-1, 1], 60)
    X = words @ table
    return X, _labels(X @ rng.normal(size=(p, 4)), rng)


def text(n=60, seed=0, p=90):
    """More words than texts, the frequent ones in every text, samples of unit length."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(3 / np.arange(1, p + 1) ** 0.7, size=(n, p)) * rng.uniform(1, 3, p)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9)
    return X, _labels(X @ rng.normal(size=(p, 4)), rng)


def degenerate(n=60, seed=0):
    """A constant, a repeated, a dependent and a far-off column beside four of their own."""
    rng = np.random.default_rng(seed)
    X, Y = made(n, 4, seed=seed, unlabelled=0.2)
    X = np.round(X * 64) / 64
    more = [np.full(n, 7.0), X[:, 0], X[:, 1] - X[:, 2], 1e4 + rng.integers(9, size=n)]
    return np.column_stack([X, *more]), Y


def few_features(n=60, seed=0):
    """Fewer features than labels."""
    X, Y = made(n, 3, 6, seed=seed, unlabelled=0.1)
    return thinned(X, seed), Y


KINDS = {
    "tall": lambda seed=0: made(60, 8, seed=seed, unlabelled=0.1),
    "wide": lambda seed=0: made(15, 30, seed=seed),
    "one-hot": lambda seed=0: one_hot(seed=seed),
    "hashed": lambda seed=0: hashed(seed=seed),
    "text": lambda seed=0: text(seed=seed),
    "degenerate": lambda seed=0: degenerate(seed=seed),
    "few features": lambda seed=0: few_features(seed=seed),
}


def short_and_wide(n, p, occupied, K, seed=0):
    """Sparse X with entries in few columns, the others empty; its labels; those columns."""
    rng = np.random.default_rng(seed)
    columns = np.sort(rng.choice(p, occupied, replace=False))
    Y = np.eye(K, dtype=int)[np.arange(n) % K]
    Y[rng.random(n) < 0.3, 0] = 1
    dense = (rng.random((n, occupied)) < 0.1) * (1 + Y @ rng.normal(2, 2, size=(K, occupied)))
    small = sparse.csr_array(dense)
    X = sparse.csr_array((small.data, columns[small.indices], small.indptr), shape=(n, p))
    return X, Y, columns

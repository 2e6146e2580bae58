"""Directions from a sketch of the labels against one solve for each, and refusals in time."""

import sys

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skml_kalda import (
    CCA,
    LDA,
    MDDM,
    MLDA,
    MLLS,
    MLR,
    MLSI,
    OPLS,
    RLDA,
    KernelKaLDA,
    MultiLabelKaLDA,
    scatter_form,
)
from skml_kalda._core.scatter import implicit, many_labels, memory

SKETCHED = {
    "kaLDA": MultiLabelKaLDA(4, constraint="none", shrinkage=0.2),
    "kaLDA-rows": MultiLabelKaLDA(4, constraint="none", shrinkage=0.2, weights="rows"),
    "RLDA": RLDA(4, ridge=0.2),
    "MLDA": MLDA(4, ridge=0.2),
    "OPLS": OPLS(4, ridge=0.2),
    "MDDM": MDDM(4, projection="f"),
}


def topics(n=150, p=200, K=60, seed=0):
    """Sparse rows of four topics, and labels that are mostly those of their topic."""
    rng = np.random.default_rng(seed)
    share = np.array([0.4, 0.3, 0.2, 0.1])
    topic = rng.choice(4, n, p=share)
    words = rng.random((4, p)) ** 4
    X = (rng.random((n, p)) < 0.2 * words[topic] + 0.02) * rng.random((n, p))
    Y = rng.random((n, K)) < np.where(np.arange(K) % 5 == topic[:, None], 0.5, 0.05)
    return sparse.csr_array(X), sparse.csr_array(Y.astype(float))


@pytest.mark.parametrize("shape", [(150, 200), (200, 120)], ids=["wide", "tall"])
@pytest.mark.parametrize("name", list(SKETCHED))
def test_a_sketch_of_the_labels_finds_the_leading_directions(name, shape, monkeypatch):
    X, Y = topics(*shape)
    with scatter_form("rows"):
        exact = clone(SKETCHED[name]).fit(X, Y)
    monkeypatch.setattr(implicit, "MANY_LABELS", 50)
    with scatter_form("implicit"):
        sketched = clone(SKETCHED[name]).fit(X, Y)
    angles = linalg.subspace_angles(sketched.components_.T, exact.components_.T)
    assert angles.max() < 1e-4
    np.testing.assert_allclose(sketched.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    assert getattr(sketched, "alignment_", 0) == pytest.approx(getattr(exact, "alignment_", 0))


def test_directions_that_a_sketch_does_not_tell_apart_are_warned_of(monkeypatch):
    """Labels drawn at random: no gap after the fourth direction, and none before."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array((rng.random((400, 300)) < 0.05) * rng.random((400, 300)))
    Y = sparse.csr_array((rng.random((400, 200)) < 0.1).astype(float))
    monkeypatch.setattr(implicit, "MANY_LABELS", 50)
    monkeypatch.setattr(many_labels, "_MAX_STEPS", 2)
    with (
        scatter_form("implicit"),
        pytest.warns(ConvergenceWarning, match=r"4 leading directions .* not 1e-04, because"),
    ):
        RLDA(4, ridge=0.2).fit(X, Y)


def test_shrinkage_is_chosen_without_solving_for_every_label(monkeypatch):
    X, Y = topics()
    with scatter_form("rows"):
        exact = RLDA(4).fit(X, Y)
    monkeypatch.setattr(implicit, "MANY_LABELS", 50)
    with scatter_form("implicit"):
        sketched = RLDA(4).fit(X, Y)
    assert sketched.ridge_ == pytest.approx(exact.ridge_, rel=0.25)


@pytest.mark.parametrize(
    "reducer",
    [
        RLDA(),  # as many directions as labels
        LDA(3, ridge=0.0),
        CCA(3),
        MLR(3, ridge=0.1),
        MLLS(3),
        MDDM(3),
        MultiLabelKaLDA(3, shrinkage=0.2),
        KernelKaLDA(3),
    ],
    ids=lambda reducer: type(reducer).__name__,
)
def test_more_labels_than_memory_are_refused_before_they_are_tried(reducer, monkeypatch):
    monkeypatch.setattr(memory, "_physical_memory", lambda: 1e9)
    X, n = sparse.csr_array((30, 20)), 30
    X[np.arange(n), np.arange(n) % 20] = 1.0
    Y = sparse.csr_array((np.ones(6_000), (np.arange(6_000) % n, np.arange(6_000))))
    with pytest.raises(MemoryError, match=r"each of 6000 labels.* Pass n_components"):
        reducer.fit(X, Y)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limits")
def test_a_limit_of_the_process_counts_as_its_memory(monkeypatch):
    import resource

    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**9, 10**9))
    with pytest.raises(MemoryError, match="this process may use 1 GB"):
        memory.check_labels(100_000, 30_000)


@pytest.mark.parametrize("method", [RLDA, MLSI])
def test_few_directions_of_many_labels_need_little_memory(method, monkeypatch):
    monkeypatch.setattr(memory, "_physical_memory", lambda: 1e9)
    X, Y = topics(60, 300, 6_000)
    assert method(3, ridge=0.5).fit(X, Y).components_.shape == (3, 300)

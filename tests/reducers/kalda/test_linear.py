"""MultiLabelKaLDA: what a user relies on."""

import re

import numpy as np
import pytest
from scipy import linalg

from tests.classic import MultiLabelKaLDA
from tests.conftest import made
from tests.forms import fitted
from tests.oracles import assert_same_span


@pytest.mark.parametrize("k", [2, 5])
def test_components_are_orthonormal_and_uncorrelated_in_order_of_variance(k):
    X, Y = made(single=True)
    kalda = MultiLabelKaLDA(k).fit(X, Y)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(k), atol=1e-12)
    covariance = np.cov(kalda.transform(X).T)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-10)
    assert np.all(np.diff(np.diag(covariance)) <= 0)


def test_attributes_report_the_fit():
    X, Y = made()
    kalda = MultiLabelKaLDA().fit(X, Y)
    assert kalda.converged_
    assert kalda.n_iter_ >= 1
    assert kalda.upper_bound_ == pytest.approx(linalg.norm(kalda.eigenvalues_))
    assert kalda.shrinkage_ == 0
    closed = MultiLabelKaLDA(constraint="none", shrinkage=0.25).fit(X, Y)
    assert closed.objective_ == closed.upper_bound_
    assert closed.n_iter_ == 1
    assert closed.shrinkage_ == 0.25


def test_more_directions_than_classes_are_allowed_when_orthonormal():
    X, Y = made()
    kalda = MultiLabelKaLDA(7).fit(X, Y)
    assert kalda.components_.shape == (7, 8)
    np.testing.assert_array_equal(kalda.eigenvalues_[4:], 0)
    with pytest.raises(ValueError, match="n_components=4"):
        MultiLabelKaLDA(4, constraint="none").fit(X, Y)


def test_full_shrinkage_gives_the_directions_of_the_class_means():
    X, Y = made(single=True)
    kalda = MultiLabelKaLDA(shrinkage=1.0).fit(X, Y)
    means = np.array([X[Y[:, k] == 1].mean(axis=0) for k in range(4)])
    assert_same_span(kalda.components_.T, (means[1:] - means[0]).T, atol=1e-7)


@pytest.mark.parametrize(("form", "step"), [("primal", "iteration"), ("operator", "round")])
def test_verbose_prints_the_history_of_the_objective_and_the_result(form, step, capsys):
    X, Y = made()
    quiet = MultiLabelKaLDA(shrinkage=0.3)
    fitted(quiet, X, Y, form)
    assert capsys.readouterr().out == ""
    kalda = fitted(quiet.set_params(verbose=1), X, Y, form)
    *lines, last = capsys.readouterr().out.splitlines()
    pattern = rf"\[MultiLabelKaLDA\] {step} (\d+): objective (\S+), gradient (\S+)"
    steps = np.array([m.groups() for m in map(re.compile(pattern).match, lines) if m], float)
    np.testing.assert_array_equal(steps[:, 0], np.arange(kalda.n_iter_ + 1))
    np.testing.assert_allclose(steps[:, 1], kalda.objective_history_, rtol=1e-7)
    assert np.all(steps[:-1, 2] > steps[-1, 2])
    assert steps[-1, 2] <= kalda.tol
    assert last.startswith("[MultiLabelKaLDA] 3 directions: shrinkage 0.3, objective 0.")

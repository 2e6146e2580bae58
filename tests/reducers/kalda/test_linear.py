"""MultiLabelKaLDA: what a user relies on."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.classic import MultiLabelKaLDA
from tests.conftest import made

CONSTRAINTS = pytest.mark.parametrize("constraint", ["orthonormal", "none"])
# To the last digit, so that two ways to the same maximum can be compared closely.
EXACT = {"tol": 1e-14}


def span(G):
    Q = np.linalg.qr(G)[0]
    return Q @ Q.T


@CONSTRAINTS
@pytest.mark.parametrize("shape", [(80, 7), (20, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("store", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array])
def test_dense_and_sparse_data_give_the_same(constraint, shape, store):
    X, Y = made(*shape, unlabelled=0.1)
    X[:, ::2] *= np.random.default_rng(0).random((len(X), (shape[1] + 1) // 2)) < 0.4
    kalda = MultiLabelKaLDA(constraint=constraint, **EXACT)
    dense = clone(kalda).fit(X, Y)
    thin = clone(kalda).fit(store(X), Y)
    np.testing.assert_allclose(thin.components_, dense.components_, atol=1e-10)
    np.testing.assert_allclose(thin.transform(store(X)), dense.transform(X), atol=1e-9)
    assert isinstance(thin.transform(store(X)), np.ndarray)


@CONSTRAINTS
@pytest.mark.parametrize("single", [True, False])
def test_batches_give_the_same_as_all_at_once(constraint, single):
    X, Y = made(90, 7, single=single)
    y = np.array(list("dcba"))[Y.argmax(axis=1)] if single else Y
    weight = np.random.default_rng(0).uniform(0.5, 2, 90)
    kalda = MultiLabelKaLDA(constraint=constraint, **EXACT).fit(X, y, sample_weight=weight)
    stream = MultiLabelKaLDA(constraint=constraint, **EXACT)
    for rows in np.split(np.arange(90), [1, 3, 40]):  # the first batch has one class only
        stream.partial_fit(X[rows], y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(stream.components_, kalda.components_, atol=1e-10)
    np.testing.assert_allclose(stream.mean_, kalda.mean_, atol=1e-12)
    np.testing.assert_array_equal(stream.classes_, kalda.classes_)
    assert stream.objective_ == pytest.approx(kalda.objective_, rel=1e-12)


def test_a_stream_goes_on_after_it_was_looked_at():
    X, Y = made()
    stream = MultiLabelKaLDA().partial_fit(X[:30], Y[:30])
    early = stream.components_
    stream.partial_fit(X[30:], Y[30:])
    assert not np.allclose(stream.components_, early)
    np.testing.assert_allclose(
        span(stream.components_.T), span(MultiLabelKaLDA().fit(X, Y).components_.T), atol=1e-6
    )


def test_a_stream_says_what_it_lacks_when_it_is_used():
    X, Y = made(single=True)
    stream = MultiLabelKaLDA().partial_fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="one class only"):
        stream.transform(X)
    assert MultiLabelKaLDA().partial_fit(X, Y).transform(X).shape == (60, 3)


def test_batches_with_other_columns_are_refused():
    X, Y = made()
    stream = MultiLabelKaLDA().partial_fit(X, Y)
    with pytest.raises(ValueError, match="y has 3 label columns in this batch, but had 4"):
        stream.partial_fit(X, Y[:, :3])
    with pytest.raises(ValueError, match="y has one dimension in this batch, but had 4"):
        stream.partial_fit(X, Y.argmax(axis=1))
    np.testing.assert_allclose(
        span(stream.components_.T), span(MultiLabelKaLDA().fit(X, Y).components_.T), atol=1e-6
    )


@CONSTRAINTS
def test_rows_without_labels_and_empty_classes_change_nothing(constraint):
    X, Y = made()
    kalda = MultiLabelKaLDA(constraint=constraint, **EXACT)
    plain = clone(kalda).fit(X, Y)
    noise = np.random.default_rng(0).normal(size=(9, 8)) * 50
    longer = clone(kalda).fit(np.vstack([X, noise]), np.vstack([Y, np.zeros((9, 4), int)]))
    np.testing.assert_allclose(longer.components_, plain.components_, atol=1e-10)
    with pytest.warns(UserWarning, match=r"1 class\(es\) without rows.*\[2\]"):
        wider = clone(kalda).fit(X, np.insert(Y, 2, 0, axis=1))
    np.testing.assert_allclose(wider.components_, plain.components_, atol=1e-12)
    np.testing.assert_array_equal(wider.classes_, [0, 1, 3, 4])
    assert wider.alignment_ == pytest.approx(longer.alignment_) == pytest.approx(plain.alignment_)


@CONSTRAINTS
@given(seed=st.integers(0, 30))
def test_order_of_rows_and_classes_does_not_matter(constraint, seed):
    X, Y = made(seed=seed)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(60), rng.permutation(4)
    kalda = MultiLabelKaLDA(constraint=constraint, **EXACT)
    expected = clone(kalda).fit(X, Y)
    shuffled = clone(kalda).fit(X[rows], Y[rows][:, columns])
    assert shuffled.objective_ == pytest.approx(expected.objective_, rel=1e-10)
    np.testing.assert_allclose(
        span(shuffled.components_.T), span(expected.components_.T), atol=1e-7
    )


@CONSTRAINTS
def test_a_rotation_of_the_features_rotates_the_directions(constraint):
    X, Y = made()
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    kalda = MultiLabelKaLDA(constraint=constraint, **EXACT)
    plain, rotated = clone(kalda).fit(X, Y), clone(kalda).fit(X @ Q, Y)
    np.testing.assert_allclose(
        np.abs(rotated.transform(X @ Q)), np.abs(plain.transform(X)), atol=1e-9
    )


def test_the_closed_form_ignores_the_units_of_the_features():
    X, Y = made()
    units = np.logspace(-2, 2, 8)
    kalda = MultiLabelKaLDA(constraint="none")
    expected = kalda.fit(X, Y).transform(X)
    scaled = kalda.fit(X * units, Y).transform(X * units)
    np.testing.assert_allclose(np.abs(scaled), np.abs(expected), atol=1e-9)


def test_one_direction_is_that_of_lda():
    X, Y = made(single=True)
    y = Y.argmax(axis=1)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :1]
    for constraint in ("orthonormal", "none"):
        kalda = MultiLabelKaLDA(1, constraint=constraint).fit(X, y)
        np.testing.assert_allclose(span(kalda.components_.T), span(lda), atol=1e-7)


def test_without_constraint_the_axes_are_those_of_lda_weighted_by_their_eigenvalues():
    X, Y = made(single=True)
    y = Y.argmax(axis=1)
    kalda = MultiLabelKaLDA(constraint="none").fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(span(kalda.components_.T), span(lda.scalings_[:, :3]), atol=1e-9)
    np.testing.assert_allclose(kalda.transform(X).var(axis=0), kalda.eigenvalues_, rtol=1e-10)
    ratio = kalda.eigenvalues_ / np.sum(kalda.eigenvalues_ / (1 - kalda.eigenvalues_))
    np.testing.assert_allclose(ratio / (1 - kalda.eigenvalues_), lda.explained_variance_ratio_)


def test_components_are_orthonormal_and_uncorrelated_in_order_of_variance():
    X, Y = made(single=True)
    kalda = MultiLabelKaLDA(5).fit(X, Y)
    np.testing.assert_allclose(kalda.components_ @ kalda.components_.T, np.eye(5), atol=1e-12)
    covariance = np.cov(kalda.transform(X).T)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-10)
    assert np.all(np.diff(np.diag(covariance)) <= 0)
    largest = np.abs(kalda.components_).argmax(axis=1)
    assert np.all(kalda.components_[np.arange(5), largest] > 0)


def test_fewer_rows_than_features_use_the_range_of_the_data_only():
    """In the null space of the scatter anything would fit: directions stay out of it."""
    X, Y = made(15, 40, single=True)
    for constraint in ("orthonormal", "none"):
        kalda = MultiLabelKaLDA(constraint=constraint).fit(X, Y)
        null = linalg.null_space(X - X.mean(axis=0))
        np.testing.assert_allclose(kalda.components_ @ null, 0, atol=1e-10)
        np.testing.assert_allclose(kalda.eigenvalues_, 1, atol=1e-10)  # training rows collapse


def test_attributes_report_the_fit():
    X, Y = made()
    kalda = MultiLabelKaLDA().fit(X, Y)
    assert kalda.converged_
    assert kalda.n_iter_ >= 1
    assert kalda.objective_history_[-1] == kalda.objective_
    assert len(kalda.objective_history_) == kalda.n_iter_ + 1
    assert kalda.objective_ <= kalda.upper_bound_
    assert kalda.upper_bound_ == pytest.approx(linalg.norm(kalda.eigenvalues_))
    closed = MultiLabelKaLDA(constraint="none").fit(X, Y)
    assert closed.objective_ == closed.upper_bound_ == pytest.approx(kalda.upper_bound_)
    assert closed.n_iter_ == 1


def test_more_directions_than_classes_are_allowed_when_orthonormal():
    X, Y = made()
    kalda = MultiLabelKaLDA(7).fit(X, Y)
    assert kalda.components_.shape == (7, 8)
    np.testing.assert_array_equal(kalda.eigenvalues_[4:], 0)
    with pytest.raises(ValueError, match=r"n_components=4 is more than.*at most 3.*between-class"):
        MultiLabelKaLDA(4, constraint="none").fit(X, Y)


def test_all_directions_leave_the_objective_without_choice():
    X, Y = made()
    kalda = MultiLabelKaLDA(8).fit(X, Y)
    rho = Y.sum(axis=1)
    centred = X - rho @ X / rho.sum()
    F = centred.T @ Y / np.sqrt(Y.sum(axis=0))
    assert kalda.objective_ == pytest.approx(np.sum(F**2) / linalg.norm(centred.T * rho @ centred))


@pytest.mark.parametrize("shape", [(60, 8), (20, 40)], ids=["tall", "wide"])
def test_shrinkage_is_the_formula(shape):
    X, Y = made(*shape, single=True)
    p = shape[1]
    a = 0.4
    kalda = MultiLabelKaLDA(2, constraint="none", shrinkage=a).fit(X, Y)
    centred = X - X.mean(axis=0)
    S_t = centred.T @ centred
    F = centred.T @ Y / np.sqrt(Y.sum(axis=0))
    shrunk = (1 - a) * S_t + a * np.trace(S_t) / p * np.eye(p)
    expected = linalg.eigh(F @ F.T, shrunk, eigvals_only=True)[::-1]
    np.testing.assert_allclose(kalda.eigenvalues_, expected[:2], rtol=1e-10)
    assert kalda.shrinkage_ == a


def test_full_shrinkage_gives_the_directions_of_the_class_means():
    X, Y = made(single=True)
    kalda = MultiLabelKaLDA(shrinkage=1.0).fit(X, Y)
    means = np.array([X[Y[:, k] == 1].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(span(kalda.components_.T), span((means[1:] - means[0]).T), atol=1e-7)


def test_sample_weights_are_repetitions():
    X, Y = made(unlabelled=0.1)
    times = np.random.default_rng(0).integers(0, 4, 60)
    times[:4] = 1
    for params in ({}, {"constraint": "none"}, {"shrinkage": "auto"}):
        kalda = MultiLabelKaLDA(**params, **EXACT)
        weighted = clone(kalda).fit(X, Y, sample_weight=times)
        repeated = clone(kalda).fit(np.repeat(X, times, axis=0), np.repeat(Y, times, axis=0))
        np.testing.assert_allclose(weighted.components_, repeated.components_, atol=1e-9)
        assert weighted.alignment_ == pytest.approx(repeated.alignment_, rel=1e-10)


def test_inverse_transform_is_the_nearest_point_with_that_projection():
    X, Y = made()
    for constraint in ("orthonormal", "none"):
        kalda = MultiLabelKaLDA(constraint=constraint).fit(X, Y)
        Z = kalda.transform(X)
        back = kalda.inverse_transform(Z)
        np.testing.assert_allclose(kalda.transform(back), Z, atol=1e-10)
        null = linalg.null_space(kalda.components_)
        np.testing.assert_allclose((back - kalda.mean_) @ null, 0, atol=1e-10)
    with pytest.raises(ValueError, match="X has 2 columns, but MultiLabelKaLDA projects to 3"):
        kalda.inverse_transform(Z[:, :2])


def test_names_and_frames():
    X, Y = made()
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(8)])
    kalda = MultiLabelKaLDA().set_output(transform="pandas").fit(frame, pd.DataFrame(Y))
    out = kalda.transform(frame)
    assert list(out.columns) == ["multilabelkalda0", "multilabelkalda1", "multilabelkalda2"]
    assert list(kalda.get_feature_names_out()) == list(out.columns)


def test_float32_stays_float32():
    X, Y = made()
    kalda = MultiLabelKaLDA().fit(X.astype(np.float32), Y)
    assert kalda.components_.dtype == kalda.transform(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(
        span(kalda.components_.T), span(MultiLabelKaLDA().fit(X, Y).components_.T), atol=1e-3
    )


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_the_callers_data_are_left_alone(store):
    X, Y = made()
    kept, given_X, given_Y = X.copy(), store(X), sparse.lil_array(Y)
    kalda = MultiLabelKaLDA().fit(given_X, given_Y)
    kalda.transform(given_X)
    np.testing.assert_array_equal(given_X if store is np.asarray else given_X.toarray(), kept)
    np.testing.assert_array_equal(given_Y.toarray(), Y)


def test_in_a_pipeline_with_a_grid_search_and_pickled():
    X, Y = made(120)
    pipeline = make_pipeline(StandardScaler(), MultiLabelKaLDA(), KNeighborsClassifier(3))
    grid = {
        "multilabelkalda__n_components": [1, 3],
        "multilabelkalda__shrinkage": [None, 0.5, "auto"],
    }
    search = GridSearchCV(pipeline, grid, cv=3, scoring="f1_micro").fit(X, Y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    again = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_the_same_seed_gives_the_same_result():
    X, Y = made()
    fits = [MultiLabelKaLDA(n_init=5, random_state=3).fit(X, Y) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_the_iteration_of_the_paper_warns_and_keeps_its_history():
    X, Y = made()
    with pytest.warns(ConvergenceWarning, match='lower tau, or use solver="auto"'):
        paper = MultiLabelKaLDA(solver="paper", max_iter=50, tau=0.01).fit(X, Y)
    assert paper.objective_history_.shape == (51,)
    assert not paper.converged_
    with pytest.warns(ConvergenceWarning, match="increase max_iter"):
        MultiLabelKaLDA(max_iter=1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert MultiLabelKaLDA().fit(X, Y).objective_ > paper.objective_


X0, Y0 = made()


def with_value(value):
    X = X0.copy()
    X[3, 2] = value
    return X


@pytest.mark.parametrize(
    ("X", "y", "params", "message"),
    [
        (with_value(np.nan), Y0, {}, "Input X contains NaN"),
        (with_value(np.inf), Y0, {}, "Input X contains infinity"),
        (X0, 2 * Y0, {}, "y has two dimensions.*contains 2"),
        (X0, Y0 * 1.5, {}, "y has two dimensions.*contains 1.5"),
        (X0, Y0[:-1], {}, "inconsistent numbers of samples"),
        (X0, np.ones(60), {}, "y has one class only"),
        (X0, Y0[:, :1], {}, "y has one class only"),
        (X0, 0 * Y0, {}, "y has no label in any row"),
        (X0, None, {}, "requires y to be passed"),
        (X0[:1], Y0[:1], {}, "1 sample"),
        (np.ones((60, 3)), Y0, {}, "finds no direction in X: the rank of the centred data is zero"),
        (X0, Y0, {"n_components": 0}, "'n_components' parameter"),
        (X0, Y0, {"n_components": 9}, "n_components=9 is more than.*at most 8, .*rank"),
        (X0, Y0, {"n_components": 1.5}, "'n_components' parameter"),
        (X0, Y0, {"shrinkage": -0.1}, "'shrinkage' parameter"),
        (X0, Y0, {"shrinkage": 2}, "'shrinkage' parameter"),
        (X0, Y0, {"shrinkage": "much"}, "'shrinkage' parameter"),
        (X0, Y0, {"constraint": "some"}, "'constraint' parameter"),
        (X0, Y0, {"solver": "magic"}, "'solver' parameter"),
        (X0, Y0, {"tau": 0}, "'tau' parameter"),
        (X0, Y0, {"tol": -1}, "'tol' parameter"),
        (X0, Y0, {"max_iter": 0}, "'max_iter' parameter"),
        (X0, Y0, {"n_init": 0}, "'n_init' parameter"),
    ],
)
def test_bad_input_is_named(X, y, params, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelKaLDA(**params).fit(X, y)


def test_weights_must_be_positive_somewhere():
    with pytest.raises(ValueError, match=r"(?i)negative"):
        MultiLabelKaLDA().fit(X0, Y0, sample_weight=-np.ones(60))
    with pytest.raises(ValueError, match=r"(?i)weight"):
        MultiLabelKaLDA().fit(X0, Y0, sample_weight=np.zeros(60))


@pytest.mark.parametrize("offset", [0.0, 1 / 3, 1e4])
@pytest.mark.parametrize("unit", [1e-90, 1.0, 1e90])
def test_equal_class_means_leave_nothing_to_align(offset, unit):
    X = (np.vstack([X0, X0[::-1]]) + offset) * unit
    y = np.repeat([0, 1], 60)
    with pytest.raises(ValueError, match="between-class scatter is zero"):
        MultiLabelKaLDA(constraint="none").fit(X, y)


def test_a_small_correlation_is_one():
    X = np.vstack([X0, X0 + 1e-8])
    kalda = MultiLabelKaLDA(constraint="none", shrinkage=0.1).fit(X, np.repeat([0, 1], 60))
    assert 0 < kalda.eigenvalues_[0] < 1e-14


def test_constant_features_get_no_weight():
    X = np.insert(X0, 2, 7.0, axis=1)
    for constraint in ("orthonormal", "none"):
        kalda = MultiLabelKaLDA(constraint=constraint).fit(X, Y0)
        np.testing.assert_allclose(kalda.components_[:, 2], 0, atol=1e-12)


def test_a_failed_fit_leaves_the_fitted_estimator_usable():
    kalda = MultiLabelKaLDA().fit(X0, Y0)
    expected = kalda.transform(X0)
    with pytest.raises(ValueError, match="NaN"):
        kalda.fit(with_value(np.nan), Y0)
    np.testing.assert_array_equal(kalda.transform(X0), expected)


def test_the_paper_iteration_reports_the_last_objective():
    X, Y = made()
    with pytest.warns(ConvergenceWarning, match="fixed length"):
        kalda = MultiLabelKaLDA(solver="paper", max_iter=5).fit(X, Y)
    assert kalda.n_iter_ == 5
    assert kalda.objective_ == kalda.objective_history_[-1] > kalda.objective_history_[-2]

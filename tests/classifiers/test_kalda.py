"""KaLDAClassifier against refits by scikit-learn, and as users meet it."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logit
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skml_kalda import KaLDAClassifier
from skml_kalda.classifiers.kalda import SHRINKAGES
from tests.classifiers.conftest import smooth_data

X, Y = make_multilabel_classification(n_samples=60, n_features=8, n_classes=4, random_state=0)
X = X - 3.0
# One space, so that only the scores are left to be compared.
LINEAR = {"kernel": "linear", "relevance": 0.0, "scale": None, "random_state": 0}
RBF = {**LINEAR, "kernel": "rbf", "gamma": 1.0, "shrinkage": 0.1}


def ridge_of(X, shrinkage):
    """Return the ridge of a shrinkage, from the eigenvalues of the covariance."""
    values = np.linalg.eigvalsh(len(X) * np.cov(X.T, bias=True))
    return shrinkage / (1 - shrinkage) * values[values > 1e-10 * values.max()].mean()


def refits(X, Y, ridge):
    """Return the score of every row by scikit-learn's fit to all others."""
    rest = [np.delete(np.arange(len(X)), i) for i in range(len(X))]
    return np.array([Ridge(ridge).fit(X[r], Y[r]).predict(X[[i]])[0] for i, r in enumerate(rest)])


def sigmoid_of(scores, log_odds):
    """Return the line that leads from scores to log-odds, label by label."""
    return np.array([np.polyfit(s, z, 1) for s, z in zip(scores.T, log_odds.T, strict=True)]).T


def test_log_odds_are_increasing_lines_of_kernel_ridge_scores():
    model = KaLDAClassifier(**RBF).fit(X, Y)
    distances = ((X[:, None] - X) ** 2).sum(axis=2)
    K = np.exp(-distances / np.quantile(distances, 0.5, method="inverted_cdf"))
    H = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(H @ K @ H)
    ridge = 0.1 / 0.9 * values[values > 1e-10 * values.max()].mean()
    fit = KernelRidge(alpha=ridge, kernel="precomputed").fit(H @ K @ H, H @ Y)
    scores = Y.mean(axis=0) + fit.predict(H @ K @ H)
    slope, intercept = sigmoid_of(scores, model.decision_function(X))
    assert (slope > 0).all()
    assert_allclose(model.decision_function(X), scores * slope + intercept, atol=1e-5)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_thresholds_maximise_f1_of_the_leave_one_out_probabilities(average):
    model = KaLDAClassifier(**LINEAR, shrinkage=0.2, average=average).fit(X, Y)
    scores = Ridge(ridge_of(X, 0.2)).fit(X, Y).predict(X)
    slope, intercept = sigmoid_of(scores, model.decision_function(X))
    left_out = expit(refits(X, Y, ridge_of(X, 0.2)) * slope + intercept)

    def f1(thresholds):
        # The lowest threshold is the lowest score itself, here but for rounding.
        return f1_score(Y, left_out >= thresholds - 1e-9, average=average, zero_division=0)

    best = f1(model.thresholds_)
    for label in range(4) if average == "macro" else [slice(None)]:
        for threshold in np.linspace(0.02, 0.98, 97):
            other = model.thresholds_.copy()
            other[label] = threshold
            assert f1(other) <= best + 1e-12


def test_probabilities_are_of_the_log_odds_and_predictions_of_thresholds():
    model = KaLDAClassifier(random_state=0).fit(X, Y)
    probability = model.predict_proba(X)
    assert_allclose(logit(probability), model.decision_function(X), atol=1e-6)
    assert_array_equal(model.predict(X), probability >= model.thresholds_)


def test_relevance_is_not_judged_by_labels_it_has_seen():
    """On noise, relevance that saw the row left out would seem to predict it."""
    rng = np.random.default_rng(0)
    noise, labels = rng.normal(size=(60, 400)), rng.integers(0, 2, (60, 3))
    model = KaLDAClassifier("linear", scale="standard", random_state=0).fit(noise, labels)
    errors = {each["relevance"]: each["error"] for each in model.candidates_}
    assert errors[1.0,] > 0.9
    assert (model.predict_proba(noise).std(axis=0) < 0.2).all()


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_ranks_do_not_depend_on_units_however_odd(kernel):
    """With a quantile for every sample, ranks in the training set are exact."""
    model = KaLDAClassifier(kernel, scale="ranks", random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    odd = np.exp(3 * X)
    assert_allclose(model.fit(odd, Y).predict_proba(odd), expected, atol=1e-8)
    assert_array_equal(KaLDAClassifier(random_state=0).fit(odd, Y).scale_, "ranks")


def test_ranks_of_sparse_rows_keep_zeros():
    counts = np.random.default_rng(0).poisson(0.7, (80, 12)) * np.arange(1, 13.0) ** 3
    labels = (counts[:, :3] > 0).astype(int)
    model = KaLDAClassifier("rbf", scale="ranks", random_state=0)
    expected = model.fit(counts, labels).predict_proba(counts)
    rows = sparse.csr_array(counts)
    assert_allclose(model.fit(rows, labels).predict_proba(rows), expected, atol=1e-8)
    assert rows.nnz == np.count_nonzero(counts)


def test_ranks_are_tried_where_they_say_something_new():
    def tried(X):
        return {each["scale"] for each in KaLDAClassifier(random_state=0).fit(X, Y).candidates_}

    assert tried(X) == {None, "standard", "ranks"}
    assert tried(1.0 * (X > 0)) == tried(sparse.csr_array(X)) == {None, "standard"}


def test_labels_that_nothing_predicts_are_predicted_for_all_rows_or_none():
    noise = np.random.default_rng(3).normal(size=(80, 3))
    rare = np.arange(80) % 7 == 0
    noise[rare] -= noise[rare].mean(axis=0)
    noise[~rare] -= noise[~rare].mean(axis=0)
    labels = np.c_[rare, ~rare].astype(int)
    model = KaLDAClassifier(**LINEAR).fit(noise, labels)
    assert (model.decision_function(noise).std(axis=0) < 1e-12).all()
    assert_array_equal(model.predict(noise), np.tile([0, 1], (80, 1)))


def test_single_labels_are_classes():
    iris = load_iris()
    names = iris.target_names[iris.target]
    model = KaLDAClassifier(random_state=0).fit(iris.data[::2], names[::2])
    assert model.score(iris.data[1::2], names[1::2]) > 0.9
    assert_allclose(model.predict_proba(iris.data).sum(axis=1), 1)
    assert not hasattr(model, "thresholds_")


def test_wide_sparse_rows_stay_sparse(monkeypatch):
    wide = sparse.random_array((40, 30_000), density=0.001, random_state=0, format="csr")
    labels = np.random.default_rng(0).integers(0, 2, (40, 3))

    def refuse(self, *args, **kwargs):
        if self.shape[1] == 30_000 and self.shape[0] > 1:
            raise AssertionError("made dense")
        return original(self, *args, **kwargs)

    original = sparse.csr_array.toarray
    monkeypatch.setattr(sparse.csr_array, "toarray", refuse)
    model = KaLDAClassifier(random_state=0).fit(wide, labels)
    assert model.predict(wide).shape == labels.shape


def wide_data(n=700, p=2500):
    """Make sparse samples in which every label has many words of its own, few in each sample."""
    rng = np.random.default_rng(0)
    labels = (rng.random((n, 3)) < 0.4).astype(float)
    share = np.full((n, p), 0.004)
    for k in range(3):
        share[:, 400 * k : 400 * (k + 1)] += 0.02 * labels[:, [k]]
    return sparse.csr_array((rng.random((n, p)) < share).astype(float)), labels


@pytest.mark.parametrize("parameters", [LINEAR, {"random_state": 0}], ids=["linear", "auto"])
def test_wide_sparse_rows_have_weights_for_all_features(parameters):
    rows, labels = wide_data()
    labels[3, 1] = np.nan
    model = KaLDAClassifier(**parameters, shrinkage=0.5, n_landmarks=60).fit(rows, labels)
    assert model.kernel_ == "linear"
    filled = np.where(np.isnan(labels), np.nanmean(labels, axis=0), labels)
    X = rows.toarray() / (rows.toarray().std(axis=0) if model.scale_ else 1)
    alpha = len(X) * X.var(axis=0).sum() / len(X)
    scores = Ridge(alpha).fit(X, filled).predict(X)
    slope, intercept = sigmoid_of(scores, model.decision_function(rows))
    assert (slope > 0).all()
    expected = scores * slope + intercept
    assert_allclose(model.decision_function(rows), expected, atol=0.01 * expected.std())


def test_verbose_prints_candidates_the_space_chosen_and_the_fits(capsys):
    rows, labels = wide_data(300)
    for verbose, landmarks, n_fits in ((0, 60, 0), (1, 60, 3), (True, 300, 1)):
        parameters = {**LINEAR, "scale": "auto", "n_landmarks": landmarks, "verbose": verbose}
        model = KaLDAClassifier(**parameters).fit(rows, labels)
        lines = capsys.readouterr().out.splitlines()
        assert all(line.startswith("[KaLDAClassifier] ") for line in lines)
        scored = [line for line in lines if " candidate: " in line]
        assert len(scored) == len(model.candidates_) * bool(verbose)
        for line, each in zip(scored, model.candidates_, strict=False):
            assert f"scale {each['scale']}, " in line
            assert line.endswith(f"error {each['error']:.4f}")
        assert len([line for line in lines if " chosen: kernel linear" in line]) == bool(verbose)
        fits = [line for line in lines if " fit " in line]
        assert min(len(fits), 3) == n_fits
        assert len(lines) == len(scored) + bool(verbose) + len(fits)
    assert f"shrinkage {model.shrinkage_:.3g}, error {model.leave_one_out_error_:.4f}" in fits[-1]


def test_shrinkage_of_wide_sparse_rows_is_the_best_of_rows_held_out():
    rows, labels = wide_data()
    rest, held = slice(300, None), slice(300)
    model = KaLDAClassifier(**LINEAR, n_landmarks=60).fit(rows[rest], labels[rest])
    errors = {}
    for shrinkage in SHRINKAGES:
        X = rows[rest].toarray()
        ridge = shrinkage / (1 - shrinkage) * X.var(axis=0).sum()
        scores = Ridge(ridge).fit(X, labels[rest]).predict(rows[held].toarray())
        errors[shrinkage] = np.sum((labels[held] - scores) ** 2)
    assert errors[model.shrinkage_] < 1.02 * min(errors.values())
    assert errors[model.shrinkage_] < 0.8 * max(errors.values())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosine"}, "kernel"),
        ({"kernel": ["rbf", "sigmoid"]}, "must name kernels among"),
        ({"kernel": []}, "must name kernels among"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        KaLDAClassifier(**parameters).fit(X, Y)


def test_samples_and_labels_must_be_as_many():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KaLDAClassifier().fit(X, Y[:-1])


def test_a_later_batch_must_have_the_classes_of_the_first():
    model = KaLDAClassifier(**LINEAR).partial_fit(X[:30], np.arange(30) % 2)
    with pytest.raises(ValueError, match=r"y has new classes: \[2\]\. Pass all classes"):
        model.partial_fit(X[30:], np.arange(30) % 3)
    with pytest.raises(ValueError, match="y has 4 label columns in this batch"):
        model.partial_fit(X[30:], Y[30:])


NAMES = ["sea", "sun", "sky"]


def classifier(**parameters):
    return KaLDAClassifier("linear", relevance=1.0, scale="standard", random_state=0, **parameters)


@pytest.fixture(scope="module")
def data():
    X, y, X_test = smooth_data(n_train=120, n_labels=3)
    return X, y, X_test


def with_nan(y, share=0.3, seed=0):
    return np.where(np.random.default_rng(seed).random(y.shape) < share, np.nan, y)


def test_frames_pass_through_pipelines_and_searches(data):
    X, y, X_test = data
    model = make_pipeline(StandardScaler(), classifier()).set_output(transform="pandas")
    grid = {"kaldaclassifier__shrinkage": [0.1, 0.5]}
    for scoring in ("f1_macro", "roc_auc"):
        search = GridSearchCV(model, grid, scoring=scoring, cv=2, error_score="raise")
        search.fit(X, pd.DataFrame(y, columns=NAMES))
        found = search.predict(pd.DataFrame(X_test, index=range(7, 7 + len(X_test))))
        assert found.columns.tolist() == NAMES
        assert found.index[0] == 7


def test_names_of_batches_must_agree(data):
    X, y, _ = data
    model = classifier().partial_fit(X[:60], y[:60])
    model.partial_fit(X[60:], pd.DataFrame(y[60:], columns=NAMES))
    assert model.label_names_.tolist() == NAMES
    with pytest.raises(ValueError, match="they differ from column 1 on"):
        model.partial_fit(X, pd.DataFrame(y, columns=["sea", "sky", "sun"]))


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_label_that_nobody_knows_changes_nothing_for_the_others(kernel, data):
    X, y, X_test = data
    model = KaLDAClassifier(kernel, random_state=0)
    expected = model.fit(X, y).predict_proba(X_test)
    thresholds = model.thresholds_
    model.fit(X, np.column_stack([y, np.full(len(y), np.nan)]))
    assert_allclose(model.predict_proba(X_test)[:, :3], expected, atol=1e-10)
    assert_allclose(model.thresholds_[:3], thresholds, atol=1e-10)
    assert not model.predict(X_test)[:, 3].any()


def test_batches_give_the_scores_of_all_rows(data):
    X, y, X_test = data
    y = with_nan(y)
    y[:40] = data[1][:40]
    model = classifier(shrinkage=0.2)
    expected = model.fit(X, y).predict_proba(X_test)
    for rows in (slice(40), slice(40, 90), slice(90, None)):
        model.partial_fit(X[rows], y[rows])
    assert_allclose(model.predict_proba(X_test), expected, atol=1e-10)


def words_of(y):
    return np.where(y[:, 0] == 1, "sea", np.where(y[:, 1] == 1, "sky", "sun"))


@pytest.mark.parametrize("form", ["array", "frame", "sparse", "words"])
@pytest.mark.parametrize("parameters", [{}, {"n_landmarks": 30, "kernel": "rbf"}, LINEAR])
def test_blocks_of_dask_give_the_fit_of_one_batch(form, parameters, data):
    """The first 40 samples, a block, do not count; the others are all drawn, in their order."""
    X, y, X_test = data
    y = words_of(y) if form == "words" else y
    model = KaLDAClassifier(**{"random_state": 0, **parameters}).partial_fit(X[40:], y[40:])
    expected = model.predict_proba(X_test)
    blocks, labels, weight = da.from_array(X, chunks=(40, 3)), y, np.arange(len(X)) >= 40
    if form == "frame":
        blocks = dd.from_pandas(pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]), 3)
        labels = dd.from_pandas(pd.DataFrame(y, columns=NAMES), 3)
        weight = dd.from_pandas(pd.Series(weight.astype(float)), 3)
        X_test = pd.DataFrame(X_test, columns=blocks.columns)
    elif form == "sparse":
        blocks = da.from_array(X, chunks=(40, -1)).map_blocks(sparse.csr_array)
    elif form == "words":
        labels = da.from_array(y, chunks=50)
    found = KaLDAClassifier(**{"random_state": 0, **parameters}).fit(blocks, labels, weight)
    assert_allclose(found.predict_proba(X_test), expected, atol=1e-8)
    assert found.kernel_ == model.kernel_
    if form == "frame":
        assert found.label_names_.tolist() == NAMES
    with pytest.raises(ValueError, match="y has"):
        KaLDAClassifier().fit(blocks, y[:-1])


def test_a_sample_of_many_dask_rows_represents_them(monkeypatch):
    """Sorted by their labels, only a sample of all blocks has them all."""
    monkeypatch.setattr("skml_kalda.classifiers.kalda.MAX_SCORED", 150)
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, 900))
    X = rng.normal(size=(900, 4)) + 2 * np.eye(3, 4)[y]
    model = KaLDAClassifier(random_state=0).fit(da.from_array(X, chunks=(100, 4)), y)
    assert model.classes_.tolist() == [0, 1, 2]
    in_memory = KaLDAClassifier(random_state=0).fit(X, y)
    assert abs(model.score(X, y) - in_memory.score(X, y)) < 0.02


@pytest.mark.parametrize("n_labels", [1, 2, 3])
@pytest.mark.parametrize("scoring", ["roc_auc", "average_precision"])
def test_scikit_learns_scorers_take_labels_for_labels(scoring, n_labels, data):
    X, y, _ = data
    scores = cross_val_score(classifier(), X, y[:, :n_labels], cv=2, scoring=scoring)
    assert (scores > 0.8).all()

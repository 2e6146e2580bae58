"""The reducers that choose their parameters, against scikit-learn's grid search."""

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, NotFittedError, UndefinedMetricWarning
from sklearn.metrics import f1_score, hamming_loss, make_scorer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import skml_kalda
from skml_kalda import KernelKaLDA, KernelKaLDACV, MultiLabelKaLDACV, scatter_form
from tests.classic import MultiLabelKaLDA
from tests.conftest import KeptFits, made, standardized

X, Y = made(90, 6, unlabelled=0.1)
y = np.array(list("dcba"))[made(90, 6, single=True)[1].argmax(axis=1)]
GRID = {"n_components": [1, None, 2], "n_neighbors": [9, 4], "shrinkage": [0.6, None]}
OURS = {"n_components": [1, None, 2], "n_neighbors": [9, 4], "shrinkages": [0.6, None]}
OURS["thresholds"] = 0.5


class Votes(KNeighborsClassifier):
    """scikit-learn's neighbours, with a threshold on the share that carries a label."""

    def __init__(self, n_neighbors=5, threshold=0.5):
        super().__init__(n_neighbors=n_neighbors)
        self.threshold = threshold

    def predict(self, X):
        if not self.outputs_2d_:
            return super().predict(X)
        found = zip(self.predict_proba(X), self.classes_, strict=True)
        return np.column_stack([p[:, c == 1].sum(axis=1) > self.threshold for p, c in found]) * 1


def grid_search(reducer, grid, X, y, **params):
    """Fit GridSearchCV of a pipeline; its candidates bear the names of ours."""
    pipeline = Pipeline([("reducer", reducer), ("knn", Votes())], memory=KeptFits())
    step = {"n_neighbors": "knn", "threshold": "knn"}
    grid = {"threshold": [0.5], **grid}
    names = {name: f"{step.get(name, 'reducer')}__{name}" for name in grid}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        search = GridSearchCV(
            pipeline, {names[n]: v for n, v in grid.items()}, error_score="raise", **params
        ).fit(X, y)
    search.candidates = [
        {name: each[long] for name, long in names.items()} for each in search.cv_results_["params"]
    ]
    return search


def assert_same_scores(ours, search):
    places = [search.candidates.index(each) for each in ours.cv_results_["params"]]
    assert sorted(places) == list(range(len(search.candidates)))
    keys = [key for key in search.cv_results_ if key.endswith("test_score") and key[:4] != "rank"]
    assert len(keys) >= 4
    for key in keys:
        np.testing.assert_allclose(ours.cv_results_[key], search.cv_results_[key][places])
    assert ours.best_score_ == pytest.approx(search.best_score_)
    # The choice is the same but for ties.
    best = search.candidates.index(ours.best_params_)
    assert search.cv_results_["mean_test_score"][best] == pytest.approx(search.best_score_)


@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
@pytest.mark.parametrize("shape", [(90, 6), (30, 50)], ids=["tall", "wide"])
def test_scores_are_those_of_a_grid_search(constraint, shape):
    X, Y = made(*shape, unlabelled=0.1)
    ours = MultiLabelKaLDACV(**OURS, constraint=constraint, cv=3).fit(X, Y)
    reducer = MultiLabelKaLDA(constraint=constraint)
    assert_same_scores(ours, grid_search(reducer, GRID, X, Y, cv=3, scoring="f1_macro"))


def test_scores_on_emotions_are_those_of_a_grid_search():
    X, Y = standardized("emotions")
    shrinkages, sizes = [0.0, 0.5], [2, 5]
    ours = MultiLabelKaLDACV(sizes, shrinkages=shrinkages, n_neighbors=10)
    ours.set_params(thresholds=[0.2, 0.5]).fit(X, Y)
    grid = {"n_components": sizes, "shrinkage": shrinkages, "n_neighbors": [10]}
    grid["threshold"] = [0.2, 0.5]
    assert_same_scores(
        ours, grid_search(MultiLabelKaLDA(constraint="none"), grid, X, Y, scoring="f1_macro")
    )


@pytest.mark.parametrize(
    "store", [sparse.csr_array, pytest.param(np.asarray, marks=pytest.mark.slow)]
)
def test_kernel_scores_are_those_of_a_grid_search(store):
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.6, X, 0)
    thin[:, :2] = X[:, :2]  # no two rows on a ray: to the cosine they would be equally near
    params = {"n_landmarks": 25, "random_state": 3}
    ours = KernelKaLDACV(
        [None, 1],
        shrinkages=[0.1, "auto"],
        n_neighbors=[9, 4],
        thresholds=[0.5, 0.3],
        kernels=["rbf", "cosine"],
        gammas=[0.1, 0.3],
        gamma_unit=None,
        cv=2,
        **params,
    ).fit(store(thin), Y)
    grid = {"n_components": [1, None], "n_neighbors": [4, 9], "shrinkage": [0.1, "auto"]}
    grid["threshold"] = [0.3, 0.5]
    rbf, cosine = (
        grid_search(
            KernelKaLDA(**params),
            {"kernel": [kernel], "gamma": gammas, **grid},
            store(thin),
            Y,
            cv=2,
            scoring="f1_macro",
        )
        for kernel, gammas in (("rbf", [0.1, 0.3]), ("cosine", [None]))
    )
    both = rbf if rbf.best_score_ >= cosine.best_score_ else cosine
    both.candidates = rbf.candidates + cosine.candidates
    both.cv_results_ = {
        key: np.concatenate([rbf.cv_results_[key], cosine.cv_results_[key]])
        for key in rbf.cv_results_
        if key.endswith("score")
    }
    assert_same_scores(ours, both)


@pytest.mark.parametrize(
    "scoring",
    ["f1_macro", "f1_micro", "f1_samples", "accuracy", "precision_micro", "jaccard_samples"],
)
def test_every_score_is_that_of_scikit_learn(scoring):
    ours = MultiLabelKaLDACV(shrinkages=[0.1, 0.9], n_neighbors=[1, 12], scoring=scoring, cv=3)
    ours.set_params(thresholds=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        ours.fit(X, Y)
    grid = {"n_components": [None], "shrinkage": [0.1, 0.9], "n_neighbors": [1, 12]}
    reducer = MultiLabelKaLDA(constraint="none")
    assert_same_scores(ours, grid_search(reducer, grid, X, Y, cv=3, scoring=scoring))


@pytest.mark.parametrize("scoring", ["f1_macro", "f1_micro", "accuracy", "balanced_accuracy"])
def test_class_labels_are_voted_on_in_stratified_folds(scoring):
    order = np.argsort(y)  # sorted: unstratified folds would lack a class
    rare = np.append(np.flatnonzero(y[order] != "d"), [88, 89])  # too few for every fold
    ours = MultiLabelKaLDACV(**OURS, scoring=scoring, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        ours.fit(X[order][rare], y[order][rare])
        search = grid_search(
            MultiLabelKaLDA(constraint="none"), GRID, X[order][rare], y[order][rare], cv=3,
            scoring=scoring,
        )  # fmt: skip
    assert_same_scores(ours, search)


def test_a_function_can_be_the_score():
    def agreement(true, predicted):
        return 1 - hamming_loss(true, predicted)

    votes = {"n_neighbors": 10, "thresholds": 0.5}
    fits = [
        MultiLabelKaLDACV(cv=3, scoring=scoring, **votes).fit(X, Y).cv_results_["mean_test_score"]
        for scoring in (agreement, make_scorer(agreement), "label_accuracy")
    ]
    np.testing.assert_allclose(fits[0], fits[2], rtol=1e-12)
    np.testing.assert_array_equal(fits[0], fits[1])
    seen = []
    MultiLabelKaLDACV(cv=2, scoring=lambda true, _: seen.append(set(true)) or 1.0).fit(X, y)
    assert set.union(*seen) == set("abcd")


def test_the_median_is_the_unit_of_the_widths():
    median = KernelKaLDA().fit(X, Y).gamma_
    kalda = KernelKaLDACV(
        kernels=["rbf", "poly", "linear"],
        gammas=[0.5, 4],
        shrinkages=[0.1],
        n_neighbors=10,
        thresholds=0.5,
        cv=2,
    ).fit(X, Y)
    results = kalda.cv_results_
    assert list(results["param_kernel"]) == ["rbf", "rbf", "poly", "linear"]
    assert list(results["param_gamma"]) == [
        pytest.approx(median / 2),
        pytest.approx(4 * median),
        None,
        None,
    ]


def test_a_precomputed_kernel_is_the_named_one():
    K = rbf_kernel(X, gamma=0.1)
    params = {"cv": 3, "n_landmarks": 30, "landmarks": "random", "random_state": 0}
    named = KernelKaLDACV(kernels="rbf", gammas=0.1, gamma_unit=None, **params).fit(X, Y)
    given = KernelKaLDACV(kernels="precomputed", **params).fit(K, Y)
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(given.transform(K), named.transform(X), atol=1e-8)


@pytest.mark.parametrize("made_cv", [MultiLabelKaLDACV, KernelKaLDACV])
def test_the_reducer_is_the_plain_one_with_the_best_parameters(made_cv):
    kalda = made_cv([1, 2], cv=3, n_neighbors=[3, 5]).fit(X, Y)
    plain = {MultiLabelKaLDACV: skml_kalda.MultiLabelKaLDA, KernelKaLDACV: KernelKaLDA}[made_cv]
    chosen = {k: v for k, v in kalda.best_params_.items() if k not in ("n_neighbors", "threshold")}
    expected = plain(constraint="none").set_params(**chosen).fit(X, Y)
    np.testing.assert_array_equal(kalda.transform(X), expected.transform(X))
    np.testing.assert_array_equal(kalda.eigenvalues_, expected.eigenvalues_)
    np.testing.assert_array_equal(kalda.classes_, expected.classes_)
    assert isinstance(kalda.best_estimator_, plain)
    assert kalda.cv_results_["params"][kalda.best_index_] == kalda.best_params_
    assert kalda.cv_results_["rank_test_score"][kalda.best_index_] == 1
    assert kalda.best_score_ == kalda.cv_results_["mean_test_score"].max()


def test_neighbours_are_tried_as_far_as_a_fold_has_rows():
    X, Y = made(16, 3)
    kalda = MultiLabelKaLDACV(cv=2).fit(X, Y)
    assert set(kalda.cv_results_["param_n_neighbors"]) == {3, 5}
    assert set(kalda.cv_results_["param_threshold"]) == {0.1, 0.2, 0.3, 0.4, 0.5}
    few = MultiLabelKaLDACV(n_components=1, cv=[([0, 1], [2, 3, 4])]).fit(X[:5], Y[:5])
    assert few.best_params_["n_neighbors"] == 2


def test_the_chosen_threshold_is_that_of_the_classifier_behind():
    """A rare label is best predicted by fewer than half of the neighbours."""
    X, Y = made(200, 4, unlabelled=0.5)
    kalda = MultiLabelKaLDACV(n_neighbors=10, cv=[(np.arange(150), np.arange(150, 200))])
    kalda.fit(X, Y)
    k, threshold = kalda.best_params_["n_neighbors"], kalda.best_params_["threshold"]
    assert threshold < 0.5
    chosen = {n: kalda.best_params_[n] for n in ("n_components", "shrinkage")}
    plain = skml_kalda.MultiLabelKaLDA(constraint="none", **chosen).fit(X[:150], Y[:150])
    votes = skml_kalda.BinaryRelevanceKNN(k).fit(plain.transform(X[:150]), Y[:150])
    predicted = votes.predict_proba(plain.transform(X[150:])) > threshold
    expected = f1_score(Y[150:], predicted, average="macro", zero_division=0)
    assert kalda.best_score_ == pytest.approx(expected)


def test_a_kernel_to_which_all_rows_are_the_same_is_never_chosen():
    positive = np.abs(X[:, :1]) + 0.1
    kalda = KernelKaLDACV(1, gammas=1, n_neighbors=3, cv=3, random_state=0)
    with pytest.warns(FitFailedWarning, match="n_components=1 is more than KernelKaLDACV can give"):
        kalda.fit(positive, Y)
    assert kalda.best_params_["kernel"] == "rbf"
    with pytest.raises(ValueError, match=r"finds no direction .* some kernel\. Pass other kernels"):
        KernelKaLDACV(kernels="cosine", n_neighbors=3, cv=3).fit(positive, Y)


def test_points_are_mapped_back():
    kalda = MultiLabelKaLDACV(cv=3).fit(X, Y)
    Z = kalda.transform(X)
    np.testing.assert_allclose(kalda.transform(kalda.inverse_transform(Z)), Z, atol=1e-9)


@pytest.mark.parametrize("kalda", [MultiLabelKaLDACV(cv=3), KernelKaLDACV(cv=3, random_state=0)])
def test_every_form_of_data_and_labels_gives_the_same(kalda):
    expected = clone(kalda).fit(X, Y)
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    for data, labels in [(sparse.csc_array(X), sparse.lil_matrix(Y)), (frame, pd.DataFrame(Y))]:
        other = clone(kalda).fit(data, labels)
        assert other.best_params_ == pytest.approx(expected.best_params_)
        np.testing.assert_allclose(other.transform(data), expected.transform(X), atol=1e-7)
    assert list(other.feature_names_in_) == list("uvwxyz")


@pytest.mark.parametrize("constraint", ["none", "orthonormal"])
def test_folds_without_a_spectrum_score_the_same(constraint):
    X, y = made(60, 8)
    X = sparse.csr_array(X)
    kalda = MultiLabelKaLDACV([1, 2, 9], shrinkages=[0.1, 0.5], n_neighbors=3, cv=3)
    kalda.set_params(constraint=constraint, thresholds=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)  # nine of eight features
        expected = clone(kalda).fit(X, y)
        with scatter_form("implicit"):
            kalda.fit(X, y)
    scores = [cv.cv_results_["mean_test_score"] for cv in (kalda, expected)]
    assert np.isnan(scores[0]).sum() == 2
    np.testing.assert_allclose(*scores)
    tol = 1e-6 if constraint == "none" else 1e-3  # ten times that of the solver
    np.testing.assert_allclose(kalda.components_, expected.components_, atol=tol)


def told_search():
    params = {"gammas": 1, "n_neighbors": 10, "n_landmarks": 20}
    return KernelKaLDACV(cv=3, **params, random_state=0, verbose=1)


def test_folds_are_told(capfd):
    told_search().fit(X, Y)
    told = capfd.readouterr().out.splitlines()
    assert len(told) == 6
    assert told[0].startswith("[KernelKaLDACV] fold 1/3, gamma=")
    assert "40 candidates, best " in told[0]


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_jobs_change_nothing(capfd, backend):
    kalda = told_search().set_params(verbose=0)
    alone = clone(kalda).fit(X, Y)
    with parallel_config(backend):
        together = clone(kalda).set_params(n_jobs=2).fit(X, Y)
    for key in ("mean_test_score", "split2_test_score"):
        np.testing.assert_array_equal(together.cv_results_[key], alone.cv_results_[key])
    assert not capfd.readouterr().out


def test_a_generator_of_random_numbers_draws_one_set_of_landmarks():
    fits = [
        KernelKaLDACV(gammas=1, cv=2, n_landmarks=20, random_state=np.random.RandomState(0)).fit(
            X, Y
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(fits[0].landmarks_, fits[1].landmarks_)
    repeated = KernelKaLDACV(kernels="rbf", cv=2, gammas=[1, 1], n_landmarks=20).fit(X, Y)
    first, second = np.split(repeated.cv_results_["mean_test_score"], 2)
    np.testing.assert_array_equal(first, second)


def test_a_number_of_components_that_a_fold_cannot_give_is_not_chosen():
    rare = np.zeros((90, 1), dtype=int)
    rare[:2] = 1
    labels = np.hstack([Y, rare])
    cv = KFold(3)  # all rows of the rare class are in the first fold
    with pytest.warns(FitFailedWarning, match="n_components=4 is more than MultiLabelKaLDACV can"):
        kalda = MultiLabelKaLDACV([3, 5, 4], shrinkages=[0.1], cv=cv).fit(X, labels)
    np.testing.assert_array_equal(
        np.isnan(kalda.cv_results_["mean_test_score"]), kalda.cv_results_["param_n_components"] > 3
    )
    assert kalda.best_params_["n_components"] == 3
    assert kalda.transform(X).shape == (90, 3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 9}, "n_components=9 is more than MultiLabelKaLDACV can give .* at most"),
        ({"n_components": [2, 0]}, "'n_components' parameter of MultiLabelKaLDACV"),
        ({"n_components": []}, "n_components is empty"),
        ({"shrinkages": [0.1, 2]}, "'shrinkages' parameter of MultiLabelKaLDACV"),
        ({"n_neighbors": [5, 61]}, "n_neighbors=61 is more than the 60 training rows of a fold"),
        ({"n_neighbors": 1.5}, "'n_neighbors' parameter of MultiLabelKaLDACV"),
        ({"scoring": "magic"}, "'scoring' parameter"),
        ({"scoring": "roc_auc"}, "scoring='roc_auc' needs more than predictions"),
        ({"scoring": lambda true, predicted: np.nan}, "scoring=.*returned NaN on some fold"),
        ({"constraint": "some"}, "'constraint' parameter"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        MultiLabelKaLDACV(**{"cv": 3, **params}).fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"kernels": ["rbf", "magic"]}, "'kernels' parameter of KernelKaLDACV"),
        ({"kernels": ["rbf", "precomputed"]}, 'kernels combines "precomputed" with others'),
        ({"kernels": "precomputed"}, r"X has shape \(90, 6\).*must be square"),
        ({"gammas": [1.0, -1.0]}, "'gammas' parameter of KernelKaLDACV"),
        ({"n_landmarks": 61}, "n_landmarks=61 is more than the 60 rows"),
    ],
)
def test_bad_parameters_of_the_kernel_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        KernelKaLDACV(**{"cv": 3, **params}).fit(X, Y)


def test_f1_of_a_label_that_nobody_has_is_zero():
    wide = np.insert(Y, 0, 0, axis=1)
    with pytest.warns(UserWarning, match="without rows") as told:
        kalda = MultiLabelKaLDACV(shrinkages=[0.1], cv=2).fit(X, wide)
    assert len([each for each in told if "without rows" in str(each.message)]) == 1
    narrow = MultiLabelKaLDACV(shrinkages=[0.1], cv=2).fit(X, Y)
    assert kalda.best_score_ == pytest.approx(narrow.best_score_ * 4 / 5)


def test_a_failed_fit_does_not_count_as_one():
    kalda = MultiLabelKaLDACV(cv=3)
    with pytest.raises(ValueError, match="y has one class only"):
        kalda.fit(X, np.ones(90))
    with pytest.raises(NotFittedError):
        kalda.transform(X)


KINDS = pytest.mark.parametrize(
    "kalda",
    [
        MultiLabelKaLDACV(
            shrinkages=[0.1, 0.6], n_neighbors=[3, 7], thresholds=0.5, cv=3, random_state=0
        ),
        KernelKaLDACV(
            kernels="rbf",
            gammas=[0.5, 2],
            shrinkages=[0.1, 0.6],
            n_neighbors=10,
            thresholds=0.5,
            cv=3,
            random_state=0,
        ),
    ],
    ids=lambda each: type(each).__name__,
)


@KINDS
@pytest.mark.parametrize("weights", ["labels", "rows"])
def test_scores_of_both_weights_are_those_of_a_grid_search(kalda, weights):
    kalda = clone(kalda).set_params(weights=weights)
    grid = {"n_components": [None], "shrinkage": [0.1, 0.6]}
    if isinstance(kalda, KernelKaLDACV):
        kalda.set_params(gamma_unit=None)
        plain = KernelKaLDA(weights=weights, random_state=0)
        grid |= {"gamma": [0.5, 2], "kernel": ["rbf"], "n_neighbors": [10]}
    else:
        plain = MultiLabelKaLDA(weights=weights, constraint="none")
        grid |= {"n_neighbors": [3, 7]}
    kalda.fit(X, Y)
    assert_same_scores(kalda, grid_search(plain, grid, X, Y, cv=3, scoring="f1_macro"))
    assert kalda.best_estimator_.weights == weights


@KINDS
def test_parameters_are_chosen_on_some_rows_and_fitted_on_all(kalda):
    kalda = clone(kalda).set_params(selection_rows=50).fit(X, Y)
    assert kalda.selection_rows_ == 50
    seed = np.random.default_rng(0)
    rows = np.sort(seed.choice(90, 50, replace=False))
    on_these = clone(kalda).set_params(selection_rows="auto").fit(X[rows], Y[rows])
    np.testing.assert_array_equal(
        kalda.cv_results_["mean_test_score"], on_these.cv_results_["mean_test_score"]
    )
    expected = clone(kalda.best_estimator_).fit(X, Y)
    np.testing.assert_array_equal(kalda.transform(X), expected.transform(X))
    assert clone(kalda).set_params(selection_rows=91).fit(X, Y).selection_rows_ == 90


@KINDS
def test_dask_data_are_chosen_on_some_rows_and_fitted_on_all(kalda):
    rows, labels = (da.from_array(each, chunks=(17, -1)) for each in (X, Y))
    few = clone(kalda).set_params(selection_rows=60).fit(rows, labels)
    assert few.selection_rows_ == 60
    expected = clone(few.best_estimator_).fit(rows, labels)
    np.testing.assert_allclose(few.transform(X), expected.transform(X), atol=1e-10)
    every = clone(kalda).fit(rows, labels)
    in_memory = clone(kalda).fit(X, Y)
    assert every.selection_rows_ == 90
    for key in ("mean_test_score", "split2_test_score"):
        np.testing.assert_allclose(every.cv_results_[key], in_memory.cv_results_[key])
    classes = clone(kalda).fit(rows, da.from_array(y, chunks=17))
    assert classes.classes_.tolist() == list("abcd")
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("uvwxyz")), npartitions=4)
    named = clone(kalda).fit(frame, sparse.csr_array(Y))
    assert named.feature_names_in_.tolist() == list("uvwxyz")
    assert named.best_params_ == pytest.approx(in_memory.best_params_)


def test_a_precomputed_kernel_is_chosen_on_a_square_of_it():
    K = rbf_kernel(X, gamma=0.1)
    params = {"cv": 3, "landmarks": "random", "selection_rows": 60, "random_state": 0}
    named = KernelKaLDACV(kernels="rbf", gammas=0.1, gamma_unit=None, **params).fit(X, Y)
    given = KernelKaLDACV(kernels="precomputed", **params).fit(K, Y)
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"]
    )
    np.testing.assert_allclose(given.transform(K), named.transform(X), atol=1e-8)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("search", [MultiLabelKaLDACV, KernelKaLDACV])
def test_shrinkages_from_none_to_nearly_all_are_tried_by_default_without_a_warning(search):
    found = search().fit(X[:40], Y[:40]).cv_results_
    tried = [0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 0.9]
    assert sorted(set(found["param_shrinkage"])) == tried
    assert set(found["param_n_neighbors"]) == {3, 5, 10, 20, 30}
    np.testing.assert_allclose(sorted(set(found["param_threshold"])), [0.1, 0.2, 0.3, 0.4, 0.5])
    if search is KernelKaLDACV:
        # The cosine kernel has no width.
        rbf = found["param_kernel"] == "rbf"
        widths = np.unique(np.asarray(found["param_gamma"][rbf], dtype=float))
        np.testing.assert_allclose(widths / widths[1], [0.5, 1, 2])
    assert [name for name in found if name.startswith("split")][-1] == "split4_test_score"


def test_a_choice_without_shrinkage_warns_once():
    search = MultiLabelKaLDACV(cv=2, n_neighbors=5, shrinkages=[0.0])
    with pytest.warns(UserWarning, match="MultiLabelKaLDA without regularisation") as caught:
        search.fit(X[:12], Y[:12])
    assert len(caught) == 1

"""What every reducer keeps, whatever its method."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import skml_kalda
from skml_kalda import (
    AlignmentScaler,
    KernelKaLDA,
    LandmarkFeatures,
    MultiLabelKaLDA,
    check_reducer,
)
from tests.conftest import made
from tests.oracles import centred
from tests.reducers.cases import BY_LABELS, KALDA, KINDS, REDUCERS

KERNELS = {
    "KernelKaLDA": KernelKaLDA(shrinkage=0.2),
    "KernelKaLDA-linear": KernelKaLDA(kernel="linear", constraint="orthonormal", shrinkage=0.2),
    "KernelKaLDA-precomputed": KernelKaLDA(kernel="precomputed", weights="labels"),
}
FEATURES = {
    "AlignmentScaler": AlignmentScaler(),
    "AlignmentScaler-units": AlignmentScaler(with_std=False),
    "LandmarkFeatures": LandmarkFeatures(),
    "LandmarkFeatures-linear": LandmarkFeatures(kernel="linear"),
}
DEFAULTS = {
    each.__name__: each()
    for each in (getattr(skml_kalda, name) for name in skml_kalda.__all__)
    if hasattr(each, "transform")
}
LINEAR = REDUCERS | {name: KALDA[name] for name in ("kaLDA-shrunk", "kaLDA-free")}
ALL = LINEAR | KERNELS | FEATURES
SHAPES = pytest.mark.parametrize("shape", [(60, 8), (15, 30)], ids=["tall", "wide"])
FOUR_EXAMPLES = settings(max_examples=4)


def every(names, besides=()):
    return pytest.mark.parametrize("name", [name for name in names if name not in besides])


@every(ALL | KALDA | DEFAULTS)
def test_every_reducer_passes_the_public_check(name):
    check_reducer((ALL | KALDA | DEFAULTS)[name])


def test_third_party_transformers_pass_where_they_hold():
    check_reducer(NeighborhoodComponentsAnalysis(n_components=2))
    check_reducer(PCA(n_components=2))
    with pytest.raises(AssertionError, match=r"^LinearDiscriminantAnalysis fails .*'label_order'"):
        check_reducer(LinearDiscriminantAnalysis())
    check_reducer(LinearDiscriminantAnalysis(), expected_failed_checks={"label_order": "signs"})


class Plain:
    """Class means as directions: a transformer without parameters, tags or names."""

    def fit(self, X, y):
        self.directions = np.array([X[y == k].mean(axis=0) for k in np.unique(y)])
        return self

    def transform(self, X):
        return np.sort(X @ self.directions.T, axis=1)


class Broken(TransformerMixin, BaseEstimator):
    """Directions of labels that break one claim, by name."""

    def __init__(self, claim=None, n_components=None):
        self.claim = claim
        self.n_components = n_components

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags

    def fit(self, X, y, sample_weight=None):
        if sparse.issparse(X):
            X = X.toarray() + (self.claim == "sparse")
        y = y.toarray() if sparse.issparse(y) else np.asarray(y)
        if y.ndim == 1:
            y = (y[:, None] == np.unique(y)).astype(float)
            y[:, 0] *= 2 if self.claim == "class_labels" else 1
        if self.claim == "unlabelled" and not y.any(axis=1).all():
            raise ValueError("no label")
        if (self.n_components or 0) > 8 and self.claim != "n_components":
            raise ValueError("n_components is too large")
        if self.claim == "deterministic":
            y = y * np.random.default_rng().random()
        if self.claim == "label_order":
            y = y[:, :1]
        if self.claim == "sample_order":
            y = y * np.arange(len(y))[:, None]
        if self.claim == "data_untouched":
            X *= 2
        if sample_weight is not None and self.claim != "sample_weight":
            X = X * np.asarray(sample_weight)[:, None]
        self.S = np.asarray(X.T @ y)
        self.S = (self.S @ self.S.T)[: self.n_components]
        self.batches = X.T @ y
        return self

    def partial_fit(self, X, y):
        self.fit(X, y)
        if self.claim != "partial_fit":
            self.sum = getattr(self, "sum", 0) + self.batches
            self.S = self.sum @ self.sum.T
        return self

    def transform(self, X):
        if sparse.issparse(X):
            X = X.toarray()
        if self.claim == "pickle" and not hasattr(self, "unpickled"):
            X = X + 1
        Z = X @ self.S.T
        return Z.astype(np.float64 if self.claim == "float32" else X.dtype)

    def __setstate__(self, state):
        vars(self).update(state, unpickled=True)

    def inverse_transform(self, Z):
        return np.linalg.solve(self.S, Z.T).T + (self.claim == "inverse_transform")

    def get_feature_names_out(self):
        return ["a"] * 8 if self.claim == "names" else list("abcdefgh")


CLAIMS = ["deterministic", "pickle", "data_untouched", "float32", "sparse", "class_labels"]
CLAIMS += ["label_order", "sample_order", "unlabelled", "sample_weight", "partial_fit"]
CLAIMS += ["inverse_transform", "names", "n_components"]


def test_a_plain_transformer_and_one_that_keeps_all_claims_pass():
    check_reducer(Plain())
    check_reducer(Broken())


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_is_broken_is_named(claim):
    with pytest.raises(AssertionError, match=f"^Broken fails check '{claim}'"):
        check_reducer(Broken(claim))


@every(DEFAULTS)
def test_integers_are_projected_as_floats_are(name):
    X, Y = made()
    X = np.rint(3 * X).astype(int)
    reducer = clone(DEFAULTS[name]).fit(X, Y)
    np.testing.assert_array_equal(reducer.transform(X), reducer.transform(X.astype(float)))


@every(LINEAR)
@SHAPES
def test_signs_order_and_shapes_are_fixed(name, shape):
    X, Y = made(*shape)
    reducer = clone(LINEAR[name]).fit(X, Y)
    G = reducer.components_
    assert G.shape == (len(G), shape[1])
    assert reducer.transform(X).shape == (shape[0], len(G))
    assert reducer.eigenvalues_.shape == (len(G),)
    assert (np.diff(reducer.eigenvalues_) <= 1e-12).all()
    assert (G[np.arange(len(G)), np.abs(G).argmax(axis=1)] > 0).all()
    single = clone(reducer).fit(X.astype(np.float32), Y)
    assert single.components_.dtype == single.mean_.dtype == np.float32


@pytest.mark.filterwarnings("error")
@every(LINEAR)
def test_none_means_the_dimensions_of_the_labels(name):
    """K, or K − 1 if the labels of every sample have one sum, as the paper's weights make them."""
    X, Y = made(K=5)
    reducer = clone(LINEAR[name])
    by_labels = name in BY_LABELS or "kaLDA" in name
    assert len(reducer.fit(X, Y).components_) == (4 if by_labels else 5)
    # MLR keeps a direction for every class, MDDM one for every dimension of its kernel.
    if name not in ("MLR", "MDDM-kernel"):
        assert len(reducer.fit(X, np.arange(60) % 5).components_) == 4
    assert reducer.set_params(n_components=2).fit_transform(X, Y).shape == (60, 2)


@every(LINEAR)
def test_directions_are_within_the_range_of_the_data(name):
    X, Y = made(15, 30)
    basis = linalg.orth(centred(X).T, rcond=1e-9)
    G = clone(LINEAR[name]).fit(X, Y).components_.T
    np.testing.assert_allclose(basis @ (basis.T @ G), G, atol=1e-7)


@every(LINEAR)
def test_rotated_data_give_rotated_directions(name):
    X, Y = made()
    rotate = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    a, b = (clone(LINEAR[name]).fit(x, Y).transform(x) for x in (X, X @ rotate))
    np.testing.assert_allclose(np.abs(a), np.abs(b), atol=1e-6)


@every(LINEAR)
def test_classes_without_samples_are_left_out(name):
    X, Y = made()
    with pytest.warns(UserWarning, match=r"\[2\]"):
        reducer = clone(LINEAR[name]).fit(X, np.insert(Y, 2, 0, axis=1))
    np.testing.assert_array_equal(reducer.classes_, [0, 1, 3, 4])
    expected = clone(LINEAR[name]).fit(X, Y)
    np.testing.assert_allclose(reducer.components_, expected.components_, atol=1e-10)


def products(reducer, X, Y):
    """Inner products of the projected samples about their mean: no sign, no rotation."""
    if getattr(reducer, "kernel", None) == "precomputed":
        X = X.toarray() if sparse.issparse(X) else X
        X = rbf_kernel(X, gamma=0.05)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z = clone(reducer).fit(X, Y).transform(X)
    Z = Z.toarray() if sparse.issparse(Z) else Z
    Z = Z - Z.mean(axis=0)
    return Z @ Z.T


def assert_close(found, expected, tol):
    assert np.abs(found - expected).max() <= tol * np.abs(expected).max()


def samples(seed, kind="tall"):
    X, Y = KINDS[kind](seed)
    return np.round(X * 2**16) / 2**16, Y  # bits that an offset would round away are cut off


@every(ALL, besides={"KernelKaLDA-precomputed"})
@FOUR_EXAMPLES
@given(seed=st.integers(0, 1000), power=st.integers(0, 6))
def test_an_offset_does_not_matter(name, seed, power):
    X, Y = samples(seed)
    offset = np.random.default_rng(seed).integers(-9, 9, 8) * 10.0**power
    assert_close(products(ALL[name], X + offset, Y), products(ALL[name], X, Y), 1e-6)


def with_duplicates(X, rng):
    """CSR of X in which every entry is stored as two that add up to it, in random order."""
    coo = sparse.coo_array(X)
    share = rng.integers(1, 8, coo.nnz) / 8
    values = np.concatenate([coo.data * share, coo.data * (1 - share)])
    rows, columns = np.tile(coo.row, 2), np.tile(coo.col, 2)
    order = np.lexsort([rng.random(len(rows)), rows])
    pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(X)))])
    return sparse.csr_array((values[order], columns[order], pointers), shape=X.shape)


@every(ALL)
@FOUR_EXAMPLES
@given(seed=st.integers(0, 1000), kind=st.sampled_from(["hashed", "one-hot"]))
def test_duplicate_entries_of_sparse_data_are_summed_and_left_alone(name, seed, kind):
    X, Y = samples(seed, kind)
    doubled = with_duplicates(X, np.random.default_rng(seed))
    before = [part.copy() for part in (doubled.data, doubled.indices, doubled.indptr)]
    assert_close(products(ALL[name], doubled, Y), products(ALL[name], sparse.csr_array(X), Y), 1e-5)
    for old, new in zip(before, (doubled.data, doubled.indices, doubled.indptr), strict=True):
        np.testing.assert_array_equal(old, new)


@every(ALL)
def test_layout_and_width_of_indices_do_not_matter(name):
    X, Y = samples(0)
    expected = products(ALL[name], X, Y)
    spread = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    for layout in (np.asfortranarray(X), spread, X[::-1][::-1]):
        layout.flags.writeable = False
        assert_close(products(ALL[name], layout, np.asfortranarray(Y)), expected, 1e-8)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_close(products(ALL[name], wide, Y), expected, 1e-6)


@every(ALL, besides={"AlignmentScaler", "AlignmentScaler-units"})
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_single_precision_far_from_the_origin_gives_what_its_values_are(name, store):
    X, Y = made(40, 6)
    X = (100 * X + 1e8).astype(np.float32)
    expected = products(ALL[name], X.astype(np.float64), Y)
    assert_close(products(ALL[name], store(X), Y), expected, 1e-4)


@every(["LDA", "MLDA-dependence", "kaLDA-shrunk", "KernelKaLDA", "LandmarkFeatures"])
def test_fits_at_the_same_time_do_not_disturb_each_other(name):
    data = [made(40, 6, seed=seed) for seed in range(4)]
    expected = [products(ALL[name], X, Y) for X, Y in data]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda each: products(ALL[name], *each), data))
    for a, b in zip(found, expected, strict=True):
        assert_close(a, b, 1e-8)


# Their number of samples decides how much they regularise, or doubt.
COUNTING = {"MDDM-f", "AlignmentScaler", "AlignmentScaler-units", "KernelKaLDA-precomputed"}


@every(ALL, besides={*COUNTING, "LandmarkFeatures", "LandmarkFeatures-linear"})
@pytest.mark.parametrize("power", [-30, 100])
def test_the_size_of_weights_does_not_matter(name, power):
    X, Y = made(40, 6)
    weight = np.random.default_rng(0).integers(1, 4, 40).astype(float)
    first, second = (
        clone(ALL[name]).fit(X, Y, sample_weight=w).transform(X)
        for w in (weight, weight * 10.0**power)
    )
    assert_close(second @ second.T, first @ first.T, 1e-6)


@pytest.mark.parametrize("reducer", [MultiLabelKaLDA(), LandmarkFeatures()], ids=repr)
def test_attributes_are_plain(reducer):
    """`vars` shows what a fit found, and what a user sets is what `transform` uses."""
    X, Y = made()
    reducer = clone(reducer).fit(X, Y)
    fitted = {name for name in dir(reducer) if name.endswith("_") and not name.startswith("_")}
    assert fitted - {"n_features_in_"} <= vars(reducer).keys()


def test_a_fit_replaces_attributes_that_were_set():
    X, Y = made()
    kalda = MultiLabelKaLDA().fit(X, Y)
    expected = kalda.components_.copy()
    kalda.components_ = np.zeros_like(expected)
    np.testing.assert_array_equal(kalda.transform(X), 0)
    kalda.fit(X, Y)
    np.testing.assert_array_equal(kalda.components_, expected)
    assert np.abs(kalda.transform(X)).max() > 0


def test_a_failed_fit_leaves_the_fitted_estimator_usable():
    X, Y = made()
    kalda = MultiLabelKaLDA().fit(X, Y)
    expected = kalda.transform(X)
    with pytest.raises(ValueError, match="NaN"):
        kalda.fit(np.where(X > 2, np.nan, X), Y)
    np.testing.assert_array_equal(kalda.transform(X), expected)


@every(LINEAR)
def test_inverse_transform_is_the_nearest_point_with_that_projection(name):
    X, Y = made()
    reducer = clone(LINEAR[name]).fit(X, Y)
    if hasattr(reducer, "inverse_transform"):
        Z = reducer.transform(X)
        back = reducer.inverse_transform(Z)
        null = linalg.null_space(reducer.components_)
        np.testing.assert_allclose((back - reducer.mean_) @ null, 0, atol=1e-9)
        with pytest.raises(ValueError, match=r"\b2\b"):
            reducer.inverse_transform(Z[:, :2])


@every(LINEAR)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_constant_columns_keep_their_mean(name, store):
    """Also where the mean of 3.7 is not 3.7 by rounding, which looks like some variance."""
    X, Y = made()
    for constant in (3.7, 4.0, 1e6 / 3):
        X[:, 2] = constant
        reducer = clone(LINEAR[name]).fit(store(X), Y)
        np.testing.assert_allclose(reducer.mean_[2], constant, rtol=1e-12)
        if hasattr(reducer, "inverse_transform"):
            back = reducer.inverse_transform(reducer.transform(X))
            np.testing.assert_allclose(back[:, 2], constant, rtol=1e-9)


def test_every_reducer_is_public_and_registered():
    registered = {e.name: e for e in entry_points(group="skmultilearn.transformers")}
    assert {type(reducer).__name__ for reducer in ALL.values()} <= DEFAULTS.keys()
    for name, reducer in DEFAULTS.items():
        assert registered[name].load() is type(reducer)

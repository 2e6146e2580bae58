"""KernelKaLDA in batches and blocks is KernelKaLDA on all rows, given the landmarks."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse
from sklearn.metrics.pairwise import rbf_kernel

from skml_kalda import LandmarkFeatures, MultiLabelKaLDA
from skml_kalda._core.kernels import features as core_features
from tests.classic import KernelKaLDA
from tests.conftest import made

X, Y = made(500, 4, unlabelled=0.1)
X_new = made(30, 4, seed=1)[0]
WEIGHTS = pytest.mark.parametrize("weights", ["labels", "rows"])
CHOICES = pytest.mark.parametrize("landmarks", ["kmeans", "random"])


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def kalda(**params):
    return KernelKaLDA(**{"n_landmarks": 20, "random_state": 0, **params})


def streamed(reducer, X, Y, n=7):
    for rows in np.array_split(np.arange(X.shape[0]), n):
        reducer.partial_fit(X[rows], Y[rows])
    return reducer


def in_blocks(X, rows=60):
    return da.from_array(X, chunks=(rows, -1))


def assert_given_the_landmarks(fitted, X, Y, *, tol=1e-8, weight=None, new=X_new):
    """Compare with the linear reducer on features of the landmarks, written out."""
    L = fitted.landmarks_
    values, vectors = linalg.eigh(rbf_kernel(L, gamma=fitted.gamma_))
    keep = values > 1e-10 * values[-1]
    W = vectors[:, keep] / np.sqrt(values[keep])
    linear = MultiLabelKaLDA(
        constraint="none", shrinkage=fitted.shrinkage, weights=fitted.weights
    ).fit(rbf_kernel(X, L, gamma=fitted.gamma_) @ W, Y, sample_weight=weight)
    expected = linear.transform(rbf_kernel(X_new, L, gamma=fitted.gamma_) @ W)
    found = np.asarray(fitted.transform(new))
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=tol)
    assert fitted.alignment_ == pytest.approx(linear.alignment_, rel=tol)
    np.testing.assert_allclose(fitted.eigenvalues_, linear.eigenvalues_, rtol=tol)


@CHOICES
@WEIGHTS
def test_batches_are_all_rows_given_the_landmarks(landmarks, weights):
    stream = streamed(kalda(landmarks=landmarks, weights=weights), X, Y)
    assert stream.landmarks_.shape == (20, 4)
    assert_given_the_landmarks(stream, X, Y)


@pytest.mark.parametrize("params", [{}, {"n_landmarks": "auto"}, {"landmarks": "random"}], ids=str)
def test_few_rows_in_batches_are_a_fit(params):
    """Before there are ten rows for each landmark no landmark is chosen."""
    stream = streamed(kalda(**params), X[:190], Y[:190], 3)
    whole = kalda(**params).fit(X[:190], Y[:190])
    np.testing.assert_array_equal(stream.landmarks_, whole.landmarks_)
    np.testing.assert_allclose(stream.transform(X_new), whole.transform(X_new), atol=1e-10)


def test_landmarks_are_chosen_from_the_first_rows_and_kept():
    far = X + 100
    stream = kalda()
    seen = []
    for rows in np.split(np.arange(500), 10):
        stream.partial_fit(X[rows] if rows[0] < 200 else far[rows], Y[rows])
        seen.append(stream.landmarks_)
    np.testing.assert_array_equal(seen[3], kalda().fit(X[:200], Y[:200]).landmarks_)
    for landmarks in seen[4:]:
        np.testing.assert_array_equal(landmarks, seen[3])
    assert_given_the_landmarks(stream, np.vstack([X[:200], far[200:]]), Y)


def test_one_large_batch_is_enough():
    stream = kalda().partial_fit(X, Y)
    np.testing.assert_allclose(stream.transform(X_new), kalda().fit(X, Y).transform(X_new))
    assert_given_the_landmarks(stream, X, Y)


def test_a_batch_may_be_written_over():
    buffer, stream = np.empty((50, 4)), kalda()
    for rows in np.split(np.arange(500), 10):
        buffer[:] = X[rows]
        stream.partial_fit(buffer, Y[rows])
    expected = streamed(kalda(), X, Y, 10)
    np.testing.assert_array_equal(stream.transform(X_new), expected.transform(X_new))


def test_too_few_rows_for_the_landmarks_are_an_error_until_more_come():
    stream = kalda().partial_fit(X[:15], Y[:15])
    with pytest.raises(ValueError, match="n_landmarks=20 is more than the 15 rows"):
        stream.transform(X_new)
    assert stream.partial_fit(X[15:30], Y[15:30]).transform(X_new).shape == (30, 3)


def test_other_labels_are_refused_before_there_are_landmarks():
    stream = kalda().partial_fit(X[:5], Y[:5])
    with pytest.raises(ValueError, match="columns"):
        stream.partial_fit(X[5:10], Y[5:10, :3])


def test_classes_may_come_late_and_labels_in_any_form():
    y = np.array(list("dcba"))[Y.argmax(axis=1)]
    order = np.argsort(y, kind="stable")
    stream = streamed(kalda(), X[order], y[order], 9)
    assert stream.classes_.tolist() == list("abcd")
    assert_given_the_landmarks(stream, X, y)
    mixed = kalda().partial_fit(X[:250], pd.DataFrame(Y[:250]))
    mixed.partial_fit(pd.DataFrame(X[250:]).to_numpy(), sparse.csc_matrix(Y[250:]))
    assert_given_the_landmarks(mixed, X, Y)


@pytest.mark.parametrize("first", [30, 300], ids=["before", "after"])
def test_other_columns_are_refused_when_they_come(first):
    stream = kalda().partial_fit(X[:first], Y[:first])
    with pytest.raises(ValueError, match="y has 3 label columns in this batch, but had 4"):
        stream.partial_fit(X[first:], Y[first:, :3])
    with pytest.raises(ValueError, match="X has 3 features, but KernelKaLDA is expecting 4"):
        stream.partial_fit(X[first:, :3], Y[first:])


def test_sparse_and_dense_batches_go_together():
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0)
    stream = kalda()
    for i, rows in enumerate(np.array_split(np.arange(500), 7)):
        stream.partial_fit(sparse.csr_array(thin[rows]) if i % 2 else thin[rows], Y[rows])
    assert sparse.issparse(stream.landmarks_)
    assert_given_the_landmarks(stream, thin, Y)


def test_rows_of_zero_weight_are_not_there():
    weight = np.random.default_rng(0).uniform(0.5, 2, 500)
    weight[:100] = 0
    stream = kalda()
    for rows in np.split(np.arange(500), 10):
        stream.partial_fit(X[rows] + 9 * (weight[rows, None] == 0), Y[rows], weight[rows])
    expected = kalda()
    for rows in np.split(np.arange(100, 500), 8):
        expected.partial_fit(X[rows], Y[rows], weight[rows])
    np.testing.assert_allclose(stream.transform(X_new), expected.transform(X_new), atol=1e-10)
    assert_given_the_landmarks(stream, X, Y, weight=weight)


def test_a_stream_starts_anew_after_fit():
    stream = streamed(kalda().fit(X[:300] + 5, Y[:300]), X, Y)
    expected = streamed(kalda(), X, Y)
    np.testing.assert_array_equal(stream.transform(X_new), expected.transform(X_new))


@pytest.mark.parametrize(
    ("condition", "lead"),
    [(0, 20), (300, 3), (np.inf, 0)],
    ids=["map first", "deflate", "map last"],
)
def test_kernel_values_and_features_add_up_to_the_same(condition, lead, monkeypatch):
    expected = kalda().fit(X, Y)
    monkeypatch.setattr(core_features, "_CONDITION", condition)
    found = kalda().fit(X, Y)
    features = found._results()["_features"]
    assert np.count_nonzero(features._deflation < 1) == lead
    assert features._maps_first == (condition == 0)
    np.testing.assert_allclose(found.transform(X_new), expected.transform(X_new), atol=1e-9)


def test_ill_conditioned_kernel_values_are_deflated_and_lose_no_digits():
    stream = streamed(kalda(n_landmarks=30, gamma=0.003, shrinkage=1e-4), X, Y)
    features = stream._results()["_features"]
    assert np.linalg.cond(rbf_kernel(stream.landmarks_, gamma=0.003)) > 1e7
    assert np.any(features._deflation < 1)
    assert not features._maps_first
    assert_given_the_landmarks(stream, X, Y, tol=1e-9)


def test_landmarks_of_low_rank_lose_no_digits():
    """One smooth feature: the eigenvalues of its kernel fall to rounding within twenty."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (500, 1))
    y = np.column_stack([x[:, 0] > 0, np.sin(9 * x[:, 0]) > 0, rng.random(500) < 0.3]).astype(int)
    stream = streamed(kalda(shrinkage=1e-5, gamma=1.0), x, y)
    L = stream.landmarks_
    assert np.linalg.cond(rbf_kernel(L, gamma=1.0)) > 1e12
    values, vectors = linalg.eigh(rbf_kernel(L, gamma=1.0))
    keep = values > 1e-10 * values[-1]
    features = rbf_kernel(x, L, gamma=1.0) @ vectors[:, keep] / np.sqrt(values[keep])
    linear = MultiLabelKaLDA(constraint="none", shrinkage=1e-5).fit(features, y)
    expected = linear.transform(features)
    np.testing.assert_allclose(np.abs(stream.transform(x)), np.abs(expected), atol=1e-6)


@pytest.mark.parametrize("n", [100, 500], ids=["before", "after"])
def test_a_stream_goes_on_after_pickling(n):
    stream = streamed(kalda(), X[:n], Y[:n], 4)
    expected = stream.transform(X_new)
    copied = pickle.loads(pickle.dumps(stream))
    np.testing.assert_array_equal(copied.transform(X_new), expected)
    for each in (stream, copied):
        each.partial_fit(X + 0.1, Y)
    np.testing.assert_array_equal(copied.transform(X_new), stream.transform(X_new))


def test_all_threads_see_all_batches():
    n_threads = 8
    barrier = Barrier(n_threads)
    splits = np.array_split(np.arange(500), 5)
    wanted = [
        streamed(kalda(), X[: rows[-1] + 1], Y[: rows[-1] + 1], i).transform(X_new)
        for i, rows in enumerate(splits, 1)
    ]

    def ask(stream):
        barrier.wait()
        return stream.transform(X_new), stream.dual_components_, stream.eigenvalues_

    with ThreadPoolExecutor(n_threads) as pool:
        for _ in range(3):
            stream = kalda()
            for rows, expected in zip(splits, wanted, strict=True):
                stream.partial_fit(X[rows], Y[rows])
                answers = list(pool.map(ask, [stream] * n_threads))
                for projected, dual, _ in answers:
                    np.testing.assert_allclose(projected, expected, atol=1e-8)
                    np.testing.assert_array_equal(dual, answers[0][1])


@pytest.mark.parametrize("n", [100, 500], ids=["before", "after"])
def test_the_results_of_a_stream_are_computed_once(n, monkeypatch):
    stream = kalda().partial_fit(X[:n], Y[:n])
    solved, original = [], type(stream)._solve_batch
    monkeypatch.setattr(
        type(stream), "_solve_batch", lambda *args: solved.append(1) or original(*args)
    )
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: stream.transform(X_new), range(8)))
    assert len(solved) == 1


def test_a_precomputed_kernel_has_no_batches():
    for reducer in (KernelKaLDA(kernel="precomputed"), LandmarkFeatures(kernel="precomputed")):
        with pytest.raises(AttributeError, match="a precomputed kernel needs all rows at once"):
            reducer.partial_fit  # noqa: B018
        with pytest.raises(ValueError, match=r"cannot add up the blocks .* needs all rows at once"):
            reducer.fit(in_blocks(rbf_kernel(X)), Y)


@CHOICES
@WEIGHTS
def test_blocks_are_all_rows_given_the_landmarks(landmarks, weights):
    found = kalda(landmarks=landmarks, weights=weights).fit(in_blocks(X), in_blocks(Y, 90))
    assert found.landmarks_.shape == (20, 4)
    assert_given_the_landmarks(found, X, Y)
    lazy = found.transform(in_blocks(X_new, 7))
    assert isinstance(lazy, da.Array)
    np.testing.assert_allclose(lazy, found.transform(X_new), atol=1e-12)


def test_few_rows_in_blocks_are_a_fit():
    """All rows are drawn, and stay in order."""
    found = kalda().fit(in_blocks(X[:200]), Y[:200])
    whole = kalda().fit(X[:200], Y[:200])
    np.testing.assert_array_equal(found.landmarks_, whole.landmarks_)
    np.testing.assert_allclose(found.transform(X_new), whole.transform(X_new), atol=1e-10)
    exact = KernelKaLDA().fit(in_blocks(X), Y).transform(X_new)
    np.testing.assert_allclose(exact, KernelKaLDA().fit(X, Y).transform(X_new), atol=1e-8)


def test_landmarks_come_from_all_blocks():
    """Ten blocks far apart: rows of each of them are drawn."""
    apart = X + 1000 * np.repeat(np.arange(10), 50)[:, None]
    found = kalda(landmarks="random").fit(in_blocks(apart, 50), Y)
    assert len(set(np.round(found.landmarks_[:, 0] / 1000))) > 5


def test_landmarks_depend_on_the_seed_and_the_blocks_alone():
    fits = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler, num_workers=3):
            fits.append(kalda(landmarks="random").fit(in_blocks(X), Y))
    np.testing.assert_array_equal(fits[0].dual_components_, fits[1].dual_components_)
    other = kalda(landmarks="random", random_state=1).fit(in_blocks(X), Y)
    assert not np.array_equal(other.landmarks_, fits[0].landmarks_)


def test_weights_and_labels_go_with_their_blocks():
    weight = np.random.default_rng(0).uniform(0.5, 2, 500)
    weight[60:180] = 0
    far = X + 100 * (weight[:, None] == 0)
    found = kalda().fit(in_blocks(far), in_blocks(Y, 45), da.from_array(weight, chunks=77))
    assert np.abs(found.landmarks_).max() < 50
    assert_given_the_landmarks(found, far, Y, weight=weight)
    with pytest.raises(ValueError, match="row of positive weight"):
        kalda().fit(in_blocks(X), Y, np.zeros(500))


@pytest.mark.parametrize("store", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_blocks_stay_sparse(store):
    thin = np.where(np.random.default_rng(0).random(X.shape) < 0.5, X, 0)
    found = kalda(landmarks="random").fit(in_blocks(thin).map_blocks(store), Y)
    dense = kalda(landmarks="random").fit(in_blocks(thin), Y)
    assert sparse.issparse(found.landmarks_)
    np.testing.assert_allclose(found.transform(X_new), dense.transform(X_new), atol=1e-8)


def test_a_dataframe_gives_names_and_frames():
    frame = pd.DataFrame(X, columns=list("abcd"))
    rows = dd.from_pandas(frame, npartitions=6)
    found = kalda().set_output(transform="pandas").fit(rows, dd.from_pandas(pd.DataFrame(Y), 6))
    assert found.feature_names_in_.tolist() == list("abcd")
    assert_given_the_landmarks(found, X, Y, new=pd.DataFrame(X_new, columns=list("abcd")))
    assert isinstance(found.transform(rows), dd.DataFrame)
    pd.testing.assert_frame_equal(found.transform(rows).compute(), found.transform(frame))


def test_dask_batches_settle_the_landmarks_and_continue_a_stream():
    parts = np.split(np.arange(500), [50, 100, 300])
    stream = kalda()
    for rows, form in zip(parts, (np.asarray, np.asarray, in_blocks, np.asarray), strict=True):
        stream.partial_fit(form(X[rows]), Y[rows])
    stream.partial_fit(in_blocks(X), in_blocks(Y))
    assert_given_the_landmarks(stream, np.vstack([X, X]), np.vstack([Y, Y]))


def test_what_is_wrong_with_a_block_is_the_error_of_the_fit():
    bad = X.copy()
    bad[333, 1] = np.nan
    with pytest.raises(ValueError, match=r"Input X contains NaN\.\nKernelKaLDA does not"):
        kalda().fit(in_blocks(bad), Y)
    with pytest.raises(ValueError, match="X has 0 samples"):
        kalda().fit(in_blocks(X)[:0], Y[:0])
    with pytest.raises(ValueError, match=r"y has two dim.* 0 and 1 only"):
        kalda().fit(in_blocks(X), Y * 2)

"""Datasets by name: where they are looked for, and what is checked."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import (
    ArffError,
    FetchError,
    get_data_home,
    list_datasets,
    load_dataset,
    manifest,
    save_arff,
)
from skml_kalda.datasets.manifest import read_manifest

SIZES = {
    "emotions": (593, 391, 72, 6),
    "yeast": (2417, 1500, 103, 14),
    "scene": (2407, 1211, 294, 6),
}


@pytest.fixture(autouse=True)
def no_data_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKML_KALDA_DATA", str(tmp_path / "empty"))


@pytest.mark.parametrize("name", list_datasets())
def test_manifests_are_complete(name):
    manifest = read_manifest(name)
    assert manifest.task in {"multilabel", "singlelabel"}
    assert all((manifest.title, manifest.origin, manifest.licence, manifest.citation))
    assert abs(manifest.labels) == (manifest.K if manifest.task == "multilabel" else 0)
    for source in manifest.sources:
        assert source.url.startswith("https://")
        assert re.fullmatch("[0-9a-f]{64}", source.sha256)
        assert source.size > 0
    assert name in manifest.describe()


@pytest.mark.parametrize("name", SIZES)
def test_bundled_sets_load_offline_in_their_published_parts(name):
    n, n_train, p, k = SIZES[name]
    bunch = load_dataset(name, download=False)
    assert (bunch.data.shape, bunch.target.shape) == ((n, p), (n, k))
    assert bunch.DESCR.startswith(name)
    assert bunch.frame is None
    train, test = (load_dataset(name, split=part, return_X_y=True) for part in ("train", "test"))
    assert len(train[0]) == n_train
    for whole, *parts in zip((bunch.data, bunch.target), train, test, strict=True):
        assert_array_equal(np.concatenate(parts), whole)
    framed = load_dataset(name, as_frame=True)
    assert list(framed.data.columns) == bunch.feature_names
    assert list(framed.target.columns) == bunch.target_names
    assert list(framed.frame.columns) == bunch.feature_names + bunch.target_names
    assert_array_equal(framed.data, bunch.data)


@pytest.mark.parametrize(
    "change",
    [("[[", "[" * 5000), ("n = 593", "n = '593'"), ("n = 593", "m = 593"), ("size =", "bytes =")],
)
def test_a_wrong_manifest_is_one_error_that_names_it(change, tmp_path, monkeypatch):
    text = (manifest._folder() / "emotions.toml").read_text("utf-8")
    (tmp_path / "mine.toml").write_text(text.replace(*change))
    monkeypatch.setattr(manifest, "_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match=r"mine\.toml is not a manifest: "):
        read_manifest("mine")


def _save(name, folder, n=None, p=None, shift=0):
    """Write made-up data of the size that a manifest tells, or nearly."""
    manifest = read_manifest(name)
    n, p = n or manifest.n, p or manifest.p
    folder.mkdir(parents=True, exist_ok=True)
    target = np.zeros((n, manifest.K), int)
    target.ravel()[: round(float(manifest.cardinality) * manifest.n) + shift] = 1
    save_arff(folder / f"{name}.arff", np.ones((n, p)), target, dialect="mulan")


def test_the_data_home_goes_before_the_package_but_for_published_parts(tmp_path):
    _save("emotions", tmp_path)
    assert (load_dataset("emotions", data_home=tmp_path).data == 1).all()
    assert (load_dataset("emotions").data != 1).any()
    # Only in the package is the order of the samples known.
    assert (load_dataset("emotions", split="train", data_home=tmp_path).data != 1).any()


def test_the_data_home_may_have_a_folder_for_each_task(tmp_path):
    _save("flags", tmp_path / "multilabel")
    assert load_dataset("flags", data_home=tmp_path, download=False).data.shape == (194, 19)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"n": 193}, "n is 193, the manifest of 'flags' says 194"),
        ({"p": 18}, "p is 18, the manifest of 'flags' says 19"),
        ({"shift": 1}, "cardinality is 3.3969072, the manifest of 'flags' says 3.392"),
        ({"shift": -1}, "cardinality is 3.3865979, the manifest of 'flags' says 3.392"),
    ],
)
def test_a_file_that_differs_from_its_manifest_is_refused(tmp_path, change, reason):
    _save("flags", tmp_path, **change)
    with pytest.raises(ArffError, match=reason):
        load_dataset("flags", data_home=tmp_path, download=False)


def _save_with_splits(folder):
    """Write made-up data in the repository's format, and two splits of them."""
    about = read_manifest("bibtex-xc")
    ones = round(float(about.cardinality) * about.n)
    sizes = np.full(about.n, ones // about.n) + (np.arange(about.n) < ones % about.n)
    rows = [f"{','.join(map(str, range(size)))} {i % about.p}:1" for i, size in enumerate(sizes)]
    text = "\n".join([f"{about.n} {about.p} {about.K}", *rows])
    (folder / "Bibtex_data.txt").write_text(f"{text}\n", "utf-8")
    order = np.column_stack([np.random.default_rng(i).permutation(about.n) for i in range(2)])
    for name, part in zip(about.splits, (order[:4880], order[4880:]), strict=True):
        np.savetxt(folder / name, part + 1, fmt="%d")
    return order


def test_published_splits_come_with_the_data_and_are_checked(tmp_path):
    order = _save_with_splits(tmp_path)
    found = load_dataset("bibtex-xc", data_home=tmp_path)
    assert (found.data.shape, found.target.shape) == ((7395, 1836), (7395, 159))
    for (train, test), expected in zip(found.splits, order.T, strict=True):
        assert_array_equal(train, expected[:4880])
        assert_array_equal(test, expected[4880:])
    path = tmp_path / "bibtex_tstSplit.txt"
    np.savetxt(path, order[4880:], fmt="%d")  # counted from zero
    with pytest.raises(ArffError, match=r"do not split the 7395 samples.*not match their manifest"):
        load_dataset("bibtex-xc", data_home=tmp_path)
    path.unlink()
    with pytest.raises(FetchError, match=r"tstSplit.*splits of 'bibtex-xc' are not here: put them"):
        load_dataset("bibtex-xc", data_home=tmp_path)


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("bibtex-xc", "put Bibtex_data.txt .*beside it bibtex_trSplit.txt and bibtex_tstSplit.txt"),
        ("barcelona", "put barcelona.arff .* no public copy was found"),
        ("msrc", "put msrc7.arff"),
        ("msrc-mom", "run python -m skml_kalda.datasets build msrc"),
    ],
)
def test_an_absent_data_set_says_how_to_get_it(tmp_path, name, advice):
    with pytest.raises(FetchError, match=f"the dataset '{name}' is not here: .*{advice}"):
        load_dataset(name, data_home=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"name": "emotion"}, "name 'emotion' is not a dataset; did you mean 'emotions'"),
        ({"name": "../secret"}, "is not a dataset"),
        ({"name": "emotions", "split": "both"}, 'split must be None, "train" or "test"'),
        ({"name": "bibtex", "split": "train"}, "bibtex has no published parts"),
    ],
)
def test_wrong_arguments_are_named(arguments, reason):
    with pytest.raises(ValueError, match=reason):
        load_dataset(**arguments)


def test_the_data_home_comes_from_the_environment(monkeypatch, tmp_path):
    assert get_data_home() == tmp_path / "empty"
    assert get_data_home(tmp_path) == tmp_path
    monkeypatch.delenv("SKML_KALDA_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert get_data_home() == tmp_path / "skml_kalda"

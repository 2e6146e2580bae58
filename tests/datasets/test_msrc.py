"""The MSRC builder, on small images that the tests draw."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skml_kalda.datasets import ArffError, load_arff, load_dataset, msrc
from skml_kalda.datasets.msrc import read_image
from tests.datasets.conftest import write_bmp


@pytest.mark.parametrize("content", [b"", b"BM", b"GIF89a" * 20, b"BM" + b"\0" * 60])
def test_what_is_no_bmp_is_refused(tmp_path, content):
    (tmp_path / "a.bmp").write_bytes(content)
    with pytest.raises(ArffError, match="not a BMP image"):
        read_image(tmp_path / "a.bmp")


def test_moments_are_mean_and_variance_of_each_cell(images, tmp_path):
    (path,) = msrc.build_msrc(images, tmp_path, ["msrc-mom"])
    found = load_arff(path)
    assert found.data.shape == (7, 384)
    assert found.feature_names[:7] == [
        *(f"b00_{moment}_{channel}" for moment in ("mean", "var") for channel in "rgb"),
        "b01_mean_r",
    ]
    for i in range(7):
        pixels = read_image(images / "Images" / f"{i}_s.bmp")
        # 83 columns into 8 cells: 3 of 11, then 5 of 10; the rows in the same manner.
        tall, rest = divmod(len(pixels), 8)
        first = [
            [float(pixels[y, x, c]) for y in range(tall + (rest > 0)) for x in range(11)]
            for c in range(3)
        ]
        mean = [sum(values) / len(values) for values in first]
        var = [sum((v - m) ** 2 for v in vs) / len(vs) for vs, m in zip(first, mean, strict=True)]
        assert_allclose(found.data[i, :6], [*mean, *var], rtol=1e-12)
        last = pixels[-tall:, -10:].reshape(-1, 3).astype(float)
        assert_allclose(found.data[i, -6:], [*last.mean(0), *last.var(0)], rtol=1e-12)


def test_labels_are_the_classes_of_the_ground_truth(images, tmp_path):
    (path,) = msrc.build_msrc(images, tmp_path, ["msrc-mom"])
    found = load_arff(path)
    names = [{found.target_names[k] for k in np.flatnonzero(row)} for row in found.target]
    cows = [{"grass", "cow"} if i % 2 else {"grass"} for i in range(7)]
    cows[3].add("boat")
    assert names == cows
    assert found.target.shape == (7, 23)
    assert "no commercial use" in path.read_text()


def test_an_unknown_colour_is_said(images, tmp_path):
    write_bmp(images / "GroundTruth" / "0_s_GT.bmp", np.full((4, 4, 3), 77))
    with pytest.warns(UserWarning, match=r"no class has the colours \[\(77, 77, 77\)\]"):
        msrc.build_msrc(images, tmp_path, ["msrc-mom"])


def test_ground_truth_without_image_is_refused(images, tmp_path):
    (images / "Images" / "2_s.bmp").unlink()
    with pytest.raises(ArffError, match=r"the ground truth 2_s_GT\.bmp has no image"):
        msrc.build_msrc(images, tmp_path)


def test_visual_words_count_every_point_of_the_grid(images, tmp_path):
    pytest.importorskip("cv2", reason="OpenCV is an extra")
    first, again = (
        load_arff(msrc.build_msrc(images, _made(tmp_path / name), ["msrc-sift"])[0])
        for name in "ab"
    )
    assert first.data.shape == (7, 240)
    rows = [len(range(8, 61 + i - 8 + 1, 8)) for i in range(7)]
    columns = len(range(8, 83 - 8 + 1, 8))
    assert_array_equal(first.data.sum(1), [n * columns for n in rows])
    assert_array_equal(first.data, again.data)


def _made(folder):
    folder.mkdir()
    return folder


def test_load_dataset_builds_from_images_in_the_data_home(images, tmp_path):
    home = _made(tmp_path / "home")
    images.rename(home / msrc.IMAGES_FOLDER)
    # Seven images are not the 591 of the manifest: the check after the build says so.
    with pytest.raises(ArffError, match="n is 7, the manifest of 'msrc-mom' says 591"):
        load_dataset("msrc-mom", data_home=home)
    assert (home / "msrc-mom.arff").exists()

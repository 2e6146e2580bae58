"""The MSRC builder: small images that the tests draw, and an archive of them on the loopback."""

import hashlib
import struct
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skml_kalda.datasets import ArffError, load_arff, load_dataset, msrc
from skml_kalda.datasets.__main__ import main
from skml_kalda.datasets.msrc import read_image
from tests.datasets.loopback import serving

NAME = "msrc_objcategimagedatabase_v2.zip"
VOID, GRASS, COW, BOAT = (0, 0, 0), (0, 128, 0), (0, 0, 128), (192, 64, 0)


def write_bmp(path, pixels):
    """Write an image, row by row and byte by byte."""
    height, width, _ = pixels.shape
    body = b""
    for row in pixels[::-1]:
        line = b"".join(bytes([blue, green, red]) for red, green, blue in row.tolist())
        body += line + b"\0" * (-len(line) % 4)
    size = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, *[0] * 6)
    path.write_bytes(b"BM" + struct.pack("<IHHI", 54 + len(body), 0, 0, 54) + size + body)


@pytest.fixture
def images(tmp_path):
    """Draw seven images of different sizes, with ground truth, in the folders of MSRC v2."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "images"
    for sub in ("Images", "GroundTruth"):
        (folder / sub).mkdir(parents=True)
    for i in range(7):
        shape = (61 + i, 83, 3)
        write_bmp(folder / "Images" / f"{i}_s.bmp", rng.integers(0, 256, shape))
        truth = np.zeros(shape, int)
        truth[:20], truth[20:30] = GRASS, COW if i % 2 else VOID
        truth[-1, -1] = BOAT if i == 3 else VOID
        write_bmp(folder / "GroundTruth" / f"{i}_s_GT.bmp", truth)
    return folder


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.mark.parametrize("content", [b"", b"BM", b"GIF89a" * 20, b"BM" + b"\0" * 60])
def test_what_is_no_bmp_is_refused(tmp_path, content):
    (tmp_path / "a.bmp").write_bytes(content)
    with pytest.raises(ArffError, match="not a BMP image"):
        read_image(tmp_path / "a.bmp")


def test_moments_are_mean_and_variance_of_each_cell(images, tmp_path):
    found = load_arff(*msrc.build_msrc(images, tmp_path, ["msrc-mom"]))
    assert found.data.shape == (7, 384)
    assert found.feature_names[:7] == [
        *(f"b00_{moment}_{channel}" for moment in ("mean", "var") for channel in "rgb"),
        "b01_mean_r",
    ]
    for i in range(7):
        pixels = read_image(images / "Images" / f"{i}_s.bmp")
        # 83 columns into 8 cells: 3 of 11, then 5 of 10; the rows in the same manner.
        tall, rest = divmod(len(pixels), 8)
        for at, cell in (0, pixels[: tall + (rest > 0), :11]), (-1, pixels[-tall:, -10:]):
            values = cell.reshape(-1, 3).astype(float)
            moments = found.data[i].reshape(64, 6)[at]
            assert_allclose(moments, [*values.mean(0), *values.var(0)], rtol=1e-12)


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
    first, again = (load_arff(*msrc.build_msrc(images, tmp_path, ["msrc-sift"])) for _ in range(2))
    assert first.data.shape == (7, 240)
    rows = [len(range(8, 61 + i - 8 + 1, 8)) for i in range(7)]
    columns = len(range(8, 83 - 8 + 1, 8))
    assert_array_equal(first.data.sum(1), [n * columns for n in rows])
    assert_array_equal(first.data, again.data)


def test_load_dataset_builds_from_images_in_the_data_home(images, home):
    home.mkdir()
    images.rename(home / msrc.IMAGES_FOLDER)
    # Seven images are not the 591 of the manifest: the check after the build says so.
    with pytest.raises(ArffError, match="n is 7, the manifest of 'msrc-mom' says 591"):
        load_dataset("msrc-mom", data_home=home)
    assert (home / "msrc-mom.arff").exists()


@pytest.fixture
def server(images, monkeypatch):
    """Serve an archive of the made images, or what the test gives instead."""
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for path in sorted(images.rglob("*")):
            archive.write(path, path.relative_to(images))
    with serving(stream.getvalue()) as server:
        monkeypatch.setattr(msrc, "URL", f"http://127.0.0.1:{server.server_port}/{NAME}")
        monkeypatch.setattr(msrc, "MD5", hashlib.md5(server.body).hexdigest())
        yield server


def build(home, *options):
    return main(["build", "msrc", "--data-home", str(home), "--only", "msrc-mom", *options])


def names_in(home):
    return {path.name for path in home.iterdir()}


@pytest.mark.parametrize("spelling", ["--accept-licence", "--accept-license"])
def test_one_command_downloads_unpacks_and_builds(home, server, images, capsys, spelling):
    assert build(home, spelling) == 0
    assert capsys.readouterr().out == f"{home / 'msrc-mom.arff'}\n"
    assert names_in(home) == {"msrc-mom.arff", "msrc-mom.xml", msrc.IMAGES_FOLDER}
    (expected,) = msrc.build_msrc(images, images, ["msrc-mom"])
    assert_array_equal(load_arff(home / "msrc-mom.arff").data, load_arff(expected).data)


def test_without_acceptance_the_terms_are_shown_and_nothing_is_downloaded(home, server, capsys):
    assert build(home) == 1
    captured = capsys.readouterr()
    assert "non-commercial purposes only" in captured.err
    assert "Run this command again with --accept-licence" in captured.err
    assert captured.out == ""
    assert server.asked == []
    assert names_in(home) == set()


def test_another_archive_that_was_put_here_stays_and_is_refused(home, server, capsys):
    home.mkdir()
    (home / NAME).write_bytes(b"mine")
    assert build(home, "--accept-licence") == 1
    reason = f"md5 is {hashlib.md5(b'mine').hexdigest()}, expected {msrc.MD5}; remove the file"
    assert reason in capsys.readouterr().err
    assert (home / NAME).read_bytes() == b"mine"


def serve(server, monkeypatch, content):
    server.body = content
    monkeypatch.setattr(msrc, "MD5", hashlib.md5(content).hexdigest())


def test_an_archive_cannot_write_outside_its_folder(home, server, images, monkeypatch):
    stream = BytesIO(server.body)
    with ZipFile(stream, "a") as archive:
        archive.writestr("../../evil", b"")
        archive.writestr("/evil", b"")
    serve(server, monkeypatch, stream.getvalue())
    assert build(home, "--accept-licence") == 0
    assert {path.parent for path in home.parent.rglob("evil")} == {home / msrc.IMAGES_FOLDER}


def test_a_bomb_is_refused_before_it_is_written(home, server, monkeypatch, capsys):
    monkeypatch.setattr(msrc, "MOST_BYTES", 1000)
    assert build(home, "--accept-licence") == 1
    assert "bytes unpacked, more than 1000" in capsys.readouterr().err
    assert names_in(home) == {NAME}


@pytest.mark.parametrize("damage", ["cut", "changed", "not a zip"])
def test_a_damaged_archive_is_one_error(home, server, monkeypatch, capsys, damage):
    changed = bytearray(server.body)
    changed[100] ^= 1
    contents = {"cut": server.body[:-500], "changed": bytes(changed), "not a zip": b"x" * 500}
    serve(server, monkeypatch, contents[damage])
    assert build(home, "--accept-licence") == 1
    assert f"{NAME}: cannot be unpacked (" in capsys.readouterr().err
    assert names_in(home) == {NAME}

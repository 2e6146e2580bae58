"""MSRC in one command, against a server on the loopback interface that has a made archive."""

import hashlib
from io import BytesIO
from zipfile import ZipFile

import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import load_arff, msrc
from skml_kalda.datasets.__main__ import main
from tests.datasets.loopback import serving

NAME = "msrc_objcategimagedatabase_v2.zip"
BUILT = {"msrc-mom.arff", "msrc-mom.xml", msrc.IMAGES_FOLDER}


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


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
    assert names_in(home) == BUILT
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

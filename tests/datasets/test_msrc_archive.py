"""MSRC in one command, against a server on the loopback interface that has a made archive."""

import hashlib
import http.server
import subprocess
import sys
from io import BytesIO
from zipfile import ZipFile

import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import load_arff, msrc, msrc_archive
from skml_kalda.datasets.__main__ import main
from tests.datasets.loopback import serving

NAME = "msrc_objcategimagedatabase_v2.zip"


class Handler(http.server.BaseHTTPRequestHandler):
    """A server that can continue a download, unless the test asks it to misbehave."""

    def do_GET(self):
        span = self.headers.get("Range")
        self.server.asked.append(span)
        start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
        if self.server.forgetful:
            start, span = 0, None
        if start >= len(self.server.body):
            self.send_error(416)
            return
        self.send_response(206 if span else 200)
        self.send_header("Content-Length", str(len(self.server.body) - start))
        self.end_headers()
        self.wfile.write(self.server.body[start : start + self.server.at_most.pop(0)])

    def log_message(self, *arguments):
        pass


def zipped(folder):
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return stream.getvalue()


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def server(images, monkeypatch):
    """Serve an archive of the made images; each request gets at most so many bytes."""
    with serving(Handler) as server:
        server.asked, server.at_most, server.forgetful = [], [10**9] * 3, False
        server.body = zipped(images)
        monkeypatch.setattr(msrc_archive, "URL", f"http://127.0.0.1:{server.server_port}/{NAME}")
        monkeypatch.setattr(msrc_archive, "MD5", hashlib.md5(server.body).hexdigest())
        yield server


def build(home, *options):
    return main(["--data-home", str(home), "build", "msrc", "--only", "msrc-mom", *options])


def names_in(home):
    return {path.name for path in home.iterdir()}


BUILT = {"msrc-mom.arff", "msrc-mom.xml", msrc.IMAGES_FOLDER}


@pytest.mark.parametrize("spelling", ["--accept-licence", "--accept-license"])
def test_one_command_downloads_unpacks_and_builds(home, server, images, capsys, spelling):
    assert build(home, spelling) == 0
    assert capsys.readouterr().out == f"{home / 'msrc-mom.arff'}\n"
    assert names_in(home) == BUILT
    (expected,) = msrc.build_msrc(images, images, ["msrc-mom"])
    assert_array_equal(load_arff(home / "msrc-mom.arff").data, load_arff(expected).data)


def test_both_sets_are_built(home, server, capsys):
    pytest.importorskip("cv2", reason="OpenCV is an extra")
    assert main(["--data-home", str(home), "build", "msrc", "--accept-licence"]) == 0
    paths = [home / "msrc-mom.arff", home / "msrc-sift.arff"]
    assert capsys.readouterr().out.split() == [str(path) for path in paths]
    assert [load_arff(path).data.shape for path in paths] == [(7, 384), (7, 240)]


def test_without_acceptance_the_terms_are_shown_and_nothing_is_downloaded(home, server, capsys):
    assert build(home) == 1
    captured = capsys.readouterr()
    assert "non-commercial purposes only" in captured.err
    assert "Run this command again with --accept-licence" in captured.err
    assert captured.out == ""
    assert server.asked == []
    assert names_in(home) == set()


def test_images_that_are_here_need_no_second_acceptance(home, server, images):
    home.mkdir()
    images.rename(home / msrc.IMAGES_FOLDER)
    assert build(home) == 0
    assert server.asked == []
    assert names_in(home) == BUILT


def test_a_second_run_does_nothing_again(home, server, monkeypatch, capsys):
    assert build(home, "--accept-licence") == 0
    monkeypatch.setattr(msrc_archive, "build_msrc", lambda *_: pytest.fail("built again"))
    assert build(home) == 0
    assert capsys.readouterr().out.split() == [str(home / "msrc-mom.arff")] * 2
    assert len(server.asked) == 1


def test_a_download_that_stops_goes_on_where_it_was(home, server, capsys):
    server.at_most = [30_000, 20_000, 10**9]
    for done in (30_000, 50_000):
        assert build(home, "--accept-licence") == 1
        reason = f"stopped (got {done} of {len(server.body)} bytes): run again to continue it"
        assert reason in capsys.readouterr().err
        assert names_in(home) == {f"{NAME}.part"}
    assert build(home, "--accept-licence") == 0
    assert server.asked == [None, "bytes=30000-", "bytes=50000-"]
    assert names_in(home) == BUILT


def test_a_server_that_cannot_go_on_starts_anew(home, server):
    server.at_most[0] = 30_000
    assert build(home, "--accept-licence") == 1
    server.forgetful = True
    assert build(home, "--accept-licence") == 0
    assert names_in(home) == BUILT


def test_a_complete_part_is_not_downloaded_again(home, server):
    home.mkdir()
    (home / f"{NAME}.part").write_bytes(server.body)
    assert build(home, "--accept-licence") == 0
    assert server.asked == [f"bytes={len(server.body)}-"]
    assert names_in(home) == BUILT


def test_an_archive_that_was_put_here_is_taken(home, server):
    home.mkdir()
    (home / NAME).write_bytes(server.body)
    assert build(home, "--accept-licence") == 0
    assert server.asked == []
    assert names_in(home) == BUILT


def test_another_archive_that_was_put_here_stays_and_is_refused(home, server, capsys):
    home.mkdir()
    (home / NAME).write_bytes(b"mine")
    assert build(home, "--accept-licence") == 1
    assert f"wrong checksum: md5 is {hashlib.md5(b'mine').hexdigest()}" in capsys.readouterr().err
    assert (home / NAME).read_bytes() == b"mine"


def test_a_wrong_checksum_removes_the_download_and_shows_both(home, server, capsys):
    server.body = server.body[::-1]
    assert build(home, "--accept-licence") == 1
    message = capsys.readouterr().err
    assert msrc_archive.MD5 in message
    assert hashlib.md5(server.body).hexdigest() in message
    assert names_in(home) == set()


def test_a_part_of_another_file_is_removed_in_the_end(home, server, capsys):
    home.mkdir()
    (home / f"{NAME}.part").write_bytes(b"x" * 1000)
    assert build(home, "--accept-licence") == 1
    assert "wrong checksum" in capsys.readouterr().err
    assert build(home, "--accept-licence") == 0
    assert server.asked == ["bytes=1000-", None]


def test_an_endless_download_is_given_up(home, server, monkeypatch, capsys):
    monkeypatch.setattr(msrc_archive, "_MOST_BYTES", 1000)
    assert build(home, "--accept-licence") == 1
    assert "got more than the 1000 bytes expected" in capsys.readouterr().err
    assert names_in(home) == set()


def test_an_archive_with_a_hostile_path_is_not_unpacked(home, server, monkeypatch, capsys):
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        archive.writestr("../evil", b"")
    server.body = stream.getvalue()
    monkeypatch.setattr(msrc_archive, "MD5", hashlib.md5(server.body).hexdigest())
    assert build(home, "--accept-licence") == 1
    assert "the member '../evil' leads outside the folder" in capsys.readouterr().err
    assert names_in(home) == {NAME}
    assert not (home.parent / "evil").exists()


def test_no_network_is_said(home, server, monkeypatch, capsys):
    monkeypatch.setattr(msrc_archive, "URL", f"http://127.0.0.1:1/{NAME}")
    assert build(home, "--accept-licence") == 1
    assert "Connection refused" in capsys.readouterr().err


def test_a_home_that_cannot_be_written_is_said(home, server, capsys):
    (home / f"{NAME}.part").mkdir(parents=True)
    assert build(home, "--accept-licence") == 1
    assert "cannot write the file" in capsys.readouterr().err


@pytest.mark.slow
def test_two_processes_do_not_build_at_once(home, server, capsys):
    home.mkdir()
    code = (
        "import sys; from pathlib import Path; from skml_kalda.datasets.files import alone\n"
        "with alone(Path(sys.argv[1]), 'msrc'): print('alone', flush=True); sys.stdin.read()"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code, str(home)], **pipes) as other:
        other.stdout.readline()
        assert build(home, "--accept-licence") == 1
        assert "another process is working on msrc" in capsys.readouterr().err
        other.stdin.close()
        other.wait()
    assert build(home, "--accept-licence") == 0
    assert names_in(home) == BUILT


def test_progress_is_shown_on_a_terminal(home, server, capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert build(home, "--accept-licence") == 0
    shown = capsys.readouterr().err
    for what in (NAME, "unpacking", "reading images", "reading ground truth"):
        assert f"\r{what}: " in shown
    assert "reading images: 7 of 7 (100%)\n" in shown


def test_the_published_address_and_checksum_are_kept():
    assert msrc_archive.URL.startswith("https://download.microsoft.com/download/3/3/9/339D8A24-")
    assert msrc_archive.URL.endswith(NAME)
    assert msrc_archive.MD5 == "8fcd292c7f1e69f91a2ef513746bd52c"

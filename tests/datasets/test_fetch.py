"""Downloads, against a server on the loopback interface."""

import hashlib
import http.server
import multiprocessing
import os
import re
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import FetchError, fetch, load_dataset, save_arff
from skml_kalda.datasets.fetch import download
from skml_kalda.datasets.fetch import fetch as fetch_dataset
from skml_kalda.datasets.files import sha256_of
from skml_kalda.datasets.manifest import Remote, read_manifest
from tests.datasets.loopback import serving

BODY = b"@relation r\n" + bytes(range(256)) * 2_000
SHA256 = hashlib.sha256(BODY).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        getattr(self, self.path.strip("/"), self.missing)()

    def missing(self):
        self.send_error(404)

    def whole(self, body=BODY, size=None):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body) if size is None else size))
        self.end_headers()
        self.wfile.write(body)

    def cut(self):
        self.whole(BODY[:1000], size=len(BODY))

    def cut_without_saying(self):
        self.whole(BODY[:1000])

    def other(self):
        self.whole(b"x" * len(BODY))

    def endless(self):
        self.send_response(200)
        self.end_headers()
        for _ in range(100):
            self.wfile.write(BODY)

    def stalled(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(BODY[: 2**17])
        self.server.go_on.wait(25)
        self.wfile.write(BODY[2**17 :])

    def slow(self):
        time.sleep(0.3)
        self.whole()

    def made(self):
        self.whole(self.server.made)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with serving(Handler) as server:
        server.asked = []
        server.go_on = threading.Event()
        yield server


@pytest.fixture
def remote(server):
    return lambda page: Remote(f"http://127.0.0.1:{server.server_port}/{page}", SHA256, len(BODY))


def test_a_download_arrives_whole(tmp_path, remote):
    target = tmp_path / "new" / "folder" / "r.arff"
    download([remote("whole")], target)
    assert target.read_bytes() == BODY
    assert list(target.parent.iterdir()) == [target]


def test_a_mirror_helps_out_after_a_404(tmp_path, remote, server):
    download([remote("nowhere"), remote("cut"), remote("whole")], tmp_path / "r.arff")
    assert sha256_of(tmp_path / "r.arff") == SHA256
    assert server.asked == ["/nowhere", "/cut", "/whole"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("nowhere", "HTTP Error 404"),
        ("cut", f"got 1000 of {len(BODY)} bytes"),
        ("cut_without_saying", f"got 1000 of {len(BODY)} bytes"),
        ("endless", f"got more than {len(BODY)} of {len(BODY)} bytes"),
    ],
)
def test_a_failed_download_keeps_the_old_file(tmp_path, remote, page, reason):
    target = tmp_path / "r.arff"
    target.write_text("old")
    with pytest.raises(FetchError, match=reason) as caught:
        download([remote(page)], target)
    assert f"/{page}: " in str(caught.value)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_wrong_checksum_shows_both_hashes_and_keeps_the_old_file(tmp_path, remote):
    target = tmp_path / "r.arff"
    target.write_text("old")
    with pytest.raises(FetchError, match="wrong checksum") as caught:
        download([remote("other")], target)
    assert SHA256 in str(caught.value)
    assert hashlib.sha256(b"x" * len(BODY)).hexdigest() in str(caught.value)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_no_network_is_said_once_for_each_mirror(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        urls = [f"http://127.0.0.1:{taken.getsockname()[1]}/{i}" for i in range(2)]
        with pytest.raises(FetchError, match="nothing was changed") as caught:
            download([Remote(url, SHA256, 1) for url in urls], tmp_path / "r.arff")
    assert all(url in str(caught.value) for url in urls)
    assert not list(tmp_path.iterdir())


def test_a_server_that_says_nothing_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "_TIMEOUT", 0.2)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(FetchError, match="timed out"):
            download([Remote(url, SHA256, 1)], tmp_path / "r.arff")


def test_an_address_that_is_none_is_a_fetch_error(tmp_path):
    with pytest.raises(FetchError, match="unknown url type"):
        download([Remote("nonsense", SHA256, 1)], tmp_path / "r.arff")


def _report_of_a_download_without_permission(folder, remote, pipe):
    if os.geteuid() == 0:
        os.setuid(65534)
    try:
        download([remote], folder / "sub" / "r.arff")
    except FetchError as error:
        pipe.send(str(error))
    else:
        pipe.send("no error")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to give up the rights of root")
def test_no_write_permission_names_the_folder_and_what_to_do(tmp_path, remote):
    tmp_path.chmod(0o500)
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("fork")
    arguments = (tmp_path, remote("whole"), theirs)
    child = context.Process(target=_report_of_a_download_without_permission, args=arguments)
    child.start()
    report = ours.recv() if ours.poll(20) else "no answer"
    child.join()
    assert "Permission denied" in report
    assert "set SKML_KALDA_DATA or data_home to a folder that can be written" in report
    assert str(tmp_path) in report


def test_a_file_in_the_way_of_the_folder_is_a_fetch_error(tmp_path, remote):
    (tmp_path / "taken").write_text("")
    with pytest.raises(FetchError, match="cannot write the file"):
        download([remote("whole")], tmp_path / "taken" / "r.arff")


def download_in_another_process(source, target):
    code = (
        "import sys; from pathlib import Path\n"
        "from skml_kalda.datasets.fetch import download\n"
        "from skml_kalda.datasets.manifest import Remote\n"
        f"download([Remote({source.url!r}, {SHA256!r}, {len(BODY)})], Path(sys.argv[1]))"
    )
    return subprocess.Popen([sys.executable, "-c", code, str(target)], stderr=subprocess.PIPE)


@pytest.mark.slow
def test_two_processes_fetch_at_once(tmp_path, remote, server):
    target = tmp_path / "r.arff"
    both = [download_in_another_process(remote("slow"), target) for _ in range(2)]
    assert [(one.communicate()[1], one.returncode) for one in both] == [(b"", 0)] * 2
    assert server.asked == ["/slow", "/slow"]
    assert sha256_of(target) == SHA256
    assert list(tmp_path.iterdir()) == [target]


@pytest.fixture
def small(server):
    """Make the data set flags come from the server."""
    manifest = read_manifest("flags")
    url = f"http://127.0.0.1:{server.server_port}/whole"
    return replace(manifest, sources=(Remote(url, SHA256, len(BODY)),))


def test_fetch_leaves_an_unharmed_file_alone(tmp_path, small, server):
    for _ in range(2):
        assert fetch_dataset(small, tmp_path) == tmp_path / "flags.arff"
    assert server.asked == ["/whole"]


def test_fetch_does_not_silently_replace_a_changed_file(tmp_path, small, server):
    (tmp_path / "flags.arff").write_text("mine")
    with pytest.raises(FetchError, match="wrong checksum"):
        fetch_dataset(small, tmp_path)
    assert (tmp_path / "flags.arff").read_text() == "mine"
    assert sha256_of(fetch_dataset(small, tmp_path, force=True)) == SHA256


def wait_for_a_part_in(folder):
    """Wait until a download has written the first bytes to its temporary file."""
    for _ in range(3000):
        parts = [path for path in folder.iterdir() if path.name.startswith(".")]
        if any(part.stat().st_size for part in parts):
            return parts
        time.sleep(0.02)
    raise AssertionError("no download has started")


@pytest.mark.slow
def test_fetch_removes_what_a_killed_download_left(tmp_path, small, remote, server):
    killed = download_in_another_process(remote("stalled"), tmp_path / "other.arff")
    wait_for_a_part_in(tmp_path)
    killed.kill()
    killed.communicate()
    (tmp_path / ".other.part").write_text("not ours")
    server.go_on.set()
    fetch_dataset(small, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".other.part", "flags.arff"}


@pytest.mark.slow
def test_fetch_keeps_the_part_of_a_download_that_still_runs(tmp_path, small, remote, server):
    running = download_in_another_process(remote("stalled"), tmp_path / "other.arff")
    parts = wait_for_a_part_in(tmp_path)
    fetch_dataset(small, tmp_path)
    fetch_dataset(small, tmp_path)
    assert all(part.exists() for part in parts)
    server.go_on.set()
    assert (running.communicate()[1], running.returncode) == (b"", 0)
    assert sha256_of(tmp_path / "other.arff") == SHA256
    assert {path.name for path in tmp_path.iterdir()} == {"other.arff", "flags.arff"}


def test_progress_is_shown_on_a_terminal_only(tmp_path, remote, capsys, monkeypatch):
    download([remote("whole")], tmp_path / "r.arff")
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    download([remote("whole")], tmp_path / "r.arff")
    assert re.search(r"\rr\.arff: 0\.5 of 0\.5 MB \(100%\)\n", capsys.readouterr().err)


def test_load_dataset_downloads_what_is_nowhere_else(tmp_path, server, monkeypatch):
    manifest = read_manifest("flags")
    target = np.zeros((194, 7), int)
    target.ravel()[:658] = 1
    save_arff(tmp_path / "made.arff", np.ones((194, 19)), target)
    server.made = (tmp_path / "made.arff").read_bytes()
    monkeypatch.setattr("skml_kalda.datasets.load.read_manifest", lambda name: manifest)
    url = f"http://127.0.0.1:{server.server_port}/made"
    remote = Remote(url, hashlib.sha256(server.made).hexdigest(), len(server.made))
    manifest = replace(manifest, labels=7, sources=(remote,))
    home = tmp_path / "home"
    with pytest.raises(FetchError, match=r"allow the download, or put flags\.arff"):
        load_dataset("flags", data_home=home, download=False)
    for _ in range(2):
        assert_array_equal(load_dataset("flags", data_home=home).target, target)
    assert server.asked == ["/made"]

"""Downloads, against a server on the loopback interface."""

import hashlib
import socket
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import FetchError, load_dataset, save_arff
from skml_kalda.datasets.load import fetch
from skml_kalda.datasets.manifest import Remote, read_manifest
from tests.datasets.loopback import serving

pytestmark = pytest.mark.filterwarnings("ignore:Retry downloading", "ignore:SHA256 checksum")


@pytest.fixture(autouse=True)
def no_delay(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def server(tmp_path):
    target = np.zeros((194, 7), int)
    target.ravel()[:658] = 1
    save_arff(tmp_path / "made.arff", np.ones((194, 19)), target)
    with serving((tmp_path / "made.arff").read_bytes()) as server:
        yield server


@pytest.fixture
def flags(server):
    """Make the dataset flags come from a page of the server."""
    sha256 = hashlib.sha256(server.body).hexdigest()

    def manifest(page):
        url = f"http://127.0.0.1:{server.server_port}/{page}"
        source = Remote(url, sha256, len(server.body))
        return replace(read_manifest("flags"), labels=7, sources=(source,))

    return manifest


@pytest.mark.parametrize(("page", "why"), [("nowhere", "HTTP Error 404"), ("cut", "got only 1000")])
def test_a_failed_download_names_the_address_and_leaves_nothing(tmp_path, flags, page, why):
    with pytest.raises(FetchError, match=f"/{page} failed, nothing was changed .*{why}"):
        fetch(flags(page), tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())


def test_a_wrong_checksum_names_file_found_and_expected(tmp_path, flags, server):
    manifest, server.body = flags("whole"), b"x" * 50
    with pytest.raises(FetchError) as caught:
        fetch(manifest, tmp_path / "home")
    for word in ("flags.arff", hashlib.sha256(b"x" * 50).hexdigest(), manifest.sources[0].sha256):
        assert word in str(caught.value)
    assert not list((tmp_path / "home").iterdir())


def test_a_changed_file_is_replaced_only_by_force(tmp_path, flags, server):
    path = tmp_path / "flags.arff"
    path.write_text("mine")
    with pytest.raises(FetchError, match=hashlib.sha256(b"mine").hexdigest()):
        fetch(flags("whole"), tmp_path)
    assert path.read_text() == "mine"
    for force in (True, False):
        assert fetch(flags("whole"), tmp_path, force=force).read_bytes() == server.body
    assert server.asked == ["/whole"]


def test_no_network_is_said_with_what_to_do(tmp_path, flags):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        source = replace(flags("whole").sources[0], url=url)
        with pytest.raises(FetchError, match=r"refused.*check the network"):
            fetch(replace(flags("whole"), sources=(source,)), tmp_path / "home")


def test_load_dataset_downloads_what_is_nowhere_else(tmp_path, flags, server, monkeypatch):
    monkeypatch.setattr("skml_kalda.datasets.load.read_manifest", lambda name: flags("whole"))
    home = tmp_path / "new" / "home"
    with pytest.raises(FetchError, match=r"run python -m .* fetch flags, or put flags\.arff"):
        load_dataset("flags", data_home=home, download=False)
    for _ in range(2):
        assert_array_equal(load_dataset("flags", data_home=home).data, np.ones((194, 19)))
    assert server.asked == ["/whole"]
    assert list(home.iterdir()) == [home / "flags.arff"]

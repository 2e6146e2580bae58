"""Files are replaced in one step, and leftovers are told from files in use."""

import os
import stat
import threading

import pytest

from skml_kalda.datasets import files
from skml_kalda.datasets.files import remove_leftovers, replacing


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), replacing(path) as stream:
        stream.writelines([b"new", None])
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_has_the_permissions_of_a_new_file(tmp_path):
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "replaced") as stream:
        stream.write(b"x")
    modes = {stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ("plain", "replaced")}
    assert len(modes) == 1


def test_a_file_being_written_is_no_leftover(tmp_path):
    with replacing(tmp_path / "a") as stream:
        stream.write(b"whole")
        remove_leftovers(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"whole"


@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove an open file")
def test_a_file_removed_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    original, calls = files.lock, []

    def late(stream):
        calls.append(stream.name)
        if len(calls) == 1:
            os.unlink(stream.name)
        if len(calls) == 2:
            raise BlockingIOError
        original(stream)

    monkeypatch.setattr(files, "lock", late)
    with replacing(tmp_path / "a") as stream:
        stream.write(b"whole")
    assert len(calls) == 3
    assert (tmp_path / "a").read_bytes() == b"whole"


def test_a_file_system_without_locks_still_takes_files(tmp_path, monkeypatch):
    def refuse(stream):
        raise OSError("no locks available")

    monkeypatch.setattr(files, "lock", refuse)
    with replacing(tmp_path / "a") as stream:
        stream.write(b"whole")
        remove_leftovers(tmp_path)
    assert (tmp_path / "a").read_bytes() == b"whole"


@pytest.mark.skipif(os.name == "nt", reason="on Windows closing and renaming are two steps")
def test_writers_and_cleaners_at_the_same_time_lose_nothing(tmp_path):
    stop = threading.Event()

    def clean():
        while not stop.is_set():
            remove_leftovers(tmp_path)

    cleaners = [threading.Thread(target=clean) for _ in range(3)]
    for thread in cleaners:
        thread.start()
    try:
        for i in range(300):
            with replacing(tmp_path / str(i)) as stream:
                stream.write(b"whole")
    finally:
        stop.set()
        for thread in cleaners:
            thread.join()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {str(i) for i in range(300)}

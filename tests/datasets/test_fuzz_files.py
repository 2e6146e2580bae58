"""The fuzzing script starts from sound files, runs, and notices every kind of failure."""

import pickle
import sys

import pytest

from benchmarks import fuzz_files
from skml_kalda.datasets import load_table


@pytest.mark.filterwarnings("ignore")
def test_most_files_are_sound_before_the_damage(monkeypatch):
    monkeypatch.setattr(fuzz_files, "damage", lambda content, draw: content)
    counts, failures = fuzz_files.fuzz(0, range(300))
    assert failures == []
    for reader in fuzz_files.READERS:
        read = counts[reader, "read"]
        assert read > 0.2 * sum(n for (name, _), n in counts.items() if name == reader)


def test_damaged_files_end_in_documented_errors():
    counts, failures = fuzz_files.fuzz(0, range(600))
    assert failures == []
    assert sum(counts.values()) == 600
    assert 60 < sum(n for (_, words), n in counts.items() if words == "read") < 400


def unpickle(path, options):
    pickle.loads(pickle.dumps(fuzz_files.Pickled()))


def use_much(path, options):
    assert len(bytearray(600_000_000)) > 0


def blame_another(path, options):
    raise ValueError("something is wrong")


def import_it(path, options):
    __import__(fuzz_files.EVIL)


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
@pytest.mark.parametrize("reader", [unpickle, use_much, blame_another, import_it, load_table])
def test_it_notices(reader, monkeypatch):
    monkeypatch.setattr(fuzz_files, "READERS", {"plan": (reader, ValueError)})
    _, failures = fuzz_files.fuzz(0, range(2))
    assert len(failures) >= 1

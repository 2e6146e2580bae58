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


FAULTY = {
    "an object is loaded": lambda *_: pickle.loads(pickle.dumps(fuzz_files.Pickled())),
    "much memory": lambda *_: len(bytearray(int(fuzz_files.megabytes() + 600) * 2**20)),
    "an error without the file": lambda *_: int("one"),
    "an import": lambda *_: __import__(fuzz_files.EVIL),
    "another error": load_table,
}


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
@pytest.mark.parametrize("fault", FAULTY)
def test_it_notices(fault, monkeypatch):
    monkeypatch.setattr(fuzz_files, "READERS", {"plan": (FAULTY[fault], ValueError)})
    _, failures = fuzz_files.fuzz(0, range(2))
    assert len(failures) >= 1

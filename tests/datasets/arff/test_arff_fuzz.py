"""The fuzzing script runs, starts from sound files of every dialect, and notices a failure."""

import pytest

from benchmarks import fuzz_arff
from benchmarks.fuzz_seeds import ARFF, MULAN, XML
from skml_kalda.datasets.arff import read


@pytest.fixture(autouse=True)
def usual_blocks(monkeypatch):
    """Restore the size of blocks, which the script changes."""
    monkeypatch.setattr(read, "_BLOCK", read._BLOCK)


def sound(dialect, suffix="", xml=None):
    packed = fuzz_arff.PACKERS[suffix](ARFF[dialect])
    options = {"ignore": fuzz_arff.IGNORE.get(dialect, [])}
    return fuzz_arff.Input(packed, suffix, xml, options, block=16)


@pytest.mark.filterwarnings("ignore:.*is left out")
@pytest.mark.parametrize("suffix", fuzz_arff.PACKERS)
def test_every_dialect_is_sound(tmp_path, suffix):
    for dialect in ARFF:
        given = sound(dialect, suffix, XML[0] if dialect == MULAN else None)
        assert fuzz_arff.check(given, tmp_path).endswith("loaded"), dialect


def test_damaged_files_end_in_an_arff_error():
    counts, failures, _ = fuzz_arff.fuzz(0, range(300))
    assert failures == []
    assert counts.total() == 300
    assert 0 < counts["loaded"] < 150

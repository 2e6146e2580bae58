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


def test_every_label_xml_is_sound(tmp_path):
    for xml in XML:
        assert fuzz_arff.check(sound(MULAN, xml=xml), tmp_path) == "XML: loaded"


def test_an_input_depends_on_seed_and_number_alone():
    assert fuzz_arff.make(3, 5) == fuzz_arff.make(3, 5)
    assert len({fuzz_arff.make(3, number).arff for number in range(20)}) > 10


def test_damaged_files_end_in_an_arff_error():
    counts, failures, _ = fuzz_arff.fuzz(0, range(300))
    assert failures == []
    assert counts.total() == 300
    assert 0 < counts["loaded"] < 150


def test_any_other_exception_is_a_failure(monkeypatch):
    def broken(path, **options):
        raise KeyError("broken")

    monkeypatch.setattr(fuzz_arff, "load_arff", broken)
    counts, failures, _ = fuzz_arff.fuzz(0, range(3))
    assert counts.total() == 0
    assert [failure["input"] for failure in failures] == [0, 1, 2]
    assert "KeyError: 'broken'" in failures[0]["traceback"]


def test_readers_that_disagree_are_a_failure(monkeypatch):
    original = fuzz_arff.row_by_row
    monkeypatch.setattr(
        fuzz_arff, "row_by_row", lambda path, **options: original(path, **options)[::-1]
    )
    _, failures, _ = fuzz_arff.fuzz(0, range(60))
    assert failures

"""The command line, with good and with wrong input."""

import subprocess
import sys

import pytest
from numpy.testing import assert_array_equal

from skml_kalda.datasets import list_datasets, load_arff, save_arff
from skml_kalda.datasets.__main__ import main
from skml_kalda.datasets.home import BUNDLED


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKML_KALDA_DATA", str(tmp_path / "home"))
    return tmp_path / "home"


def test_list_names_every_data_set(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list_datasets()
    states = {line.split()[0]: line.split(maxsplit=7)[-1] for line in lines}
    assert states["emotions"].endswith("emotions.arff.xz")
    assert states["bibtex"].endswith("to fetch")
    assert states["msrc-mom"].endswith("to build")
    assert states["barcelona"].endswith("absent")


def test_show_prints_the_card(capsys):
    assert main(["show", "scene"]) == 0
    card = capsys.readouterr().out
    assert "n = 2407, p = 294, K = 6" in card
    assert "Boutell" in card


def test_convert_packs_and_keeps_the_arrays(tmp_path):
    out = tmp_path / "out.arff.gz"
    assert main(["convert", str(BUNDLED / "emotions.arff.xz"), str(out)]) == 0
    emotions, found = load_arff(BUNDLED / "emotions.arff.xz"), load_arff(out)
    assert_array_equal(found.data, emotions.data, strict=True)
    assert_array_equal(found.target, emotions.target, strict=True)
    assert found.target_names == emotions.target_names


def test_convert_takes_the_number_of_labels(tmp_path):
    save_arff(tmp_path / "in.arff", [[1.0, 0.0]], [[1]], relation="r")
    out = tmp_path / "out.arff"
    arguments = ["convert", str(tmp_path / "in.arff"), str(out), "--dialect", "mulan"]
    assert main([*arguments, "--labels=1"]) == 0
    assert load_arff(out).target_names == ["y0"]
    assert out.with_suffix(".xml").exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show", "emotion"], "did you mean 'emotions'?"),
        (["fetch", "barcelona"], "the data set 'barcelona' is not here"),
        (["fetch", "emotions", "nonsense"], "'nonsense' is not a data set"),
        (["convert", "nowhere.arff", "out.arff"], "No such file or directory: 'nowhere.arff'"),
        (["build", "msrc", "nowhere"], "no ground truth (*_GT.bmp) in this folder"),
    ],
)
def test_wrong_input_is_one_line_and_status_1(capsys, arguments, reason):
    assert main(arguments) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert reason in captured.err


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["build", "pie", "x"], ["fetch"]])
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: python -m skml_kalda.datasets" in capsys.readouterr().err


def test_it_runs_as_a_module():
    command = [sys.executable, "-m", "skml_kalda.datasets", "show", "emotions"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("emotions: ")

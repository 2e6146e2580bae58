"""The command line, with good and with wrong input."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from skml_kalda.datasets import list_datasets, load_arff, save_arff
from skml_kalda.datasets.__main__ import main
from skml_kalda.datasets.manifest import BUNDLED


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKML_KALDA_DATA", str(tmp_path / "home"))


def test_list_names_every_data_set(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list_datasets()
    states = {line.split()[0]: line.split(maxsplit=7)[-1] for line in lines}
    assert states["emotions"].endswith("emotions.arff.xz")
    assert states["bibtex"].startswith("absent: run python -m skml_kalda.datasets fetch bibtex")
    assert states["msrc-mom"].startswith("absent: run python -m skml_kalda.datasets build msrc")
    assert "absent: put barcelona.arff into" in states["barcelona"]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_convert_takes_the_number_of_labels_and_writes_csv_or_arff(tmp_path, suffix):
    data = csr_matrix([[0.0, np.nan], [0.1, 0.0], [1 / 3, 3.0]])
    names = {"feature_names": ['a "b", é', "c\nd"], "target_names": ["x", "y"]}
    save_arff(tmp_path / "in.arff", data, [[1, 0], [0, 1], [1, 1]], **names)
    out, command = tmp_path / f"out.csv{suffix}", ["convert", str(tmp_path / "in.arff")]
    assert main([*command, str(out), "--labels=2"]) == 0
    found = pd.read_csv(out)
    assert list(found.columns) == ['a "b", é', "c\nd", "x", "y"]
    assert_array_equal(found, [[0, np.nan, 1, 0], [0.1, 0, 0, 1], [1 / 3, 3, 1, 1]])
    out = tmp_path / f"out.arff{suffix}"
    assert main([*command, str(out), "--labels=1", "--dialect", "mulan"]) == 0
    assert load_arff(out).target_names == ["x"]
    assert {path.name for path in tmp_path.iterdir()} >= {"out.xml", out.name}


@pytest.mark.parametrize("name", ["out.xlsx", "out.gz", "out", "out.csv.zip"])
def test_convert_refuses_a_kind_of_file_that_it_does_not_write(tmp_path, capsys, name):
    out = tmp_path / name
    assert main(["convert", str(BUNDLED / "emotions.arff.xz"), str(out)]) == 1
    assert "OUT must end in .arff or .csv, with .gz, .bz2 or .xz" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["show", "emotion"], "did you mean 'emotions'?"),
        (["fetch", "barcelona"], "the dataset 'barcelona' is not here"),
        (["fetch", "emotions", "nonsense"], "'nonsense' is not a dataset"),
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
    assert "n = 593, p = 72, K = 6" in done.stdout

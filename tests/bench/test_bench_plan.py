"""Plans: wrong settings are named with what is allowed, and a name is never a path."""

import re
import shutil
from pathlib import Path

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.running.runner import default_output
from skml_kalda.datasets import load_dataset


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('folds = "5"', "'folds' parameter of Plan must be an int in the range [2, inf)"),
        ("seed = -1", "'seed' parameter of Plan must be an int in the range [0, inf). Got -1"),
        ('standardize = "yes"', "'standardize' parameter of Plan must be an instance of 'bool'"),
        ('datasets = "emotions"', "'datasets' parameter of Plan must be an instance of 'list'"),
        ("datasets = [3]", "'datasets[0]' parameter of Plan must be an instance of 'str'"),
        ("methods = [{}]", "'methods[0]' parameter of Plan must be an instance of 'str'"),
        ("repeats = 2000000000", "210000000000 cells, more than 200000: lower repeats or folds"),
        (f"folds = {'[' * 5000}", "is not a TOML file: maximum recursion depth exceeded"),
        (f"methods = ['A{{{'[' * 5000}']", "parameters must be JSON"),
        ("dimensions = [[]]", "'dimensions[0]' parameter of Plan must be an int"),
        ('methods = ["PCA", "PCA"]', "methods names something twice: ['PCA', 'PCA']"),
        ('classifiers = ["MLkNN", "10-MLkNN"]', "classifiers names something twice"),
        ("dimensions = [2, 0]", "'dimensions[1]' parameter of Plan must be an int in the range"),
        ('kind = "score"', "'kind' parameter of Plan must be a str among"),
        ("parameters.PCA = 3", "'parameters.PCA' parameter of Plan must be an instance of 'dict'"),
        ("parameters.kalda.tol = 1", "'kalda' is not a known method; did you mean 'kaLDA'?"),
        ("parameters.PCA.estimator = 3", "'3' is not a known method"),
        ('max_rows.emotions = "all"', "'max_rows.emotions' parameter of Plan must be an int"),
        ("data.mine = 3", "data.mine must be a table with a file, not 3"),
        ('data.mine = {file = "a.csv", label = 3}', "not a known option of data.mine; did you"),
        ('data.yeast.file = "a.csv"', "data.yeast: a dataset of the package has this name"),
        ("fold = 3", "'fold' is not a known setting of a plan; did you mean 'folds'?"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(line, message, tmp_path, capsys):
    path = tmp_path / "wrong.toml"
    path.write_text(line + "\n")
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 2
    (shown,) = capsys.readouterr().err.splitlines()
    assert shown.startswith("error: ")
    assert message in shown
    assert not (tmp_path / "out").exists()


def test_max_labels_keeps_the_most_frequent(tmp_path):
    rows = run(
        Plan("a", "A", datasets=("yeast",), methods=("none",), folds=2, max_labels=3), tmp_path
    )
    counts = load_dataset("yeast", as_frame=True).target.sum().nlargest(3)
    assert {frozenset(row["label_f1"]) for row in rows.ok} == {frozenset(counts.index)}


def test_a_name_is_never_a_path_and_no_two_share_a_folder():
    kept = ["quick", "a-b", "é", "my_plan.v2"]
    paths = ["../../outside", "/outside", "a/../../outside", "..", ".", "...", "C:\\outside"]
    others = ["a/b", "a b", "x" * 300, *paths]
    folders = [default_output(Plan(name, "A")) for name in (*kept, *others)]
    assert {folder.parent for folder in folders} == {Path("bench-results")}
    names = [folder.name for folder in folders]
    assert len(set(names)) == len(names)
    assert names[: len(kept)] == kept, "a name that is a good file name stays"
    for name in names:
        assert re.fullmatch(r"[\w.-]*[\w-][\w.-]*", name)
        assert len(name) <= 100


def test_a_header_with_a_wrong_plan_is_named_by_its_line(tiny_run, tmp_path):
    path = Path(shutil.copy(tiny_run / "results.jsonl", tmp_path))
    text = path.read_text("utf-8")
    path.write_text(text.replace('"folds": 2, "repeats"', '"folds": 0, "repeats"'))
    with pytest.raises(ValueError, match=r"results\.jsonl, line 1: The 'folds' parameter"):
        read_results(tmp_path)

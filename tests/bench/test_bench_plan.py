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
        ("folds = ", "is not a TOML file"),
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


def test_lists_are_as_good_as_tuples():
    plan = Plan("a", "A", datasets=["emotions"], methods=["PCA"], dimensions=[1])
    assert plan == Plan("a", "A", datasets=("emotions",), methods=("PCA",), dimensions=(1,))
    assert len(plan.cells()) == 5


def test_max_labels_keeps_the_most_frequent(tmp_path):
    rows = run(
        Plan("a", "A", datasets=("yeast",), methods=("none",), folds=2, max_labels=3), tmp_path
    )
    counts = load_dataset("yeast", as_frame=True).target.sum().nlargest(3)
    assert {frozenset(row["label_f1"]) for row in rows.ok} == {frozenset(counts.index)}


OUTSIDE = ["../../outside", "/outside", "a/../../outside", "..", ".", "C:\\outside", "x" * 300]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_is_never_a_path(name):
    plan = Plan(name, "A")
    assert default_output(plan).parent == Path("bench-results")
    assert re.fullmatch(r"[\w.-]*[\w-][\w.-]*", plan.slug), "the files of figures begin with it"
    assert len(plan.slug) <= 100


def test_names_of_plans_that_differ_have_folders_that_differ():
    names = ["quick", "a/b", "a-b", "a b", "..", "...", "é", "my_plan.v2"]
    folders = [default_output(Plan(name, "A")).name for name in names]
    assert len(set(folders)) == len(names)
    kept = {"quick", "a-b", "é", "my_plan.v2"}
    assert kept <= set(folders), "a name that is a good file name stays"


def test_two_runs_of_one_plan_are_on_one_page_with_their_figures_apart(tiny_run, tmp_path):
    assert main(["report", *2 * [str(tiny_run)], "--output", str(tmp_path / "both")]) == 0
    page = (tmp_path / "both" / "report.html").read_text("utf-8")
    assert page.count("<h2") == 2
    assert page.count("</html>") == 1
    figures = sorted(path.name for path in (tmp_path / "both" / "figures").iterdir())
    names = ["tiny-2-cost.svg", "tiny-2-scores.svg", "tiny-cost.svg", "tiny-scores.svg"]
    assert figures == names
    assert page.count('id="tiny"') == page.count('id="tiny-2"') == 1


def test_a_header_with_a_wrong_plan_is_named_by_its_line(tiny_run, tmp_path):
    path = Path(shutil.copy(tiny_run / "results.jsonl", tmp_path))
    path.write_text(
        path.read_text("utf-8").replace('"folds": 2, "repeats"', '"folds": 0, "repeats"')
    )
    with pytest.raises(ValueError, match=r"results\.jsonl, line 1: The 'folds' parameter"):
        read_results(tmp_path)

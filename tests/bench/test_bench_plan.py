"""Plans: wrong settings are named with what is allowed, and a name is never a path."""

import re
import shutil
from pathlib import Path

import pytest

from skml_kalda.bench import read_results
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import Plan
from skml_kalda.bench.running.runner import default_output


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('folds = "5"', "folds must be a whole number of at least 2, not '5'"),
        ("seed = -1", "seed must be a whole number from 0 to 2147483647, not -1"),
        ("seed = 1979-05-27", "seed must be a whole number from 0 to 2147483647"),
        ('standardize = "yes"', "standardize must be true or false, not 'yes'"),
        ('datasets = "emotions"', "datasets must be a list of different names, at least one"),
        ("datasets = [3]", "datasets must be a list of different names, at least one, not [3]"),
        ('methods = ["PCA", "PCA"]', "methods must be a list of different names"),
        ('classifiers = ["MLkNN", "10-MLkNN"]', "classifiers must be a list of different names"),
        ("dimensions = 3", "dimensions must be a list of different whole numbers of at least 1"),
        ("title = 3", "title must be a text, not 3"),
        ('name = " "', "name must be a text, not ' '"),
        ("about = ['a']", "about must be a text, not ['a']"),
        ('kind = "score"', "did you mean 'scores'?"),
        ("classes = -1", "classes must be a whole number of at least 0, not -1"),
        ("parameters.PCA = 3", "parameters must be a table with a table of parameters"),
        ("parameters.kalda.tol = 1", "'kalda' is not a known method; did you mean 'kaLDA'?"),
        ("parameters.PCA.estimator = 3", "'3' is not a known method"),
        ('max_rows.emotions = "all"', "max_rows must be a table with a whole number"),
        ("tune = []", "tune must be a table, not []"),
        ("timeout = '1 h'", "timeout must be a number of seconds, 0 for no limit, not '1 h'"),
        ("timeout = true", "timeout must be a number of seconds, 0 for no limit, not True"),
        ("folds = ", "is not a TOML file"),
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
    with pytest.raises(ValueError, match=r"results\.jsonl, line 1: folds must be a whole number"):
        read_results(tmp_path)

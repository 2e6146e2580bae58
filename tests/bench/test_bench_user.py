"""The user's own data and methods, from the command line and from a plan."""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import make_multilabel_classification
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import StandardScaler

from skml_kalda.bench import figure, read_results, report, run, table
from skml_kalda.bench.cli import main
from skml_kalda.bench.methods import make_estimator
from skml_kalda.bench.plan import Plan, describe_files, plan_of_files
from skml_kalda.bench.running import runner
from skml_kalda.cli import main as command

OWN = """
from sklearn.decomposition import PCA
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

ready = make_pipeline(MinMaxScaler(), PCA(2))
classifier = make_pipeline(MinMaxScaler(), GaussianNB())


class Mine(PCA):
    pass


class NeedsMore(PCA):
    def __init__(self, size):
        self.size = size


number = 3
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table and a module of the user, as the current one."""
    X, Y = make_multilabel_classification(60, 6, n_classes=4, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(6)])
    frame["size"] = np.where(X[:, 0] > 3, "big", "small")
    frame.iloc[5, 1] = np.nan
    frame[[f"label_{i}" for i in range(4)]] = Y
    frame.to_csv(tmp_path / "mine.csv", index=False)
    (tmp_path / "own_methods.py").write_text(OWN)
    (tmp_path / "failing.py").write_text("1 / 0")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("own_methods", None)


def bench(*arguments):
    return command(["bench", *arguments, "--jobs", "1", "--folds", "2"])


OPTIONS = ["--data", "mine.csv", "--labels", "label_*"]


def test_the_command_compares_methods_on_a_table(here, capsys):
    methods = ["none", "kaLDA", "KernelKaLDA", "KaLDAClassifier", "LogisticRegression"]
    assert bench(*OPTIONS, "--methods", *methods) == 0
    shown = capsys.readouterr().out
    counts = pd.read_csv("mine.csv").filter(like="label_").sum()
    imbalance = (counts.max() / counts).mean()
    for text in (
        "Which method is best on mine.csv? 10 cells",
        "mine.csv: 60 samples, 7 features, 4 labels",
        f"MeanIR {imbalance:.1f})",
        "column 'size' holds words: one-hot encoded in 1 column",
        "1 of 420 values are missing",
        "[10/10]",
    ):
        assert text in shown
    folder = here / "bench-results" / "mine.csv"
    assert shown.rstrip().splitlines()[-1].startswith("report: bench-results/mine.csv/report.html")
    results = read_results(folder)
    assert len(results.ok) == 10
    assert results.data["mine.csv"]["features"] == 7
    page = (folder / "report.html").read_text("utf-8")
    assert "<title>Which method is best on mine.csv?" in page
    assert "the paper" not in page


def test_scores_on_a_table_are_those_of_a_plain_loop(here):
    plan = Plan("two", "Two", methods=("LogisticRegression",), folds=3)
    results = run(plan, data="mine.csv", labels=-4)
    assert results.folder == Path("bench-results", "two-mine.csv")
    frame = pd.read_csv("mine.csv")
    X = frame.iloc[:, :7].assign(size=frame["size"] == "small").to_numpy(float)
    Y = frame.iloc[:, 7:].to_numpy()
    folds = KFold(3, shuffle=True, random_state=0).split(X)
    for row, (train, test) in zip(results.ok, folds, strict=True):
        imputer = SimpleImputer().fit(X[train])
        scaler = StandardScaler().fit(imputer.transform(X[train]))
        A, B = (scaler.transform(imputer.transform(X[part])) for part in (train, test))
        logistic = MultiOutputClassifier(LogisticRegression(max_iter=1000))
        predicted = logistic.fit(A, Y[train]).predict(B)
        micro, by_label = (metrics.f1_score(Y[test], predicted, average=a) for a in ("micro", None))
        assert row["scores"]["micro_f1"] == pytest.approx(micro, abs=1e-12)
        assert list(row["label_f1"]) == list(frame.columns[7:])
        assert list(row["label_f1"].values()) == pytest.approx(by_label, abs=1e-4)


def test_one_call_is_the_command_without_options(here):
    results = run(data="mine.csv", labels="label_*")
    assert results.plan == plan_of_files(describe_files(["mine.csv"], "label_*")).with_methods()
    assert (len(results.ok), results.folder) == (35, Path("bench-results", "mine.csv"))
    with pytest.raises(ValueError, match="labels are for a file: name it with data"):
        run(labels="label_*")


@pytest.mark.usefixtures("no_report")
def test_a_changed_file_or_other_labels_are_measured_again(here):
    arguments = ["--data", "mine.csv", "--methods", "none", "--output", "out"]
    text = Path("mine.csv").read_text()
    other = text + text.splitlines()[-1] + "\n"
    for content, labels, measured in (
        (text, "label_*", 2), (text, "label_*", 2), (text, "-4", 4), (other, "-4", 6),
    ):  # fmt: skip
        Path("mine.csv").write_text(content)
        assert bench(*arguments, "--labels", labels) == 0
        assert len(read_results("out").ok) == 2
        assert Path("out/results.jsonl").read_text().count('"status": "ok"') == measured


@pytest.mark.usefixtures("no_report")
def test_an_interrupted_run_of_a_changed_file_keeps_no_rows_of_the_old_one(here, monkeypatch):
    arguments = [*OPTIONS, "--methods", "none", "kaLDA", "--output", "out"]
    assert bench(*arguments) == 0
    old = {row["sha256"] for row in read_results("out").ok}
    frame = pd.read_csv("mine.csv")
    frame.assign(x0=-frame["x0"]).to_csv("mine.csv", index=False)
    measured = runner.measure

    def interrupted(cell, *others):
        if cell.method == "kaLDA":
            raise KeyboardInterrupt
        return measured(cell, *others)

    monkeypatch.setattr(runner, "measure", interrupted)
    assert bench(*arguments) == 130
    results = read_results("out")
    assert (len(results.ok), results.missing) == (2, 2)
    assert old.isdisjoint(row["sha256"] for row in results.ok)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run", "quik"], "'quik' is not a known plan; did you mean 'quick'?"),
        (["--datasets", "emotion"], "did you mean 'emotions'?"),
        (["--methods", "kalda"], "'kalda' is not a known method; did you mean 'kaLDA'?"),
        (["--classifiers", "1NN"], "did you mean '1-NN'?"),
        (["--classifiers", "0-NN"], "k must be at least 1"),
        (["--folds", "1"], "'folds' parameter of Plan must be an int in the range [2, inf)"),
        (["run", "gallery", "--dimensions", "1"], "in the range [2, inf). Got 1"),
        (["--jobs", "0"], "jobs must be at least 1, not 0"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["report", "nowhere"], "nowhere"),
        (["--data", "nowhere.csv", "--labels", "3"], "there is no file nowhere.csv"),
        (["--data", ".", "--labels", "3"], ". is a folder: name the files in it"),
        (["--data", "mine.csv"], "mine.csv: which columns are labels?"),
        (["--data", "mine.csv", "--labels", "lable_*"], "mine.csv: no column matches 'lable_*'"),
        (["--labels", "3"], "--labels and --ignore are for a file"),
        (["--data", "mine.csv", "a/mine.csv", "--labels", "3"], "two files have the same name"),
        (["--data", "mine.csv", "--labels", "z"], "is called 'z'"),
        ([*OPTIONS, "--output", "mine.csv"], "mine.csv is a file: choose another folder"),
        ([*OPTIONS, "--methods", "no_such:Thing"], "No module named 'no_such'"),
        ([*OPTIONS, "--methods", "own_methods:Thing"], "has no attribute 'Thing'"),
        ([*OPTIONS, "--methods", "own_methods:number"], "'own_methods:number' is not an estimator"),
        ([*OPTIONS, "--methods", "own_methods:NeedsMore"], "that can be made without arguments"),
        ([*OPTIONS, "--methods", "failing:Thing"], "ZeroDivisionError: division by zero"),
        ([*OPTIONS, "--methods", 'OPLS{"ridge": 1'], "parameters must be JSON, as in 'OPLS{"),
        ([*OPTIONS, "--methods", 'OPLS{"rigde": 1}'], "Invalid parameter 'rigde'"),
        ([*OPTIONS, "--methods", 'OPLS{"ridge": -1}'], "'ridge' parameter of OPLS must be"),
        ([*OPTIONS, "--methods", 'KernelOPLS{"reducer__ridge": -1}'], "parameter of OPLS must be"),
        ([*OPTIONS, "--methods", 'OLPS{"ridge": 1}'], "did you mean 'OPLS'?"),
    ],
)
def test_what_is_wrong_is_one_error_before_anything_is_written(here, arguments, reason, capsys):
    assert command(["bench", *arguments]) == 2
    (message,) = capsys.readouterr().err.splitlines()[:1]
    assert message.startswith("error: ")
    assert reason in message
    assert not Path("bench-results").exists()


def test_methods_of_the_user_by_module_and_name(here):
    methods = (
        "own_methods:Mine", "own_methods:ready", "own_methods:classifier", 'OPLS{"ridge": 1}',
        "sklearn.tree:DecisionTreeClassifier",
    )  # fmt: skip
    plan = plan_of_files(describe_files(["mine.csv"], "label_*")).changed(methods=methods, folds=2)
    results = run(plan, here / "out")
    assert results.failed == []
    found = {row["method"]: (row["classifier"], row["n_components"]) for row in results.ok}
    assert found == {
        "own_methods:Mine": ("MLkNN", 3),
        "own_methods:ready": ("MLkNN", 2),
        "own_methods:classifier": ("itself", 7),
        'OPLS{"ridge": 1}': ("MLkNN", 3),
        "sklearn.tree:DecisionTreeClassifier": ("itself", 7),
    }
    assert make_estimator('OPLS{"ridge": 1}', plan.parameters['OPLS{"ridge": 1}'], 3, 0).ridge == 1


TRAP = """
from pathlib import Path
from sklearn.decomposition import PCA

Path("imported").write_text("this module ran")


class Thing(PCA):
    def __init__(self, n_components=None):
        Path("made").write_text("an estimator was made")
        super().__init__(n_components)
"""
NAMES = ["trap:Thing", 'trap:Thing{"n_components": 2}', "ours"]


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Results of someone else, in a folder with a module that they name."""
    home = tmp_path / "theirs"
    home.mkdir()
    monkeypatch.chdir(home)
    monkeypatch.syspath_prepend(str(home))
    plan = Plan("a", "A", datasets=("emotions",), methods=("PCA",), folds=2)
    path = run(plan, "out").folder / "results.jsonl"
    header, *rows = map(json.loads, path.read_text().splitlines())
    ours = {"estimator": "trap:Thing"}
    grid = {"folds": 2, "score": "macro_f1", "neighbors": [1], "grid": {"trap:Thing": {"tol": [1]}}}
    header["plan"] |= {"methods": ["PCA", *NAMES], "parameters": {"ours": ours}}
    tuned = {**header, "plan": {**header["plan"], "classifiers": ["k-NN"], "tune": grid}}
    named = [{**row, "method": name} for name in NAMES[:2] for row in rows]
    named += [{**row, "method": "ours", "parameters": ours} for row in rows]
    lines = [tuned, header, *rows, *named]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    (home / "trap.py").write_text(TRAP)
    yield home
    sys.modules.pop("trap", None)


def test_reading_results_imports_and_makes_nothing_that_they_name(theirs, capsys):
    assert main(["list", "."]) == 0
    assert "out: " in capsys.readouterr().out
    assert main(["report", "out"]) == 0
    assert main(["compare", "out", "out"]) == 0
    results = read_results("out")
    assert {row["method"] for row in results.ok} >= {"PCA", "trap:Thing", "ours"}
    table(results)
    figure(results)
    report(results)
    assert {path.name for path in theirs.iterdir()}.isdisjoint({"imported", "made"})
    assert "trap" not in sys.modules
    # The user may name the same method.
    plan = Plan("b", "B", datasets=("emotions",), methods=("trap:Thing",), folds=2)
    assert len(run(plan, "new").ok) == 2
    assert (theirs / "imported").exists()

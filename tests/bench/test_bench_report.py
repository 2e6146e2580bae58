"""Tables, ranks, figures and the report, from results only."""

import re
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt
from sklearn.base import BaseEstimator, TransformerMixin

from skml_kalda.bench import figure, report, run, table
from skml_kalda.bench.cli import main
from skml_kalda.bench.plan import Plan, read_plan
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import PUBLISHED, agreement, published
from skml_kalda.datasets import load_dataset


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plan = read_plan("quick").changed(
        datasets=("emotions", "yeast"), methods=("MDDM", "kaLDA", "MLDA"), folds=2
    )
    return run(plan, tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def page(results, tmp_path_factory):
    """The report of the run, twice."""
    folder = tmp_path_factory.mktemp("page")
    assert main(["report", *2 * [str(results.folder)], "--output", str(folder)]) == 0
    return folder / "report.html"


def test_the_published_numbers_are_all_there_under_standard_names():
    assert len(published()) == 6 * 5 * 3 + 8 * 7
    assert published()["yeast", "MLDA", "1-NN", "macro_f1"] == 0.4213
    assert published()["pie", "OCM", "3-NN", "accuracy"] == 0.6515
    names = pd.read_csv(PUBLISHED / "multilabel.csv").groupby("score")["name_in_paper"]
    assert names.unique().map(list).to_dict() == {
        "accuracy": ["macro accuracy"],
        "macro_f1": ["micro F1"],
        "micro_f1": ["macro F1"],
    }


def test_the_table_is_the_mean_over_folds_beside_the_paper(results):
    found = table(results, "micro_f1").set_index(["dataset", "classifier", "method"])
    key = ("yeast", "1-NN", "MLDA")
    folds = results.frame().set_index(["dataset", "classifier", "method"])["micro_f1"].loc[[key]]
    expected = [folds.mean(), folds.std(), 0.5693, folds.mean() - 0.5693]
    assert found.loc[key, ["mean", "sd", "paper", "difference"]].tolist() == pytest.approx(expected)
    assert np.isnan(found.loc[("yeast", "MLkNN", "MLDA"), "paper"])


def grid(markdown, part):
    """The first table of a part of the report, by name of row and column."""
    section = markdown.partition(f"### {part}\n")[2]
    lines = [line for line in section.partition("\n### ")[0].splitlines() if line.startswith("|")]
    header, _, *rows = (line.strip("| ").split(" | ") for line in lines)
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in rows}


def test_one_table_has_every_method_and_measure(results, page):
    """The means over folds and datasets by pandas; the best is bold and comes first."""
    found = grid(page.with_name("report.md").read_text("utf-8"), "Scores")
    keys = ["dataset", "method", "classifier"]
    means = results.frame().groupby(keys).mean(numeric_only=True)
    means = means.groupby(["method", "classifier"]).mean()
    titles = {"macro_f1": "macro F1", "ranking_loss": "ranking loss", "accuracy": "accuracy"}
    for score, title in titles.items():
        best = means[score].min() if score == "ranking_loss" else means[score].max()
        for (method, classifier), value in means[score].items():
            mark = "**" if value == best else ""
            assert found[f"{method} + {classifier}"][title] == f"{mark}{value:.4f}{mark}"
    assert next(iter(found)) == " + ".join(means["accuracy"].idxmax())
    of_yeast = page.with_name("report.md").read_text("utf-8").partition("\nyeast: mean and")[2]
    row = table(results, "accuracy").query(
        "dataset == 'yeast' and method == 'MLDA' and classifier == '1-NN'"
    )
    mean, sd, paper = row[["mean", "sd", "paper"]].to_numpy()[0]
    assert f"{mean:.4f}<br>± {sd:.3f}, paper {paper:.4f} |" in of_yeast


def test_tuned_measures_lead(tmp_path):
    plan = Plan("a", "A", datasets=("emotions",), methods=("PCA", "MLDA"), folds=2, thresholds=2)
    results = run(plan, tmp_path)
    text = report(results).with_name("report.md").read_text("utf-8")
    titles = list(next(iter(grid(text, "Scores").values())))
    assert titles[:2] == ["macro F1, tuned", "micro F1, tuned"]
    assert re.search(r"(PCA|MLDA) \+ 1-NN leads by macro F1, tuned: 0\.\d{4}, which is", text)
    labels = grid(text, "Scores by label")
    names = load_dataset("emotions").target_names
    assert list(labels) == list(names)
    mean = np.mean([float(row["MLDA + 1-NN"].strip("*")) for row in labels.values()])
    tuned = table(results, "macro_f1_tuned").query("method == 'MLDA'")["mean"].item()
    assert mean == pytest.approx(tuned, abs=1e-3)


def test_agreement_names_the_best_of_both(results):
    found = agreement(results).set_index("dataset")
    means = table(results).query("classifier == '1-NN' and dataset == 'yeast'")
    assert found.loc["yeast", "best in the paper"] == "kaLDA"
    assert found.loc["yeast", "best here"] == means.loc[means["mean"].idxmax(), "method"]
    assert found.loc["yeast", "kaLDA, paper"] == "place 1 of 3"


def test_critical_difference_is_that_of_demsar():
    """His example: four methods on fourteen datasets have 1.25 at 5 %."""
    means = pd.DataFrame(np.random.default_rng(0).random((14, 4)), columns=list("abcd"))
    assert rank_methods(means).critical_difference == pytest.approx(1.25, abs=0.005)


def test_ranks_follow_the_better_score():
    means = pd.DataFrame({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.6, 0.6], "c": [0.1, 0.2, 0.65]})
    ranks = rank_methods(means).mean_ranks
    assert ranks.to_dict() == pytest.approx({"a": 1, "b": 7 / 3, "c": 8 / 3})
    assert rank_methods(means, ascending=True).mean_ranks["a"] == 3
    # Friedman by hand: 12 n / (k (k + 1)) Σ (R - (k + 1) / 2)² = 14/3, and χ² with 2 degrees.
    assert rank_methods(means).p_value == pytest.approx(np.exp(-14 / 6))


def test_figures_show_what_the_results_hold(results):
    axes = figure(results).axes
    assert [axis.get_title() for axis in axes] == ["emotions", "yeast"]
    drawn = np.concatenate([line.get_xdata() for line in axes[1].lines])
    for value in table(results).query("dataset == 'yeast'")["mean"]:
        assert np.isclose(drawn, value).any()
    ranks = figure(results, "ranks").axes
    titles = [axis.get_title().split(", ")[0] for axis in ranks]
    assert titles == ["1-NN", "MLkNN"]
    written = " ".join(text.get_text() for text in ranks[0].get_yticklabels())
    assert all(method in written for method in ("MDDM", "kaLDA", "MLDA"))
    with pytest.raises(ValueError, match="not a known figure of these results"):
        figure(results, "dimension")


class Shown(HTMLParser):
    """Collects the tags and the text of a page, and what it would ask the network for."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.asked = Counter(), "", []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1
        links = [v for k, v in attrs if k in ("src", "href", "xlink:href", "srcset")]
        self.asked += [link for link in links if not link.startswith(("#", "data:"))]

    def handle_data(self, data):
        self.text += data


def test_the_page_of_two_runs_needs_nothing_but_itself(page):
    text = page.read_text("utf-8")
    shown = Shown(text)
    assert shown.asked == []
    assert not re.search(r"@import|<script (?!>)|url\((?!#)|fetch\(|XMLHttp|import\(", text)
    tags = {"html": 1, "h2": 2, "script": 1, "figure": 6, "svg": 6}
    assert {tag: shown.tags[tag] for tag in tags} == tags
    assert "prefers-color-scheme: dark" in text
    assert "swaps the names" in text
    for name in set(re.findall(r'(?:href="|url\()#([^")]+)', text)):
        assert text.count(f'id="{name}"') == 1, f"{name} is not the name of one thing"
    figures = {path.name for path in (page.parent / "figures").iterdir()}
    assert {"quick-scores.svg", "quick-2-scores.svg"} <= figures


HOSTILE = "a|b `c` <script>alert(1)</script> & $x$ *d* _e_ [f](g) \\ #1"


class Broken(TransformerMixin, BaseEstimator):
    """A reducer whose error is full of marks too."""

    def fit(self, X, y):
        raise ValueError(HOSTILE)

    def transform(self, X):
        return X


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A run whose names, title and errors are full of marks of Markdown and HTML."""
    parameters = {
        HOSTILE: {"estimator": "PCA"}, "# broken|": {"estimator": f"{__name__}:Broken"},
    }  # fmt: skip
    plan = Plan(
        "hostile", f"# {HOSTILE}", f"- {HOSTILE}\n\n# Not a heading", datasets=("emotions",),
        methods=tuple(parameters), parameters=parameters, folds=2,
    )  # fmt: skip
    results = run(plan, tmp_path_factory.mktemp("hostile"))
    assert {row["method"] for row in results.failed} == {"# broken|"}
    return report(results)


def test_names_are_text_in_the_markdown_report(hostile):
    text = hostile.with_name("report.md").read_text("utf-8")
    page = MarkdownIt("gfm-like", {"linkify": False}).render(text)
    shown = Shown(page)
    assert HOSTILE in shown.text, "a name is shown as it is"
    assert shown.tags.keys().isdisjoint({"script", "em", "a"})
    assert shown.tags["h1"] == shown.tags["h2"] == 1
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert not [line for line in headings if "Not a heading" in line]
    # One row for both folds that failed, with all of its columns: no name breaks a table.
    assert page.count("<td># broken|") == 1
    tables = re.findall(r"<table>.*?</table>", page, flags=re.S)
    for each in tables:
        assert {row.count("<td") for row in each.split("<tr>")[2:]} == {each.count("<th>")}


def test_names_are_text_in_the_html_report_and_its_figures(hostile):
    page = hostile.read_text("utf-8")
    shown = Shown(page)
    assert HOSTILE in shown.text
    assert shown.tags["script"] == 1, "that of the report"
    figure = (hostile.parent / "figures" / "hostile-scores.svg").read_text("utf-8")
    texts = ["".join(each.itertext()) for each in ElementTree.fromstring(figure).iter()]
    assert HOSTILE in texts, "no part of a name is a formula"

"""The kept runs are whole, and say what the pages say of them."""

import re
from pathlib import Path

import pytest

from skml_kalda.bench import read_results
from skml_kalda.bench.plan import plan_names, read_plan
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import fold_means
from skml_kalda.bench.running.data import find_source
from skml_kalda.bench.scores import SCORES

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "bench"


@pytest.mark.parametrize("name", plan_names())
def test_every_plan_has_a_whole_kept_run(name):
    results = read_results(KEPT / name)
    assert results.plan == read_plan(name)
    assert (results.missing, results.failed) == (0, [])
    assert {row["dataset"] for row in results.skipped} <= {"barcelona"}


@pytest.mark.parametrize("name", ["emotions", "yeast", "scene"])
def test_the_kept_run_is_of_the_bundled_data(name):
    hashes = {row["sha256"] for row in read_results(KEPT / "quick").ok if row["dataset"] == name}
    assert hashes == {find_source(name).sha256}


def test_no_kept_file_names_a_folder_of_a_machine():
    files = [path for path in KEPT.rglob("*") if path.suffix in (".jsonl", ".html", ".md", ".csv")]
    assert len(files) >= len(plan_names()) + 3
    for path in files:
        assert not re.search(r'["(\s](/[a-z]+){2,}|file:/|[A-Z]:\\', path.read_text("utf-8")), path


@pytest.fixture(scope="module")
def tuned():
    return read_results(KEPT / "tuned")


def mean_ranks(tuned, score):
    means = fold_means(tuned, score, "k-NN")
    assert means.shape == (17, 22)
    return rank_methods(means, ascending=SCORES[score].lower_is_better).mean_ranks


@pytest.mark.parametrize(
    "score", ["macro_f1_tuned", "micro_f1_tuned", "average_precision", "ranking_loss", "macro_f1"]
)
def test_kalda_classifier_ranks_best(tuned, score):
    assert mean_ranks(tuned, score).index[0] == "KaLDAClassifier"

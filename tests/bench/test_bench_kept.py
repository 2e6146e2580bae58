"""The kept runs are whole, and say what the pages say of them."""

import re
from pathlib import Path

import pytest

from skml_kalda.bench import read_results
from skml_kalda.bench.plan import plan_names, read_plan
from skml_kalda.bench.reporting.ranks import rank_methods
from skml_kalda.bench.reporting.tables import differences, fold_means
from skml_kalda.bench.running.data import find_source

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "bench"
DENSE = ["emotions", "yeast", "scene", "msrc-mom", "msrc-sift"]


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


@pytest.mark.parametrize("score", ["macro_f1", "micro_f1"])
def test_tuned_kernel_kalda_ranks_best_on_the_dense_sets(tuned, score):
    ranking = rank_methods(fold_means(tuned, score, "k-NN").loc[DENSE])
    assert (ranking.n_datasets, len(ranking.mean_ranks)) == (5, 10)
    best, second = ranking.mean_ranks.iloc[:2]
    assert ranking.mean_ranks.index[0] == "KernelKaLDA"
    assert best < second


@pytest.mark.parametrize("score", ["macro_f1", "micro_f1"])
def test_tuned_kernel_kalda_is_nowhere_below_no_reduction(tuned, score):
    found = differences(tuned, score).query("method == 'KernelKaLDA'").set_index("dataset")
    assert len(found) == 8
    assert (found["difference"] > -found["se"])[DENSE].all()


@pytest.mark.parametrize("score", ["macro_f1", "micro_f1"])
def test_the_paper_s_kalda_loses_to_mlda_on_the_dense_sets_though_tuned(tuned, score):
    means = fold_means(tuned, score, "k-NN").loc[DENSE]
    assert (means["kaLDA"] < means["MLDA"]).all()


def test_on_yeast_only_the_kernel_gains_macro_f1(tuned):
    found = differences(tuned, "macro_f1").query("dataset == 'yeast'").set_index("method")
    assert list(found.index[found["difference"] > 0]) == ["KernelKaLDA"]


def test_on_text_the_cosine_kernel_is_chosen(tuned):
    kernels = [
        row["chosen"]["kernel"]
        for row in tuned.ok
        if row["method"] == "KernelKaLDA" and row["dataset"] not in DENSE
    ]
    assert kernels == 15 * ["cosine"]

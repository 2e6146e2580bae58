"""The kept runs are whole, and the README says what they say."""

import re
from pathlib import Path

import pytest

from skml_kalda.bench import read_results, table
from skml_kalda.bench.methods import label
from skml_kalda.bench.plan import plan_names, read_plan
from skml_kalda.bench.sources import find_source

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


def test_the_table_of_the_readme_is_that_of_the_kept_run():
    found = table(read_results(KEPT / "multilabel"))
    found = found[found["classifier"] == "1-NN"]
    methods = list(dict.fromkeys(found["method"]))
    expected = [f"| accuracy, 1-NN | {' | '.join(map(label, methods))} |"]
    for name, part in found.groupby("dataset", sort=False):
        rows = part.set_index("method").loc[methods]
        expected.append(f"| {name} | {' | '.join(_entry(row) for _, row in rows.iterrows())} |")
    text = (ROOT / "README.md").read_text("utf-8")
    assert [line for line in expected if line not in text] == []


def _entry(row):
    paper = "" if row["paper"] != row["paper"] else f" ({row['paper']:.4f})"
    return f"{row['mean']:.4f}{paper}"

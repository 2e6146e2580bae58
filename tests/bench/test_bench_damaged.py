"""Rows have one shape, older rows are read, and damaged ones are told of and measured again."""

import json
import shutil
from pathlib import Path

import pytest

from skml_kalda.bench import read_results, run
from skml_kalda.bench.cli import main
from tests.bench.conftest import TINY_PLAN, cells_of, lines_of, scores_by_cell

KEPT = Path(__file__).parents[2] / "benchmarks" / "results" / "bench"


def test_measured_failed_and_skipped_rows_have_one_shape(tiny_plan, tmp_path):
    wrong = {"MLDA": {"n_components": 1000}}
    plan = tiny_plan.changed(datasets=("emotions", "barcelona"), parameters=wrong)
    results = run(plan, tmp_path)
    assert (len(results.ok), len(results.failed), len(results.skipped)) == (2, 2, 1)
    written = [json.loads(line) for line in lines_of(tmp_path / "results.jsonl")[1:]]
    assert {row["status"] for row in written} == {"ok", "failed", "skip"}
    assert len({tuple(row) for row in written}) == 1
    failed, skipped = results.failed[0], results.skipped[0]
    assert failed["reason"] == "error"
    assert failed["scores"] is failed["fit_seconds"] is failed["iterations"] is None
    assert skipped["method"] is skipped["fold"] is skipped["error"] is None


def test_older_rows_have_the_same_shape_when_read(tmp_path):
    kept = KEPT / "gallery" / "results.jsonl"
    header, *rows = map(json.loads, kept.read_text("utf-8").splitlines())
    older = [{name: v for name, v in row.items() if name != "max_rows"} for row in rows]
    lines = [json.dumps(each) + "\n" for each in (header, *older)]
    (tmp_path / kept.name).write_text("".join(lines), "utf-8")
    found = read_results(tmp_path).ok
    assert len(found) == len(rows)
    assert {row["max_rows"] for row in found} == {None}, "no such field when these were written"
    (skipped,) = read_results(KEPT / "multilabel").skipped
    shapes = {frozenset(row) for row in [*found, *read_results(KEPT / "quick").ok, skipped]}
    assert len(shapes) == 1


RUBBISH = [
    b"{]",
    b"",
    b"3",
    b"[]",
    b"null",
    b"\x00" * 40,
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"status": "ok", "fold": 0}',
    b'{"status": "ok"}',
    b'{"status": "odd", "dataset": "emotions"}',
    b'{"plan": 3, "environment": {}}',
    b'{"plan": {"name": "tiny"}}',
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the results of a whole run."""
    return run(TINY_PLAN, tmp_path_factory.mktemp("whole"))


@pytest.mark.parametrize("rubbish", RUBBISH, ids=range(len(RUBBISH)))
def test_rubbish_in_the_middle_is_told_by_its_line_and_its_cell_run_again(
    rubbish, whole, tiny_plan, tmp_path
):
    path = tmp_path / "results.jsonl"
    lines = (whole.folder / "results.jsonl").read_bytes().split(b"\n")
    lines[2] = rubbish
    path.write_bytes(b"\n".join(lines))
    with pytest.warns(UserWarning, match=r"results\.jsonl is damaged at line 3: "):
        assert read_results(tmp_path).missing == 1
    with pytest.warns(UserWarning, match="damaged at line 3"):
        again = run(tiny_plan, tmp_path)
    assert again.missing == 0
    assert scores_by_cell(again.ok) == scores_by_cell(whole.ok)
    assert path.read_bytes().split(b"\n")[: len(lines) - 1] == lines[:-1], "only appended to"


@pytest.mark.usefixtures("no_report")
def test_the_command_tells_of_damage_in_one_line_and_goes_on(tiny, tiny_run, tmp_path, capsys):
    path = Path(shutil.copy(tiny_run / "results.jsonl", tmp_path))
    arguments = ["run", str(tiny), "--output", str(tmp_path), "--jobs", "1"]
    lines = lines_of(path)
    lines[3] = lines[5] = "rubbish"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert main(arguments) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: {path} is damaged at line 4, 6: ")
    damaged = [line for line in lines_of(path) if line == "rubbish"]
    assert len(damaged) == 2
    path.write_text("\n".join(each for each in lines_of(path) if each != "rubbish") + "\n", "utf-8")
    assert len(cells_of(path)) == 8, "a cell was lost or run twice"


def test_a_damaged_header_is_missed_only_if_it_was_the_only_one(tiny_plan, tmp_path):
    run(tiny_plan, tmp_path)
    run(tiny_plan, tmp_path)
    path = tmp_path / "results.jsonl"
    _, *others = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("{]\n" + "".join(others), "utf-8")
    with pytest.warns(UserWarning, match="damaged at line 1"):
        assert len(read_results(tmp_path).ok) == 4
    path.write_text("{]\n" + "".join(others[:-1]), "utf-8")
    with (
        pytest.warns(UserWarning, match="damaged at line 1"),
        pytest.raises(ValueError, match="holds no run: it should begin with a header"),
    ):
        read_results(tmp_path)


def test_list_names_a_file_that_holds_no_run_and_goes_on(tiny_run, tmp_path, capsys):
    shutil.copytree(tiny_run, tmp_path / "runs" / "good")
    (tmp_path / "runs" / "bad").mkdir()
    (tmp_path / "runs" / "bad" / "results.jsonl").write_text("")
    assert main(["list", str(tmp_path / "runs")]) == 0
    shown = capsys.readouterr().out
    assert "good: 8 cells of tiny, 0 to run" in shown
    assert "holds no run" in shown

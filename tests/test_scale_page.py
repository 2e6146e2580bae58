"""docs/scale.md says what was measured, and what the code does."""

import json
import re

import pytest

from benchmarks.scale import table

PAGE = table.PAGE.read_text()


def test_the_page_shows_the_kept_results():
    assert table.with_summary(PAGE) == PAGE


@pytest.mark.parametrize("part", table.PARTS)
def test_every_result_is_a_ratio_or_an_exponent(part):
    kept = json.loads((table.RESULTS / f"scale-{part}.json").read_text())
    assert {"python", "numpy", "scipy", "cores"} <= set(kept["environment"])
    for row in kept["rows"]:
        assert {"method", "data"} <= set(row)
        assert not [key for key in row if re.search("second|byte", key)]


def test_streams_grow_with_rows_in_time_and_not_in_memory():
    streams = [row for row in table.kept("rows") if "exponent in n" in row]
    assert len(streams) >= 3
    for row in streams:
        assert "1000000" in row["data"]
        assert row["exponent in n"] <= 1.1
        assert next(v for k, v in row.items() if k.startswith("peak memory")) <= 1.1


def test_kernels_take_rows_without_end():
    rows = table.kept("kernels")
    assert len(rows) == 2
    for row in rows:
        assert row["data"].startswith("10000000 x 100")
        assert row["time / kernel blocks and Gram matrix"] <= 1.5
    streamed, distributed = sorted(rows, key=lambda row: "Dask" in row["method"])
    assert streamed["peak memory / that after a tenth of the rows"] <= 1.05
    assert distributed["largest difference / largest projection"] <= 1e-8

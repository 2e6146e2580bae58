"""The pages say what the kept measurements and the tree say."""

import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import headline
from benchmarks.common import RESULTS
from benchmarks.scale import table
from benchmarks.scale.dask_blocks import MARKS, NAME, PAGE, page_part

ROOT = Path(__file__).parents[1]


def test_the_page_on_dask_has_the_kept_numbers():
    kept = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    part = PAGE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert part == page_part(kept)


@pytest.mark.parametrize("source", [headline, table], ids=["README", "scale"])
def test_the_page_has_the_kept_numbers(source):
    page = source.PAGE.read_text("utf-8")
    assert source.with_summary(page) == page


def test_clusters_gave_the_components_of_the_fit_in_memory():
    rows = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))["rows"]
    clusters = [row for row in rows if row["what"] == "cluster"]
    assert [row["processes"] for row in clusters] == [1, 2]
    assert all(row["largest_difference"] < 1e-8 for row in clusters)


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


def named_in_the_tree() -> set[Path]:
    """The paths that the tree of docs/architecture.md names, by their indentation."""
    text = (ROOT / "docs" / "architecture.md").read_text("utf-8")
    tree = text.split("```text\n")[1].split("```")[0]
    named, folders = set(), {0: ROOT}
    for line in tree.splitlines():
        indent = len(line) - len(line.lstrip())
        for name in line.partition("#")[0].split():
            path = folders[indent] / name
            named.add(path)
            if name.endswith("/"):
                folders[indent + 2] = path
    return named


def test_every_path_in_the_tree_exists_and_every_package_is_in_it():
    named = named_in_the_tree()
    assert not [str(path) for path in named if not path.exists()]
    assert {path.parent for path in (ROOT / "skml_kalda").rglob("__init__.py")} <= named


PARTS = ["bench", "datasets", "framework", "inspection", "metrics", "model_selection", "onnx"]
PUBLIC = ("skml_kalda", *(f"skml_kalda.{part}" for part in PARTS))


def test_the_reference_lists_every_public_name_and_no_other():
    page = (ROOT / "docs" / "reference" / "index.md").read_text("utf-8")
    listed = re.findall(r"^   ((?:\w+\.)?\w+)$", page, flags=re.MULTILINE)
    modules = [import_module(name) for name in PUBLIC]
    public = {
        f"{module.__name__}.{name}".removeprefix("skml_kalda.")
        for module in modules
        for name in module.__all__
        if not isinstance(getattr(module, name), ModuleType)
    }
    assert sorted(listed) == sorted(public)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name):
    module = import_module(name)
    without = [n for n in module.__all__ if ">>> " not in (getattr(module, n).__doc__ or "")]
    assert [n for n in without if not isinstance(getattr(module, n), ModuleType)] == []

"""The pages say what the kept measurements and the tree say."""

import json
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import headline
from benchmarks.common import RESULTS
from benchmarks.scale.dask_blocks import MARKS, NAME, PAGE, page_part

ROOT = Path(__file__).parents[1]


def test_the_page_on_dask_has_the_kept_numbers():
    kept = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    part = PAGE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert part == page_part(kept)


def test_the_readme_has_the_kept_numbers():
    page = headline.PAGE.read_text("utf-8")
    assert headline.with_summary(page) == page


def test_clusters_gave_the_components_of_the_fit_in_memory():
    rows = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))["rows"]
    clusters = [row for row in rows if row["what"] == "cluster"]
    assert [row["processes"] for row in clusters] == [1, 2]
    assert all(row["largest_difference"] < 1e-8 for row in clusters)


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


def test_every_path_in_the_tree_exists():
    named = named_in_the_tree()
    assert named
    assert not [str(path) for path in named if not path.exists()]


def test_every_folder_of_the_package_is_in_the_tree():
    packages = {path.parent for path in (ROOT / "skml_kalda").rglob("__init__.py")}
    assert not packages - named_in_the_tree()


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
    found = {name: getattr(module, name) for name in module.__all__}
    without = [name for name, it in found.items() if ">>> " not in (it.__doc__ or "")]
    assert [name for name in without if not isinstance(found[name], ModuleType)] == []

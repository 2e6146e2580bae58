"""The pages say what the kept measurements and the tree say."""

import json
from pathlib import Path

from benchmarks.common import RESULTS
from benchmarks.scale.dask_blocks import MARKS, NAME, PAGE, page_part

ROOT = Path(__file__).parents[1]


def test_the_page_on_dask_has_the_kept_numbers():
    kept = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    part = PAGE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert part == page_part(kept)


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
    assert len(named) > 60
    assert not [str(path) for path in named if not path.exists()]


def test_every_folder_of_the_package_is_in_the_tree():
    packages = {path.parent for path in (ROOT / "skml_kalda").rglob("__init__.py")}
    assert not packages - named_in_the_tree()

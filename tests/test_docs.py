"""The pages say what the kept measurements say."""

import json

from benchmarks.scale.dask_blocks import MARKS, NAME, PAGE, page_part
from benchmarks.speed._measure import RESULTS


def test_the_page_on_dask_has_the_kept_numbers():
    kept = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))
    part = PAGE.read_text("utf-8").split(MARKS[0])[1].split(MARKS[1])[0]
    assert part == page_part(kept)


def test_clusters_gave_the_components_of_the_fit_in_memory():
    rows = json.loads((RESULTS / f"{NAME}.json").read_text("utf-8"))["rows"]
    clusters = [row for row in rows if row["what"] == "cluster"]
    assert [row["processes"] for row in clusters] == [1, 2]
    assert all(row["largest_difference"] < 1e-8 for row in clusters)

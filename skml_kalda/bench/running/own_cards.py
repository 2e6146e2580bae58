"""The files of the user in a plan: read, described, and found large enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skml_kalda.bench.plan import Plan
from skml_kalda.bench.running.data import describe, find_source
from skml_kalda.bench.running.enough_rows import check_rows


def own_cards(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return what each file of the user holds, by name; raise an error for an unusable one."""
    names = [name for name in plan.datasets if name in plan.data]
    cards = {name: _card(plan, name) for name in names}
    for name, card in cards.items():
        check_rows(plan, name, card)
    return cards


def _card(plan: Plan, name: str) -> dict[str, Any]:
    source = find_source(name, data=plan.data)
    assert source is not None, "a file that is not there is an error"
    return {**describe(source), "sha256": source.sha256}


def describe_data(plan: Plan) -> Iterator[str]:
    """Yield a line for each of the user's own files of a plan, and for each note about it."""
    for name, card in own_cards(plan).items():
        size = f"{card['rows']} rows, {card['features']} features, {card['labels']} {card['kind']}"
        several = f" ({card['cardinality']:.2f} per row)" if card["kind"] == "labels" else ""
        yield f"{name}: {size}{several}"
        yield from (f"  {note}" for note in card["notes"])

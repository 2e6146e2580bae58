"""Whether a file of the user has enough rows for the folds and neighbours of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from skml_kalda.bench.cells import HELD_OUT
from skml_kalda.bench.methods import ITSELF, n_neighbors
from skml_kalda.bench.plan import Plan

# No reducer can be fitted to a single row.
_FEWEST = 2


def check_rows(plan: Plan, name: str, card: Mapping[str, Any]) -> None:
    """Raise a ValueError if no cell, or hardly any, of the plan could be measured.

    `card` describes the file, see `describe`.
    """
    if plan.kind not in HELD_OUT:
        return
    rows = min(card["rows"], plan.max_rows.get(name) or card["rows"])
    where = f"{plan.data[name]['file']}: {rows} rows are too few"
    if plan.train_rows.get(name):
        _check_random_splits(plan, name, rows, where)
        return
    if rows < plan.folds:
        raise ValueError(f"{where} for {plan.folds} folds: add rows, or lower --folds")
    if card["largest_class"] < plan.folds:
        raise ValueError(
            f"{plan.data[name]['file']}: no class has more than {card['largest_class']} of the "
            f"{rows} rows, too few for {plan.folds} folds: add rows, or lower --folds; if the "
            "labels are several columns, name them all"
        )
    inner = plan.thresholds if card["kind"] == "labels" else 0
    _check_training_rows(plan, rows, inner, where)


def _check_random_splits(plan: Plan, name: str, rows: int, where: str) -> None:
    wanted = plan.train_rows[name]
    if wanted >= rows:
        raise ValueError(f"{where} for {wanted} training rows: add rows, or lower train_rows")


def _check_training_rows(plan: Plan, rows: int, inner: int, where: str) -> None:
    k, classifier = _most_neighbors(plan)
    needed, left = max(k, _FEWEST), fewest_training_rows(rows, plan.folds, inner)
    if left >= needed:
        return
    folds = f"{plan.folds} folds" + (f" with {inner} inner folds for thresholds" if inner else "")
    what = f"{classifier} needs {k}" if k > _FEWEST else f"methods need {_FEWEST}"
    least = next(n for n in count(rows) if fewest_training_rows(n, plan.folds, inner) >= needed)
    advice = [f"add rows (at least {least} in all)"]
    advice += [f"pass --k {left}"] if k > left >= _FEWEST else []
    without_inner = fewest_training_rows(rows, plan.folds)
    advice += ["pass --thresholds 0"] if without_inner >= needed else []
    raise ValueError(
        f"{where}: {folds} leave {left} for training, and {what}: {', or '.join(advice)}"
    )


def fewest_training_rows(rows: int, folds: int, inner: int = 0) -> int:
    """Return the number of training rows of the smallest fold, or of the smallest inner fold.

    Examples
    --------
    >>> from skml_kalda.bench.running.enough_rows import fewest_training_rows
    >>> fewest_training_rows(12, 5), fewest_training_rows(12, 5, 3)
    (9, 6)
    """
    # The largest part is held out; there is nothing left if the parts are more than the rows.
    left = rows - -(-rows // folds)
    if not inner:
        return left
    return left - -(-left // inner) if left >= inner else 0


def _most_neighbors(plan: Plan) -> tuple[int, str]:
    """Return the largest number of neighbours of the classifiers in use, and that classifier."""
    used = {cell.classifier for cell in plan.cells()} - {ITSELF}
    return max(((n_neighbors(name), name) for name in used), default=(0, ""))

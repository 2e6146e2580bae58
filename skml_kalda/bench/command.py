"""The command that runs a plan again."""

from __future__ import annotations

import shlex
from typing import Any

from skml_kalda.bench.own_data import options_of, own_plan
from skml_kalda.bench.plan import LISTS, SINGLE, Plan, plan_names, read_plan


def command_of(plan: Plan) -> str:
    """Return the command that runs a plan.

    Examples
    --------
    >>> from skml_kalda.bench.command import command_of
    >>> from skml_kalda.bench.plan import read_plan
    >>> command_of(read_plan("quick").changed(folds=3))
    'python -m skml_kalda.bench run quick --folds 3'
    """
    usual, where = plan, "PLAN.toml"
    if plan.name in plan_names():
        usual, where = read_plan(plan.name), plan.name
        if plan.data:
            usual = usual.changed(data=plan.data, datasets=tuple(plan.data))
            where += f" {options_of(plan.data)}"
    elif plan.data and plan.title == own_plan(plan.data).title:
        usual, where = own_plan(plan.data), options_of(plan.data)
    words = ["python -m skml_kalda.bench run", where]
    for name in (*LISTS, *SINGLE):
        value = getattr(plan, name)
        if value != getattr(usual, name):
            words.append(_option(name, value))
    return " ".join(words)


def _option(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    values = value if isinstance(value, tuple) else [value]
    return f"--{name} {shlex.join(map(str, values))}"

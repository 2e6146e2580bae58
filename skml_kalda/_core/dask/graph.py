"""Tasks for the scheduler of dask, and their results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

Key = tuple[str, int]


class Graph:
    """Tasks in one layer. With dask.delayed each would be a layer, and planning quadratic."""

    def __init__(self) -> None:
        self._name = f"skml_kalda-{uuid4().hex}"
        self._tasks: dict[Key, Any] = {}
        self._inputs: list[Any] = []

    def put(self, value: Any) -> Any:
        """Add a value that many calls share, so that it is sent once."""
        from dask._task_spec import DataNode, TaskRef

        key = self._name, len(self._tasks)
        self._tasks[key] = DataNode(key, value)
        return TaskRef(key)

    def add(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Add a call, whose arguments may be delayed blocks; return a reference to its result."""
        # Explicit tasks rather than tuples: inside tuples dask does not find blocks that are
        # kept on the workers of a cluster.
        from dask._task_spec import Task, TaskRef

        key = self._name, len(self._tasks)
        blocks = {id(each): each for each in arguments if hasattr(each, "__dask_graph__")}
        self._inputs += blocks.values()
        given = (TaskRef(each.key) if id(each) in blocks else each for each in arguments)
        self._tasks[key] = Task(key, function, *given)
        return TaskRef(key)

    def add_sum(self, parts: Sequence[Any]) -> Any:
        """Add the sums of neighbouring parts, pairwise until one is left; None counts as zero.

        The order of the sums, and so the last digit, depends only on the parts and not on which
        worker finishes first.
        """
        while len(parts) > 1:
            pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
            parts = [self.add(_sum, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
        return parts[0]

    def compute(self, reference: Any) -> Any:
        """Run a call and everything it depends on; return its result."""
        return self.compute_all([reference])[0]

    def compute_all(self, references: Sequence[Any]) -> list[Any]:
        """Run calls and everything they depend on; return their results."""
        import dask

        with _large_arguments():
            return list(dask.compute(*self._delayed(references)))

    def persist(self, references: Sequence[Any]) -> list[Any]:
        """Run calls and leave their results where they are; return these, delayed."""
        import dask

        with _large_arguments():
            return list(dask.persist(*self._delayed(references)))

    def _delayed(self, references: Sequence[Any]) -> list[Any]:
        from dask.delayed import Delayed
        from dask.highlevelgraph import HighLevelGraph

        graph = HighLevelGraph.from_collections(self._name, self._tasks, self._inputs)
        return [Delayed(each.key, graph, layer=self._name) for each in references]


@contextmanager
def _large_arguments() -> Iterator[None]:
    """Silence the warning of a large graph: here it is few tasks with some large arrays."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        yield


def _sum(a: Any, b: Any) -> Any:
    return a if b is None else b if a is None else a + b

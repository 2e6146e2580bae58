"""Blocks that stay on the workers, and what is computed from them there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skml_kalda._core.dask.graph import Graph


class KeptBlocks:
    """Blocks in the memory of the workers: see `scatter.remote.Blocks`.

    Without a cluster, they are in the memory of this process.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self._blocks = blocks
        """Delayed and persisted."""

    def keep(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> KeptBlocks:
        """Return the blocks function(block, *shared), or with one argument of `each` more."""
        graph = Graph()
        return KeptBlocks(graph.persist(self._calls(graph, function, shared, each)))

    def gather(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> list[Any]:
        """Return function(block, *shared) for every block."""
        graph = Graph()
        return graph.compute_all(self._calls(graph, function, shared, each))

    def total(
        self, function: Callable[..., Any], *shared: Any, each: Sequence[Any] | None = None
    ) -> Any:
        """Return the sum of function(block, *shared) over all blocks."""
        graph = Graph()
        return graph.compute(graph.add_sum(self._calls(graph, function, shared, each)))

    def _calls(
        self,
        graph: Graph,
        function: Callable[..., Any],
        shared: Sequence[Any],
        each: Sequence[Any] | None,
    ) -> list[Any]:
        # Arguments are part of the graph, not scattered beforehand: what is lost with a worker
        # can then be computed again.
        arguments = [graph.put(value) for value in shared]
        own = [()] * len(self._blocks) if each is None else [(value,) for value in each]
        pairs = zip(self._blocks, own, strict=True)
        return [graph.add(function, block, *arguments, *more) for block, more in pairs]

"""Operators of ONNX, and how they make up the graph of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from skml_kalda._core.arrays import Array

Node: TypeAlias = Any
"""An operator of skl2onnx, or the variable that enters the first one."""
Build: TypeAlias = Callable[[Any, Node, "Operators"], list[Node]]
"""Maps operators, a fitted estimator and its input to the nodes of its outputs."""


@dataclass(frozen=True)
class Operators:
    """Creates operators of one version, with constants of one type."""

    version: int
    dtype: Any

    def __call__(self, name: str, *inputs: Any, **attributes: Any) -> Node:
        """Return an operator of ONNX; arrays of floats among the inputs become constants."""
        from skl2onnx.algebra import onnx_ops

        make = getattr(onnx_ops, f"Onnx{name}")
        return make(*map(self.constant, inputs), op_version=self.version, **attributes)

    def constant(self, value: Any) -> Any:
        """Return an array of floats in the type of the operators, anything else as it is."""
        is_float = isinstance(value, np.ndarray) and value.dtype.kind == "f"
        return value.astype(self.dtype) if is_float else value

    def cast(self, node: Node, dtype: Any) -> Node:
        """Convert to another type."""
        from onnx.helper import np_dtype_to_tensor_dtype

        return self("Cast", node, to=np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def double(self) -> Operators:
        """Return operators in double precision.

        Kernel methods need them: their functions are small differences of large sums.
        """
        return Operators(self.version, np.float64)

    def total(self, nodes: list[Node]) -> Node:
        """Add nodes of the same shape."""
        return nodes[0] if len(nodes) == 1 else self("Sum", *nodes)

    def row_sums(self, node: Node, axis: int = 1, keepdims: int = 1) -> Node:
        """Sum along an axis."""
        return self("ReduceSum", node, np.array([axis]), keepdims=keepdims)


def convert(build: Build, scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of an estimator to a model: what skl2onnx calls a converter."""
    from skl2onnx.common.data_types import guess_numpy_type

    variable = operator.inputs[0]
    dtype = guess_numpy_type(variable.type)
    floating = dtype in (np.float32, np.float64)
    op = Operators(container.target_opset, dtype if floating else np.float32)
    X = variable if floating else op.cast(variable, np.float32)
    nodes = build(operator.raw_operator, X, op)
    for node, output in zip(nodes, operator.outputs, strict=True):
        op("Identity", node, output_names=[output]).add_to(scope, container)


def check_known(name: str, value: Any, known: tuple[str, ...], estimator: Any) -> None:
    """Raise if the value of a parameter has no counterpart in ONNX."""
    if value not in known:
        raise ValueError(
            f"{name}={value!r} of {type(estimator).__name__} cannot be converted to ONNX: use one "
            f"of {', '.join(known)}."
        )


def dense(rows: Any) -> Array:
    """Return rows as a dense array, because a model can hold no other."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)

"""The graphs of the reducers, and of kernels at landmarks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels import LandmarkKernel
from skml_kalda.onnx.operators import Node, Operators, check_known, dense
from skml_kalda.reducers.kalda.kernel import KernelKaLDA

_KERNELS = ("rbf", "linear", "cosine")


def set_reducer_types(operator: Any) -> None:
    """Declare the type and the shape of the projected rows."""
    from skl2onnx.common.data_types import guess_tensor_type

    check_is_fitted(operator.raw_operator)
    variable = operator.inputs[0]
    kind, n = type(guess_tensor_type(variable.type)), variable.get_first_dimension()
    operator.outputs[0].type = kind([n, len(operator.raw_operator.get_feature_names_out())])


def linear(reducer: Any, X: Node, op: Operators) -> list[Node]:
    """Project rows about the mean, so that a large mean costs no digits."""
    return [op("MatMul", op("Sub", X, reducer.mean_), reducer.components_.T)]


def scaled(scaler: Any, X: Node, op: Operators) -> list[Node]:
    """Multiply the features by their factors."""
    return [op("Mul", X, scaler.scale_)]


def kernel(transformer: Any, X: Node, op: Operators) -> list[Node]:
    """Compute k(x) A − b, where k(x) are the kernel values of a row with the landmarks."""
    fitted = getattr(transformer, "best_estimator_", transformer)
    check_known("kernel", fitted.kernel, _KERNELS, transformer)
    if isinstance(fitted, KernelKaLDA):
        A, b = fitted.dual_components_, fitted.offset_
    else:
        A, b = fitted.normalization_, np.zeros(1)
    op64 = op.double()
    sums = kernel_sums(fitted._features.kernel, A, op64.cast(X, np.float64), op64)
    return [op.cast(op64("Sub", sums, b), op.dtype)]


def kernel_sums(kernel: LandmarkKernel, A: Array, X: Node, op: Operators) -> Node:
    """Compute k(x) A."""
    landmarks = dense(kernel.landmarks)
    if kernel.unit_length:
        landmarks, X = normalize(landmarks), _unit_length(X, op)
    mean = landmarks.mean(axis=0)
    rows, landmarks = op("Sub", X, mean), landmarks - mean
    if kernel.kernel != "rbf":
        return op("MatMul", rows, landmarks.T @ A)
    # ‖x − l‖² = ‖x‖² − 2 xᵀl + ‖l‖², about the mean of the landmarks, which keeps all sizes small
    lengths = op("Add", op.row_sums(op("Mul", rows, rows)), np.sum(landmarks**2, axis=1))
    distances = op("Add", op("MatMul", rows, -2 * landmarks.T), lengths)
    gammas = _gammas(kernel)
    values = [op("Exp", op("Mul", distances, np.array([-gamma]))) for gamma in gammas]
    return op("MatMul", op.total(values), A / len(gammas))


def _unit_length(X: Node, op: Operators) -> Node:
    length = op("Sqrt", op.row_sums(op("Mul", X, X)))
    # A row of zeros stays one, as in scikit-learn.
    return op("Div", X, op("Max", length, np.array([np.finfo(np.float64).tiny])))


def _gammas(kernel: LandmarkKernel) -> list[float]:
    default = kernel.params.get("gamma", 1 / kernel.landmarks.shape[1])
    return [default if gamma is None else float(gamma) for gamma in kernel.gammas]

"""Fitted estimators as ONNX models, which run without this package and without Python.

Needs the libraries of the extra "onnx".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

import skml_kalda
from skml_kalda._core.arrays import Array
from skml_kalda._core.kernels import LandmarkKernel
from skml_kalda._core.messages import required
from skml_kalda.classifiers._choice import LinearMap
from skml_kalda.classifiers.kalda import KaLDAClassifier
from skml_kalda.classifiers.neighbors import MLkNN, NeighborClassifier
from skml_kalda.model_selection import TunedThresholdsCV
from skml_kalda.reducers.base import BaseReducer
from skml_kalda.reducers.kalda.kernel import KernelKaLDA, KernelTransformer
from skml_kalda.reducers.kalda.scaler import AlignmentScaler

__all__ = ["register"]

_KERNELS = ("rbf", "linear", "cosine")
_TUNED = "SkmlKaldaTunedThresholdsCV"
_METRICS = ("euclidean", "manhattan", "cosine")

Node: TypeAlias = Any
"""An operator of skl2onnx, or the variable that enters the first one."""


def register() -> None:
    """Teach skl2onnx to convert the estimators of this package.

    What can be converted: all linear reducers and `AlignmentScaler`; `KernelKaLDA` and
    `LandmarkFeatures` with the kernels "rbf", "linear" and "cosine"; `KaLDAClassifier`; `MLkNN` and
    `BinaryRelevanceKNN` with the Euclidean, the Manhattan and the cosine distance;
    `TunedThresholdsCV` around any classifier that skl2onnx converts. They may be steps of a
    pipeline of scikit-learn. Converted classifiers return the labels and the
    probabilities. Calling this function again does no harm.

    Raises
    ------
    ImportError
        If skl2onnx is not installed: it comes with the extra "onnx".

    Notes
    -----
    The models compute in the type of their input, usually float32, while scikit-learn may
    compute in float64. Kernel methods are the exception: their models always compute in float64.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from skl2onnx import to_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import skml_kalda.onnx
    >>> from skml_kalda import MLkNN, MultiLabelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN()).fit(X, y)
    >>> X = X.astype(np.float32)
    >>> skml_kalda.onnx.register()
    >>> model = to_onnx(pipeline, X[:1])
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> labels, probabilities = session.run(None, {"X": X})
    >>> float(np.mean(labels == pipeline.predict(X)))
    1.0
    """
    skl2onnx = required("skl2onnx", by="skml_kalda.onnx", extra="onnx")
    for name in skml_kalda.__all__:
        estimator = getattr(skml_kalda, name)
        for base, build in _BUILDERS.items():
            if isinstance(estimator, type) and issubclass(estimator, base):
                skl2onnx.update_registered_converter(
                    estimator, f"SkmlKalda{name}", _declare_outputs, partial(_convert, build)
                )
    skl2onnx.update_registered_converter(
        TunedThresholdsCV,
        _TUNED,
        _declare_outputs,
        partial(_convert, _tuned),
        parser=_parse_tuned,
    )


def _parse_tuned(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Let probabilities of the classifier enter the thresholds: what skl2onnx calls a parser."""
    from skl2onnx._parse import parse_sklearn
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType

    check_is_fitted(model, "estimator_")
    inner = model.estimator_
    if model.response_method == "decision_function" or not hasattr(inner, "predict_proba"):
        raise ValueError(
            "TunedThresholdsCV on decision_function cannot be converted to ONNX: use a classifier "
            'with predict_proba, and response_method="predict_proba".'
        )
    scope.add_options(id(inner), {"zipmap": False})
    outputs = parse_sklearn(scope, inner, inputs, custom_parsers)
    for variable in outputs:
        variable.init_status(is_leaf=False)
    operator = scope.declare_local_operator(_TUNED, model)
    operator.inputs = outputs[1:]
    for name, kind in (("label", Int64TensorType), ("probabilities", FloatTensorType)):
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def _declare_outputs(operator: Any) -> None:
    """Declare types and shapes: the projection; or labels, or classes, and probabilities."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    fitted, variable = operator.raw_operator, operator.inputs[0]
    check_is_fitted(fitted)
    kind = getattr(variable.type, "element_type", variable.type)
    n, floating = kind.shape[0] if kind.shape else None, type(guess_tensor_type(kind))
    if not hasattr(fitted, "label_names_"):
        operator.outputs[0].type = floating([n, len(fitted.get_feature_names_out())])
        return
    label, probability = operator.outputs
    K = len(fitted.label_names_)
    if getattr(fitted, "_is_indicator", True):
        label.type = Int64TensorType([n, K])
    else:
        is_text = fitted.classes_.dtype.kind in "OU"
        label.type = (StringTensorType if is_text else Int64TensorType)([n])
    probability.type = floating([n, K])


def _convert(build: Build, scope: Any, operator: Any, container: Any) -> None:
    """Add the graph of an estimator to a model: what skl2onnx calls a converter."""
    from skl2onnx.common.data_types import guess_numpy_type

    variable = operator.inputs[0]
    dtype = guess_numpy_type(getattr(variable.type, "element_type", variable.type))
    is_floating = dtype in (np.float32, np.float64)
    op = Operators(container.target_opset, dtype if is_floating else np.float32)
    X = variable if is_floating else op.cast(variable, np.float32)
    nodes = build(operator.raw_operator, X, op)
    for node, output in zip(nodes, operator.outputs, strict=True):
        op("Identity", node, output_names=[output]).add_to(scope, container)


@dataclass(frozen=True)
class Operators:
    """Creates operators of one version of ONNX, with constants of one type."""

    version: int
    dtype: Any

    def __call__(self, name: str, *inputs: Any, **attributes: Any) -> Node:
        """Return an operator; arrays of floats among the inputs become constants."""
        from skl2onnx.algebra import onnx_ops

        make = getattr(onnx_ops, f"Onnx{name}")
        return make(*map(self.constant, inputs), op_version=self.version, **attributes)

    def of_estimator(self, fitted: Any, X: Node) -> Node:
        """Return the output of an estimator of scikit-learn that skl2onnx can convert."""
        from skl2onnx.algebra.onnx_operator import OnnxSubEstimator
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

        tensor = DoubleTensorType if self.dtype == np.float64 else FloatTensorType
        types = [tensor([None, fitted.n_features_in_])]  # that of a node is not known
        return OnnxSubEstimator(fitted, X, op_version=self.version, input_types=types)

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

    def row_sums(self, node: Node, axis: int = 1, keepdims: int = 1) -> Node:
        """Sum along an axis."""
        return self("ReduceSum", node, np.array([axis]), keepdims=keepdims)


def _linear(reducer: Any, X: Node, op: Operators) -> list[Node]:
    """Project samples about the mean, so that a large mean costs no digits."""
    return [op("MatMul", op("Sub", X, reducer.mean_), reducer.components_.T)]


def _scaled(scaler: Any, X: Node, op: Operators) -> list[Node]:
    return [op("Mul", X, scaler.scale_)]


def _kernel(transformer: Any, X: Node, op: Operators) -> list[Node]:
    """Compute k(x) A − b, where k(x) are the kernel values of a sample with the landmarks."""
    _check_known("kernel", transformer.kernel, _KERNELS, transformer)
    if isinstance(transformer, KernelKaLDA):
        A, b = transformer.dual_components_, transformer.offset_
    else:
        A, b = transformer.normalization_, np.zeros(1)
    op64 = op.double()
    sums = _kernel_sums(transformer._landmark_kernel(), A, op64.cast(X, np.float64), op64)
    return [op.cast(op64("Sub", sums, b), op.dtype)]


def _kernel_sums(kernel: LandmarkKernel, A: Array, X: Node, op: Operators) -> Node:
    """Compute k(x) A."""
    landmarks = _dense(kernel.landmarks)
    if kernel.unit_length:
        length = op("Sqrt", op.row_sums(op("Mul", X, X)))
        # A sample of zeros stays one, as in scikit-learn.
        X = op("Div", X, op("Max", length, np.array([np.finfo(np.float64).tiny])))
        landmarks = normalize(landmarks)
    mean = landmarks.mean(axis=0)
    rows, landmarks = op("Sub", X, mean), landmarks - mean
    if kernel.kernel != "rbf":
        return op("MatMul", rows, landmarks.T @ A)
    # ‖x − l‖² = ‖x‖² − 2 xᵀl + ‖l‖², about the mean of the landmarks, which keeps all sizes small
    lengths = op("Add", op.row_sums(op("Mul", rows, rows)), np.sum(landmarks**2, axis=1))
    distances = op("Add", op("MatMul", rows, -2 * landmarks.T), lengths)
    default = kernel.params.get("gamma", 1 / landmarks.shape[1])
    gammas = [default if gamma is None else float(gamma) for gamma in kernel.gammas]
    values = [op("Exp", op("Mul", distances, np.array([-gamma]))) for gamma in gammas]
    return op("MatMul", op("Sum", *values), A / len(gammas))


def _log_odds(classifier: Any, X: Node, op: Operators) -> list[Node]:
    """Predict the labels of `KaLDAClassifier` from their log-odds."""
    (feature_map, A, intercept), op64 = classifier._log_odds, op.double()
    X = op64.cast(X, np.float64)
    if feature_map.ranks is not None:
        X = op64.of_estimator(feature_map.ranks, X)
    if isinstance(feature_map, LinearMap):
        sums = op64("MatMul", X, A)
    else:
        kernels = feature_map.kernels
        parts = [_kernel_sums(k, A / len(kernels), op64("Mul", X, c), op64) for c, k in kernels]
        sums = op64("Sum", *parts)
    log_odds = op64("Add", sums, intercept)
    if not classifier._is_indicator:
        return _classes(classifier, op.cast(op64("Softmax", log_odds, axis=1), op.dtype), op)
    probabilities = op64("Sigmoid", log_odds)
    labels = op64("GreaterOrEqual", probabilities, classifier.thresholds_)
    return [op.cast(labels, np.int64), op.cast(probabilities, op.dtype)]


def _tuned(classifier: Any, probabilities: Node, op: Operators) -> list[Node]:
    """Apply thresholds to probabilities of labels, or of both classes of each label."""
    classes: Any = getattr(classifier.estimator_, "classes_", None)
    if not hasattr(probabilities.type, "element_type"):
        if isinstance(classes, list):  # an array of shape (K, n, 2)
            each = op("Gather", probabilities, np.array(1), axis=2)
            probabilities = op("Transpose", each, perm=[1, 0])
    else:
        each = op("ConcatFromSequence", probabilities, axis=1)
        last = op("Gather", each, np.cumsum(list(map(len, classes))) - 1, axis=1)
        # The last class is 0 where no sample has the label.
        probabilities = op("Mul", last, np.array([known[-1] for known in classes], float))
    labels = op("GreaterOrEqual", probabilities, classifier.thresholds_)
    return [op.cast(labels, np.int64), probabilities]


def _neighbors(classifier: Any, X: Node, op: Operators) -> list[Node]:
    """Count the labels of the neighbours, and look the counts up in tables."""
    probability = _probability_table(classifier)
    first_cell = np.arange(0, probability.size, probability.shape[1])
    cells = op("Add", _label_counts(classifier, X, op), first_cell)
    probabilities = op("Gather", probability.ravel(), cells)
    if not classifier._is_indicator:
        return _classes(classifier, op("Div", probabilities, op.row_sums(probabilities)), op)
    if isinstance(classifier, MLkNN) and classifier.threshold == 0.5:
        decision = classifier._is_likelier
    else:
        decision = probability >= classifier.thresholds_[:, np.newaxis]
    return [op("Gather", decision.ravel().astype(np.int64), cells), probabilities]


def _probability_table(classifier: Any) -> NDArray[Any]:
    """Return the probability of each label (row) for each count (column)."""
    if isinstance(classifier, MLkNN):
        return classifier._probability_table
    _check_known("weights", classifier.weights, ("uniform",), classifier)
    if np.ptp(classifier._weight):
        raise ValueError(
            f"{type(classifier).__name__} fitted with sample_weight has no ONNX form, because its "
            "votes are not counts: fit it without sample_weight."
        )
    return np.tile(np.arange(classifier.k + 1) / classifier.k, (len(classifier.classes_), 1))


def _label_counts(classifier: Any, X: Node, op: Operators) -> Node:
    from skl2onnx.operator_converters.nearest_neighbours import onnx_nearest_neighbors_indices_k

    _check_known("algorithm", classifier.algorithm, ("auto",), classifier)
    search = classifier.knn_
    _check_known("metric", search.effective_metric_, _METRICS, classifier)
    if classifier._unknown is not None:
        raise ValueError(
            f"{type(classifier).__name__} fitted with unknown labels (NaN) has no ONNX form: not "
            "every neighbour votes on every label. Fit it on samples whose labels are known."
        )
    nearest = onnx_nearest_neighbors_indices_k(
        X,
        op.constant(_dense(search._fit_X)),
        classifier.k,
        metric=search.effective_metric_,
        dtype=op.dtype,
        op_version=op.version,
    )
    labels = classifier._labels.toarray().astype(np.uint8)
    return op.row_sums(op.cast(op("Gather", labels, nearest), np.int64), keepdims=0)


def _classes(classifier: Any, probabilities: Node, op: Operators) -> list[Node]:
    """Choose the most probable class."""
    names = classifier.classes_
    names = names.astype(str if names.dtype.kind in "OU" else np.int64)
    best = op("ArgMax", probabilities, axis=1, keepdims=0)
    return [op("Gather", names, best), probabilities]


def _check_known(name: str, value: Any, known: tuple[str, ...], estimator: Any) -> None:
    """Raise if the value of a parameter has no counterpart in ONNX."""
    if value not in known:
        raise ValueError(
            f"{name}={value!r} of {type(estimator).__name__} cannot be converted to ONNX: use one "
            f"of {', '.join(known)}."
        )


def _dense(rows: Any) -> Array:
    """Return a dense array, because a model can hold no other."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


Build: TypeAlias = Callable[[Any, Node, Operators], list[Node]]
"""Maps a fitted estimator, its input and operators to the nodes of its outputs."""
# How to build the graph of an estimator of each kind: a new one is one more line.
_BUILDERS: dict[type, Build] = {
    BaseReducer: _linear,
    AlignmentScaler: _scaled,
    KernelTransformer: _kernel,
    NeighborClassifier: _neighbors,
    KaLDAClassifier: _log_odds,
}

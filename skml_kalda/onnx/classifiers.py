"""The graphs of the classifiers, which return labels and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skml_kalda.classifiers._spaces import LinearFeatures
from skml_kalda.classifiers.kalda_classifier import KaLDAClassifier
from skml_kalda.classifiers.mlknn import MLkNN
from skml_kalda.onnx.operators import Node, Operators, check_known, dense
from skml_kalda.onnx.reducers import kernel_sums

_METRICS = ("euclidean", "manhattan", "cosine")


def set_classifier_types(operator: Any) -> None:
    """Declare types and shapes: labels, or classes, and probabilities."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    check_is_fitted(operator.raw_operator)
    variable, classes = operator.inputs[0], operator.raw_operator.classes_
    n, K = variable.get_first_dimension(), len(classes)
    label, probability = operator.outputs
    if _has_indicator(operator.raw_operator):
        label.type = Int64TensorType([n, K])
    else:
        label.type = (StringTensorType if classes.dtype.kind in "OU" else Int64TensorType)([n])
    probability.type = type(guess_tensor_type(variable.type))([n, K])


def label_scores(classifier: Any, X: Node, op: Operators) -> list[Node]:
    """Predict the labels of `KaLDAClassifier` from their scores."""
    scores, op64 = classifier._scores, op.double()
    (slope, intercept), X = scores.sigmoids, op64.cast(X, np.float64)
    log_odds = op64("Add", op64("Mul", _score_sums(scores, X, op64), slope), intercept)
    if not _has_indicator(classifier):
        return _classes(classifier, op.cast(op64("Softmax", log_odds, axis=1), op.dtype), op)
    probabilities = op64("Sigmoid", log_odds)
    labels = op64("GreaterOrEqual", probabilities, scores.thresholds)
    return [op.cast(labels, np.int64), op.cast(probabilities, op.dtype)]


def _score_sums(scores: Any, X: Node, op: Operators) -> Node:
    features, A = scores.features, scores.coefficients
    if isinstance(features, LinearFeatures):
        return op("Add", op("MatMul", X, A), scores.offset)
    kernels = features.kernels
    sums = [kernel_sums(k, A / len(kernels), op("Mul", X, c), op) for c, k in kernels]
    return op("Add", op.total(sums), scores.offset)


def _classes(classifier: Any, probabilities: Node, op: Operators) -> list[Node]:
    """Choose the most probable class."""
    names = classifier.classes_
    names = names.astype(str if names.dtype.kind in "OU" else np.int64)
    best = op("ArgMax", probabilities, axis=1, keepdims=0)
    return [op("Gather", names, best), probabilities]


def _has_indicator(classifier: Any) -> bool:
    """Whether the classifier was fitted on an indicator matrix, not on classes."""
    if isinstance(classifier, KaLDAClassifier):
        return classifier._columns is not None
    return bool(classifier.classes_.ndim == 2)


def neighbors(classifier: Any, X: Node, op: Operators) -> list[Node]:
    """Count the labels of the neighbours, and look the counts up in tables."""
    probability = _probability_table(classifier)
    first_cell = np.arange(0, probability.size, probability.shape[1])
    cells = op("Add", _label_counts(classifier, X, op), first_cell)
    probabilities = op("Gather", probability.ravel(), cells)
    if _has_indicator(classifier):
        decision = _decision_table(classifier, probability)
        return [op("Gather", decision.ravel().astype(np.int64), cells), probabilities]
    return _classes(classifier, op("Div", probabilities, op.row_sums(probabilities)), op)


def _probability_table(classifier: Any) -> NDArray[Any]:
    """Return the probability of each label (row) for each count (column)."""
    if isinstance(classifier, MLkNN):
        return classifier._probability_table()
    check_known("weights", classifier.weights, ("uniform",), classifier)
    if classifier._weight is not None:
        raise ValueError(
            f"{type(classifier).__name__} fitted with sample_weight has no ONNX form, because its "
            "votes are not counts: fit it without sample_weight."
        )
    return np.tile(np.arange(classifier.k + 1) / classifier.k, (classifier._num_labels, 1))


def _decision_table(classifier: Any, shares: NDArray[Any]) -> NDArray[Any]:
    if isinstance(classifier, MLkNN):
        return classifier._decision_table()
    return dense(classifier._decision(sparse.csr_array(shares.T))).T


def _label_counts(classifier: Any, X: Node, op: Operators) -> Node:
    from skl2onnx.operator_converters.nearest_neighbours import onnx_nearest_neighbors_indices_k

    check_known("algorithm", classifier.algorithm, ("auto",), classifier)
    search = classifier.knn_
    check_known("metric", search.effective_metric_, _METRICS, classifier)
    ignored = classifier._ignored()
    nearest = onnx_nearest_neighbors_indices_k(
        X,
        op.constant(dense(search._fit_X)),
        classifier.k + ignored,
        metric=search.effective_metric_,
        dtype=op.dtype,
        op_version=op.version,
    )
    if ignored:
        counted = np.arange(ignored, classifier.k + ignored)
        nearest = op("Gather", nearest, counted, axis=1)
    if classifier._unknown is not None:
        raise ValueError(
            f"{type(classifier).__name__} fitted with unknown labels (NaN) has no ONNX form: "
            "not every neighbour votes on every label. Fit it on rows whose labels are known."
        )
    labels = classifier._label_cache.toarray().astype(np.uint8)
    return op.row_sums(op.cast(op("Gather", labels, nearest), np.int64), keepdims=0)

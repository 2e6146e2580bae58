"""Label scores of classifiers from any library, in one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from skml_kalda._core.arrays import Array

RESPONSES = ("predict_proba", "decision_function")


def label_scores(
    estimator: Any, X: Any, n_labels: int, methods: Sequence[str] = RESPONSES
) -> Array | sparse.csr_array:
    """Return the score of every label for every row of `X`, higher where it is more likely.

    Parameters
    ----------
    estimator : fitted classifier
        Of scikit-learn, scikit-multilearn or this package.
    X : array-like of shape (n, p)
        The rows.
    n_labels : int
        K, the number of labels that `estimator` was fitted with.
    methods : sequence of str
        Methods to try; the first one that `estimator` has is called.

    Returns
    -------
    array or CSR of shape (n, K)
        Sparse if the method returns sparse probabilities, as scikit-multilearn's do.

    Raises
    ------
    ValueError
        If `estimator` has none of the methods, or the answer is not one score per row and label.
    """
    method = next((getattr(estimator, name) for name in methods if hasattr(estimator, name)), None)
    if method is None:
        raise ValueError(
            f"{type(estimator).__name__} has no {' or '.join(methods)}, so its labels have no "
            "scores: pass a classifier that has one of them."
        )
    response = method(X)
    if isinstance(response, list):
        return np.column_stack(list(map(_of_label, response, estimator.classes_)))
    scores = _of_array(response, n_labels)
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            f"{method.__name__} of {type(estimator).__name__} returned shape {scores.shape}, not "
            f"one score for each of {n_labels} labels: fit it with an indicator matrix."
        )
    return scores


def _of_label(probabilities: Array, classes: Any) -> Array:
    """Return the probability of class 1, which is missing if no training row had the label."""
    column = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, column[0]] if len(column) else np.zeros(len(probabilities))


def _of_array(response: Any, n_labels: int) -> Any:
    if sparse.issparse(response):
        return sparse.csr_array(response)
    response = np.asarray(response)
    if n_labels > 1:
        return response
    # scikit-learn treats a single label as two classes.
    return response[:, np.newaxis] if response.ndim == 1 else response[:, -1:]

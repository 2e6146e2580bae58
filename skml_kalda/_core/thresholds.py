"""Label scores of any classifier, and the thresholds on them that maximise F1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array

Average: TypeAlias = Literal["macro", "micro", "samples"]
Positive: TypeAlias = NDArray[np.bool_]
RESPONSES = ("predict_proba", "decision_function")


def label_scores(
    estimator: Any, X: Any, n_labels: int, methods: Sequence[str] = RESPONSES
) -> Array | sparse.csr_array:
    """Return the score of every label for every sample of `X`, higher where it is more likely.

    Parameters
    ----------
    estimator : fitted classifier
        Of scikit-learn, scikit-multilearn or this package.
    X : array-like of shape (n, p)
        The samples.
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
        If `estimator` has none of the methods, or the answer is not one score per sample and label.
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
    """Return the probability of class 1, which is missing if no training sample had the label."""
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


def best_thresholds(
    scores: Array,
    Y: sparse.csr_array,
    unknown: sparse.csr_array | None = None,
    *,
    average: Average = "macro",
    per_label: bool = False,
) -> NDArray[np.float64]:
    """Return the thresholds on `scores` that maximise F1.

    Parameters
    ----------
    scores : array of shape (n, K)
        Score of every label for every sample, finite.
    Y : CSR of shape (n, K)
        The true labels, 0 and 1.
    unknown : CSR of shape (n, K) or None, default=None
        One where a label is unknown, which leaves the entry out of F1.
    average : {"macro", "micro", "samples"}, default="macro"
        The F1 to maximise: the mean over labels, the F1 of all (sample, label) pairs together, or
        the mean over samples. As in scikit-learn, a label or sample without positives counts as
        zero.
    per_label : bool, default=False
        Whether each label gets a threshold of its own. If not, one threshold serves all labels
        that have a positive sample. "samples" has no threshold per label.

    Returns
    -------
    ndarray of shape (K,)
        Predict label k where ``scores[:, k] >= thresholds[k]``. A threshold lies midway between
        two neighbouring scores. It is the lowest score if predicting every sample is best, and
        infinite if predicting no sample is: for every label without a positive sample, and for
        labels that only lower the micro F1.

    Raises
    ------
    ValueError
        If `average` is unknown, or is "samples" with a threshold per label.

    Notes
    -----
    The search is exact. F1 changes at the distinct scores only, so each label is sorted once and
    its hits are counted by cumulative sums, O(nK log(nK)) altogether. The K thresholds that
    together maximise micro F1, a ratio of sums over labels, are found by Dinkelbach's method.
    Among equally good thresholds the highest is chosen.

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0], [1, 0], [0, 1]])
    >>> best_thresholds(np.array([[0.3, 0.4], [0.2, 0.0], [0.1, 0.8]]), Y, per_label=True)
    array([0.15, 0.6 ])
    """
    check_average(average, per_label)
    if unknown is not None:
        # A label that is not true and has the lowest of all scores is predicted by no threshold
        # returned: predicting it would be one more error.
        scores = scores.copy()
        scores[unknown.nonzero()] = -np.inf
    search = (_EACH if per_label else _ONE)[average]
    thresholds = np.full(Y.shape[1], np.inf)
    occupied = np.flatnonzero(Y.sum(axis=0))
    if len(occupied):
        thresholds[occupied] = search(scores[:, occupied], Y[:, occupied].toarray() > 0)
    return thresholds


def check_average(average: str, per_label: bool) -> None:
    """Raise a ValueError if there is no search for this combination."""
    searches = _EACH if per_label else _ONE
    if average not in searches:
        raise ValueError(
            f"average={average!r} is not available with per_label={per_label}: "
            f"pass one of {list(searches)}."
        )


class _Curve(NamedTuple):
    """What every threshold on one label predicts, from nothing down to all samples."""

    scores: Array
    """Infinity, then the distinct scores in descending order: predict from here upwards."""

    hits: NDArray[np.intp]
    """How many samples with the label are predicted."""

    predicted: NDArray[np.intp]
    """How many samples are predicted."""

    def f1(self) -> NDArray[np.float64]:
        """F1 of the label at each threshold; the last one predicts every sample."""
        return 2 * self.hits / (self.hits[-1] + self.predicted)


def _curve(scores: Array, positive: Positive) -> _Curve:
    order = np.argsort(scores)[::-1]
    ranked = scores[order]
    ends = _ends(ranked)
    found = np.cumsum(positive[order])[ends]
    return _Curve(np.append(np.inf, ranked[ends]), np.append(0, found), np.append(0, ends + 1))


def _ends(ranked: Array) -> NDArray[np.intp]:
    """Last place of each distinct score: equal scores are predicted together."""
    return np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))


def _curves(scores: Array, positive: Positive) -> list[_Curve]:
    return list(map(_curve, np.ascontiguousarray(scores.T), np.ascontiguousarray(positive.T)))


def _cut(scores: Array, best: np.intp) -> float:
    """Return the threshold midway between the best of descending scores and the next one."""
    # Python floats: exact for float32, and no warning about infinite scores.
    above = float(scores[best])
    below = float(scores[best + 1]) if best + 1 < len(scores) else -np.inf
    middle = below / 2 + above / 2
    # The rounded middle of two adjacent numbers may be the lower one.
    return middle if below < middle <= above else above


def _one_macro(scores: Array, positive: Positive) -> float:
    """Maximise the mean F1 of the labels: every score passed changes one of them by a step."""
    curves = _curves(scores, positive)
    steps = np.concatenate([np.diff(curve.f1()) for curve in curves])
    passed = np.concatenate([curve.scores[1:] for curve in curves])
    order = np.argsort(passed)[::-1]
    ranked = passed[order]
    ends = _ends(ranked)
    return _cut(ranked[ends], steps[order].cumsum()[ends].argmax())


def _one_micro(scores: Array, positive: Positive) -> float:
    curve = _curve(scores.ravel(), positive.ravel())
    return _cut(curve.scores, curve.f1().argmax())


def _one_samples(scores: Array, positive: Positive) -> float:
    labelled = positive.any(axis=1)
    return _one_macro(scores[labelled].T, positive[labelled].T)


def _each_macro(scores: Array, positive: Positive) -> list[float]:
    return [_cut(curve.scores, curve.f1().argmax()) for curve in _curves(scores, positive)]


def _each_micro(scores: Array, positive: Positive) -> list[float]:
    """Maximise 2 Σ hits / (Σ positives + Σ predicted) over all K thresholds together.

    Dinkelbach's method: 2 Σ hits − q Σ predicted is maximised label by label. The ratio at the
    maximum is a better q, until it is the best one.
    """
    curves = _curves(scores, positive)
    ratio = 0.0
    while True:
        best = [(2 * curve.hits - ratio * curve.predicted).argmax() for curve in curves]
        hits = sum(curve.hits[cut] for curve, cut in zip(curves, best, strict=True))
        predicted = sum(curve.predicted[cut] for curve, cut in zip(curves, best, strict=True))
        reached = 2 * hits / (np.count_nonzero(positive) + predicted)
        if reached <= ratio:
            return [_cut(curve.scores, cut) for curve, cut in zip(curves, best, strict=True)]
        ratio = reached


_ONE = {"macro": _one_macro, "micro": _one_micro, "samples": _one_samples}
_EACH = {"macro": _each_macro, "micro": _each_micro}

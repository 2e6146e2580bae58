"""Label scores of any classifier, and the thresholds on them that maximise F1 or other measures."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics._scorer import _BaseScorer

from skml_kalda._core.arrays import Array

Average: TypeAlias = Literal["macro", "micro", "samples"]
Positive: TypeAlias = NDArray[np.bool_]
Response: TypeAlias = Literal["auto", "predict_proba", "decision_function"]
RESPONSES = ("predict_proba", "decision_function")
# How many thresholds are tried for a measure that is a callable.
_TRIED = 100


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
    classes: Any = getattr(estimator, "classes_", ())
    if n_labels == 1 and np.shape(response)[1:] == np.shape(classes) == (1,):
        # One column of a single label that no training sample had, or all: of the class 0, or 1.
        return _of_label(np.asarray(response), classes)[:, np.newaxis]
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


class Counted(NamedTuple):
    """A measure of predictions that their counts are enough for, higher where they are better."""

    # Of the numbers of hits, of predicted, of positive and of all samples.
    value: Callable[[Any, Any, Any, Any], Any]

    # Of an F-beta.
    beta: float | None = None

    # Whether it adds up over samples and labels, so that all averages are the same.
    is_sum: bool = False


Measure: TypeAlias = Counted | Callable[[Any, Any], Any]


def _f_beta(beta: float) -> Counted:
    def value(hits: Any, predicted: Any, positive: Any, n: Any) -> Any:
        size = beta**2 * positive + predicted
        return (1 + beta**2) * hits / np.where(size > 0, size, 1)

    return Counted(value, beta=beta)


def _recall_at(precision: float) -> Counted:
    def value(hits: Any, predicted: Any, positive: Any, n: Any) -> Any:
        precise = hits / np.maximum(predicted, 1) >= precision
        return precise * hits / np.maximum(positive, 1)

    return Counted(value)


def _neg_cost(cost: Array) -> Counted:
    def value(hits: Any, predicted: Any, positive: Any, n: Any) -> Any:
        missed, false = positive - hits, predicted - hits
        paid = cost[1, 1] * hits + cost[1, 0] * missed + cost[0, 1] * false
        return -(paid + cost[0, 0] * (n - positive - false)) / n

    return Counted(value, is_sum=True)


F1 = _f_beta(1.0)


def measure_of(objective: Any) -> Measure:
    """Return the measure that a name, a cost matrix or a scorer stands for; a callable as it is.

    Examples
    --------
    >>> measure_of("f2").beta
    2.0
    """
    if isinstance(objective, str):
        named = re.fullmatch(r"(f|recall_at_precision_)([0-9]*\.?[0-9]+)", objective)
        number = float(named[2]) if named else 0.0
        if named and number > 0 and named[1] == "f":
            return _f_beta(number)
        if named and 0 < number <= 1:
            return _recall_at(number)
    elif isinstance(objective, _BaseScorer):
        return lambda y, predicted: (
            objective._sign * objective._score_func(y, predicted, **objective._kwargs)
        )
    elif callable(objective):
        return objective
    elif np.shape(objective) == (2, 2):
        cost = np.asarray(objective, dtype=np.float64)
        if cost[0, 0] <= cost[0, 1] and cost[1, 1] <= cost[1, 0]:
            return _neg_cost(cost)
    raise ValueError(
        f"objective={objective!r} is none: pass 'f1', 'f2', 'f0.5' or the like, "
        "'recall_at_precision_0.9' or the like, a cost matrix [[true 0, false 1], [false 0, "
        "true 1]] in which errors cost no less than what is right, or a callable such as "
        "sklearn.metrics.matthews_corrcoef."
    )


def attained(
    measure: Measure,
    Y: Positive,
    predicted: Positive,
    known: Positive,
    average: Average = "macro",
    per_label: bool = False,
) -> float:
    """Return the measure of predictions of shape (n, K), over the entries that are known."""
    if isinstance(measure, Counted):
        axis = None if measure.is_sum else {"macro": 0, "micro": None, "samples": 1}[average]
        counted = (Y & predicted & known, predicted & known, Y & known, known)
        return float(np.mean(measure.value(*(np.sum(each, axis=axis) for each in counted))))
    if not per_label:
        return float(measure(Y.astype(int), predicted.astype(int)))
    columns = zip(Y.T.astype(int), predicted.T.astype(int), known.T, strict=True)
    return float(np.mean([measure(y[at], found[at]) for y, found, at in columns if at.any()]))


def best_thresholds(
    scores: Array,
    Y: sparse.csr_array,
    unknown: sparse.csr_array | None = None,
    *,
    average: Average = "macro",
    per_label: bool = False,
    measure: Measure = F1,
) -> NDArray[np.float64]:
    """Return the thresholds on `scores` that maximise F1 or another measure.

    Parameters
    ----------
    scores : array of shape (n, K)
        Score of every label for every sample, finite.
    Y : CSR of shape (n, K)
        The true labels, 0 and 1.
    unknown : CSR of shape (n, K) or None, default=None
        One where a label is unknown, which leaves the entry out of the measure.
    average : {"macro", "micro", "samples"}, default="macro"
        The average of the measure: the mean over labels, the measure of all (sample, label) pairs
        together, or the mean over samples. As in scikit-learn, a label or sample without positives
        counts as zero.
    per_label : bool, default=False
        Whether each label gets a threshold of its own. If not, one threshold serves all labels
        that have a positive sample. "samples" has no threshold per label.
    measure : Counted or callable, default=F1
        See `measure_of`. A callable gets arrays of 0 and 1, of shape (n, K), or of shape (n,) for
        each label if `per_label`; `average` is then ignored.

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
    The search is exact, except that at most 100 thresholds of a callable are tried. Counts change
    at the distinct scores only, so each label is sorted once and its hits are counted by cumulative
    sums, O(nK log(nK)) altogether. The K thresholds that together maximise micro F-beta, a ratio of
    sums over labels, are found by Dinkelbach's method.
    Among equally good thresholds the highest is chosen.

    Examples
    --------
    >>> Y = sparse.csr_array([[1, 0], [1, 0], [0, 1]])
    >>> best_thresholds(np.array([[0.3, 0.4], [0.2, 0.0], [0.1, 0.8]]), Y, per_label=True)
    array([0.15, 0.6 ])
    """
    check_average(average, per_label, measure)
    thresholds = np.full(Y.shape[1], np.inf)
    occupied = np.flatnonzero(Y.sum(axis=0))
    if not isinstance(measure, Counted):
        return _by_trial(measure, scores, Y.toarray() > 0, unknown, per_label)
    if measure.is_sum:
        average = "macro" if per_label else "micro"
    if unknown is not None:
        # A label that is not true and has the lowest of all scores is predicted by no threshold
        # returned: predicting it would be one more error.
        scores = scores.copy()
        scores[unknown.nonzero()] = -np.inf
    search = (_EACH if per_label else _ONE)[average]
    if len(occupied):
        thresholds[occupied] = search(scores[:, occupied], Y[:, occupied].toarray() > 0, measure)
    return thresholds


def check_average(average: str, per_label: bool, measure: Measure = F1) -> None:
    """Raise a ValueError if there is no search for this combination."""
    searches = list(_EACH if per_label else _ONE)
    if per_label and isinstance(measure, Counted) and not (measure.beta or measure.is_sum):
        searches.remove("micro")
    if average not in searches:
        raise ValueError(
            f"average={average!r} is not available with per_label={per_label} for this objective: "
            f"pass one of {searches}."
        )


def _by_trial(
    measure: Callable[[Any, Any], Any],
    scores: Array,
    positive: Positive,
    unknown: sparse.csr_array | None,
    per_label: bool,
) -> NDArray[np.float64]:
    """Try thresholds at quantiles of the scores; labels without positives are never predicted."""
    K = positive.shape[1]
    if not per_label:
        if unknown is not None:
            raise ValueError(
                "objective is a callable, and y has unknown labels (NaN): set per_label=True, for "
                "which each label is scored on the samples in which it is known."
            )
        kept = np.where(positive.any(axis=0), scores, -np.inf)
        return np.where(positive.any(axis=0), _tried(measure, kept, positive), np.inf)
    known = np.ones(positive.shape, bool) if unknown is None else unknown.toarray() == 0
    return np.array(
        [
            _tried(measure, scores[known[:, k], k], positive[known[:, k], k])
            if positive[:, k].any()
            else np.inf
            for k in range(K)
        ]
    )


def _tried(measure: Callable[[Any, Any], Any], scores: Array, positive: Positive) -> float:
    distinct = np.append(np.inf, np.unique(scores[np.isfinite(scores)])[::-1])
    places = np.unique(np.linspace(0, len(distinct) - 1, _TRIED).astype(int))
    y = positive.astype(int)
    values = [measure(y, (scores >= distinct[place]).astype(int)) for place in places]
    return _cut(distinct, places[np.argmax(np.nan_to_num(values, nan=-np.inf))])


class _Curve(NamedTuple):
    """What every threshold on one label predicts, from nothing down to all samples."""

    # Infinity, then the distinct scores in descending order: predict from here upwards.
    scores: Array

    # How many samples with the label are predicted.
    hits: NDArray[np.intp]

    # How many samples are predicted.
    predicted: NDArray[np.intp]

    def values(self, measure: Counted) -> NDArray[np.float64]:
        """Measure of the label at each threshold; the last one predicts every sample."""
        found: NDArray[np.float64] = measure.value(
            self.hits, self.predicted, self.hits[-1], self.predicted[-1]
        )
        return found


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


def _one_macro(scores: Array, positive: Positive, measure: Counted) -> float:
    """Maximise the mean of the labels' measures: a score passed changes one of them by a step."""
    curves = _curves(scores, positive)
    steps = np.concatenate([[0.0], *(np.diff(curve.values(measure)) for curve in curves)])
    passed = np.concatenate([[np.inf], *(curve.scores[1:] for curve in curves)])
    order = np.argsort(passed)[::-1]
    ranked = passed[order]
    ends = _ends(ranked)
    return _cut(ranked[ends], steps[order].cumsum()[ends].argmax())


def _one_micro(scores: Array, positive: Positive, measure: Counted) -> float:
    curve = _curve(scores.ravel(), positive.ravel())
    return _cut(curve.scores, curve.values(measure).argmax())


def _one_samples(scores: Array, positive: Positive, measure: Counted) -> float:
    labelled = positive.any(axis=1)
    return _one_macro(scores[labelled].T, positive[labelled].T, measure)


def _each_macro(scores: Array, positive: Positive, measure: Counted) -> list[float]:
    curves = _curves(scores, positive)
    return [_cut(curve.scores, curve.values(measure).argmax()) for curve in curves]


def _each_micro(scores: Array, positive: Positive, measure: Counted) -> list[float]:
    """Maximise (1 + β²) Σ hits / (β² Σ positives + Σ predicted) over all K thresholds together.

    Dinkelbach's method: (1 + β²) Σ hits − q Σ predicted is maximised label by label. The ratio at
    the maximum is a better q, until it is the best one.
    """
    assert measure.beta is not None  # check_average lets no other measure pass
    curves, weight = _curves(scores, positive), 1 + measure.beta**2
    ratio = 0.0
    while True:
        best = [(weight * curve.hits - ratio * curve.predicted).argmax() for curve in curves]
        hits = sum(curve.hits[cut] for curve, cut in zip(curves, best, strict=True))
        predicted = sum(curve.predicted[cut] for curve, cut in zip(curves, best, strict=True))
        reached = measure.value(hits, predicted, np.count_nonzero(positive), positive.size)
        if reached <= ratio:
            return [_cut(curve.scores, cut) for curve, cut in zip(curves, best, strict=True)]
        ratio = reached


_ONE = {"macro": _one_macro, "micro": _one_micro, "samples": _one_samples}
_EACH = {"macro": _each_macro, "micro": _each_micro}

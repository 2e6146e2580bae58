"""Thresholds on label scores that maximise F1, exact over all distinct scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skml_kalda._core.arrays import Array

Average: TypeAlias = Literal["macro", "micro", "samples"]
Positive: TypeAlias = NDArray[np.bool_]


def best_thresholds(
    scores: Array, Y: sparse.csr_array, *, average: Average = "macro", per_label: bool = False
) -> NDArray[np.float64]:
    """Return the thresholds on `scores` that maximise F1.

    Parameters
    ----------
    scores : array of shape (n, K)
        Score of every label for every row, finite.
    Y : CSR of shape (n, K)
        The true labels, 0 and 1.
    average : {"macro", "micro", "samples"}, default="macro"
        The F1 to maximise: the mean over labels, the F1 of all (row, label) pairs together, or
        the mean over rows. As in scikit-learn, a label or row without positives counts as zero.
    per_label : bool, default=False
        Whether each label gets a threshold of its own. If not, one threshold serves all labels
        that have a positive row. "samples" has no threshold per label.

    Returns
    -------
    ndarray of shape (K,)
        Predict label k where ``scores[:, k] >= thresholds[k]``. A threshold lies midway between
        two neighbouring scores. It is the lowest score if predicting every row is best, and
        infinite if predicting no row is: for every label without a positive row, and for labels
        that only lower the micro F1.

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
    search = (_EACH if per_label else _ONE)[average]
    thresholds = np.full(Y.shape[1], np.inf)
    occupied = np.flatnonzero(Y.sum(axis=0))
    if len(occupied):
        thresholds[occupied] = search(scores[:, occupied], Y[:, occupied].toarray() > 0)
    return thresholds


def without_unknown(scores: Array, unknown: sparse.csr_array | None) -> Array:
    """Return the scores with -inf where a label is unknown, which leaves these entries out of F1.

    A label that is not counted as true and has the lowest of all scores is predicted by no
    threshold that `best_thresholds` returns: predicting it would be one more error.
    """
    if unknown is None:
        return scores
    scores = scores.copy()
    scores[unknown.nonzero()] = -np.inf
    return scores


class Cells(NamedTuple):
    """The scores of one label, with how many rows have each of them."""

    scores: Array
    """Shape (c,); some may be equal."""

    hits: NDArray[Any]
    """How many rows with the label have each score."""

    rows: NDArray[Any]
    """How many rows have each score."""


def best_threshold_of_cells(cells: Iterable[Cells]) -> float:
    """Return the one threshold on the scores of all labels that maximises macro F1.

    It is the threshold of `best_thresholds` for labels whose scores take few values, or are
    mostly zero. Labels without a row are left out; if none remains, the threshold is infinite.
    """
    occupied = (Cells(*(part[each.rows > 0] for part in each)) for each in cells)
    curves = [_curve(*each) for each in occupied if each.hits.any()]
    return _macro_cut(curves) if curves else np.inf


def check_average(average: str, per_label: bool) -> None:
    """Raise a ValueError if there is no search for this combination."""
    searches = _EACH if per_label else _ONE
    if average not in searches:
        raise ValueError(
            f"average={average!r} is not available with per_label={per_label}: "
            f"pass one of {list(searches)}."
        )


class _Curve(NamedTuple):
    """What every threshold on one label predicts, from nothing down to all rows."""

    scores: Array
    """Infinity, then the distinct scores in descending order: predict from here upwards."""

    hits: NDArray[np.intp]
    """How many rows with the label are predicted."""

    predicted: NDArray[np.intp]
    """How many rows are predicted."""

    def f1(self) -> NDArray[np.float64]:
        """F1 of the label at each threshold; the last one predicts every row."""
        return 2 * self.hits / (self.hits[-1] + self.predicted)


def _curve(scores: Array, hits: NDArray[Any], rows: NDArray[Any] | None = None) -> _Curve:
    order = np.argsort(scores)[::-1]
    ranked = scores[order]
    ends = _ends(ranked)
    predicted = ends + 1 if rows is None else np.cumsum(rows[order])[ends]
    found = np.cumsum(hits[order])[ends]
    return _Curve(np.append(np.inf, ranked[ends]), np.append(0, found), np.append(0, predicted))


def _ends(ranked: Array) -> NDArray[np.intp]:
    """Last place of each distinct score: equal scores are predicted together."""
    return np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))


def _curves(scores: Array, positive: Positive) -> Iterator[_Curve]:
    return map(_curve, np.ascontiguousarray(scores.T), np.ascontiguousarray(positive.T))


def _cut(scores: Array, best: np.intp) -> float:
    """Return the threshold midway between the best of descending scores and the next one."""
    # Python floats: exact for float32, and no warning about infinite scores.
    above = float(scores[best])
    below = float(scores[best + 1]) if best + 1 < len(scores) else -np.inf
    middle = below / 2 + above / 2
    # The rounded middle of two adjacent numbers may be the lower one.
    return middle if below < middle <= above else above


def _one_macro(scores: Array, positive: Positive) -> float:
    return _macro_cut(list(_curves(scores, positive)))


def _macro_cut(curves: list[_Curve]) -> float:
    """Maximise the mean F1 of the curves: every score passed changes one of them by a step."""
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
    curves = list(_curves(scores, positive))
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

"""Measures of label rankings that scikit-learn lacks, as functions and as scorers.

Scores may be dense or sparse. Entries that sparse scores do not store are zero; no dense array
of all samples and labels is made. Unknown labels (NaN) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import check_array, check_consistent_length, check_scalar, column_or_1d

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import Indicator, multilabel_matrix
from skml_kalda._core.thresholds import RESPONSES, label_scores

__all__ = [
    "coverage",
    "get_scorer",
    "ndcg_at_k",
    "one_error",
    "per_label",
    "precision_at_k",
    "propensities",
    "propensity_scored_precision_at_k",
]


def precision_at_k(
    y_true: Any, y_score: Any, *, k: int = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Share of true labels among the k labels with the highest scores, mean over samples.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    k : int, default=1
        Number of labels to look at, at most K. The hits are divided by it, even if a sample has
        fewer labels.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    See Also
    --------
    ndcg_at_k : Hits count more at higher ranks.
    propensity_scored_precision_at_k : Hits count more for rare labels.
    one_error : One minus the precision at 1.
    sklearn.metrics.top_k_accuracy_score : For one class per sample.

    Notes
    -----
    P@k of the Extreme Classification Repository [1]_. As there, a sample without labels counts as
    zero; set its weight to zero to leave it out. Labels with equal scores share their ranks: the
    result is the mean over all their orders, and does not depend on the order of the columns.

    References
    ----------
    .. [1] K. Bhatia et al., "The Extreme Classification Repository: multi-label datasets and
       code", 2016.

    Examples
    --------
    >>> from skml_kalda.metrics import precision_at_k
    >>> y_true = [[1, 0, 1], [0, 1, 0]]
    >>> y_score = [[0.9, 0.6, 0.3], [0.2, 0.4, 0.8]]
    >>> precision_at_k(y_true, y_score), precision_at_k(y_true, y_score, k=2)
    (0.5, 0.5)
    """
    Y, scores, weight = _checked(y_true, y_score, sample_weight)
    check_scalar(k, "k", Integral, min_val=1, max_val=Y.shape[1])
    return _mean(_ranked_gain(Y, scores, np.full(k, 1 / k)), weight)


def ndcg_at_k(
    y_true: Any, y_score: Any, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float:
    """Normalised discounted cumulative gain of the k labels with the highest scores.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    k : int, default=5
        Number of labels to look at.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    See Also
    --------
    precision_at_k : All ranks up to k count the same.
    sklearn.metrics.ndcg_score : Graded relevance, dense arrays.

    Notes
    -----
    nDCG@k of the Extreme Classification Repository: a hit at rank r gains 1 / log2(r + 1), and
    the sum is divided by the largest one that the number of labels of the sample allows. Samples
    without labels and equal scores count as in :func:`precision_at_k`. The result is that of
    :func:`sklearn.metrics.ndcg_score`, which takes dense arrays only.

    Examples
    --------
    >>> from skml_kalda.metrics import ndcg_at_k
    >>> ndcg_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.2, 0.4, 0.8]], k=3)
    0.775...
    """
    Y, scores, weight = _checked(y_true, y_score, sample_weight)
    check_scalar(k, "k", Integral, min_val=1)
    discount = 1 / np.log2(np.arange(2, k + 2))
    n_labels = np.diff(Y.indptr)
    ideal = np.cumsum(discount)[np.clip(n_labels, 1, k) - 1]
    return _mean(_ranked_gain(Y, scores, discount) / ideal, weight)


def propensities(y: Any, *, a: float = 0.55, b: float = 1.5) -> NDArray[np.float64]:
    r"""Chance that a label that applies to a sample was noted, estimated from its frequency.

    Parameters
    ----------
    y : {array-like, sparse} of shape (n, K)
        Labels of the training samples, 0 and 1.
    a, b : float, default=0.55 and 1.5
        Constants of the model. Jain et al. use 0.5 and 0.4 for Wikipedia, 0.6 and 2.6 for Amazon,
        and the defaults for all other data.

    Returns
    -------
    ndarray of shape (K,)
        The propensities, from 0 to 1; rare labels have low ones.

    See Also
    --------
    propensity_scored_precision_at_k : The measure that needs them.

    Notes
    -----
    A label of :math:`n_l` of the n samples has the propensity

    .. math:: p_l = \frac{1}{1 + C e^{-a \log(n_l + b)}}, \qquad C = (\log n - 1)(b + 1)^a,

    a curve that Jain et al. [1]_ fitted to data for which missing labels were known. For n = 1 and
    n = 2, where C is negative, the propensities are one.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking and other missing label applications", KDD 2016.

    Examples
    --------
    >>> from skml_kalda.metrics import propensities
    >>> propensities([[1, 0], [1, 0], [1, 1], [1, 0], [0, 0]]).round(3)
    array([0.717, 0.621])
    """
    for name, value in (("a", a), ("b", b)):
        check_scalar(value, name, Real, min_val=0, include_boundaries="neither")
    Y = _true_labels(y, "y").matrix
    scale = max(np.log(Y.shape[0]) - 1, 0) * (b + 1) ** a
    return 1 / (1 + scale * (Y.sum(axis=0) + b) ** -a)


def propensity_scored_precision_at_k(
    y_true: Any,
    y_score: Any,
    propensities: ArrayLike,
    *,
    k: int = 1,
    sample_weight: ArrayLike | None = None,
) -> float:
    r"""Precision at k in which a hit counts one over the propensity of its label.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    propensities : array-like of shape (K,)
        Propensities of the labels, positive: see :func:`propensities`. They come from the labels
        of the training samples.
    k : int, default=1
        Number of labels to look at, at most K.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    See Also
    --------
    propensities : Estimates the propensities.
    precision_at_k : All hits count the same.

    Notes
    -----
    The mean over the samples of

    .. math:: \frac{1}{k} \sum_{l \text{ in the top } k} \frac{y_l}{p_l},

    divided by the highest mean that any ranking of the labels has, as in the tables of the Extreme
    Classification Repository. Samples without labels and equal scores count as in
    :func:`precision_at_k`. Without any label the result is zero.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking and other missing label applications", KDD 2016.

    Examples
    --------
    >>> from skml_kalda.metrics import propensity_scored_precision_at_k
    >>> y_true = [[1, 0, 1], [0, 1, 0]]
    >>> y_score = [[0.9, 0.6, 0.3], [0.2, 0.8, 0.4]]
    >>> propensity_scored_precision_at_k(y_true, y_score, [0.5, 0.5, 0.25])
    0.666...
    """
    Y, scores, weight = _checked(y_true, y_score, sample_weight)
    check_scalar(k, "k", Integral, min_val=1, max_val=Y.shape[1])
    p = column_or_1d(propensities, dtype=np.float64)
    if len(p) != Y.shape[1] or not (p > 0).all():
        raise ValueError(
            f"propensities must be {Y.shape[1]} positive numbers, one for each column of y_true: "
            "pass propensities(y) of the training samples."
        )
    weighted = sparse.csr_array(Y.multiply(1 / p))
    every = np.full(k, 1 / k)
    best = _mean(_ranked_gain(weighted, weighted, every), weight)
    return _mean(_ranked_gain(weighted, scores, every), weight) / best if best else 0.0


def one_error(y_true: Any, y_score: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of samples whose label with the highest score is not a true one.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    See Also
    --------
    precision_at_k : One minus the one-error at k = 1.

    Notes
    -----
    The one-error of Zhang and Zhou [1]_. A sample without labels counts as an error; set its
    weight to zero to leave it out. If several labels have the highest score, the share of them
    that is not true counts.

    References
    ----------
    .. [1] M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning",
       Pattern Recognition 40 (2007) 2038-2048.

    Examples
    --------
    >>> from skml_kalda.metrics import one_error
    >>> one_error([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.2, 0.4, 0.8]])
    0.5
    """
    return 1 - precision_at_k(y_true, y_score, k=1, sample_weight=sample_weight)


def coverage(y_true: Any, y_score: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """How many steps down the ranked labels cover all true ones, mean over samples.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

    Returns
    -------
    float
        Between 0 and K - 1; lower is better.

    See Also
    --------
    sklearn.metrics.coverage_error : The same measure, counted from one.

    Notes
    -----
    The coverage of Zhang and Zhou [1]_ counts steps from the first rank, so it is one less than
    :func:`sklearn.metrics.coverage_error`, which counts labels. Both count a sample without labels
    as zero, and rank a label after all labels with an equal score.

    References
    ----------
    .. [1] M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label learning",
       Pattern Recognition 40 (2007) 2038-2048.

    Examples
    --------
    >>> from skml_kalda.metrics import coverage
    >>> coverage([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.2, 0.4, 0.8]])
    1.5
    """
    Y, scores, weight = _checked(y_true, y_score, sample_weight)
    return _mean(np.maximum(_covering_rank(Y, scores) - 1, 0), weight)


def per_label(
    metric: Callable[..., float],
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: ArrayLike | None = None,
    **options: Any,
) -> NDArray[np.float64]:
    """Apply a metric of scikit-learn to each label, over the samples in which it is known.

    Parameters
    ----------
    metric : callable
        For two classes, such as :func:`sklearn.metrics.f1_score` or
        :func:`sklearn.metrics.average_precision_score`.
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1, or NaN where unknown.
    y_pred : {array-like, sparse} of shape (n, K)
        What the metric compares them with: predicted labels, probabilities or scores.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples, for metrics that take them.
    **options : dict
        Further arguments of the metric.

    Returns
    -------
    ndarray of shape (K,)
        One value for each label; their mean is the macro average. NaN for labels that are unknown
        in all samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics import f1_score
    >>> from skml_kalda.metrics import per_label
    >>> per_label(f1_score, [[1, 0], [0, 1], [np.nan, 1]], [[1, 0], [1, 1], [0, 0]])
    array([0.66666667, 0.66666667])
    """
    Y, _, _, unknown = _true_labels(y_true, allow_unknown=True)
    found = y_pred.toarray() if sparse.issparse(y_pred) else np.asarray(y_pred)
    _check_shape(Y, found, "y_pred")
    weight = None if sample_weight is None else _weights(sample_weight, Y)
    known = np.ones(Y.shape, bool) if unknown is None else unknown.toarray() == 0
    truth = Y.toarray().astype(int)
    values = np.full(Y.shape[1], np.nan)
    for k in np.flatnonzero(known.any(axis=0)):
        at = known[:, k]
        weights = {} if weight is None else {"sample_weight": weight[at]}
        values[k] = metric(truth[at, k], found[at, k], **weights, **options)
    return values


def get_scorer(name: str) -> _RankingScorer:
    """Return a scorer for cross-validation and searches.

    Parameters
    ----------
    name : str
        "precision_at_k" or "ndcg_at_k" with a number in place of k, "neg_one_error" or
        "neg_coverage". Higher is better for all of them.

    Returns
    -------
    callable
        A scorer like those of :func:`sklearn.metrics.make_scorer`, to be called with an
        estimator, `X` and `y`. It takes the scores of the labels from ``predict_proba`` or
        ``decision_function``, in any form that scikit-learn's and scikit-multilearn's classifiers
        return.

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from skml_kalda import MLkNN
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.metrics import get_scorer
    >>> X, y = load_dataset("emotions", return_X_y=True)
    >>> cross_val_score(MLkNN(), X, y, cv=3, scoring=get_scorer("precision_at_2")).round(2)
    array([0.46, 0.52, 0.51])
    """
    at = re.fullmatch("(precision|ndcg)_at_([1-9][0-9]*)", name)
    if at:
        measure = precision_at_k if at[1] == "precision" else ndcg_at_k
        return _RankingScorer(measure, 1, {"k": int(at[2])}, RESPONSES)
    if name not in _LOSSES:
        raise ValueError(
            f"name={name!r} is not a scorer of this package: pass 'precision_at_1', 'ndcg_at_5' or "
            f"the like, or one of {list(_LOSSES)}; sklearn.metrics.get_scorer has others."
        )
    return _RankingScorer(_LOSSES[name], -1, {}, RESPONSES)


_LOSSES = {"neg_one_error": one_error, "neg_coverage": coverage}


class _RankingScorer(_BaseScorer):
    # scikit-learn's own scorers fail on labels that are constant in a training fold, and may take
    # two labels for two classes.
    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **kwargs: Any) -> Any:
        n_labels = _true_labels(y_true, allow_unknown=True).matrix.shape[1]
        scores = label_scores(estimator, X, n_labels, self._response_method)
        return self._sign * self._score_func(y_true, scores, **self._kwargs, **kwargs)


def _true_labels(y_true: Any, name: str = "y_true", *, allow_unknown: bool = False) -> Indicator:
    single_label = "sklearn.metrics.top_k_accuracy_score"
    return multilabel_matrix(y_true, name, single_label=single_label, allow_unknown=allow_unknown)


def _checked(
    y_true: Any, y_score: Any, sample_weight: ArrayLike | None
) -> tuple[sparse.csr_array, Any, Array]:
    """Return labels, scores and weights; unknown labels have the lowest score, and are not true."""
    Y, _, _, unknown = _true_labels(y_true, allow_unknown=True)
    if isinstance(y_score, list) and all(np.ndim(each) == 2 for each in y_score):
        raise ValueError(
            "y_score is a list of one array for each label, as some classifiers return it: pass "
            "one array, y_score = np.column_stack([each[:, 1] for each in y_score])."
        )
    scores = check_array(
        y_score, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="y_score"
    )
    _check_shape(Y, scores, "y_score")
    if sparse.issparse(scores):
        scores = sparse.csr_array(scores, copy=True)
        scores.sum_duplicates()
        scores.eliminate_zeros()
    weight = _weights(sample_weight, Y)
    if unknown is not None:
        if sparse.issparse(scores):
            scores = sparse.csr_array(scores + unknown * -np.inf)
        else:
            scores = np.where(unknown.toarray() > 0, -np.inf, scores)
        weight = np.where(unknown.sum(axis=1) < Y.shape[1], weight, 0)
    return Y, scores, weight


def _check_shape(Y: sparse.csr_array, given: Any, name: str) -> None:
    if Y.shape != given.shape:
        raise ValueError(
            f"y_true has shape {Y.shape}, but {name} has shape {given.shape}: pass one value for "
            "each entry of y_true."
        )


def _weights(sample_weight: ArrayLike | None, Y: sparse.csr_array) -> Array:
    if sample_weight is None:
        return np.ones(Y.shape[0])
    weight = column_or_1d(sample_weight, dtype=np.float64)
    check_consistent_length(Y, weight)
    return weight


def _mean(of_rows: NDArray[Any], weight: Array) -> float:
    return float(np.average(of_rows, weights=weight))


def _ranked_gain(Y: sparse.csr_array, scores: Any, discount: Array) -> Array:
    """Return Σ over ranks r ≤ k of discount_r · y of the label at rank r, for each sample.

    Parameters
    ----------
    Y : CSR of shape (n, K)
        The true labels, or what each of them is worth.
    scores : array or CSR of shape (n, K)
        Scores of the labels; CSR without duplicates and stored zeros.
    discount : array of shape (k,)
        What a true label is worth at each rank.

    Returns
    -------
    ndarray of shape (n,)
        The mean over all orders of labels with equal scores.
    """
    k = len(discount)
    total = np.append(0.0, np.cumsum(discount))
    ties = _sparse_ties(Y, scores) if sparse.issparse(scores) else _dense_ties(Y, scores, k)
    ranks = total[np.minimum(ties.above + ties.size, k)] - total[np.minimum(ties.above, k)]
    gains = ties.true / ties.size * ranks
    return np.bincount(ties.row, weights=gains, minlength=Y.shape[0]).astype(np.float64)


def _covering_rank(Y: sparse.csr_array, scores: Any) -> NDArray[np.intp]:
    """Return the rank of the lowest true label of each sample; it is last among equal scores.

    The rank is zero for samples without labels. The parameters are those of `_ranked_gain`.
    """
    rows, labels = Y.nonzero()
    lowest = np.full(Y.shape[0], np.inf)
    np.minimum.at(lowest, rows, _entries(scores, rows, labels))
    if not sparse.issparse(scores):
        return np.count_nonzero(scores >= lowest[:, np.newaxis], axis=1)
    rows, _ = scores.nonzero()
    stored = np.bincount(rows[scores.data >= lowest[rows]], minlength=len(lowest))
    return stored + np.where(lowest <= 0, _n_zeros(scores), 0)


def _entries(matrix: Any, rows: NDArray[np.intp], labels: NDArray[np.intp]) -> Array:
    """Return the entries of a matrix, dense or CSR, at some rows and columns."""
    # Without entries, SciPy returns an array of another shape.
    return matrix[rows, labels] if len(rows) else np.zeros(0)


def _n_zeros(scores: sparse.csr_array) -> NDArray[np.intp]:
    return scores.shape[1] - np.diff(scores.indptr)


class _Ties(NamedTuple):
    """Groups of labels with equal scores within a sample, one entry per group."""

    row: NDArray[np.intp]
    above: NDArray[np.intp]
    """How many labels of the sample have higher scores."""

    size: NDArray[np.intp]
    true: NDArray[Any]
    """Sum of the entries of Y in the group: how many of its labels are true."""


def _dense_ties(Y: sparse.csr_array, scores: NDArray[Any], k: int) -> _Ties:
    """Return the ties of the k highest scores of each sample, and of scores equal to the lowest."""
    place = max(scores.shape[1] - k, 0)
    lowest = np.partition(scores, place, axis=1)[:, [place]]
    rows, labels = np.nonzero(scores >= lowest)
    return _ties(rows, scores[rows, labels], _entries(Y, rows, labels))[0]


def _sparse_ties(Y: sparse.csr_array, scores: sparse.csr_array) -> _Ties:
    rows, labels = scores.nonzero()
    true = _entries(Y, rows, labels)
    stored, values = _ties(rows, scores.data, true)
    n, n_zeros = Y.shape[0], _n_zeros(scores)
    below = np.where(values < 0, n_zeros[stored.row], 0)
    positive = np.bincount(rows[scores.data > 0], minlength=n)
    missed = Y.sum(axis=1) - np.bincount(rows, weights=true, minlength=n)
    some = n_zeros > 0
    zeros = _Ties(np.arange(n)[some], positive[some], n_zeros[some], missed[some])
    stored = stored._replace(above=stored.above + below)
    return _Ties(*map(np.concatenate, zip(stored, zeros, strict=True)))


def _ties(
    rows: NDArray[np.intp], values: NDArray[Any], true: NDArray[Any]
) -> tuple[_Ties, NDArray[Any]]:
    """Group entries by row and value, highest values first; also return the values."""
    order = np.lexsort((-values, rows))
    rows, values = rows[order], values[order]
    is_first = np.ones(len(rows), dtype=bool)
    is_first[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(is_first)
    above = first - np.searchsorted(rows, rows[first])
    size = np.diff(np.append(first, len(rows)))
    return _Ties(rows[first], above, size, np.add.reduceat(true[order], first)), values[first]

"""Measures of label rankings that scikit-learn lacks, as functions and as scorers.

Scores may be dense or sparse. Entries that sparse scores do not store are zero; no dense array
of all rows and labels is made.
"""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import check_array, check_consistent_length, check_scalar, column_or_1d

from skml_kalda._core.labels import multilabel_matrix
from skml_kalda._core.scores.ranking import covering_rank, ranked_gain
from skml_kalda._core.scores.responses import RESPONSES, label_scores

__all__ = ["coverage", "get_scorer", "ndcg_at_k", "one_error", "precision_at_k"]


def precision_at_k(
    y_true: Any, y_score: Any, *, k: int = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Share of true labels among the k labels with the highest scores, mean over rows.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    k : int, default=1
        Number of labels to look at. The hits are divided by it, even if a row or the whole set
        has fewer labels.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    float
        Between 0 and 1; higher is better.

    See Also
    --------
    ndcg_at_k : Hits count more at higher ranks.
    one_error : One minus the precision at 1.
    sklearn.metrics.top_k_accuracy_score : For one class per row.

    Notes
    -----
    P@k of the Extreme Classification Repository [1]_. As there, a row without labels counts as
    zero; give it weight zero to leave it out. Labels with equal scores share their ranks: the
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
    Y, scores = _checked(y_true, y_score)
    check_scalar(k, "k", Integral, min_val=1)
    return _mean(ranked_gain(Y, scores, np.full(k, 1 / k)), sample_weight)


def ndcg_at_k(
    y_true: Any, y_score: Any, *, k: int = 5, sample_weight: ArrayLike | None = None
) -> float:
    """Normalised discounted cumulative gain of the k labels with the highest scores.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    k : int, default=5
        Number of labels to look at.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

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
    the sum is divided by the largest one that the number of labels of the row allows. Rows
    without labels and equal scores count as in :func:`precision_at_k`. The result is that of
    :func:`sklearn.metrics.ndcg_score`, which takes dense arrays only.

    Examples
    --------
    >>> from skml_kalda.metrics import ndcg_at_k
    >>> ndcg_at_k([[1, 0, 1], [0, 1, 0]], [[0.9, 0.6, 0.3], [0.2, 0.4, 0.8]], k=3)
    0.775...
    """
    Y, scores = _checked(y_true, y_score)
    check_scalar(k, "k", Integral, min_val=1)
    discount = 1 / np.log2(np.arange(2, k + 2))
    n_labels = np.diff(Y.indptr)
    ideal = np.cumsum(discount)[np.clip(n_labels, 1, k) - 1]
    return _mean(ranked_gain(Y, scores, discount) / ideal, sample_weight)


def one_error(y_true: Any, y_score: Any, *, sample_weight: ArrayLike | None = None) -> float:
    """Share of rows whose label with the highest score is not a true one.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    float
        Between 0 and 1; lower is better.

    See Also
    --------
    precision_at_k : One minus the one-error at k = 1.

    Notes
    -----
    The one-error of Zhang and Zhou [1]_. A row without labels counts as an error; give it weight
    zero to leave it out. If several labels have the highest score, the share of them that is
    not true counts.

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
    """How many steps down the ranked labels cover all true ones, mean over rows.

    Parameters
    ----------
    y_true : {array-like, sparse} of shape (n, K)
        True labels, 0 and 1.
    y_score : {array-like, sparse} of shape (n, K)
        Scores, higher for labels that are more likely.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

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
    :func:`sklearn.metrics.coverage_error`, which counts labels. Both count a row without labels
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
    Y, scores = _checked(y_true, y_score)
    return _mean(np.maximum(covering_rank(Y, scores) - 1, 0), sample_weight)


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
        Y = _true_labels(y_true)
        scores = label_scores(estimator, X, Y.shape[1], self._response_method)
        return self._sign * self._score_func(Y, scores, **self._kwargs, **kwargs)


def _true_labels(y_true: Any) -> sparse.csr_array:
    single_label = "sklearn.metrics.top_k_accuracy_score"
    return multilabel_matrix(y_true, "y_true", single_label=single_label).matrix


def _checked(y_true: Any, y_score: Any) -> tuple[sparse.csr_array, Any]:
    Y = _true_labels(y_true)
    scores = check_array(
        y_score, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="y_score"
    )
    if Y.shape != scores.shape:
        raise ValueError(
            f"y_true has shape {Y.shape}, but y_score has shape {scores.shape}: pass one score "
            "for each entry of y_true."
        )
    return Y, _nonzero(scores) if sparse.issparse(scores) else scores


def _nonzero(scores: Any) -> sparse.csr_array:
    scores = sparse.csr_array(scores, copy=True)
    scores.sum_duplicates()
    scores.eliminate_zeros()
    return scores


def _mean(of_rows: NDArray[Any], sample_weight: ArrayLike | None) -> float:
    if sample_weight is None:
        return float(np.mean(of_rows))
    weight = column_or_1d(sample_weight, dtype=np.float64)
    check_consistent_length(of_rows, weight)
    return float(np.average(of_rows, weights=weight))

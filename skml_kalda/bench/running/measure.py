"""Measure a cell: split, standardise, choose, reduce, classify, score.

To choose is a cross-validation inside the training samples. Its score may be that of the predicted
labels, that of their ranking, or the best F1 that one threshold for all labels reaches on the
held-out samples ("macro_f1_tuned").
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import fmean
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, ParameterGrid, ShuffleSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from threadpoolctl import threadpool_limits

from skml_kalda._core.neighbors import neighbor_counts
from skml_kalda._core.thresholds import RESPONSES, Average, best_thresholds, label_scores
from skml_kalda.bench import methods
from skml_kalda.bench.plan import HELD_OUT, TUNED, Cell
from skml_kalda.bench.running.data import Source, load, published_splits
from skml_kalda.bench.running.results import Row, failed_row, ok_row, printable
from skml_kalda.bench.scores import SCORES, scores_of
from skml_kalda.metrics import per_label, propensities
from skml_kalda.model_selection import MultiLabelStratifiedKFold

# Scores of single labels are kept of datasets with at most this many.
_MOST_LABELS = 100
# What a method may raise without ending the run. `sys.exit` in a method is a failure like others;
# KeyboardInterrupt is not among them: it comes from the user.
FAILURES = (Exception, SystemExit)
# Libraries of classifiers of several labels whose tags do not say so.
_SEVERAL_LABELS = ("mlrl",)


def measure(cell: Cell, source: Source) -> Row:
    """Measure a cell; an exception of its method becomes a failed row.

    Cells that share a fit are best measured one after the other: the last fit is kept.
    """
    # One thread: sums in another order could break a tie between neighbours differently, and the
    # scores would depend on the number of jobs.
    with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row = ok_row(cell, source, _MEASURES[cell.kind](cell, source))
        except FAILURES as error:
            row = failed_row(cell, source, "error", describe_failure(error))
    return row | {"warnings": sorted({printable(str(each.message)) for each in caught})}


def _loaded(cell: Cell, source: Source) -> tuple[Any, Any, list[str]]:
    return load(source, cell.classes, cell.max_rows, cell.seed, cell.max_labels)


@lru_cache(maxsize=1)
def _fitted(cell: Cell, source: Source) -> tuple[Reduced, Choice]:
    """Return the reduction of a cell, and the choice of its setting."""
    X, y, _ = _loaded(cell, source)
    train, test = _split(cell, source, X, y)
    choice = choose(cell, X[train], y[train]) if cell.tune else Choice()
    return reduce(cell, choice.parameters, X, y, train, test), choice


def _split(cell: Cell, source: Source, X: Any, y: Any) -> tuple[Any, Any]:
    if cell.kind not in HELD_OUT:
        return slice(None), slice(None)
    if cell.train_rows and (published := published_splits(source)):
        return published[cell.fold]
    options: Any = {"stratified": cell.stratified, "train_rows": cell.train_rows}
    return splits(X, y, cell.folds, cell.seed + cell.repeat, **options)[cell.fold]


@lru_cache(maxsize=1)
def _inner(cell: Cell, source: Source) -> list[Reduced]:
    """Reduce inside the training samples, with a part of them held out for the thresholds."""
    X, y, _ = _loaded(cell, source)
    train, _ = _split(cell, source, X, y)
    _, choice = _fitted(cell, source)
    X, y = X[train], y[train]
    inner = splits(X, y, cell.thresholds, cell.seed + cell.repeat)
    return [reduce(cell, choice.parameters, X, y, *rows) for rows in inner]


def _scored(cell: Cell, source: Source) -> Row:
    rows, choice = _fitted(cell.fit(), source)
    start = time.perf_counter()
    classifier = LabelClassifier.fit(_classifier(cell, choice), rows.train, rows.y_train)
    ready = time.perf_counter()
    predicted = classifier.predict(rows.test)
    done = time.perf_counter()
    thresholds = _thresholds(cell, source) if cell.thresholds and rows.y_test.ndim == 2 else {}
    chances = propensities(rows.y_train) if rows.y_train.ndim == 2 else None
    probability = classifier.scores(rows.test)
    scores = scores_of(rows.y_test, predicted, probability, thresholds, chances)
    if thresholds:
        predicted = probability >= thresholds["macro"]
    names = _loaded(cell, source)[2]
    seconds = {
        "classify_seconds": done - start,
        "train_seconds": rows.train_seconds + ready - start,
        "predict_seconds": rows.transform_seconds + done - ready,
    }
    rounded = {name: round(value, 6) for name, value in seconds.items()}
    labels = _label_f1(rows.y_test, predicted, names)
    return {"scores": scores, **labels, **rows.costs(), **choice.record(), **rounded}


def _label_f1(y: Any, predicted: Any, names: list[str]) -> Row:
    """Return the F1 of each label, unless there are more than a reader would look at."""
    if y.ndim == 1 or y.shape[1] > _MOST_LABELS:
        return {}
    values = per_label(f1_score, y, predicted, zero_division=0.0).round(4).tolist()
    return {"label_f1": dict(zip(names, values, strict=True))}


def _classifier(cell: Cell, choice: Choice) -> Any:
    if cell.classifier != methods.ITSELF:
        return methods.make_classifier(methods.check_classifier(cell.classifier, choice.k))
    parameters = {**cell.parameters, **choice.parameters}
    return methods.make_estimator(cell.method, parameters, None, cell.random_state())


def _thresholds(cell: Cell, source: Source) -> dict[str, Any]:
    """Return the thresholds with the best F1 on held-out training samples, by average."""
    inner = _inner(cell.fit(), source)
    _, choice = _fitted(cell.fit(), source)
    scores = [
        LabelClassifier.fit(_classifier(cell, choice), part.train, part.y_train).scores(part.test)
        for part in inner
    ]
    if any(each is None for each in scores):
        return {}
    Y = sparse.csr_array(np.vstack([part.y_test for part in inner]))
    held_out = np.vstack(scores)
    averages: tuple[Average, ...] = ("macro", "micro")
    return {each: best_thresholds(held_out, Y, average=each) for each in averages}


def _converged(cell: Cell, source: Source) -> Row:
    """Return the objective after every iteration, and its upper bound."""
    rows, _ = _fitted(cell.fit(), source)
    reducer = rows.reducer
    return {
        **rows.costs(),
        "objective": [float(f"{value:.9g}") for value in reducer.objective_history_],
        "upper_bound": float(reducer.upper_bound_),
        "converged": bool(reducer.converged_),
    }


def _projected(cell: Cell, source: Source) -> Row:
    """Return the first two coordinates of every sample, and its class or its labels."""
    rows, _ = _fitted(cell.fit(), source)
    points, y = np.asarray(rows.test)[:, :2], rows.y_test
    labels: Row = (
        {"classes_of_points": [str(each) for each in y]}
        if y.ndim == 1
        else {"labels_of_points": [np.flatnonzero(row).tolist() for row in y]}
    )
    rounded = [[float(f"{value:.5g}") for value in point] for point in points]
    return {**rows.costs(), "points": rounded, **labels}


def _exhibited(cell: Cell, source: Source) -> Row:
    """Return the points, and the scores of a classifier that sees these two dimensions only."""
    names = _loaded(cell, source)[2]
    return _projected(cell, source) | _scored(cell, source) | {"labels": names}


_MEASURES = {
    "scores": _scored,
    "convergence": _converged,
    "projection": _projected,
    "gallery": _exhibited,
}


def describe_failure(error: BaseException) -> str:
    """Return the type and the message of an exception."""
    return printable(f"{type(error).__name__}: {error}".removesuffix(": ")).strip()


def splits(
    X: Any, y: Any, folds: int, seed: int, *, stratified: bool = False, train_rows: int = 0
) -> list[tuple[Any, Any]]:
    """Split into training and test samples, stratified if each sample has one class.

    With several labels per sample they are stratified on request. Splits with a given number of
    training samples are random, and independent of one another.
    """
    if train_rows:
        random = ShuffleSplit(folds, train_size=train_rows, random_state=seed)
        return list(random.split(X))
    of_labels = MultiLabelStratifiedKFold if stratified else KFold
    splitter = of_labels if y.ndim == 2 else StratifiedKFold
    return list(splitter(folds, shuffle=True, random_state=seed).split(X, y))


def standardized(train: Any, test: Any) -> tuple[Any, Any]:
    """Scale to unit variance, and dense features to zero mean, by the training samples."""
    scaler = StandardScaler(with_mean=not sparse.issparse(train)).fit(train)
    return scaler.transform(train), scaler.transform(test)


def _without_missing(train: Any, test: Any) -> tuple[Any, Any]:
    """Replace missing values by the means of their features in the training samples."""
    values = (part.data if sparse.issparse(part) else part for part in (train, test))
    if not any(np.isnan(each).any() for each in values):
        return train, test
    imputer = SimpleImputer(keep_empty_features=True).fit(train)
    return imputer.transform(train), imputer.transform(test)


@dataclass(frozen=True)
class Reduced:
    """A fitted reducer, None if there is none, and the projected samples with their labels.

    Attributes
    ----------
    transform_seconds : float
        For the test samples.
    train_seconds : float
        To fit, and to project the training samples for a classifier.
    """

    reducer: Any
    train: Any
    test: Any
    y_train: Any
    y_test: Any
    fit_seconds: float
    transform_seconds: float
    train_seconds: float

    def costs(self) -> dict[str, Any]:
        """Return the fields of a row of results that describe the reduction."""
        # Some reducers count the iterations of each component.
        iterations = getattr(self.reducer, "n_iter_", None)
        return {
            "n_components": self.test.shape[1],
            "fit_seconds": round(self.fit_seconds, 6),
            "transform_seconds": round(self.transform_seconds, 6),
            "iterations": None if iterations is None else int(np.max(iterations)),
        }


def reduce(
    cell: Cell, setting: Mapping[str, Any], X: Any, y: Any, train: Any, test: Any
) -> Reduced:
    """Fit the reducer of a cell to the training samples, with a setting of its parameters."""
    A, B = _without_missing(X[train], X[test])
    A, B = standardized(A, B) if cell.standardize else (A, B)
    reducer = reducer_of(cell, setting, y[train], A.shape[1])
    if reducer is None:
        return Reduced(None, A, B, y[train], y[test], 0.0, 0.0, 0.0)
    start = time.perf_counter()
    reducer.fit(A, y[train])
    fitted = time.perf_counter()
    B = reducer.transform(B)
    transformed = time.perf_counter()
    A = reducer.transform(A)
    done = time.perf_counter()
    seconds = fitted - start, transformed - fitted, fitted - start + done - transformed
    return Reduced(reducer, A, B, y[train], y[test], *seconds)


def reducer_of(
    cell: Cell, setting: Mapping[str, Any], y: Any, n_features: int = sys.maxsize
) -> Any:
    """Make the reducer of a cell, with K - 1 components unless the cell has another number.

    There are never more components than features. Return None for no reduction, and for a method
    that classifies by itself. A tuned reducer keeps its own default number of components, which
    adapts to the samples: in a small inner fold, two labels may always occur together.
    """
    if methods.classifies(cell.method, cell.parameters):
        return None
    n_classes = len(np.unique(y)) if y.ndim == 1 else int((y.sum(axis=0) > 0).sum())
    usual = None if cell.tune else min(max(n_classes - 1, 1), n_features)
    parameters = {**cell.parameters, **setting}
    return methods.make_estimator(
        cell.method, parameters, cell.dimension or usual, cell.random_state()
    )


@dataclass(frozen=True)
class LabelClassifier:
    """A classifier fitted to the labels that vary in the training samples.

    Most classifiers cannot be fitted to a label that all training samples have, or none. Such a
    label is predicted as the training samples have it.

    Attributes
    ----------
    constant : Any
        The value of each label that does not vary, NaN for others; None for one class a sample.
    """

    fitted: Any
    constant: Any

    @classmethod
    def fit(cls, classifier: Any, X: Any, y: Any) -> Self:
        """Fit a classifier; one that takes a single label is fitted to each label by itself."""
        if y.ndim == 1:
            return cls(classifier.fit(X, y), None)
        low, high = y.min(axis=0), y.max(axis=0)
        constant = np.where(low == high, low, np.nan)
        varies = np.isnan(constant)
        return cls(_fit_labels(classifier, X, y[:, varies]) if varies.any() else None, constant)

    def predict(self, X: Any) -> Any:
        """Return the class of each sample, or an indicator of its labels."""
        if self.constant is None:
            return self.fitted.predict(X)
        whole = np.tile(self.constant, (X.shape[0], 1))
        if self.fitted is not None:
            found = _dense(self.fitted.predict(_older_form(X)))
            whole[:, np.isnan(self.constant)] = found.reshape(X.shape[0], -1)
        return whole.astype(int)

    def scores(self, X: Any) -> Any:
        """Return a score for each sample and label, or None if the classifier has no scores."""
        if self.constant is None:
            return None
        varies = np.isnan(self.constant)
        whole = np.zeros((X.shape[0], len(varies)))
        if self.fitted is not None:
            if not any(hasattr(self.fitted, name) for name in RESPONSES):
                return None
            found = label_scores(self.fitted, _older_form(X), int(varies.sum()))
            whole[:, varies] = _dense(found)
        # Constant labels come before or after all others.
        far = np.where(self.constant > 0, whole.max() + 1, whole.min() - 1)
        return np.where(varies, whole, far)


def _fit_labels(classifier: Any, X: Any, y: Any) -> Any:
    X = _older_form(X)
    if _library(classifier) == "skmultilearn":
        return classifier.fit(X, sparse.csr_matrix(y.astype(np.int64)))
    several = _library(classifier) in _SEVERAL_LABELS
    if not several:
        tags = get_tags(classifier)
        several = tags.target_tags.multi_output or tags.classifier_tags.multi_label
    return (classifier if several else OneVsRestClassifier(classifier)).fit(X, y)


def _older_form(X: Any) -> Any:
    """Return a sparse array as a matrix, which all libraries take."""
    return sparse.csr_matrix(X) if isinstance(X, sparse.sparray) else X


def _library(classifier: Any) -> str:
    return type(classifier).__module__.partition(".")[0]


def _dense(labels: Any) -> Any:
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)


@dataclass(frozen=True)
class Choice:
    """The chosen parameters and k; empty where nothing is tuned.

    A method that classifies by itself has no k.
    """

    parameters: Mapping[str, Any] = field(default_factory=dict)
    k: int | None = None
    score: float = float("nan")
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the fields of a row of results that describe the choice."""
        if np.isnan(self.score):
            return {}
        return {
            "chosen": dict(self.parameters),
            **({} if self.k is None else {"chosen_k": self.k}),
            "inner_score": self.score,
            "tune_seconds": round(self.seconds, 6),
        }


def choose(cell: Cell, X: Any, y: Any) -> Choice:
    """Choose the setting and k with the best mean score over the inner folds.

    Ties go to the first setting in the order of scikit-learn's `ParameterGrid`, and to the fewest
    neighbours. A setting that fails on a fold is not chosen, and a warning says why. All methods
    see the same inner folds. A single candidate needs no choice, and gets no score.
    """
    start = time.perf_counter()
    settings = list(ParameterGrid(cell.tune["grid"]))
    by_itself = methods.classifies(cell.method, cell.parameters)
    sizes = [None] if by_itself else sorted(cell.tune["neighbors"])
    if len(settings) == len(sizes) == 1:
        return Choice(settings[0], sizes[0])
    inner = splits(X, y, cell.tune["folds"], cell.seed + cell.repeat)
    scores = np.mean([_scores(cell, settings, X, y, *rows) for rows in inner], axis=0)
    if np.isnan(scores).all():
        raise ValueError(f"every setting of {cell.method} failed on some inner fold: see warnings")
    setting, size = np.unravel_index(np.nanargmax(scores), scores.shape)
    seconds = time.perf_counter() - start
    return Choice(settings[setting], sizes[size], float(scores[setting, size]), seconds)


def _scores(
    cell: Cell, settings: Sequence[Mapping[str, Any]], X: Any, y: Any, train: Any, test: Any
) -> NDArray[np.float64]:
    """Score every setting (rows) and number of neighbours (columns) on one inner fold."""
    A, B = standardized(X[train], X[test]) if cell.standardize else (X[train], X[test])
    by_itself = methods.classifies(cell.method, cell.parameters)
    predicted, columns = (_by_itself, 1) if by_itself else (_votes, len(cell.tune["neighbors"]))
    tuned_by = cell.tune["score"]
    names = [tuned_by] if isinstance(tuned_by, str) else tuned_by
    scores: list[list[float]] = []
    for setting in settings:
        try:
            found = predicted(cell, setting, A, B, y[train])
            scores.append([fmean(_score(name, y[test], *each) for name in names) for each in found])
        except FAILURES as error:
            warnings.warn(f"{setting} failed: {describe_failure(error)}", stacklevel=2)
            scores.append([np.nan] * columns)
    return np.array(scores)


def _votes(
    cell: Cell, setting: Mapping[str, Any], A: Any, B: Any, y: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield the predicted labels of B and their scores, for each number of neighbours."""
    reducer = reducer_of(cell, setting, y)
    if reducer is not None:
        reducer.fit(A, y)
        A, B = reducer.transform(A), reducer.transform(B)
    for k, counts in neighbor_counts(A, sparse.csr_array(y), B, cell.tune["neighbors"]):
        yield 2 * counts > k, counts


def _by_itself(
    cell: Cell, setting: Mapping[str, Any], A: Any, B: Any, y: Any
) -> Iterator[tuple[Any, Any]]:
    """Yield what a method that classifies by itself predicts for B, and its scores."""
    fitted = LabelClassifier.fit(_classifier(cell, Choice(setting)), A, y)
    yield fitted.predict(B), fitted.scores(B)


def _score(name: str, y: Any, predicted: Any, scores: Any) -> float:
    score = SCORES[name]
    if score.needs_probabilities:
        return float(score.function(y, scores)) * (-1 if score.lower_is_better else 1)
    if name in TUNED:
        average = cast(Average, TUNED[name])
        predicted = scores >= best_thresholds(scores, sparse.csr_array(y), average=average)
    return float(score.function(y, predicted))

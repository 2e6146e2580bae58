"""One fold: split, standardise, reduce, and classify with a classifier of any library."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from skml_kalda._core.thresholds import RESPONSES, label_scores
from skml_kalda.bench.methods import classifies, make_estimator
from skml_kalda.bench.plan import Cell
from skml_kalda.model_selection import MultiLabelStratifiedKFold

# What a method may raise without ending the run. `sys.exit` in a method is a failure like others;
# KeyboardInterrupt is not among them: it comes from the user.
FAILURES = (Exception, SystemExit)
# Libraries of classifiers of several labels whose tags do not say so.
_SEVERAL_LABELS = ("mlrl",)


def describe_failure(error: BaseException) -> str:
    """Return the type and the message of an exception."""
    return printable(f"{type(error).__name__}: {error}".removesuffix(": ")).strip()


def printable(text: str) -> str:
    r"""Replace control characters and lone surrogates by their escapes; no file can hold these.

    Examples
    --------
    >>> from skml_kalda.bench.running.fitting import printable
    >>> print(printable("caf\udce9 \x1b[31m"))
    caf\udce9 \x1b[31m
    """
    odd = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]"
    return re.sub(odd, lambda found: found[0].encode("unicode_escape").decode(), text)


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
    """A fitted reducer, None if there is none, and the projected samples with their labels."""

    reducer: Any
    train: Any
    test: Any
    y_train: Any
    y_test: Any
    fit_seconds: float
    transform_seconds: float
    """For the test samples."""
    train_seconds: float
    """To fit, and to project the training samples for a classifier."""

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
    if classifies(cell.method, cell.parameters):
        return None
    n_classes = len(np.unique(y)) if y.ndim == 1 else int((y.sum(axis=0) > 0).sum())
    usual = None if cell.tune else min(max(n_classes - 1, 1), n_features)
    parameters = {**cell.parameters, **setting}
    return make_estimator(cell.method, parameters, cell.dimension or usual, cell.random_state())


@dataclass(frozen=True)
class LabelClassifier:
    """A classifier fitted to the labels that vary in the training samples.

    Most classifiers cannot be fitted to a label that all training samples have, or none. Such a
    label is predicted as the training samples have it.
    """

    fitted: Any
    constant: Any
    """The value of each label that does not vary, NaN for others; None for one class a sample."""

    @classmethod
    def fit(cls, classifier: Any, X: Any, y: Any) -> Self:
        """Fit a classifier; one that takes a single label is fitted to each label by itself."""
        if y.ndim == 1:
            return cls(classifier.fit(X, y), None)
        low, high = y.min(axis=0), y.max(axis=0)
        constant = np.where(low == high, low, np.nan)
        varies = np.isnan(constant)
        return cls(_fitted(classifier, X, y[:, varies]) if varies.any() else None, constant)

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


def _fitted(classifier: Any, X: Any, y: Any) -> Any:
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

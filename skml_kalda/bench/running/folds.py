"""Folds: how rows are split, and standardised by the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from skml_kalda.model_selection import MultiLabelStratifiedKFold


def splits(
    X: Any, y: Any, folds: int, seed: int, *, stratified: bool = False, train_rows: int = 0
) -> list[tuple[Any, Any]]:
    """Split the rows into training and test rows, stratified if each row has one class.

    With several labels per row they are stratified on request. Splits with a given number of
    training rows are random, and independent of one another.
    """
    if train_rows:
        random = ShuffleSplit(folds, train_size=train_rows, random_state=seed)
        return list(random.split(X))
    of_labels = MultiLabelStratifiedKFold if stratified else KFold
    splitter = of_labels if y.ndim == 2 else StratifiedKFold
    return list(splitter(folds, shuffle=True, random_state=seed).split(X, y))


def standardized(train: Any, test: Any) -> tuple[Any, Any]:
    """Scale to unit variance, and dense features to zero mean, by the training rows."""
    scaler = StandardScaler(with_mean=not issparse(train)).fit(train)
    return scaler.transform(train), scaler.transform(test)


def without_missing(train: Any, test: Any) -> tuple[Any, Any]:
    """Replace missing values by the means of their features in the training rows."""
    if not any(np.isnan(part.data if issparse(part) else part).any() for part in (train, test)):
        return train, test
    imputer = SimpleImputer(keep_empty_features=True).fit(train)
    return imputer.transform(train), imputer.transform(test)


def n_classes(y: Any) -> int:
    """Return the number of classes that have rows."""
    return len(np.unique(y)) if y.ndim == 1 else int((y.sum(axis=0) > 0).sum())

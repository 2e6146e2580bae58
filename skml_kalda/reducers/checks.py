"""What every reducer must hold, as a check that third parties can run on theirs."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import InputTags, Tags, TargetTags, get_tags
from sklearn.utils.validation import has_fit_parameter

# What is said of an estimator that has no tags.
_NO_TAGS = Tags(None, TargetTags(required=True), input_tags=InputTags())


def check_reducer(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> None:
    """Check that a supervised dimension reducer does what every reducer must.

    This complements `sklearn.utils.estimator_checks.check_estimator`: it checks what is
    particular to labels and to projections. The estimator is cloned, never fitted itself.

    - `deterministic`: the same seed gives the same result, and a sample is projected alike
      alone and among others;
    - `pickle`: a clone, and a pickled reducer, project alike;
    - `data_untouched`: `fit` and `transform` write into neither X nor y;
    - `float32`: single precision in, single precision out, with its digits;
    - `sparse`: sparse X gives what dense X gives;
    - `class_labels`: labels in one dimension are their one-hot indicator, whatever their names;
    - `label_order`, `sample_order`: neither changes a projection, nor its signs;
    - `unlabelled`: samples without a label are accepted;
    - `sample_weight`: a weight of two is a repeated sample;
    - `partial_fit`: batches give what `fit` on all samples gives;
    - `inverse_transform`: it goes to a point that is projected to where it came from;
    - `names`: there is one name for each column of the projection;
    - `n_components`: too many raise a ValueError that names the parameter.

    What an estimator does not offer is skipped. Its tags say whether it takes sparse X, a
    precomputed kernel (`pairwise`), several labels (`target_tags.multi_output`) and float32.

    Parameters
    ----------
    estimator : object
        An unfitted reducer with ``fit(X, y)`` and ``transform(X)``. A parameter `random_state`
        is set to 0.
    expected_failed_checks : mapping of str to str, default=None
        Names of checks above that need not hold, each with the reason.

    Raises
    ------
    AssertionError
        If a check fails; the message names the class of the estimator and the check.
        An error of the first fit is raised as it is.

    Examples
    --------
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from skml_kalda import MultiLabelKaLDA, check_reducer
    >>> check_reducer(MultiLabelKaLDA())
    >>> reason = "the signs of its columns depend on the order of classes"
    >>> check_reducer(
    ...     LinearDiscriminantAnalysis(), expected_failed_checks={"label_order": reason}
    ... )
    """
    checks = _Checks(estimator)
    for name in _NAMES:
        if name in (expected_failed_checks or {}):
            continue
        try:
            getattr(checks, name)()
        except Exception as error:
            kind = type(estimator).__name__
            reason = error if isinstance(error, AssertionError) else f"raised {error!r}"
            raise AssertionError(f"{kind} fails check {name!r}: {reason}") from error


class _Checks:
    """The checks, with the data on which they fit the estimator."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = clone(estimator, safe=False)
        self.params = estimator.get_params() if hasattr(estimator, "get_params") else {}
        if "random_state" in self.params:
            self.estimator.set_params(random_state=0)
        has_tags = hasattr(estimator, "__sklearn_tags__")
        self.tags = get_tags(estimator) if has_tags else _NO_TAGS
        rng = np.random.default_rng(0)
        self.classes = np.arange(60) % 4
        one_hot = np.eye(4, dtype=int)[self.classes]
        self.Y = np.maximum(one_hot, rng.random((60, 4)) < 0.25)
        self.several = self.tags.target_tags.multi_output
        self.y = self.Y if self.several else self.classes
        X = 3 + 2 * self.Y @ rng.normal(size=(4, 8)) + rng.normal(size=(60, 8))
        self.X = X * (rng.random((60, 8)) < np.linspace(0.3, 1.3, 8))  # some zeros
        self.fitted = self.fit(self.take(), self.y)
        self.Z = _dense(self.fitted.transform(self.take()))

    def take(self, rows: Any = slice(None)) -> Any:
        """Copy some samples to be fitted; of a kernel, its values among them."""
        X = self.X[rows].copy()
        return X @ X.T if self.tags.input_tags.pairwise else X

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Any:
        return clone(self.estimator, safe=False).fit(X, y, **fit_params)

    def deterministic(self) -> None:
        _same(self.fit(self.take(), self.y).transform(self.take()), self.Z, "fit again", 0)
        _same(self.fitted.transform(self.take()[:1]), self.Z[:1], "one sample alone")

    def pickle(self) -> None:
        copied = pickle.loads(pickle.dumps(self.fitted))
        _same(copied.transform(self.take()), self.Z, "pickled after fit", 0)
        fitted = clone(self.fitted, safe=False).fit(self.take(), self.y)
        _same(fitted.transform(self.take()), self.Z, "cloned after fit", 0)

    def data_untouched(self) -> None:
        X, y = self.take(), self.y.copy()
        self.fit(X, y).transform(X)
        if not (np.array_equal(X, self.take()) and np.array_equal(y, self.y)):
            raise AssertionError("fit or transform changes the data of the caller")

    def float32(self) -> None:
        kept = getattr(self.tags.transformer_tags, "preserves_dtype", [])
        if "float32" in kept:
            X = self.take().astype(np.float32)
            Z = self.fit(X, self.y).transform(X)
            if Z.dtype != np.float32:
                raise AssertionError(f"float32 becomes {Z.dtype}")
            if not self.tags.input_tags.pairwise:  # else rounding may look like a feature
                _same(Z, self.fit(X.astype(float), self.y).transform(X), "float32 X", 1e-3)

    def sparse(self) -> None:
        if self.tags.input_tags.sparse and not self.tags.input_tags.pairwise:
            for store in (sparse.csr_array, sparse.csc_matrix):
                X = store(self.X)
                _same(self.fit(X, self.y).transform(X), self.Z, f"X as a {store.__name__}")

    def class_labels(self) -> None:
        expected = self.fit(self.take(), self.classes).transform(self.take())
        y = np.array(["ant", "bee", "cat", "dog"])[self.classes]
        _same(self.fit(self.take(), y).transform(self.take()), expected, "names of classes")
        if self.several:
            indicator = np.eye(4, dtype=int)[self.classes]
            for y in (indicator, indicator.tolist(), sparse.csr_array(indicator)):
                found = self.fit(self.take(), y).transform(self.take())
                _same(found, expected, f"one-hot y as a {type(y).__name__}")

    def label_order(self) -> None:
        order = [2, 0, 3, 1]
        y = self.Y[:, order] if self.several else np.array(order)[self.classes]
        _same(self.fit(self.take(), y).transform(self.take()), self.Z, "labels in another order")

    def sample_order(self) -> None:
        order = np.random.default_rng(1).permutation(60)
        X = self.take(order)
        Z = self.fit(X, self.y[order]).transform(X)
        _same(Z, self.Z[order], "samples in another order")

    def unlabelled(self) -> None:
        if self.several:
            Y = self.Y * (np.arange(60) % 7 != 5)[:, None]
            Z = _dense(self.fit(self.take(), Y).transform(self.take()))
            if len(Z) != 60 or not np.isfinite(Z).all():
                raise AssertionError("samples without a label are not projected")

    def sample_weight(self) -> None:
        if has_fit_parameter(self.estimator, "sample_weight"):
            weight = 1 + np.arange(60) % 2
            rows = np.repeat(np.arange(60), weight)
            repeated = self.take(rows)
            expected = self.fit(repeated, self.y[rows]).transform(repeated)
            fitted = self.fit(self.take(), self.y, sample_weight=weight.astype(float))
            found = _dense(fitted.transform(self.take()))
            _same(found[rows], expected, "a weight of two for a repeated sample")

    def partial_fit(self) -> None:
        if hasattr(self.estimator, "partial_fit"):
            stream = clone(self.estimator, safe=False)
            for rows in np.split(np.arange(60), [7, 30]):
                stream.partial_fit(self.X[rows], self.y[rows])
            _same(stream.transform(self.X), self.Z, "X in batches")

    def inverse_transform(self) -> None:
        if hasattr(self.fitted, "inverse_transform"):
            back = self.fitted.inverse_transform(self.Z)
            _same(self.fitted.transform(back), self.Z, "there and back and there again")

    def names(self) -> None:
        if hasattr(self.fitted, "get_feature_names_out"):
            names = self.fitted.get_feature_names_out()
            if len(set(names)) != self.Z.shape[1]:
                raise AssertionError(f"{self.Z.shape[1]} columns have the names {list(names)}")

    def n_components(self) -> None:
        if "n_components" in self.params:
            reducer = clone(self.estimator).set_params(n_components=100)
            try:
                reducer.fit(self.take(), self.y)
            except ValueError as error:
                if "n_components" in str(error):
                    return
                raise AssertionError(f"the error does not name n_components: {error}") from None
            raise AssertionError("100 components of 60 samples and 8 features are no error")


_NAMES = [name for name in vars(_Checks) if name not in ("take", "fit") and name[0] != "_"]


def _dense(Z: Any) -> NDArray[Any]:
    return Z.toarray() if sparse.issparse(Z) else np.asarray(Z)


def _same(found: Any, expected: Any, what: str, tol: float = 1e-4) -> None:
    """Raise if two projections differ by more than `tol` times the largest value."""
    found, expected = _dense(found), _dense(expected)
    if found.shape != expected.shape:
        raise AssertionError(f"{what}: shape {found.shape} instead of {expected.shape}")
    off, size = np.abs(found - expected).max(), np.abs(expected).max()
    if not off <= tol * size:
        raise AssertionError(f"{what}: the projection differs by {off:.2g}, of {size:.2g}")

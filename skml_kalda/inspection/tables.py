"""What the directions of a reducer mean, in features and in labels; how imbalanced labels are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import scale
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.extmath import safe_sparse_dot

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import indicator
from skml_kalda._core.messages import required


def loadings(reducer: Any, X: Any = None) -> Any:
    r"""Return how much each feature counts in each direction of a fitted reducer.

    Without `X` these are the coefficients of the linear map, ``components_.T``. They show how
    the directions are computed, and depend on the units of the features. With `X` they are the
    correlations of each feature with each projected direction over the samples in `X`. They lie
    between -1 and 1 in any units, and exist for kernel reducers too.

    Parameters
    ----------
    reducer : fitted transformer, or Pipeline that ends in one
        A reducer of this package, or any transformer with `components_` such as PCA. The
        coefficients of a pipeline refer to the features that enter its last step, its
        correlations to the columns of `X`.
    X : array-like or sparse of shape (n_samples, n_features), default=None
        Samples to correlate over. Kernel reducers have no coefficients per feature, and need it.

    Returns
    -------
    DataFrame of shape (n_features, n_components)
        Rows are the features, by name where the names are known, and columns the directions. The
        correlations of a feature that is constant in `X` are zero.

    See Also
    --------
    LoadingsDisplay : The same as a picture.
    label_profile : The directions in terms of the labels.

    Examples
    --------
    >>> from skml_kalda import MultiLabelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import loadings
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> kalda = MultiLabelKaLDA(constraint="none", shrinkage="auto").fit(X, y)
    >>> loadings(kalda, X)["multilabelkalda0"].abs().nlargest(3).round(2)
    Mean_Acc1298_Mean_Mem40_MFCC_1     0.83
    Mean_Acc1298_Mean_Mem40_MFCC_0     0.71
    Mean_Acc1298_Mean_Mem40_Rolloff    0.70
    Name: multilabelkalda0, dtype: float64
    """
    pd = required("pandas", by="loadings", extra="inspection")
    if X is None:
        values, features = _coefficients(reducer)
        directions = _direction_names(reducer, values.shape[1])
    else:
        projected, directions = project(reducer, X)
        values = _correlations(X, projected)
        features = _column_names(X) or _names_in(reducer, len(values))
    return pd.DataFrame(values, index=features, columns=directions)


def label_profile(reducer: Any, X: Any, y: Any, *, label_names: Any = None) -> Any:
    r"""Return where each label lies in each direction of a fitted reducer.

    An entry is the mean of the projected samples that have the label, minus the mean of all
    samples, divided by the standard deviation of all samples: 1 means that the samples of the label
    lie one standard deviation above the average in that direction. So entries can be compared
    between directions, and between frequent and rare labels.

    Parameters
    ----------
    reducer : fitted transformer, or Pipeline that ends in one
        Any object with a `transform` method.
    X : array-like or sparse of shape (n_samples, n_features)
        The data.
    y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
        Class labels, or a {0, 1} indicator matrix in any form.
    label_names : sequence of str, default=None
        Names of the labels. None means the column names of a data frame, or the class labels,
        or the column numbers.

    Returns
    -------
    DataFrame of shape (n_labels, n_components)
        Rows are the labels and columns the directions. The entries of a label without samples are
        NaN; those of a direction in which all samples are equal are zero.

    See Also
    --------
    LabelProfileDisplay : The same as a picture.
    loadings : The directions in terms of the features.

    Examples
    --------
    >>> from skml_kalda import KernelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import label_profile
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> kalda = KernelKaLDA(n_components=2, random_state=0).fit(X, y)
    >>> label_profile(kalda, X, y).round(1)
                     kernelkalda0  kernelkalda1
    amazed-suprised          -0.9           0.1
    happy-pleased            -0.1          -0.8
    relaxing-calm             0.7          -0.4
    quiet-still               1.2           0.6
    sad-lonely                0.8           0.6
    angry-aggresive          -0.9           0.3
    """
    pd = required("pandas", by="label_profile", extra="inspection")
    labels = indicator(y, allow_unknown=True)
    names = names_of_labels(y, labels.classes, label_names)
    projected, directions = project(reducer, X)
    check_consistent_length(projected, labels.matrix)
    counts = labels.matrix.sum(axis=0)[:, None]
    with np.errstate(invalid="ignore"):  # 0/0: a label without samples
        means = labels.matrix.T @ scale(projected) / counts
    return pd.DataFrame(means, index=names, columns=directions)


def label_imbalance(y: Any, *, label_names: Any = None) -> Any:
    """Return how frequent each label is, and its imbalance ratio.

    Parameters
    ----------
    y : array-like or sparse of shape (n_samples,) or (n_samples, n_labels)
        Class labels, or a {0, 1} indicator matrix in any form. NaN is an unknown label.
    label_names : sequence of str, default=None
        Names of the labels. None means the column names of a data frame, or the class labels,
        or the column numbers.

    Returns
    -------
    DataFrame of shape (n_labels, 3)
        "samples" is the number of samples that have the label, "share" that number divided by the
        number of samples in which the label is known, and "IRLbl" the number of samples of the
        most frequent label divided by that of this one [1]_, infinite for a label without samples.

    See Also
    --------
    label_profile : What a reducer makes of the labels.

    Notes
    -----
    The mean of the column "IRLbl" is the measure MeanIR of the whole dataset.

    References
    ----------
    .. [1] F. Charte, A. J. Rivera, M. J. del Jesus and F. Herrera, "Addressing imbalance in
       multilabel classification: Measures and random resampling algorithms", Neurocomputing 163,
       2015.

    Examples
    --------
    >>> from skml_kalda.datasets import load_dataset
    >>> from skml_kalda.inspection import label_imbalance
    >>> X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    >>> table = label_imbalance(y)
    >>> table.round(2)
                     samples  share  IRLbl
    amazed-suprised      173   0.29   1.53
    happy-pleased        166   0.28   1.59
    relaxing-calm        264   0.45   1.00
    quiet-still          148   0.25   1.78
    sad-lonely           168   0.28   1.57
    angry-aggresive      189   0.32   1.40
    >>> print(f"MeanIR {table['IRLbl'].mean():.2f}")
    MeanIR 1.48
    """
    pd = required("pandas", by="label_imbalance", extra="inspection")
    labels = indicator(y, allow_unknown=True)
    counts = np.asarray(labels.matrix.sum(axis=0))
    n = labels.matrix.shape[0]
    known = n - (0 if labels.unknown is None else np.asarray(labels.unknown.sum(axis=0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        columns = {
            "samples": counts.astype(int),
            "share": counts / known,
            "IRLbl": counts.max(initial=0) / counts,
        }
    return pd.DataFrame(columns, index=names_of_labels(y, labels.classes, label_names))


def project(reducer: Any, X: Any) -> tuple[Array, list[str]]:
    """Return X transformed as an array, and the names of the directions."""
    if not hasattr(reducer, "transform"):
        raise ValueError(
            f"reducer={reducer!r} has no transform method: pass a fitted reducer, or a pipeline "
            "without its classifier, pipeline[:-1]."
        )
    projected = np.asarray(reducer.transform(X), dtype=np.float64)
    return projected, _direction_names(reducer, projected.shape[1])


def _direction_names(reducer: Any, n: int) -> list[str]:
    """Return the names of the reducer's directions, or numbers."""
    last = reducer[-1] if isinstance(reducer, Pipeline) else reducer
    return _names_out(last) or [f"direction {number}" for number in range(n)]


def names_of_labels(y: Any, classes: Any, given: Any) -> list[str]:
    """Return a name for each label: as given, or from the columns of a data frame, or classes."""
    names = classes if given is None else list(given)
    if given is None and np.ndim(y) == 2:
        names = _column_names(y) or classes
    if len(names) != len(classes):
        raise ValueError(
            f"label_names has {len(names)} names, but y has {len(classes)} labels: pass one "
            "name for each."
        )
    return [str(name) for name in names]


def _coefficients(reducer: Any) -> tuple[Array, list[str]]:
    *before, last = reducer if isinstance(reducer, Pipeline) else [reducer]
    if not hasattr(last, "components_"):
        raise ValueError(
            f"{type(last).__name__} has no coefficients per feature, because it is not fitted or "
            "not linear: fit it, or pass X to get correlations with the features."
        )
    values = np.asarray(last.components_).T
    names = _names_out(reducer[:-1]) if before else []
    return values, names or _names_in(last, len(values))


def _correlations(X: Any, projected: Array) -> Array:
    X = check_array(X, accept_sparse="csr", dtype=np.float64)
    check_consistent_length(X, projected)
    # Because the projected samples are centred, X need not be, and sparse X stays sparse.
    scaled = scale(X, with_mean=False)
    return np.asarray(safe_sparse_dot(scaled.T, scale(projected), dense_output=True)) / len(
        projected
    )


def _column_names(table: Any) -> list[str]:
    return [str(name) for name in getattr(table, "columns", [])]


def _names_in(reducer: Any, n: int) -> list[str]:
    known = getattr(reducer, "feature_names_in_", None)
    return [f"x{number}" for number in range(n)] if known is None else [str(each) for each in known]


def _names_out(transformer: Any) -> list[str]:
    try:
        return [str(name) for name in transformer.get_feature_names_out()]
    except (AttributeError, ValueError):  # not every transformer can name what it returns
        return []

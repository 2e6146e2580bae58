"""Fitted estimators as ONNX models, which run without this package and without Python.

Needs the libraries of the extra "onnx".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import skml_kalda
from skml_kalda._core.messages import required
from skml_kalda.classifiers._neighbors import NeighborClassifier
from skml_kalda.classifiers.kalda_classifier import KaLDAClassifier
from skml_kalda.onnx.classifiers import label_scores, neighbors, set_classifier_types
from skml_kalda.onnx.operators import Build, convert
from skml_kalda.onnx.reducers import kernel, linear, scaled, set_reducer_types
from skml_kalda.reducers.base import BaseReducer
from skml_kalda.reducers.kalda.kernel import KernelTransformer
from skml_kalda.reducers.kalda.scaler import AlignmentScaler
from skml_kalda.reducers.kalda.search.kernel_cv import KernelKaLDACV
from skml_kalda.reducers.kalda.search.linear_cv import MultiLabelKaLDACV

__all__ = ["register"]

# How to convert an estimator of each kind: a new one is one more line.
_CONVERTERS: dict[type, tuple[Callable[[Any], None], Build]] = {
    BaseReducer: (set_reducer_types, linear),
    MultiLabelKaLDACV: (set_reducer_types, linear),
    AlignmentScaler: (set_reducer_types, scaled),
    KernelTransformer: (set_reducer_types, kernel),
    KernelKaLDACV: (set_reducer_types, kernel),
    NeighborClassifier: (set_classifier_types, neighbors),
    KaLDAClassifier: (set_classifier_types, label_scores),
}


def register() -> None:
    """Teach skl2onnx to convert the estimators of this package.

    What can be converted: all linear reducers and `AlignmentScaler`; `KernelKaLDA` and
    `LandmarkFeatures` with the kernels "rbf", "linear" and "cosine"; `KaLDAClassifier`; `MLkNN` and
    `BinaryRelevanceKNN` with the Euclidean, the Manhattan and the cosine distance. They may be
    steps of a pipeline of scikit-learn. Converted classifiers return the labels and the
    probabilities. Calling this function again does no harm.

    Raises
    ------
    ImportError
        If skl2onnx is not installed: it comes with the extra "onnx".

    Notes
    -----
    The models compute in the type of their input, usually float32, while scikit-learn may
    compute in float64. Kernel methods are the exception: their models always compute in float64.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from skl2onnx import to_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import skml_kalda.onnx
    >>> from skml_kalda import MLkNN, MultiLabelKaLDA
    >>> from skml_kalda.datasets import load_dataset
    >>> X, y = load_dataset("emotions", return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN()).fit(X, y)
    >>> X = X.astype(np.float32)
    >>> skml_kalda.onnx.register()
    >>> model = to_onnx(pipeline, X[:1])
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> labels, probabilities = session.run(None, {"X": X})
    >>> float(np.mean(labels == pipeline.predict(X)))
    1.0
    """
    skl2onnx = required("skl2onnx", by="skml_kalda.onnx", extra="onnx")
    for name in skml_kalda.__all__:
        estimator = getattr(skml_kalda, name)
        for base, (set_types, build) in _CONVERTERS.items():
            if isinstance(estimator, type) and issubclass(estimator, base):
                skl2onnx.update_registered_converter(
                    estimator, f"SkmlKalda{name}", set_types, partial(convert, build)
                )

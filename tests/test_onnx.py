"""Converted models run without this package, and agree with it."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import skml_kalda
import skml_kalda.onnx
from skml_kalda import (
    OPLS,
    AlignmentScaler,
    BinaryRelevanceKNN,
    KaLDAClassifier,
    KernelKaLDA,
    LandmarkFeatures,
    MLkNN,
    MultiLabelKaLDA,
)
from skml_kalda.model_selection import TunedThresholdsCV
from skml_kalda.reducers.base import BaseReducer
from tests.conftest import made

# Neither this package nor scikit-learn can be imported where the models run.
RUN = """
import sys
from pathlib import Path
sys.modules |= {"skml_kalda": None, "sklearn": None}
import numpy as np
import onnxruntime
for path in Path(sys.argv[1]).glob("*.onnx"):
    session = onnxruntime.InferenceSession(path)
    outputs = session.run(None, {"X": np.load(path.with_suffix(".npy"))})
    np.savez(path.with_suffix(".npz"), *outputs)
"""


def public(base):
    found = (getattr(skml_kalda, name) for name in skml_kalda.__all__)
    return [each for each in found if isinstance(each, type) and issubclass(each, base)]


def reducers():
    linear = {each.__name__: each() for each in public(BaseReducer)}
    kernels = {
        f"KernelKaLDA {kernel} {shrinkage}": KernelKaLDA(kernel=kernel, shrinkage=shrinkage)
        for kernel in ("rbf", "linear", "cosine")
        for shrinkage in (0.2, 0.001)
    }
    return linear | kernels | {
        "gamma": KernelKaLDA(gamma=0.3, n_landmarks=20, random_state=0),
        "no gamma": KernelKaLDA(gamma=None),
        "gamma among further parameters": KernelKaLDA(gamma=None, kernel_params={"gamma": 0.3}),
        "orthonormal": KernelKaLDA(constraint="orthonormal"),
        **{f"{kernel} features": LandmarkFeatures(20, kernel=kernel, random_state=0)
           for kernel in ("rbf", "linear", "cosine")},
        "AlignmentScaler": AlignmentScaler(),
        "on features": make_pipeline(LandmarkFeatures(), OPLS()),
    }  # fmt: skip


def classifiers():
    return {
        "MLkNN": MLkNN(k=5),
        "MLkNN, smoothed less, self excluded": MLkNN(k=4, s=0.5, include_self=False),
        "BinaryRelevanceKNN, one half": BinaryRelevanceKNN(k=4, threshold=0.5),
        "BinaryRelevanceKNN": BinaryRelevanceKNN(k=4),
        "MLkNN, own threshold": MLkNN(k=5, threshold="auto"),
        "BinaryRelevanceKNN, own threshold": BinaryRelevanceKNN(k=4, threshold="auto"),
        "KaLDAClassifier": KaLDAClassifier(random_state=0),
        **{f"KaLDAClassifier {kernel}": KaLDAClassifier(kernel, n_landmarks=30, random_state=0)
           for kernel in ("rbf", "angular", "linear")},
        "KaLDAClassifier ranks": KaLDAClassifier("rbf", scale="ranks", n_landmarks=30),
        "KaLDAClassifier linear ranks": KaLDAClassifier("linear", scale="ranks"),
        "two relevances": KaLDAClassifier("rbf", relevance=[0, 1], average="micro"),
        "KaLDAClassifier, one width": KaLDAClassifier("rbf", gamma=2.0, relevance=0.5),
        "manhattan": MLkNN(k=5, metric="manhattan"),
        "cosine": BinaryRelevanceKNN(k=5, metric="cosine"),
    }  # fmt: skip


def case(estimator, X, y, dtype=np.float32):
    """An estimator, what to fit it on, and the rows to run its model on, in the type it takes."""
    return estimator, X, y, (X.toarray() if sparse.issparse(X) else X).astype(dtype)


def cases():
    X, Y = made(n=90, unlabelled=0.1)
    whole, far, few, named = X.round(), X + 1000, X[:, :2], pd.DataFrame(Y).add_prefix("l")
    names = np.array(["sea", "sun", "sand", "snow"])[Y.argmax(axis=1)]
    found = {
        name: case(make_pipeline(StandardScaler(), each), X, Y) for name, each in reducers().items()
    }
    for kernel in ("rbf", "linear", "cosine"):
        found[f"{kernel}, far away"] = case(KernelKaLDA(kernel=kernel), far, Y)
    for name, each in classifiers().items():
        found[f"{name}, classifier"] = case(each, few, Y)
    return found | {
        "double": case(KernelKaLDA(), X, Y, np.float64),
        "double, linear": case(MultiLabelKaLDA(), X, Y, np.float64),
        "integers": case(MultiLabelKaLDA(), whole, Y, np.int64),
        "sparse landmarks": case(KernelKaLDA(), sparse.csr_array(X), Y),
        "a row of zeros": case(KernelKaLDA(kernel="cosine"), X * (np.arange(90) > 0)[:, None], Y),
        "class names, classifier": case(MLkNN(k=5), few, names),
        "class objects, classifier": case(MLkNN(k=5), few, names.astype(object)),
        "class floats, classifier": case(MLkNN(k=5), few, 1.0 + Y.argmax(axis=1)),
        "class booleans, classifier": case(BinaryRelevanceKNN(k=5), few, Y[:, 0] > 0),
        "class numbers, classifier": case(BinaryRelevanceKNN(k=5), few, Y.argmax(axis=1)),
        "KaLDAClassifier, class names, classifier": case(KaLDAClassifier("rbf"), X, names),
        "label names, classifier": case(KaLDAClassifier("linear"), X, named),
        "two classes, classifier": case(KaLDAClassifier("linear"), X, Y[:, 0]),
        **{f"tuned {name}, classifier": case(TunedThresholdsCV(each, cv=2, per_label=True), X, Y)
           for name, each in (
               ("pipeline", make_pipeline(StandardScaler(), KernelKaLDA(), MLkNN(k=5))),
               ("one for each label", OneVsRestClassifier(LogisticRegression())),
               ("list of probabilities", MultiOutputClassifier(LogisticRegression())),
               ("trees", RandomForestClassifier(5, random_state=0)),
           )},
        "tuned with an empty label, classifier": case(
            TunedThresholdsCV(MultiOutputClassifier(GaussianNB()), cv=2), X, Y * [1, 1, 0, 1]
        ),
        "tuned last, classifier": case(
            make_pipeline(StandardScaler(), TunedThresholdsCV(KaLDAClassifier("rbf"), cv=2)), X, Y
        ),
    }  # fmt: skip


CASES = cases()
REDUCERS = [name for name in CASES if not name.endswith("classifier")]
CLASSIFIERS = [name for name in CASES if name.endswith("classifier")]


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What the model of every case returns in a process of its own."""
    folder = tmp_path_factory.mktemp("models")
    skml_kalda.onnx.register()
    for number, (estimator, X, y, rows) in enumerate(CASES.values()):
        model = to_onnx(estimator.fit(X, y), rows[:1])
        (folder / f"{number}.onnx").write_bytes(model.SerializeToString())
        np.save(folder / f"{number}.npy", rows)
    subprocess.run([sys.executable, "-c", RUN, folder], check=True, cwd=folder)
    found = {}
    for number, name in enumerate(CASES):
        with np.load(folder / f"{number}.npz", allow_pickle=True) as results:
            found[name] = list(results.values())
    return found


def expected(name, method):
    estimator, _, _, rows = CASES[name]
    found = getattr(estimator, method)(rows.astype(np.float64))
    if isinstance(found, list):  # all samples have the class 0 alone where there is one class
        return np.column_stack([p[:, 1] if p.shape[1] == 2 else 1 - p[:, 0] for p in found])
    return found


@pytest.mark.parametrize("name", REDUCERS)
def test_projected_rows_agree(name, outputs):
    (found,) = outputs[name]
    rows = expected(name, "transform")
    double = CASES[name][-1].dtype == np.float64
    assert found.dtype == (np.float64 if double else np.float32)
    assert np.abs(found - rows).max() < (1e-12 if double else 1e-5) * np.abs(rows).max()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_and_probabilities_agree(name, outputs):
    labels, probabilities = outputs[name]
    assert_array_equal(labels, expected(name, "predict"))
    np.testing.assert_allclose(probabilities, expected(name, "predict_proba"), atol=1e-6)


UNKNOWN = r"MLkNN fitted with unknown labels \(NaN\)"


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (MLkNN(k=3), UNKNOWN),
        (KernelKaLDA(kernel="poly"), "kernel='poly' of KernelKaLDA.*use one of rbf, linear, cos"),
        (MLkNN(algorithm=KNeighborsTransformer()), r"algorithm=KNei.* of MLkNN.*use one of auto"),
        (BinaryRelevanceKNN(weights="distance"), "weights='distance' of Bin.*use one of uniform"),
        (MLkNN(k=3, metric="chebyshev"), "metric='chebyshev' of MLkNN.*use one of euclidean, man"),
        (TunedThresholdsCV(OneVsRestClassifier(LinearSVC())), "decision_function cannot be conver"),
    ],
)
def test_what_has_no_converter_is_named(estimator, message):
    X, Y = made()
    if message == UNKNOWN:
        Y = np.where(np.arange(len(Y))[:, None] == 3, np.nan, Y)
    skml_kalda.onnx.register()
    with pytest.raises(ValueError, match=message):
        to_onnx(estimator.fit(X, Y), X[:1])

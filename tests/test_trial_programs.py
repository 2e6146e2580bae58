"""Five programs of users, each short, with nothing in them that the package should give."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
from skl2onnx import to_onnx
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, OneHotEncoder, StandardScaler
from skmultilearn.ensemble import RakelD
from skmultilearn.problem_transform import ClassifierChain, LabelPowerset

import skml_kalda.onnx
from skml_kalda import KaLDAClassifier, MLkNN, MultiLabelKaLDA, top_labels
from skml_kalda.datasets import load_dataset
from skml_kalda.inspection import ProjectionDisplay
from skml_kalda.model_selection import MultiLabelStratifiedKFold, multilabel_train_test_split


def tag_texts(texts, tags, new_texts):
    binarizer = MultiLabelBinarizer()
    y = pd.DataFrame(binarizer.fit_transform(tags), columns=binarizer.classes_)
    model = make_pipeline(TfidfVectorizer(), KaLDAClassifier(random_state=0))
    return top_labels(model.fit(texts, y), new_texts, n=2)


def predict_table(X, y, X_new):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude="number")),
    )
    model = make_pipeline(columns, KaLDAClassifier("linear", random_state=0))
    return model.set_output(transform="pandas").fit(X, y).predict(X_new)


def search_many_labels(X, y):
    X_train, X_test, y_train, y_test = multilabel_train_test_split(X, y, random_state=0)
    model = make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN(threshold="auto"))
    grid = {"multilabelkalda__n_components": [3, 6], "mlknn__k": [5, 10]}
    folds = MultiLabelStratifiedKFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(model, grid, scoring="f1_macro", cv=folds).fit(X_train, y_train)
    display = ProjectionDisplay.from_estimator(search.best_estimator_[:-1], X_test, y_test)
    return search.score(X_test, y_test), display


def compare_classifiers_of_scikit_multilearn(X, y):
    scores = {}
    for kind in (LabelPowerset, ClassifierChain, RakelD):
        size = {"labelset_size": 2} if kind is RakelD else {}
        model = make_pipeline(
            StandardScaler(), MultiLabelKaLDA(), kind(KNeighborsClassifier(9), **size)
        )
        folds = MultiLabelStratifiedKFold(3)
        scores[kind.__name__] = cross_val_score(
            model, X, y, cv=folds, scoring="f1_micro", error_score="raise"
        ).mean()
    return scores


def export_pipeline(X, y, folder):
    model = make_pipeline(StandardScaler(), MultiLabelKaLDA(), MLkNN()).fit(X, y)
    skml_kalda.onnx.register()
    exported = to_onnx(model, X[:1].astype(np.float32))
    (folder / "model.onnx").write_bytes(exported.SerializeToString())
    return model


def test_texts_get_the_names_of_their_tags():
    words = {
        "sea": ["waves", "salt", "harbour", "ship", "coast", "tide"],
        "snow": ["ice", "winter", "cold", "ski", "frost", "sledge"],
        "bread": ["flour", "oven", "yeast", "crust", "dough", "baker"],
    }
    rng = np.random.default_rng(0)
    tags = [sorted(rng.choice(list(words), rng.integers(1, 3), replace=False)) for _ in range(60)]
    texts = [" ".join(word for tag in each for word in rng.choice(words[tag], 5)) for each in tags]
    names, scores = tag_texts(
        texts, tags, ["a cold winter, ice and frost", "the ship at the coast"]
    )
    assert names[:, 0].tolist() == ["snow", "sea"]
    assert np.all(np.diff(scores, axis=1) <= 0)


def test_a_table_gives_a_table():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"age": rng.normal(50, 10, 90), "dose": rng.normal(size=90), "site": list("abc") * 30},
        index=[f"patient {i}" for i in range(90)],
    )
    full = pd.DataFrame({"fever": X["dose"] > 0, "rash": X["site"] == "a", "pain": X["age"] > 55})
    X.iloc[::7, 0] = np.nan
    y = full.astype("boolean").mask(rng.random(full.shape) < 0.2)
    assert y.isna().to_numpy().any()
    predicted = predict_table(X[:60], y[:60], X[60:])
    assert predicted.columns.tolist() == ["fever", "rash", "pain"]
    assert predicted.index.equals(X.index[60:])
    assert f1_score(full[60:], predicted, average="macro") > 0.8


def test_a_hundred_labels_give_a_score_and_a_picture():
    from matplotlib import pyplot

    X, y = make_multilabel_classification(
        200, 20, n_classes=100, n_labels=6, allow_unlabeled=False, random_state=0
    )
    score, display = search_many_labels(X, y[:, y.sum(axis=0) > 8])
    assert score > 0.1
    assert "other labels" in "".join(text.get_text() for text in display.legend_.get_texts())
    pyplot.close(display.figure_)


def test_classifiers_of_scikit_multilearn_run_in_stratified_folds():
    X, y = load_dataset("emotions", split="train", return_X_y=True)
    scores = compare_classifiers_of_scikit_multilearn(X, y)
    assert len(scores) == 3
    assert min(scores.values()) > 0.5


RUN = """
import sys
sys.modules |= {"skml_kalda": None, "sklearn": None, "skmultilearn": None}
import numpy as np, onnxruntime
labels, _ = onnxruntime.InferenceSession("model.onnx").run(None, {"X": np.load("rows.npy")})
np.save("labels.npy", labels)
"""


def test_an_exported_pipeline_gives_the_same_labels_without_this_package(tmp_path):
    X, y = load_dataset("emotions", split="train", return_X_y=True)
    model = export_pipeline(X, y, tmp_path)
    np.save(tmp_path / "rows.npy", X.astype(np.float32))
    subprocess.run([sys.executable, "-c", RUN], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), model.predict(X))

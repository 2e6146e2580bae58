"""Six programs of users, each short, with nothing in them that the package should give."""

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import skops.io
from skl2onnx import to_onnx
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.datasets import make_multilabel_classification
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, OneHotEncoder, StandardScaler
from skmultilearn.ensemble import RakelD
from skmultilearn.problem_transform import ClassifierChain, LabelPowerset

import skml_kalda.onnx
from skml_kalda import KaLDAClassifier, MLkNN, MultiLabelKaLDA, bench, top_labels
from skml_kalda.bench.plan import Plan
from skml_kalda.datasets import load_dataset
from skml_kalda.inspection import ProjectionDisplay
from skml_kalda.model_selection import (
    MultiLabelStratifiedKFold,
    TunedThresholdsCV,
    multilabel_train_test_split,
)


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


def search_classifiers_of_scikit_multilearn(X, y):
    steps = [("scale", StandardScaler()), ("reduce", MultiLabelKaLDA()), ("classify", None)]
    one, each = KNeighborsClassifier(9), MLkNN(k=9, threshold="auto")
    classifiers = [LabelPowerset(one), ClassifierChain(one), RakelD(one, labelset_size=2), each]
    grid = {"reduce__n_components": [2, 5], "classify": classifiers}
    folds = MultiLabelStratifiedKFold(2, shuffle=True, random_state=0)
    search = GridSearchCV(Pipeline(steps), grid, scoring="f1_macro", cv=folds, error_score="raise")
    return search.fit(X, y)


def draw_for_a_paper(X, y, path):
    X_train, X_test, y_train, y_test = multilabel_train_test_split(X, y, random_state=0)
    model = make_pipeline(StandardScaler(), MultiLabelKaLDA(n_components=2)).fit(X_train, y_train)
    figure, axes = plt.subplots(figsize=(3.3, 3.3), layout="constrained")
    display = ProjectionDisplay.from_estimator(model, X_test, y_test, ax=axes)
    figure.savefig(path)
    return display


def compare_methods_on_own_files(*paths):
    plan = Plan("two", "Which of two?", methods=("none", "OPLS"), folds=2)
    runs = [bench.run(plan, data=path, labels="label_*") for path in paths]
    return [bench.table(run, "macro_f1") for run in runs]


def save_for_production(X, y, folder):
    votes = make_pipeline(StandardScaler(), MultiLabelKaLDA(constraint="none"), MLkNN())
    model = TunedThresholdsCV(votes, cv=3).fit(X, y)
    skops.io.dump(model, folder / "model.skops")
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
    new_texts = ["a cold winter, ice and frost", "the ship at the coast"]
    names, scores = tag_texts(texts, tags, new_texts)
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


def test_classifiers_of_scikit_multilearn_in_a_grid_search():
    X, y = load_dataset("emotions", split="train", return_X_y=True, as_frame=True)
    search = search_classifiers_of_scikit_multilearn(X, y)
    assert len(search.cv_results_["params"]) == 8
    assert min(search.cv_results_["mean_test_score"]) > 0.45


def test_a_figure_fits_into_one_column(tmp_path):
    X, y = load_dataset("emotions", return_X_y=True, as_frame=True)
    display = draw_for_a_paper(X, y, tmp_path / "map.pdf")
    assert b"/MediaBox [ 0 0 237.6 237.6 ]" in (tmp_path / "map.pdf").read_bytes()
    legend = " ".join(text.get_text() for text in display.legend_.get_texts())
    assert all(name in legend for name in y.columns)
    plt.close(display.figure_)


def test_own_tables_are_compared_in_either_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_multilabel_classification(60, 6, n_classes=3, random_state=0)
    table = pd.DataFrame(X).add_prefix("x").join(pd.DataFrame(y).add_prefix("label_"))
    table.to_csv("mine.csv", index=False)
    table.to_parquet("mine.parquet")
    tables = compare_methods_on_own_files(Path("mine.csv"), Path("mine.parquet"))
    columns = ["method", "mean"]
    assert tables[0]["method"].tolist() == ["none", "OPLS"]
    pd.testing.assert_frame_equal(tables[0][columns], tables[1][columns])


LOAD = """
import sys, numpy as np, skops.io, skml_kalda
model = skops.io.load("model.skops", trusted=skml_kalda.trusted_types())
np.save("loaded.npy", [model.predict(row[np.newaxis])[0] for row in np.load("rows.npy")])
"""
RUN = """
import sys
sys.modules |= {"skml_kalda": None, "sklearn": None, "skmultilearn": None}
import numpy as np, onnxruntime
labels, _ = onnxruntime.InferenceSession("model.onnx").run(None, {"X": np.load("rows.npy")})
np.save("converted.npy", labels)
"""


def test_fresh_processes_predict_the_same_labels_with_and_without_this_package(tmp_path):
    X, y = load_dataset("emotions", split="train", return_X_y=True)
    model = save_for_production(X, y, tmp_path)
    rows = X[:80].astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    for program in (LOAD, RUN):
        subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
    for name in ("loaded", "converted"):
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), model.predict(rows))

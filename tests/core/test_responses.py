"""Every form in which classifiers return the scores of labels."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from skmultilearn.adapt import MLkNN as FrameworkMLkNN
from skmultilearn.problem_transform import BinaryRelevance, LabelPowerset

from skml_kalda import MLkNN
from skml_kalda._core.scores.responses import label_scores
from tests.conftest import made

CLASSIFIERS = {
    "lists": KNeighborsClassifier(),
    "lists of a forest": RandomForestClassifier(50, max_depth=3, random_state=0),
    "lists of a pipeline": make_pipeline(StandardScaler(), KNeighborsClassifier()),
    "lists of a wrapper": MultiOutputClassifier(LogisticRegression()),
    "array": MLkNN(),
    "array of a wrapper": OneVsRestClassifier(LogisticRegression()),
    "array of a chain": ClassifierChain(LogisticRegression()),
    "decisions": RidgeClassifier(),
    "decisions of a wrapper": OneVsRestClassifier(LinearSVC()),
    "sparse": BinaryRelevance(LogisticRegression()),
    "sparse of a powerset": LabelPowerset(KNeighborsClassifier()),
    "sparse of the framework's MLkNN": FrameworkMLkNN(),
}


@pytest.mark.parametrize("form", CLASSIFIERS)
def test_scores_of_every_form_rank_as_the_labels_say(form):
    X, Y = made(n=200)
    classifier = CLASSIFIERS[form].fit(X, Y)
    scores = label_scores(classifier, X, 4)
    assert sparse.issparse(scores) == form.startswith("sparse")
    scores = scores.toarray() if sparse.issparse(scores) else scores
    assert scores.shape == (200, 4)
    for score, labels in zip(scores.T, Y.T, strict=True):
        assert score[labels == 1].mean() > score[labels == 0].mean() + 0.1


@pytest.mark.parametrize("classifier", [KNeighborsClassifier(), RandomForestClassifier(5)])
def test_a_label_that_no_or_every_training_row_has(classifier):
    X, Y = made()
    Y[:, 1], Y[:, 2] = 0, 1
    scores = label_scores(classifier.fit(X, Y), X, 4)
    np.testing.assert_array_equal(scores[:, 1], np.zeros(60))
    np.testing.assert_array_equal(scores[:, 2], np.ones(60))
    np.testing.assert_array_equal(scores[:, 3], classifier.predict_proba(X)[3][:, 1])


@pytest.mark.parametrize("classifier", [LogisticRegression(), MLkNN(), LinearSVC()])
def test_a_single_label_has_one_column(classifier):
    X, Y = made(n=200)
    y = Y[:, :1] if isinstance(classifier, MLkNN) else Y[:, 0]
    scores = label_scores(classifier.fit(X, y), X, 1)
    assert scores.shape == (200, 1)
    assert scores[Y[:, 0] == 1].mean() > scores[Y[:, 0] == 0].mean() + 0.1


def test_the_methods_are_asked_in_their_order():
    X, Y = made()
    classifier = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(
        label_scores(classifier, X, 4, ["decision_function"]), classifier.decision_function(X)
    )
    np.testing.assert_array_equal(label_scores(classifier, X, 4), classifier.predict_proba(X))


def test_a_classifier_without_scores_is_named():
    X, Y = made()
    classifier = MultiOutputClassifier(LinearSVC()).fit(X, Y)
    with pytest.raises(ValueError, match="MultiOutputClassifier has no predict_proba or decision"):
        label_scores(classifier, X, 4)


def test_scores_of_classes_instead_of_labels_are_named():
    X, Y = made()
    classifier = KNeighborsClassifier().fit(X, Y.argmax(axis=1))
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.*\(60, 4\).*each of 7 labels"):
        label_scores(classifier, X, 7)

"""Classifiers that learn from the scores of samples that were held out."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, Tags, check_array, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from skml_kalda._core.arrays import Array, check_array_like
from skml_kalda._core.labels import multilabel_matrix, sparse_form
from skml_kalda._core.messages import format_names
from skml_kalda._core.thresholds import RESPONSES, label_scores
from skml_kalda.classifiers._predictions import dense, framed_like
from skml_kalda.model_selection.splits import MultiLabelStratifiedKFold


class HeldOut(NamedTuple):
    """Scores and labels of samples that were not trained on, one split after another."""

    scores: Array
    """Shape (n, K)."""
    Y: Any
    """Their labels, CSR."""
    unknown: Any
    """One where a label is unknown, CSR, or None."""
    folds: list[NDArray[np.intp]]
    """Indices of the samples of each split."""

    @property
    def known(self) -> NDArray[np.bool_]:
        """Whether each label is known."""
        if self.unknown is None:
            return np.ones(self.Y.shape, bool)
        return np.asarray(self.unknown.toarray() == 0)


class HeldOutClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of the classifiers around any multi-label classifier that are tuned on held-out samples.

    A subclass has the parameters of `_parameter_constraints`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", name]) for name in RESPONSES],
        "cv": ["cv_object", StrOptions({"prefit"})],
        "response_method": [StrOptions({"auto", *RESPONSES})],
        "n_jobs": [Integral, None],
    }
    # What "auto" tries, in this order.
    _responses: ClassVar[tuple[str, ...]] = RESPONSES

    def _fit_held_out(self, X: Any, y: Any, params: dict[str, Any], single_label: str) -> HeldOut:
        """Fit the classifier to all samples; score them by classifiers that did not see them."""
        check_array_like("X", X)
        Y, names, _, unknown = multilabel_matrix(y, single_label=single_label, allow_unknown=True)
        X, y = indexable(X, y)
        self._sparse_form = sparse_form(y)
        self.label_names_, self._named = names, hasattr(y, "columns")
        routed = self._routed(params)
        if isinstance(self.cv, str):
            check_is_fitted(self.estimator)
            self.estimator_ = self.estimator
            scores, folds = self._scores(self.estimator, X), [np.arange(Y.shape[0])]
        else:
            scores, folds = self._split_scores(X, y, Y, routed)
            self.estimator_ = clone(self.estimator).fit(X, y, **routed.estimator.fit)
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
            elif hasattr(self, name):
                delattr(self, name)
        rows = np.concatenate(folds)
        return HeldOut(scores, Y[rows], None if unknown is None else unknown[rows], folds)

    def _as_given(self, X: Any, labels: NDArray[Any]) -> Any:
        """Return predicted labels in the form of y: sparse, a data frame or an array."""
        if self._sparse_form is not None:
            return self._sparse_form(labels)
        return framed_like(X, labels, self.label_names_) if self._named else labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of parameters of fit to the classifier and the splitter.

        Returns
        -------
        MetadataRouter
            See the user guide of scikit-learn on metadata routing.
        """
        router = MetadataRouter(owner=type(self).__name__)
        fit, split = (MethodMapping().add(caller="fit", callee=name) for name in ("fit", "split"))
        router.add(estimator=self.estimator, method_mapping=fit)
        return router.add(splitter=self._splitter(), method_mapping=split)

    def _routed(self, params: dict[str, Any]) -> Any:
        if get_config()["enable_metadata_routing"]:
            return process_routing(self, "fit", **params)
        split = {"groups": params.pop("groups")} if "groups" in params else {}
        return Bunch(estimator=Bunch(fit=params), splitter=Bunch(split=split))

    def _splitter(self) -> Any:
        if self.cv is None or isinstance(self.cv, Integral):
            return MultiLabelStratifiedKFold(self.cv or 5)
        return self.cv if isinstance(self.cv, str) else check_cv(self.cv)

    def _split_scores(
        self, X: Any, y: Any, Y: Any, routed: Any
    ) -> tuple[Array, list[NDArray[np.intp]]]:
        """Return the scores of the samples that each split holds out, and their indices.

        Where no training sample has a label, some classifiers give it any score: it gets the
        lowest one here.
        """
        splits = list(self._splitter().split(X, y, **routed.splitter.split))
        absent = [Y[train].sum(axis=0) == 0 for train, _ in splits]
        scores = Parallel(n_jobs=self.n_jobs)(
            delayed(self._of_split)(X, y, routed.estimator.fit, train, test, missing)
            for (train, test), missing in zip(splits, absent, strict=True)
        )
        lowest = np.min([part.min(axis=0) for part in scores], axis=0)
        parts = zip(scores, absent, strict=True)
        scores = [np.where(missing, lowest, part) for part, missing in parts]
        return np.concatenate(scores), [test for _, test in splits]

    def _of_split(
        self, X: Any, y: Any, fit_params: dict[str, Any], train: Any, test: Any, missing: Any
    ) -> Array:
        estimator = clone(self.estimator)
        X_train, y_train = _safe_split(estimator, X, y, train)
        X_test, _ = _safe_split(estimator, X, y, test, train)
        try:
            estimator.fit(X_train, y_train, **_check_method_params(X, fit_params, train))
        except ValueError as error:
            if not missing.any():
                raise
            raise ValueError(
                f"{type(estimator).__name__} cannot be fitted where all samples with the labels "
                f"{format_names(self.label_names_[missing])} are held out: pass cv="
                f"MultiLabelStratifiedKFold(), or leave rare labels out. ({error})"
            ) from error
        return self._scores(estimator, X_test)

    def _scores(self, estimator: Any, X: Any) -> Array:
        """Return what is tuned on: probabilities, or decisions."""
        methods = self._responses if self.response_method == "auto" else (self.response_method,)
        # Those of the given classifier: fitted without samples of a label it may seem to have more
        offered = [name for name in methods if hasattr(self.estimator, name)]
        scores = dense(label_scores(estimator, X, len(self.label_names_), offered or methods))
        return check_array(scores, dtype=[np.float64, np.float32], input_name="scores")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        return tags

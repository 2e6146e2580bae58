"""Features weighted by their own alignment with the labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, _fit_context
from sklearn.utils import Tags, check_consistent_length
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from skml_kalda._core.arrays import (
    Array,
    canonical,
    check_columns,
    floating,
    in_blocks,
    whole_checks,
)
from skml_kalda._core.dask import batch_of_blocks, gathered, is_dask, lazy_on_dask
from skml_kalda._core.labels import indicator
from skml_kalda._core.relevance import FeatureMoments, times
from skml_kalda._core.streams import Batch, Results, Stream
from skml_kalda.reducers._streamed import Fitted, reducer_tags, row_weights


@lazy_on_dask
class AlignmentScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Weight features by their own alignment with the labels.

    Every feature is divided by its standard deviation and multiplied by a power of its
    correlation with the labels. Distances then depend mostly on features that are related to
    the labels, which helps neighbour classifiers, kernels, clustering and any other method
    that is based on distances.

    Parameters
    ----------
    power : float, default=1.0
        Power of the correlation that a feature is multiplied by. 0 only brings the features
        to unit variance; 1 weights a feature by its correlation, and so its squared
        differences by the squared correlation.
    with_std : bool, default=True
        Whether features are divided by their standard deviations first. False keeps their
        units, as is right for features that share one, such as counts of words.

    Attributes
    ----------
    relevance_ : ndarray of shape (n_features_in_,)
        Mean squared correlation of each feature with the labels, minus its mean for a feature
        that is independent of them, and at least 0.02 times that mean.
    scale_ : ndarray of shape (n_features_in_,)
        Factor that each feature is multiplied by.
    classes_ : ndarray
        The classes seen: labels, or the columns of `y`, by name if it has names.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    KaLDAClassifier : Chooses the power automatically.
    sklearn.preprocessing.StandardScaler : Brings features to unit variance without labels.

    Notes
    -----
    With :math:`\rho_{jk}` the correlation of feature j with the indicator of label k, over n
    rows (the sum of their weights), the relevance is

    .. math:: r_j = \max\Bigl(\frac1K\sum_k \rho_{jk}^2 - \frac1n,\ \frac{0.02}{n}\Bigr)

    and the factor :math:`r_j^{power/2}`, divided by its root mean square over the features.
    :math:`\frac1K\sum_k\rho_{jk}^2` is the alignment of the centred kernel
    :math:`x_jx_j^\top` of the feature with the kernel of the labels in unit variance, up to a
    constant; 1/n is its mean for a feature that is independent of them. Labels that all rows
    have, or none, do not count.

    Features are not centred, because that would change no distance and make sparse X dense. A
    feature that interacts with others but has no correlation on its own is nearly lost: choose
    `power` by cross-validation of a pipeline that contains the scaler.

    References
    ----------
    .. [1] N. Cristianini, J. Shawe-Taylor, A. Elisseeff and J. Kandola, "On kernel-target
       alignment", NIPS 2001.
    .. [2] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from skml_kalda import AlignmentScaler
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.integers(2, size=(200, 2))
    >>> X = np.column_stack([Y[:, 0] + rng.normal(size=200), rng.normal(size=200)])
    >>> AlignmentScaler().fit(X, Y).scale_.round(1)
    array([1.3, 0.1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "power": [Interval(Real, 0, None, closed="left")],
        "with_std": ["boolean"],
    }

    relevance_ = Fitted[Array]()
    scale_ = Fitted[Array]()
    classes_ = Fitted[NDArray[Any]]()
    _state: Results | Stream[Batch]
    """The results of `fit`, or the batches of `partial_fit`."""

    def __init__(self, power: float = 1.0, *, with_std: bool = True) -> None:
        self.power = power
        self.with_std = with_std

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Compute the factors.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data. Sparse X is never made dense; a dask array or dask dataframe is added
            up block by block on its cluster.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Class labels, or a {0, 1} indicator matrix in any form. The columns of a data
            frame name the labels. NaN in a matrix is an unknown label.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each row: a row of weight 2 counts as two rows. None means one.

        Returns
        -------
        self : object
            The fitted scaler.
        """
        self._state = self._solve(self._batch(X, y, sample_weight, reset=True))
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add a batch of rows; after the last one the result is that of `fit` on all.

        The first call after `fit` starts over.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The rows of the batch.
        y : array-like, sparse or dask of shape (n_samples,) or (n_samples, n_labels)
            Their labels. Indicator matrices have the same columns in every batch; class
            labels may be new.
        sample_weight : array-like or dask of shape (n_samples,), default=None
            Weight of each row: a row of weight 2 counts as two rows. None means one.

        Returns
        -------
        self : object
            The scaler.
        """
        state = vars(self).get("_state")
        before = state.batch if isinstance(state, Stream) else None
        batch = self._batch(X, y, sample_weight, reset=before is None)
        self._state = Stream(batch if before is None else before + batch)
        return self

    def transform(self, X: Any) -> Any:
        """Multiply the features by their factors.

        Parameters
        ----------
        X : array-like, sparse or dask of shape (n_samples, n_features)
            The data.

        Returns
        -------
        X_new : array, CSR or CSC of shape (n_samples, n_features)
            The scaled data, sparse if X is. For dask X a lazy dask array, or a dask dataframe
            after ``set_output(transform="pandas")``.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32], reset=False
        )
        return times(X, self.scale_)

    def inverse_transform(self, X: Any) -> Any:
        """Divide the features by their factors.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
            Scaled data.

        Returns
        -------
        X_original : array, CSR or CSC of shape (n_samples, n_features)
            The data in their own units.
        """
        check_is_fitted(self)
        X = check_array(X, accept_sparse=("csr", "csc"), dtype=[np.float64, np.float32])
        if X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} was fitted on "
                f"{self.n_features_in_}: pass what transform returned."
            )
        return times(X, 1 / self.scale_)

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in vars(self)

    def __sklearn_tags__(self) -> Tags:
        return reducer_tags(super().__sklearn_tags__())

    def _batch(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Batch:
        if is_dask(X):
            return batch_of_blocks(self, X, y, sample_weight, reset=reset)
        Y = indicator(gathered(y), allow_unknown=True)
        checks = whole_checks(in_blocks(X))
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = validate_data(self, X, accept_sparse="csr", reset=reset, **checks)
        X = canonical(X)
        check_consistent_length(X, Y.matrix)
        if sample_weight is not None:
            sample_weight = np.asarray(gathered(sample_weight))
        weight = row_weights(sample_weight, X, batch=True)
        with np.errstate(over="ignore", invalid="ignore"):  # checked when solved
            moments = FeatureMoments.of(X, Y.with_unknown(), weight)
        return Batch(moments, Y.classes, Y.columns, floating(X.dtype))

    def _needs_all_rows(self) -> None:
        """Blocks of dask data can be added up."""

    def _results(self) -> Results:
        state = self._state
        return state.results(self._solve) if isinstance(state, Stream) else state

    def _solve(self, batch: Batch) -> Results:
        moments: FeatureMoments = batch.scatter.filled(len(batch.classes))
        if not moments.weight:
            raise ValueError("sample_weight is zero for all rows: pass some positive weights.")
        names = getattr(self, "feature_names_in_", None)
        check_columns(~np.isfinite(moments.squares), "large", names)
        return {
            "relevance_": moments.relevance(),
            "scale_": moments.scale(self.power, with_std=self.with_std),
            "classes_": batch.classes,
        }

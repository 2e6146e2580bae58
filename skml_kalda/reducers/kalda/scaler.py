"""Features weighted by their own alignment with the labels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import Interval

from skml_kalda._core.arrays import Array, check_columns
from skml_kalda._core.labels import LabelledSamples
from skml_kalda._core.relevance import FeatureMoments, times
from skml_kalda._core.streams import Batch
from skml_kalda.reducers.base import Results, SupervisedTransformer, documented


@documented
class AlignmentScaler(OneToOneFeatureMixin, SupervisedTransformer):
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
    {features}

    See Also
    --------
    KaLDAClassifier : Chooses the power automatically.
    sklearn.feature_selection.SelectFromModel : Selects features by `relevance_`.
    sklearn.preprocessing.StandardScaler : Brings features to unit variance without labels.

    Notes
    -----
    With :math:`\rho_{jk}` the correlation of feature j with the indicator of label k, over n
    samples (the sum of their weights), the relevance is

    .. math:: r_j = \max\Bigl(\frac1K\sum_k \rho_{jk}^2 - \frac1n,\ \frac{0.02}{n}\Bigr)

    and the factor :math:`r_j^{power/2}`, divided by its root mean square over the features.
    :math:`\frac1K\sum_k\rho_{jk}^2` is the alignment of the centred kernel
    :math:`x_jx_j^\top` of the feature with the kernel of the labels in unit variance, up to a
    constant; 1/n is its mean for a feature that is independent of them. Labels that all samples
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

    To keep the most relevant features as they are:

    >>> from sklearn.feature_selection import SelectFromModel
    >>> selector = SelectFromModel(
    ...     AlignmentScaler(), importance_getter="relevance_", max_features=1, threshold=-np.inf
    ... )
    >>> selector.fit(X, Y).get_support()
    array([ True, False])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "power": [Interval(Real, 0, None, closed="left")],
        "with_std": ["boolean"],
    }

    relevance_: Array
    scale_: Array
    _sample_weighted = True
    _counts_weights = True

    def __init__(self, power: float = 1.0, *, with_std: bool = True) -> None:
        self.power = power
        self.with_std = with_std

    def _fit_samples(self, samples: LabelledSamples) -> Results:
        return self._solve_stream(self._batch_of(samples))

    def _sums(self, X: Any, Y: Any, weight: Array, **given: Any) -> FeatureMoments:
        return FeatureMoments.of(X, Y, weight)

    def _solve_stream(self, stream: Batch) -> Results:
        moments: FeatureMoments = stream.scatter.filled(len(stream.classes))
        if not moments.weight:
            raise ValueError("sample_weight is zero for all samples: pass some positive weights.")
        names = getattr(self, "feature_names_in_", None)
        check_columns(~np.isfinite(moments.squares), "large", names)
        return {
            "relevance_": moments.relevance(),
            "scale_": moments.scale(self.power, with_std=self.with_std),
            "classes_": stream.classes,
        }

    def _project(self, X: Any) -> Any:
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
        X = self._checked_result(X, accept_sparse=("csr", "csc"))
        return times(X, 1 / self.scale_)

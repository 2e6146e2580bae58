"""Orthonormalised partial least squares."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from skml_kalda._pencil import Normalization
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import NORMALIZE_WHOLE, RIDGE, GeneralizedReducer


class OPLS(GeneralizedReducer):
    r"""Orthonormalised partial least squares.

    The directions from which the labels are best predicted in least squares: with X and Y
    centred,

    .. math:: \max_G \mathrm{Tr}\left[(G^T (X^T X + \gamma I) G)^{-1} G^T X^T Y Y^T X G\right],
              \quad \gamma = \text{ridge} \cdot \|X\|_F^2 / p,

    by :math:`X^T Y Y^T X g = n \lambda (X^T X + \gamma I) g` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if each row has the same number of them. None means the number of classes that
        have rows, minus one, or that rank.
    ridge : float, default=1e-4
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`X^T X`.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": :math:`G^T (X^T X + \gamma I) G = n I`, unit variance
        but for the ridge. "unit": directions of unit length. "sqrt_eig": "B" times
        :math:`\sqrt\lambda`. "qr": orthonormal directions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending: the variance of the labels that each direction explains.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    CCA : The same with labels made uncorrelated and of unit variance.
    MDDM : The same for ``projection="f"``, with another ridge.

    Notes
    -----
    Every row counts once, with labels or without. One linear system with as many right-hand
    sides as labels is solved; for large sparse X by iteration, in memory of the size of X.

    References
    ----------
    .. [1] K. Worsley, J.-B. Poline, K. Friston and A. Evans, "Characterizing the response of
       PET and fMRI data using multivariate linear models", NeuroImage 6, 1997.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import OPLS
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> OPLS(n_components=4).fit_transform(X, Y).shape
    (100, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "ridge": RIDGE,
        "normalize": NORMALIZE_WHOLE,
    }
    _counts_rows_once = True
    _rank = "the rank of the covariance of X and y"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float = 1e-4,
        normalize: Normalization = "B",
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.normalize = normalize

    def _label_side(self, scatter: AnyScatter) -> Array:
        return np.eye(scatter.n_classes) / np.sqrt(scatter.weight)

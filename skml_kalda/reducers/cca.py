"""Canonical correlation analysis of data and labels."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from skml_kalda._pencil import Normalization, positive_eigenpairs
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda.reducers._generalized import NORMALIZE, RIDGE, GeneralizedReducer


class CCA(GeneralizedReducer):
    r"""Regularised canonical correlation analysis of data and labels.

    The directions whose projections are most correlated with a combination of the labels:
    with X and Y centred,

    .. math:: \max_{g, h} \frac{g^T X^T Y h}
              {\sqrt{g^T (X^T X + \gamma_x I) g \cdot h^T (Y^T Y + \gamma_y I) h}},

    each uncorrelated with those before, by
    :math:`X^T Y (Y^T Y + \gamma_y I)^{-1} Y^T X g = \lambda (X^T X + \gamma_x I) g` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if each row has the same number of them. None means the number of classes that
        have rows, minus one, or that rank.
    ridge : float, default=1e-4
        :math:`\gamma_x` as a multiple of the mean eigenvalue of :math:`X^T X`.
    label_ridge : float, default=1e-4
        :math:`\gamma_y` as a multiple of the mean eigenvalue of :math:`Y^T Y`.
    normalize : {"B", "within", "unit", "sqrt_eig", "qr"}, default="B"
        Scale of the directions. "B": :math:`G^T (X^T X + \gamma_x I) G = n I`, unit variance
        but for the ridge. "within": unit variance of what the labels do not explain. "unit":
        directions of unit length. "sqrt_eig": "B" times the canonical correlation. "qr":
        orthonormal directions.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, the largest entry of each positive.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, the squared canonical correlations, descending.
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
    LDA : The same for one label per row, without ridges.
    OPLS : The same with labels as they are.
    sklearn.cross_decomposition.CCA : Iterative, for any targets.

    Notes
    -----
    Every row counts once, with labels or without. One linear system with as many right-hand
    sides as labels is solved; for large sparse X by iteration, in memory of the size of X.

    References
    ----------
    .. [1] L. Sun, S. Ji and J. Ye, "Canonical correlation analysis for multilabel
       classification: a least-squares formulation, extensions, and analysis", IEEE
       Transactions on Pattern Analysis and Machine Intelligence 33, 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import CCA
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> CCA(n_components=2).fit_transform(X, Y).shape
    (100, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GeneralizedReducer._parameter_constraints,
        "ridge": RIDGE,
        "label_ridge": RIDGE,
        "normalize": NORMALIZE,
    }
    _counts_rows_once = True
    _rank = "the rank of the covariance of X and y"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float = 1e-4,
        label_ridge: float = 1e-4,
        normalize: Normalization = "B",
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.label_ridge = label_ridge
        self.normalize = normalize

    def _label_side(self, scatter: AnyScatter) -> Array:
        # L Lᵀ = (YᵀY + γ_y I)⁻¹ on the range of YᵀY
        values, vectors = positive_eigenpairs(scatter.label_scatter)
        ridge = self.label_ridge * values.sum() / scatter.n_classes
        return vectors / np.sqrt(values + ridge)

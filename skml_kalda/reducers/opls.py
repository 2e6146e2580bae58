"""Orthonormalised partial least squares."""

from __future__ import annotations

import numpy as np

from skml_kalda._core.arrays import Array
from skml_kalda._core.scatter import Scatter
from skml_kalda.reducers.base import RANK_OF_COVARIANCE, documented
from skml_kalda.reducers.lda import GeneralizedReducer


@documented
class OPLS(GeneralizedReducer):
    r"""Orthonormalised partial least squares.

    Finds the directions from which least squares predicts the labels best. With X and Y
    centred, it solves

    .. math:: \max_G \mathrm{Tr}\left[(G^T (X^T X + \gamma I) G)^{-1} G^T X^T Y Y^T X G\right],
              \quad \gamma = \text{ridge} \cdot \|X\|_F^2 / p,

    through the eigenproblem :math:`X^T Y Y^T X g = n \lambda (X^T X + \gamma I) g` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if every sample has the same number of labels. None means that number, counting only
        labels that have samples.
    ridge : float or "auto", default="auto"
        :math:`\gamma` as a multiple of the mean eigenvalue of :math:`X^T X`.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (X^T X + \gamma I) G = n I`, which is
        unit variance apart from the ridge. "unit": directions of unit length. "sqrt_eig": "B" times
        :math:`\sqrt\lambda`. "qr": orthonormal directions.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, descending: the variance of the labels that each direction explains.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    CCA : The same with decorrelated labels of unit variance.
    MDDM : ``projection="f"`` is the same with another ridge.

    Notes
    -----
    Every sample counts once, with labels or without. The method solves one linear system with
    as many right-hand sides as labels; for large sparse X it does so by iteration, in memory
    of the size of X. {units}

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

    _sample_weighted = True
    _limit = RANK_OF_COVARIANCE

    def _label_side(self, scatter: Scatter) -> Array:
        return np.full(scatter.n_classes, 1 / np.sqrt(scatter.weight))

"""Canonical correlation analysis of data and labels."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from skml_kalda._core.arrays import Array
from skml_kalda._core.eigenproblem import Normalization, positive_eigenpairs
from skml_kalda._core.scatter import TOL, Scatter
from skml_kalda.reducers.base import PENALTY, RANK_OF_COVARIANCE, documented
from skml_kalda.reducers.lda import GeneralizedReducer


@documented
class CCA(GeneralizedReducer):
    r"""Regularised canonical correlation analysis of data and labels.

    Finds the directions whose projections are most correlated with a combination of the
    labels. With X and Y centred, it solves

    .. math:: \max_{g, h} \frac{g^T X^T Y h}
              {\sqrt{g^T (X^T X + \gamma_x I) g \cdot h^T (Y^T Y + \gamma_y I) h}},

    where each direction is uncorrelated with the previous ones. The directions are
    eigenvectors of
    :math:`X^T Y (Y^T Y + \gamma_y I)^{-1} Y^T X g = \lambda (X^T X + \gamma_x I) g` [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions, at most the rank of :math:`X^T Y`: the number of labels, or one
        less if every sample has the same number of labels. None means that number, counting only
        labels that have samples.
    ridge : float or "auto", default="auto"
        :math:`\gamma_x` as a multiple of the mean eigenvalue of :math:`X^T X`.
        "auto" chooses the value for which a ridge regression of the labels on the features is
        best in generalised cross-validation.
    label_ridge : float, default=1e-4
        :math:`\gamma_y` as a multiple of the mean eigenvalue of :math:`Y^T Y`.
    normalize : {"B", "unit", "sqrt_eig", "qr"}, default="sqrt_eig"
        Scale of the directions. "B": :math:`G^T (X^T X + \gamma_x I) G = n I`, which is
        unit variance apart from the ridge. "unit": directions of unit length. "sqrt_eig": "B"
        times the canonical correlation. "qr": orthonormal directions.
    {tol}

    Attributes
    ----------
    {components}
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, the squared canonical correlations, descending.
    ridge_ : float
        The ridge used.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples.
    {classes_and_features}

    See Also
    --------
    LDA : The same for one label per sample, without ridges.
    OPLS : The same without decorrelating the labels.
    sklearn.cross_decomposition.CCA : An iterative CCA for any targets.

    Notes
    -----
    Every sample counts once, with labels or without. The method solves one linear system with
    as many right-hand sides as labels; for large sparse X it does so by iteration, in memory
    of the size of X. {units}

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
        "label_ridge": PENALTY,
    }

    _sample_weighted = True
    _limit = RANK_OF_COVARIANCE

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float | Literal["auto"] = "auto",
        label_ridge: float = 1e-4,
        normalize: Normalization = "sqrt_eig",
        tol: float = TOL,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.label_ridge = label_ridge
        self.normalize = normalize
        self.tol = tol

    def _label_side(self, scatter: Scatter) -> Array:
        # L Lᵀ = (YᵀY + γ_y I)⁻¹ on the range of YᵀY
        values, vectors = positive_eigenpairs(scatter.label_scatter)
        ridge = self.label_ridge * values.sum() / scatter.n_classes
        return vectors / np.sqrt(values + ridge)

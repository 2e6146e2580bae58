"""Kernel-alignment LDA for single-label and multi-label data."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._core.arrays import Array
from skml_kalda._core.labels import Weights
from skml_kalda._core.scatter import Scatter
from skml_kalda.reducers.base import BaseReducer, Directions, Results, documented
from skml_kalda.reducers.kalda.newton import Stop
from skml_kalda.reducers.kalda.solve import closed_form, orthonormal_maximum


@documented
class MultiLabelKaLDA(BaseReducer):
    r"""Kernel-alignment linear discriminant analysis (kaLDA).

    Finds the linear map :math:`G` after which the kernel of the data is best aligned with
    the kernel of the labels:

    .. math:: \max_G J(G) = \frac{\mathrm{Tr}(G^T S_b G)}{\|G^T S_t G\|_F},
              \quad G^T G = I.

    The scatter matrices :math:`S_b` (between classes) and :math:`S_t` (total) weigh each sample
    by its number of labels; with one label per sample they are those of LDA [1]_. With
    ``weights="rows"`` every sample counts once.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions. None means K - 1 for K non-empty classes, or K if
        ``weights="rows"`` and samples differ in their number of labels; or the rank of the data
        if that is smaller. ``constraint="orthonormal"`` allows more.
    constraint : {"orthonormal", "none"}, default="orthonormal"
        "orthonormal" is the paper's problem, solved by iteration. "none" drops
        :math:`G^T G = I`. The maximum then has a closed form: the axes of LDA, each weighted
        by the square root of its eigenvalue. It is fast, and often the better metric for a
        neighbour classifier. Without shrinkage it does not depend on the units of the features if
        there are more samples than features; with fewer, `fit` warns.
    weights : {"labels", "rows"}, default="labels"
        What counts once. "labels" is the paper's choice: a sample counts once for each of its
        labels, a sample without labels is ignored, and the label kernel is
        :math:`\Omega^{-1/2} Y N^{-1} Y^T \Omega^{-1/2}`, where :math:`\Omega` holds the number
        of labels of each sample and :math:`N` the number of samples of each class. "rows": every
        sample counts once, including samples without labels, and the label kernel is the centred
        :math:`Y Y^T`. J is then the alignment of centred kernels [3]_, rare classes weigh less,
        and the closed form is `OPLS` with ``normalize="sqrt_eig"``, up to scale.
    shrinkage : float in [0, 1], "auto" or None, default="auto"
        Replaces :math:`S_t` by :math:`(1-a) S_t + a\,\mathrm{Tr}(S_t)/p\,I` on the range of
        :math:`S_t`. "auto" chooses the :math:`a` for which a ridge regression of the labels
        on the features is best in generalised cross-validation [2]_; this costs almost nothing.
        None is the paper's problem, which overfits unless there are many more samples than
        features.
    solver : {"auto", "paper"}, default="auto"
        "auto" is a Newton method on the Grassmannian. "paper" is the gradient iteration of
        the paper with its sign corrected; it is slow and does not converge.
    tol : float, default=1e-4
        The solver stops when the gradient, measured in the metric of its preconditioner, is
        this small relative to the objective. At the default, the objective is right to
        about 1e-7; below 1e-8 rounding takes over. On large sparse X, where linear systems are
        solved by iteration, it is also about the largest angle between the directions of the
        closed form and the exact ones.
    max_iter : int, default=500
        Maximum number of iterations. The paper used 200.
    tau : float, default=1e-3
        Step length of ``solver="paper"``.
    n_init : int, default=1
        Number of starts of ``solver="auto"``. The objective has local maxima; their
        values are usually nearly equal.
    random_state : int, RandomState instance or None, default=None
        Draws the random starts, which are used only with ``n_init > 2``.
    verbose : int, default=0
        If positive, `fit` prints the objective and the gradient of every iteration, and the
        result.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions :math:`G^T`. They are uncorrelated on the training data, in order of
        descending variance, and signed so that the largest entry of each is positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the samples, each weighted by its number of labels unless ``weights="rows"``.
    alignment_ : float
        Alignment of the kernel of the projected data with the kernel of the labels.
    explained_alignment_ratio_ : ndarray of shape (n_components,)
        The share of `alignment_` that each direction adds,
        :math:`g_j^T S_b g_j / \mathrm{Tr}(G^T S_b G)`. The shares sum to one.
    objective_ : float
        :math:`J` at the solution, including shrinkage.
    upper_bound_ : float
        Upper bound on the objective over all :math:`G` with this many columns.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest generalised eigenvalues of :math:`(S_b, S_t)`; `upper_bound_` is their norm.
        With ``weights="labels"`` they lie between zero and one; with "rows" they are the
        variance of the labels that each direction explains.
    shrinkage_ : float
        The shrinkage used.
    objective_history_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after every iteration.
    n_iter_ : int
        Number of iterations; one for the closed form.
    converged_ : bool
        Whether the solver found a stationary point.
    {classes_and_features}

    See Also
    --------
    KernelKaLDA : The same on any kernel.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : LDA for single-label data.

    Notes
    -----
    With ``constraint="orthonormal"`` the result depends on the scaling of the features:
    standardise them first (`StandardScaler`) unless they share a unit. The problem is solved
    on the range of :math:`S_t`: along other directions the training data do not vary, so the
    objective says nothing about them. Samples without labels are ignored unless
    ``weights="rows"``.

    For large sparse X no square array is formed. The closed form is then one linear system
    with K right-hand sides. The orthonormal problem is solved in a growing subspace;
    `n_iter_` counts the rounds. It then allows no more directions than the rank of
    :math:`S_b`, and converges quickly only with shrinkage.

    References
    ----------
    .. [1] S. Zheng and C. Ding, "Kernel alignment inspired linear discriminant analysis",
       ECML PKDD 2014.
    .. [2] G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for
       choosing a good ridge parameter", Technometrics 21, 1979.
    .. [3] C. Cortes, M. Mohri and A. Rostamizadeh, "Algorithms for learning kernels based on
       centered alignment", Journal of Machine Learning Research 13, 2012.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from skml_kalda import MultiLabelKaLDA
    >>> X, Y = make_multilabel_classification(n_classes=4, random_state=0)
    >>> kalda = MultiLabelKaLDA().fit(X, Y)
    >>> kalda.transform(X).shape
    (100, 3)
    >>> kalda.objective_ <= kalda.upper_bound_
    True
    """

    alignment_: float
    explained_alignment_ratio_: Array
    objective_: float
    upper_bound_: float
    shrinkage_: float
    objective_history_: Array
    n_iter_: int
    converged_: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "constraint": [StrOptions({"orthonormal", "none"})],
        "weights": [StrOptions({"labels", "rows"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "solver": [StrOptions({"auto", "paper"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tau": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        constraint: Literal["orthonormal", "none"] = "orthonormal",
        weights: Weights = "labels",
        shrinkage: float | Literal["auto"] | None = "auto",
        solver: Literal["auto", "paper"] = "auto",
        tol: float = 1e-4,
        max_iter: int = 500,
        tau: float = 1e-3,
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.weights = weights
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.tau = tau
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    @property
    def _sample_weighted(self) -> bool:
        return self.weights == "rows"

    @property
    def _needs_spectrum(self) -> bool:
        return self.solver == "paper" or self._needs_similar_units

    @property
    def _needs_similar_units(self) -> bool:
        unshrunk = self.shrinkage is None or self.shrinkage == 0
        return unshrunk and self.constraint == "orthonormal"

    def _depends_on_units(self, attributes: Results) -> bool:
        return self.constraint == "orthonormal" or bool(attributes["shrinkage_"] > 0)

    def _directions(self, scatter: Scatter) -> Directions:
        name = type(self).__name__
        default = self._reducing(scatter.label_dimensions)
        if self.constraint == "none":
            found = closed_form(name, scatter, self.n_components, default, self.shrinkage)
        else:
            found = orthonormal_maximum(
                name,
                scatter,
                self.n_components,
                default,
                self.shrinkage,
                solver=self.solver,
                stop=Stop(self.tol, self.max_iter, name if self.verbose else ""),
                tau=self.tau,
                n_init=self.n_init,
                random_state=self.random_state,
            )
        if self.verbose:
            result = "shrinkage {shrinkage_:.3g}, objective {objective_:.8g}"
            print(f"[{name}] {found.G.shape[1]} directions:", result.format(**found.attributes))
        return found

"""Kernel-alignment LDA for single-label and multi-label data."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skml_kalda._alignment import Alignment
from skml_kalda._base import BaseReducer
from skml_kalda._density import Density
from skml_kalda._grassmann import diagonal_basis, polar
from skml_kalda._implicit import NO_SPECTRUM, ImplicitScatter
from skml_kalda._moments import Spectrum
from skml_kalda._scatter import AnyScatter, Array
from skml_kalda._solvers import Solution, Stop, best_of, paper_iteration
from skml_kalda._subspace import Shrunk, lda_subspace, maximize_in_subspaces
from skml_kalda.reducers._shrinkage import generalised_cross_validation


class MultiLabelKaLDA(BaseReducer):
    r"""Kernel-alignment linear discriminant analysis (kaLDA).

    Finds the linear map :math:`G` after which the kernel of the data is best aligned with
    the kernel of the labels:

    .. math:: \max_G J(G) = \frac{\mathrm{Tr}(G^T S_b G)}{\|G^T S_t G\|_F},
              \quad G^T G = I.

    The scatter matrices :math:`S_b` (between classes) and :math:`S_t` (total) weigh each row
    by its number of labels; with one label per row they are those of LDA [1]_.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions. None means the number of classes that have rows, minus one,
        or the rank of the data if that is smaller. More are allowed with
        ``constraint="orthonormal"``.
    constraint : {"orthonormal", "none"}, default="orthonormal"
        "orthonormal" is the paper's problem, solved by iteration. "none" drops
        :math:`G^T G = I`; the maximum is then known in closed form: the axes of LDA, each
        weighted by the root of its eigenvalue. It is fast, does not depend on the scaling
        of the features, and is often the better metric for a neighbour classifier.
    shrinkage : float in [0, 1], "auto" or None, default=None
        Replaces :math:`S_t` by :math:`(1-a) S_t + a\,\mathrm{Tr}(S_t)/p\,I` on the range of
        :math:`S_t`. "auto" takes the :math:`a` for which labels are best regressed on the
        features, by generalised cross-validation [2]_: it needs the scatters and the number
        of rows only, and costs next to nothing. On standardised features 0.2 to 0.5 is
        seldom far from the best.
    solver : {"auto", "paper"}, default="auto"
        "auto" is a Newton method on the Grassmannian. "paper" is the gradient iteration of
        the paper with its sign mended: slow, and not convergent.
    tol : float, default=1e-8
        The solver stops when the gradient is this small relative to the objective, in the
        metric in which the problem is well conditioned.
    max_iter : int, default=500
        Number of iterations at most. The paper took 200.
    tau : float, default=1e-3
        Length of the steps of ``solver="paper"``.
    n_init : int, default=1
        Number of starts of ``solver="auto"``. The objective has local maxima, usually a hair
        apart.
    random_state : int, RandomState instance or None, default=None
        Used with ``n_init > 2`` only, for random starts.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, :math:`G^T`: uncorrelated on the training data, in order of falling
        variance, the largest entry of each positive.
    mean_ : ndarray of shape (n_features,)
        Mean of the rows, each weighted by its number of labels.
    alignment_ : float
        Alignment of the kernel of the projected data with the kernel of the labels.
    objective_ : float
        :math:`J` at the solution, with shrinkage if any.
    upper_bound_ : float
        No :math:`G` of this many columns has a larger objective.
    eigenvalues_ : ndarray of shape (n_components,)
        Largest generalised eigenvalues of :math:`(S_b, S_t)`; `upper_bound_` is their norm.
    shrinkage_ : float
        The shrinkage used.
    objective_history_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after every iteration.
    n_iter_ : int
        Number of iterations; one for the closed form.
    converged_ : bool
        Whether the solver found a stationary point.
    classes_ : ndarray
        The classes that have rows: labels, or column numbers of an indicator matrix.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had string column names.

    See Also
    --------
    MultiLabelKaLDACV : Chooses shrinkage and number of components for neighbours.
    KernelKaLDA : The same on any kernel.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : LDA for single-label data.

    Notes
    -----
    With ``constraint="orthonormal"`` the result depends on the scaling of the features: put
    a `StandardScaler` in front unless they share a unit. The problem is solved on the range
    of :math:`S_t`, because directions in which the training data do not vary would fit it
    at will. Rows without labels count for nothing.

    For large sparse X neither the spectrum of :math:`S_t` nor any square array is formed: the
    closed form is one system with K right-hand sides, and the orthonormal problem is solved
    in a growing subspace, whose rounds `n_iter_` then counts. It has at most as many
    directions as the classes can tell apart, and wants some shrinkage to be quick. See
    :func:`skml_kalda.scatter_form`.

    References
    ----------
    .. [1] S. Zheng and C. Ding, "Kernel alignment inspired linear discriminant analysis",
       ECML PKDD 2014.
    .. [2] G. H. Golub, M. Heath and G. Wahba, "Generalized cross-validation as a method for
       choosing a good ridge parameter", Technometrics 21, 1979.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseReducer._parameter_constraints,
        "constraint": [StrOptions({"orthonormal", "none"})],
        "shrinkage": [Interval(Real, 0, 1, closed="both"), StrOptions({"auto"}), None],
        "solver": [StrOptions({"auto", "paper"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tau": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        constraint: Literal["orthonormal", "none"] = "orthonormal",
        shrinkage: float | Literal["auto"] | None = None,
        solver: Literal["auto", "paper"] = "auto",
        tol: float = 1e-8,
        max_iter: int = 500,
        tau: float = 1e-3,
        n_init: int = 1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.shrinkage = shrinkage
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.tau = tau
        self.n_init = n_init
        self.random_state = random_state

    def _directions(self, scatter: AnyScatter) -> Array:
        (values, basis), solution = self._reduced(scatter)
        factor = np.asarray(basis.T @ scatter.between).T  # M: S_b = MᵀM in the eigenbasis
        target = scatter.trace / scatter.n_features
        objective = Alignment((1 - self.shrinkage_) * values + self.shrinkage_ * target, factor)
        if self.constraint == "none":
            k = self._k(scatter, objective.rank, "the rank of the between-class scatter")
        else:
            k = self._k(scatter, len(values), "the rank of the centred data")
        solution = solution or self._solve(objective, k)
        self._report(solution, objective, k)
        self.alignment_ = _label_constant(scatter) * Alignment(values, factor).value(solution.point)
        if self.constraint == "none":
            # Variance of the projected rows, not their sum of squares, is made λ.
            return np.asarray(basis @ solution.point) * np.sqrt(scatter.weight)
        return polar(basis @ diagonal_basis(solution.point, values)[0])

    def _reduced(self, scatter: AnyScatter) -> tuple[Spectrum, Solution | None]:
        """S_t in its eigenbasis, or in a subspace that holds the solution."""
        if not isinstance(scatter, ImplicitScatter):
            spectrum = scatter.spectrum()
            self._k(scatter, len(spectrum.values), "the rank of the centred data")
            self.shrinkage_ = self._shrinkage(scatter, lambda: Density.all_of(scatter, spectrum))
            return spectrum, None
        self.shrinkage_ = self._shrinkage(scatter, lambda: Density.estimate(scatter))
        if self.constraint == "none":
            return lda_subspace(scatter, self.shrinkage_), None
        if self.solver == "paper":
            raise ValueError(f'solver="paper" {NO_SPECTRUM}: use solver="auto".')
        shrunk = Shrunk.of(scatter, self.shrinkage_)
        axes = shrunk.axes()
        reason = f"the rank of the between-class scatter; a further direction {NO_SPECTRUM}"
        k = self._k(scatter, len(axes.space.values), reason)
        stop = Stop(self.tol, self.max_iter)
        return maximize_in_subspaces(shrunk, axes, stop, lambda J: self._solve(J, k))

    def _shrinkage(self, scatter: AnyScatter, density: Callable[[], Density]) -> float:
        if self.shrinkage == "auto":
            return generalised_cross_validation(scatter, density())
        return 0.0 if self.shrinkage is None else float(self.shrinkage)

    def _k(self, scatter: AnyScatter, limit: int, reason: str) -> int:
        return self._number_of_components(scatter.n_classes - 1, limit, reason)

    def _solve(self, objective: Alignment, k: int) -> Solution:
        if self.constraint == "none":
            value = objective.upper_bound(k)
            return Solution(objective.closed_form(k), value, np.array([value]), "gradient")
        stop = Stop(self.tol, self.max_iter)
        if self.solver == "paper":
            return paper_iteration(objective, objective.lda_start(k), stop, tau=self.tau)
        return best_of(objective, k, stop, self.n_init, check_random_state(self.random_state))

    def _report(self, solution: Solution, objective: Alignment, k: int) -> None:
        self.objective_ = solution.value
        self.objective_history_ = solution.history
        self.upper_bound_ = objective.upper_bound(k)
        self.eigenvalues_ = _padded(objective.eigenvalues[:k], k)
        self.n_iter_ = max(1, solution.n_iter)
        self.converged_ = solution.converged
        if not solution.converged:
            if self.solver == "paper":
                advice = 'its steps have a fixed length; lower tau, or use solver="auto"'
            elif solution.n_iter < self.max_iter:
                advice = "use some shrinkage, or put a scaler such as MaxAbsScaler in front"
            else:
                advice = "increase max_iter, or put a StandardScaler in front"
            warnings.warn(
                f"kaLDA did not converge in {solution.n_iter} iterations: {advice}.",
                ConvergenceWarning,
                stacklevel=2,
            )


def _label_constant(scatter: AnyScatter) -> float:
    """The c of alignment = c·J: one over the norm of the label kernel."""
    root = np.sqrt(scatter.label_weight)
    return 1 / float(linalg.norm(scatter.gram / np.outer(root, root)))


def _padded(eigenvalues: Array, k: int) -> Array:
    return np.pad(eigenvalues, (0, k - len(eigenvalues)))

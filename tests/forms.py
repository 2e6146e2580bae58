"""The one place where tests reach below the public names: forms of the scatter, and J itself.

A fit chooses how it keeps the scatter: as p × p sums ("primal"), as n × n inner products of the
samples ("dual"), or only as products with sparse X ("operator"). Results must not depend on it.
"""

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skml_kalda._core.scatter import forced_form as form
from skml_kalda.reducers.kalda.newton import Alignment, NewtonSystem, Point

FORMS = ("primal", "dual", "operator")


def fitted(reducer, X, Y, name=None, **fit_params):
    """Fit a clone in a form of the scatter; None leaves the choice to it."""
    if name is None:
        return clone(reducer).fit(X, Y, **fit_params)
    if name == "operator" and not hasattr(X, "dask"):
        X = sparse.csr_array(X)
    with form(name):
        return clone(reducer).fit(X, Y, **fit_params)


def objective(values, factor):
    """J of kaLDA where S_t = diag(values) and S_b = factorᵀ factor: value(G), gradient(G)."""
    return Alignment(values, factor)


def second_order(J, G, seed=0):
    """Draw a tangent direction Z at a basis of G; return both, slope and curvature along Z."""
    point = Point(J, G)
    system = NewtonSystem(point)
    W = system.product(np.random.default_rng(seed).normal(size=system.gradient.shape))
    Z = system.lift(W)
    size = np.linalg.norm(Z)
    slope, curvature = np.vdot(system.gradient, W), -np.vdot(W, system.product(W))
    return point.G, Z / size, slope / size, curvature / size**2

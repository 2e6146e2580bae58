"""The linear system of a Newton step, in coordinates in which its dominant terms are diagonal.

The Hessian of J along Z is −c S_t Z D − Z Λ, with the curvature c and the multiplier Λ = Gᵀ∇J, and
terms of lower rank. With Z = S_t^(-½) W T, T (c D) Tᵀ = I and T Λ Tᵀ = diag(μ), the two terms
become −(1 + μ_j / s_i) w_ij. For labels that the data hardly explain, μ is close to −s of the
quietest directions. So both terms belong in the preconditioner: with the first one alone it takes
several times as many iterations.
"""

from __future__ import annotations

import numpy as np

from skml_kalda._core.arrays import Array
from skml_kalda._core.orthonormal import orthonormal, tangent
from skml_kalda.reducers.kalda.alignment import Point

# Smallest entry of the diagonal that the preconditioner inverts. Entries are small, or negative,
# along directions in which the other terms decide.
_LEAST = 0.2
# With a larger slope, relative to J, the multiplier is far from the one at the maximum: it would
# lead to lesser maxima.
_FAR = 0.1
# More numbers than this are stored in single precision, unless the diagonal exceeds this limit.
_MANY, _STEEP = 2**16, 1e3


class NewtonSystem:
    """−Hessian Z = gradient at one point, for tangent Z = S_t^(-½) W T.

    Large systems are in single precision, which is enough: the gradient is that of double
    precision, so the next step corrects the errors of this one.

    Parameters
    ----------
    point : Point
        Where to step from.
    """

    def __init__(self, point: Point) -> None:
        self.point = point
        root = np.sqrt(point.objective.values)[:, None]
        side = 1 / np.sqrt(point.curvature * point.d)
        mu, rotation = np.linalg.eigh(side[:, None] * point.multiplier * side)
        self._scale, self._turn = 1 / root, rotation.T * side
        diagonal = 1 + mu / root**2
        large = diagonal.size > _MANY and np.abs(diagonal).max() < _STEEP
        self._dtype = np.float32 if large else np.float64
        self._diagonal = self._stored(diagonal)
        near = point.slope < _FAR * point.value
        self._inverse = 1 / np.maximum(self._diagonal, _LEAST) if near else None
        # M and Cᵀ stacked, because one product with both and one with the transpose make up most
        # of the cost.
        self._products = self._stored(
            np.concatenate([point.objective.factor, point.C.T]) * self._scale.T
        )
        # Tangent: W has no part along these.
        self._normal = self._stored(orthonormal(self._scale * point.G))
        gradient = self._stored(self._scale * (point.gradient @ self._turn.T))
        self.gradient = tangent(self._normal, gradient)
        """The right-hand side, shape (r, k)."""

    def _stored(self, A: Array) -> Array:
        return A.astype(self._dtype, copy=False)

    def product(self, W: Array) -> Array:
        """Return −Hessian W, for tangent W."""
        point, T = self.point, self._turn
        both = (self._products @ W) @ T
        MZ, CZ = both[: -len(point.d)], both[-len(point.d) :]
        along_b = 2 * np.vdot(point.MG, MZ)
        along_norm = 2 * (point.d @ CZ.diagonal()) / point.norm_d
        bend = 2 * along_b / point.norm_d**3 - 3 * point.curvature * along_norm / point.norm_d
        upper = (2 / point.norm_d) * (MZ - along_norm / point.norm_d * point.MG)
        lower = -point.curvature * (CZ + CZ.T) - bend * np.diag(point.d)
        image = self._diagonal * W
        image -= self._products.T @ self._stored(np.concatenate([upper, lower]) @ T.T)
        return tangent(self._normal, image)

    def precondition(self, R: Array) -> Array:
        """Return W that solves the system roughly, for tangent R."""
        return R.copy() if self._inverse is None else tangent(self._normal, self._inverse * R)

    def lift(self, W: Array) -> Array:
        """Return Z."""
        return tangent(self.point.G, self._scale * (W @ self._turn))

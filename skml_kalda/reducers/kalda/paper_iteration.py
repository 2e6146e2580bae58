"""Algorithm 1 of the paper, kept for comparison."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from skml_kalda._core.arrays import Array
from skml_kalda._core.orthonormal import polar, tangent
from skml_kalda.reducers.kalda.alignment import Alignment
from skml_kalda.reducers.kalda.newton import Reason, Solution, Stop


def paper_iteration(
    objective: Alignment, start: Array, stop: Stop, *, tau: float = 1e-3
) -> Solution:
    """Maximise the objective by steps of fixed length along the gradient.

    The sign is corrected: the paper states a maximisation but writes a descent step. G is made
    orthonormal after every step. Because the step length is fixed, the iterates stay at a
    distance of about `tau` from the maximum and do not converge.
    """
    G = polar(start)
    history = [objective.value(G)]
    reason: Reason = "max_iter"
    while len(history) <= stop.max_iter:
        gradient = tangent(G, objective.gradient(G))
        if linalg.norm(gradient) <= stop.tol * history[-1]:
            reason = "gradient"
            break
        # ‖·‖₁ is the sum of absolute entries, as in the paper.
        eta = tau * np.abs(G).sum() / np.abs(gradient).sum()
        G = polar(G + eta * gradient)
        history.append(objective.value(G))
    return Solution(G, history[-1], np.array(history), reason)

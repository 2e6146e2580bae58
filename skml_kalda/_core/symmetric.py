"""Eigenpairs of symmetric matrices, without those that are rounding errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from skml_kalda._core.arrays import Array

# Eigenvalues of S_t below this fraction of the largest are rounding errors.
RANGE_RTOL = 1e-10


def positive(values: Array, rtol: float = RANGE_RTOL) -> NDArray[np.bool_]:
    """Return which eigenvalues are positive and larger than rounding errors."""
    return values > rtol * max(values.max(initial=0.0), 0.0)


def positive_eigenpairs(
    S: Array, rtol: float = RANGE_RTOL, *, eigh: Callable[[Array], Any] = linalg.eigh
) -> tuple[Array, Array]:
    """Return the eigenvalues of S above `rtol` of the largest, descending, and their vectors."""
    values, vectors = eigh(S)
    keep = positive(values, rtol)
    return values[keep][::-1], vectors[:, keep][:, ::-1]

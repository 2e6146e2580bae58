"""The candidates that KaLDAClassifier chooses from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skml_kalda.classifiers._choice import Judged, Search
from skml_kalda.classifiers._labelled_rows import Rows
from skml_kalda.classifiers._spaces import Landscape, Space

KERNELS = ("rbf", "angular", "linear")
# Several widths at once do better than the best one of them, and need no choice.
WIDTHS = (0.125, 0.5, 2.0, 8.0)
# No, half and full relevance: half is the mean of both kernels.
RELEVANCES = ((0.0,), (0.0, 1.0), (1.0,))
SHRINKAGES = tuple(1 / (1 + 10**x) for x in np.linspace(4, -2, 19))
# The space is chosen on at most this many rows and landmarks; then all rows are fitted.
SEARCH_ROWS = 1000
SEARCH_LANDMARKS = 500


@dataclass(frozen=True)
class Candidates:
    """Values of the parameters to choose from; the kernel of several widths is their mean."""

    kernels: Sequence[str]
    widths: Sequence[float]
    shrinkages: Sequence[float]
    relevances: Sequence[tuple[float, ...]]
    with_std: Sequence[bool]

    @classmethod
    def of(
        cls,
        kernel: str | Sequence[str],
        gamma: float | Sequence[float] | Literal["auto"],
        shrinkage: float | Literal["auto"],
        relevance: float | Sequence[float] | Literal["auto"],
        with_std: bool | Literal["auto"],
    ) -> Candidates:
        """Return the candidates for parameters of `KaLDAClassifier`."""
        return cls(
            _kernels(kernel),
            WIDTHS if gamma == "auto" else _floats(gamma),
            SHRINKAGES if shrinkage == "auto" else (shrinkage,),
            RELEVANCES if relevance == "auto" else (_floats(relevance),),
            (True, False) if with_std == "auto" else (with_std,),
        )

    def best_space(self, rows: Rows, n_landmarks: int, seed: int) -> tuple[Space, list[Judged]]:
        """Return the best space for a sample of the rows, and all spaces that were judged."""
        sample = rows.drawn(SEARCH_ROWS, np.random.RandomState(seed))
        few = min(n_landmarks, SEARCH_LANDMARKS)
        landscape = Landscape(sample, few, SEARCH_LANDMARKS, self.widths, seed)
        search = Search(landscape, self.shrinkages, seed)
        return search.best(self.kernels, self.with_std, self.relevances)


def _kernels(kernel: str | Sequence[str]) -> Sequence[str]:
    kernels = KERNELS if kernel == "auto" else [kernel] if isinstance(kernel, str) else kernel
    unknown = [each for each in kernels if each not in KERNELS]
    if unknown or not kernels:
        raise ValueError(f"kernel={kernel!r} must name kernels among {list(KERNELS)}.")
    return kernels


def _floats(numbers: float | Sequence[float]) -> tuple[float, ...]:
    return tuple(np.atleast_1d(numbers).astype(float).tolist())

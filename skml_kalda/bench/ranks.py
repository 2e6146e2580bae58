"""Ranks across data sets: the Friedman test and the critical difference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

__all__ = ["Ranking", "rank_methods"]


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods (1 is best), and whether chance may explain them."""

    mean_ranks: pd.Series[float]
    p_value: float
    n_datasets: int
    critical_difference: float

    def cliques(self) -> list[tuple[float, float]]:
        """Give the longest stretches of ranks within which no two methods differ."""
        ranks = np.sort(self.mean_ranks.to_numpy())
        stretches = [
            (float(low), float(ranks[ranks <= low + self.critical_difference].max()))
            for low in ranks
        ]
        # Ranks ascend, so a stretch is inside an earlier one if it ends no later.
        return [
            stretch
            for number, stretch in enumerate(stretches)
            if stretch[1] > stretch[0] and all(stretch[1] > s[1] for s in stretches[:number])
        ]


def rank_methods(means: pd.DataFrame, *, ascending: bool = False) -> Ranking | None:
    """Rank methods (columns) on every data set (rows).

    Parameters
    ----------
    means : pandas.DataFrame
        One score per data set and method.
    ascending : bool, default=False
        Whether a lower score is better.

    Returns
    -------
    Ranking or None
        With the p-value of Friedman's test and the critical difference of Nemenyi's at 5 %
        (Demšar 2006); None for fewer than three methods or two data sets, where neither is
        defined.
    """
    n, k = means.shape
    if n < 2 or k < 3:
        return None
    ranks = means.rank(axis=1, ascending=ascending)
    _, p_value = stats.friedmanchisquare(*(means[name] for name in means))
    q = stats.studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2)
    critical = float(q * np.sqrt(k * (k + 1) / (6 * n)))
    return Ranking(ranks.mean().sort_values(), float(p_value), n, critical)

"""Ranks across data sets: the Friedman test, the critical difference and post-hoc tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods (1 is best), and whether chance could explain them."""

    mean_ranks: pd.Series[float]
    p_value: float
    n_datasets: int
    critical_difference: float

    def cliques(self) -> list[tuple[float, float]]:
        """Return the longest ranges of ranks within which no two methods differ."""
        ranks = np.sort(self.mean_ranks.to_numpy())
        ranges = [
            (float(low), float(ranks[ranks <= low + self.critical_difference].max()))
            for low in ranks
        ]
        # Ranks ascend, so a range lies inside an earlier one if it ends no later.
        return [
            each
            for number, each in enumerate(ranges)
            if each[1] > each[0] and all(each[1] > s[1] for s in ranges[:number])
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
    critical = float(q * _standard_error(n, k))
    return Ranking(ranks.mean().sort_values(), float(p_value), n, critical)


def _standard_error(n: int, k: int) -> float:
    """Return the standard error of the difference between two mean ranks."""
    return float(np.sqrt(k * (k + 1) / (6 * n)))


def post_hoc(means: pd.DataFrame, *, ascending: bool = False) -> pd.DataFrame:
    """Test every method against the one with the best mean rank.

    Parameters
    ----------
    means : pandas.DataFrame
        One score per data set (row) and method (column), at least two methods.
    ascending : bool, default=False
        Whether a lower score is better.

    Returns
    -------
    pandas.DataFrame
        For each other method, best first: its mean rank, and three p-values (Demšar 2006). One
        is of Nemenyi's test, which corrects for all pairs. The others, of the difference of the
        mean ranks and of Wilcoxon's signed ranks of the scores, are corrected by Holm for the
        comparisons shown.
    """
    n, k = means.shape
    ranks = means.rank(axis=1, ascending=ascending).mean().sort_values()
    best, others = ranks.index[0], ranks.iloc[1:]
    z = (others - ranks.iloc[0]) / _standard_error(n, k)
    # Two methods may have equal scores on a data set: these are split between the signs.
    signed = [
        stats.wilcoxon(means[best], means[m], zero_method="zsplit").pvalue for m in others.index
    ]
    return pd.DataFrame(
        {
            "mean rank": others,
            "Nemenyi": stats.studentized_range.sf(z * np.sqrt(2), k, np.inf),
            "Holm": holm(pd.Series(2 * stats.norm.sf(z), others.index)),
            "Wilcoxon, Holm": holm(pd.Series(signed, others.index)),
        }
    )


def holm(p_values: pd.Series[float]) -> pd.Series[float]:
    """Correct p-values for multiple comparisons, step by step from the smallest.

    Examples
    --------
    >>> import pandas as pd
    >>> from skml_kalda.bench.reporting.ranks import holm
    >>> holm(pd.Series([0.04, 0.01, 0.03])).tolist()
    [0.06, 0.03, 0.06]
    """
    ordered = p_values.sort_values()
    corrected = (ordered * np.arange(len(ordered), 0, -1)).cummax().clip(upper=1)
    return corrected.reindex(p_values.index)

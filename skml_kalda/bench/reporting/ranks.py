"""How sure a comparison is: ranks across datasets, post-hoc tests, and the lead of the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skml_kalda.bench.reporting.tables import size_of, with_candidates
from skml_kalda.bench.running.results import Results
from skml_kalda.bench.scores import Score


@dataclass(frozen=True)
class Ranking:
    """Mean ranks of methods (1 is best), and whether chance could explain them.

    Attributes
    ----------
    nemenyi : pd.DataFrame
        The p-value of each pair of methods.
    """

    mean_ranks: pd.Series[float]
    p_value: float
    n_datasets: int
    critical_difference: float
    nemenyi: pd.DataFrame


def rank_methods(means: pd.DataFrame, *, ascending: bool = False) -> Ranking | None:
    """Rank methods (columns) on every dataset (rows).

    Parameters
    ----------
    means : pandas.DataFrame
        One score per dataset and method.
    ascending : bool, default=False
        Whether a lower score is better.

    Returns
    -------
    Ranking or None
        With the p-value of Friedman's test, and the critical difference and the p-values of
        Nemenyi's at 5 % (Demšar 2006); None for fewer than three methods or two datasets, where
        none is defined.
    """
    from scikit_posthocs import posthoc_nemenyi_friedman

    n, k = means.shape
    if n < 2 or k < 3:
        return None
    ranks = means.rank(axis=1, ascending=ascending)
    _, p_value = stats.friedmanchisquare(*(means[name] for name in means))
    q = stats.studentized_range.ppf(0.95, k, np.inf)
    critical = float(q * np.sqrt(k * (k + 1) / (12 * n)))
    pairs = posthoc_nemenyi_friedman(means)
    return Ranking(ranks.mean().sort_values(), float(p_value), n, critical, pairs)


@dataclass(frozen=True)
class Lead:
    """The best method by a score, and the next one.

    Attributes
    ----------
    value : float
        The mean score of the best one over the datasets.
    lead : float
        How much it is better than the second one.
    p_values : Sequence[float]
        Of the corrected t-test of both on each dataset where the best one leads.
    """

    score: Score
    best: str
    second: str
    value: float
    lead: float
    p_values: Sequence[float]
    n_datasets: int

    def certainty(self) -> str:
        """Return how certain the lead is, in words."""
        clear = sum(p < 0.05 for p in self.p_values)
        if self.n_datasets == 1:
            p = self.p_values[0] if self.p_values else 1.0
            return f"p = {p:.2g}, {'clear' if clear else 'not clear'}"
        leads = f"leads on {len(self.p_values)} of {self.n_datasets}"
        return f"{leads}, clearly on {clear or 'none'}"


def leader(results: Results, score: Score) -> Lead | None:
    """Find the method with the best mean over the datasets, None if there is only one method."""
    wide = with_candidates(results).pivot_table(
        index=["dataset", "repeat", "fold"], columns="candidate", values=score.name, sort=False
    )
    wide = wide.dropna(axis=1)
    if wide.shape[1] < 2:
        return None
    sign = -1 if score.lower_is_better else 1
    means = wide.groupby(level="dataset", sort=False).mean()
    best, second = (sign * means.mean()).sort_values(ascending=False, kind="stable").index[:2]
    gaps = sign * (wide[best] - wide[second])
    p_values = [
        corrected_t_test(part.to_numpy(), _test_share(results, str(name)))
        for name, part in gaps.groupby(level="dataset", sort=False)
        if part.mean() > 0
    ]
    lead = float(sign * (means[best] - means[second]).mean())
    return Lead(score, best, second, float(means[best].mean()), lead, p_values, len(means))


def _test_share(results: Results, name: str) -> float:
    """Return the number of test samples of a split for each training sample."""
    train = results.plan.train_rows.get(name, 0)
    if not train:
        return 1 / (results.plan.folds - 1)
    n: int = size_of(results, name)["rows"]
    return (min(n, results.plan.max_rows.get(name, 0) or n) - train) / train


def corrected_t_test(differences: Any, test_share: float) -> float:
    """Return the p-value of paired differences over folds or random splits of the same samples.

    The variance is that of Nadeau and Bengio (2003): splits share training samples, so their
    scores are not independent, and the usual t-test would find too many differences. `test_share`
    is the number of test samples for each training sample.

    Examples
    --------
    >>> from skml_kalda.bench.reporting.ranks import corrected_t_test
    >>> round(corrected_t_test([0.02, 0.03, 0.01, 0.02, 0.02], 1 / 4), 3)
    0.014
    """
    gaps = np.asarray(differences, dtype=float)
    if len(gaps) < 2:
        return 1.0
    error = gaps.std(ddof=1) * np.sqrt(1 / len(gaps) + test_share)
    if error == 0:
        return float(gaps.mean() == 0)
    return float(2 * stats.t.sf(abs(gaps.mean()) / error, len(gaps) - 1))

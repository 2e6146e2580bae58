"""The rows on which parameters are chosen: all of them, or a sample."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import validate_data

from skml_kalda._core.arrays import canonical
from skml_kalda._core.dask import is_dask, sample_of_blocks
from skml_kalda._core.kernels.samples import RowSample
from skml_kalda._core.labels import Indicator, check_known, indicator

# Rows drawn from dask data by default.
_FROM_BLOCKS = 10_000


class SelectionRows:
    """Shared code of the reducers that choose their parameters on `selection_rows`."""

    selection_rows: int | Literal["auto"]
    random_state: Any

    def _draw_seed(self) -> None:
        """Draw one seed for all kernels, so that they use the same landmarks."""
        self._seed = self.random_state
        if not isinstance(self.random_state, int | np.integer):
            self._seed = check_random_state(self.random_state).randint(2**31 - 1)

    def _drawn(self, X: Any, y: Any) -> tuple[Any, Any, Indicator]:
        """Return X, and the rows and labels to choose the parameters on."""
        if is_dask(X):
            return X, *self._drawn_from_blocks(X, y)
        Y = _known(y)
        X = self._validate_rows(X, reset=True, min_samples=2)
        check_consistent_length(X, Y.matrix)
        n = X.shape[0]
        if self.selection_rows == "auto" or self.selection_rows >= n:
            return X, X, Y
        rng = np.random.default_rng(self._seed)
        rows = np.sort(rng.choice(n, self.selection_rows, replace=False))
        return X, self._rows(X, rows, rows), Y._replace(matrix=Y.matrix[rows])

    def _drawn_from_blocks(self, X: Any, y: Any) -> tuple[Any, Indicator]:
        if not is_dask(y):
            _known(y)  # Validate y here, so that errors surface before any task runs.
        size = _FROM_BLOCKS if self.selection_rows == "auto" else self.selection_rows
        drawn = sample_of_blocks(self, X, y, None, reset=True, size=size, seed=self._seed)
        return drawn.columns[0], _known(drawn.columns[1])

    def _sample(self, X: Any, y: Any, sample_weight: Any, seed: Any, *, size: int) -> RowSample:
        """Draw from the rows of a block, and from their labels."""
        X = self._validate_rows(X, reset=False, min_samples=1)
        y = sparse.csr_array(y) if sparse.issparse(y) else np.asarray(y)
        return RowSample.of(size, (X, y), np.random.default_rng(seed))

    def _validate_rows(self, X: Any, *, reset: bool, min_samples: int) -> Any:
        checks = {"dtype": [np.float64, np.float32], "ensure_min_samples": min_samples}
        with np.errstate(over="ignore", invalid="ignore"):  # scikit-learn adds up all values
            X = validate_data(self, X, accept_sparse="csr", reset=reset, **checks)
        return canonical(X)

    def _rows(self, X: Any, rows: Any, train: Any) -> Any:
        """Return rows of X in the form expected by a reducer fitted on the rows `train`."""
        return X[rows]

    def _needs_all_rows(self) -> str | None:
        """Return why rows cannot be drawn from blocks; None if they can."""
        return None


def _known(y: Any) -> Indicator:
    Y = indicator(y, allow_unknown=True)
    check_known(Y, "parameters are chosen by scores of folds, and those need all labels")
    return Y

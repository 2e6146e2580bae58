"""The most probable labels of each row, without an array of all rows and labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skml_kalda._core.scores.ranking import top_scores


class TopLabelsMixin:
    """Adds `top_labels` to a classifier whose `_probabilities` come in batches of rows."""

    classes_: NDArray[Any]

    def top_labels(self, X: Any, n: int = 5) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the most probable labels of each row, for example the tags of a text.

        Rows are read in batches, so no array of all rows and labels is made.

        Parameters
        ----------
        X : {array-like, sparse} of shape (m, p)
            The rows.
        n : int, default=5
            How many labels, at most as many as there are.

        Returns
        -------
        labels : ndarray of shape (m, n)
            Columns of `y`, by name if it was a data frame, else by number; or positions in
            `classes_` for a 1-D `y`. The most probable label comes first; of equally probable
            labels, the one that comes first in `y`.
        scores : ndarray of shape (m, n)
            Their probabilities, as in `predict_proba`.
        """
        probabilities = self._probabilities(X)
        K = len(self.classes_)
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= K:
            raise ValueError(f"n={n!r} must be an integer from 1 to {K}, the number of labels.")
        labels, scores = zip(*(top_scores(part, int(n)) for part in probabilities), strict=True)
        found, names = np.concatenate(labels), self._column_names()
        return found if names is None else names[found], np.concatenate(scores)

    def _column_names(self) -> NDArray[Any] | None:
        """Return the names or numbers of the columns of an indicator `y`; None for a 1-D `y`."""
        raise NotImplementedError

    def _probabilities(self, X: Any) -> Iterator[Any]:
        """Check X, and yield the probabilities of batches of its rows, dense or CSR."""
        raise NotImplementedError

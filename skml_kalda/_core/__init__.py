"""The numerics of every reducer: labels, the scatter statistic, eigenproblems, streams."""

"""The numerics behind every reducer: labels, the scatter statistic, eigenproblems, streams."""

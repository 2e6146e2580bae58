"""Multi-label neighbour classifiers."""

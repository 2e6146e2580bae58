"""Neighbour classifiers for multi-label data."""

from skml_kalda.neighbors.binary_relevance_knn import BinaryRelevanceKNN
from skml_kalda.neighbors.mlknn import MLkNN

__all__ = ["BinaryRelevanceKNN", "MLkNN"]

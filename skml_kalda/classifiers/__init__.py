"""Classifiers for multi-label data, to be used after a reducer."""

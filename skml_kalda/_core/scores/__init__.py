"""Scores of labels: thresholds, rankings, and the answers of any classifier."""

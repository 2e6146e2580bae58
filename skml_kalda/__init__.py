"""Supervised dimension reduction for multi-label data."""

__version__ = "0.1.0.dev0"

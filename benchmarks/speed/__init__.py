"""Peers side by side in one run: every number is a ratio."""

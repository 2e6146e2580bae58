"""Reducers: one method, one file."""

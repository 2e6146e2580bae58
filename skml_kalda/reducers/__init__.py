"""Reducers: one file for each method, and a folder for kaLDA."""

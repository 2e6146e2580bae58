"""Kernel-alignment LDA: the objective, its solvers, and the estimators."""

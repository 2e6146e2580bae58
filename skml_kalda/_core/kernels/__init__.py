"""Kernels at landmarks: their values, the landmarks, and the features they stand for."""

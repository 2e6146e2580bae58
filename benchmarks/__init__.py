"""Measurements of speed and scale, and kept results."""

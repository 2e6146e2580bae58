"""Figures: drawn from results only, as compact SVG."""

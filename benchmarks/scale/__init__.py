"""How cost grows with the size of the data: ratios and growth exponents, each from one run."""

"""Plans, published numbers, kept results and speed measurements."""

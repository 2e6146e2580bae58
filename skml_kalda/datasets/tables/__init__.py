"""Tables of the user: CSV, TSV, Parquet, NumPy archives and svmlight files."""

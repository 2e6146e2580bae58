"""Read and write ARFF files."""

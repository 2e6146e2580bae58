"""Multi-label data sets: ARFF files, manifests, downloads."""

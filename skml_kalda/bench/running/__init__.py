"""Running a plan: data, folds, measurements, worker processes, results."""

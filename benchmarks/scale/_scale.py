"""What the measurements of scale share."""

from __future__ import annotations

import json
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.speed._measure import keep


def run(name, measurements, *packages):
    """Keep the rows of a measurement on one thread; with ``--small`` only print a quick one."""
    with threadpool_limits(1):
        if sys.argv[1:] == ["--small"]:
            for row in measurements(small=True):
                print(json.dumps(row, indent=1), flush=True)
        else:
            keep(name, measurements(small=False), *packages)


def exponent(sizes, values):
    """Slope of log(value) against log(size)."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def stored(X):
    """Bytes of a CSR matrix."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def ratio(numerator, denominator):
    """Quotient, None where one of the two could not run."""
    return None if numerator is None or denominator is None else numerator / denominator

"""The command line: ``python -m skml_kalda.bench``."""

import sys

from skml_kalda.bench.cli import main

if __name__ == "__main__":
    sys.exit(main())

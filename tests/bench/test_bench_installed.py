"""The command of the README, from an installed package and outside the checkout."""

import os
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment with the package, not editable and without extras."""
    folder = tmp_path_factory.mktemp("env")
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT)], check=True)
    return python


def bench(python, folder, *arguments):
    # No variable and no folder of the checkout may help.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SKML", "PYTHON"))}
    command = [python, "-m", "skml_kalda.bench", *arguments]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)


@pytest.mark.slow
def test_it_runs_outside_the_checkout_once_the_extra_is_there(python, tmp_path):
    without = bench(python, tmp_path, "list")
    assert without.returncode == 2
    assert 'pip install ".[bench]"' in without.stderr
    subprocess.run([python, "-m", "pip", "install", "-q", f"{ROOT}[bench]"], check=True)
    done = bench(python, tmp_path, "--datasets", "emotions", "--methods", "MLDA")
    assert done.returncode == 0, done.stderr
    assert "0.7619" in done.stdout
    assert (tmp_path / "bench-results" / "quick" / "report.html").is_file()

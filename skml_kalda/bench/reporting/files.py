"""Reports: one page of HTML, the same as Markdown, and the tables as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from skml_kalda.bench.reporting.compose import document
from skml_kalda.bench.reporting.document import Picture
from skml_kalda.bench.reporting.html import to_html
from skml_kalda.bench.reporting.markdown import FIGURES, to_markdown
from skml_kalda.bench.reporting.tables import scores_in, table
from skml_kalda.bench.running.results import Results


def report(results: Results | Sequence[Results], output: str | PathLike[str] | None = None) -> Path:
    """Write the report of one or more runs.

    Parameters
    ----------
    results : Results or sequence of Results
        From `run` or `read_results`.
    output : path-like, optional
        Folder to write to; by default that of the first run.

    Returns
    -------
    pathlib.Path
        The HTML page, which needs no other file. Beside it are ``report.md`` with its figures,
        and ``scores.csv`` with all tables.

    Examples
    --------
    >>> import tempfile
    >>> from skml_kalda.bench import report, run
    >>> from skml_kalda.bench.plan import Plan
    >>> plan = Plan("mine", "Mine", datasets=("emotions",), methods=("MLDA",), folds=2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(run(plan, folder))
    ...     page.name, sorted(path.name for path in page.parent.glob("*.*"))
    ('report.html', ['report.html', 'report.md', 'results.jsonl', 'scores.csv'])
    """
    runs = [results] if isinstance(results, Results) else list(results)
    folder = runs[0].folder if output is None else Path(output)
    (folder / FIGURES).mkdir(parents=True, exist_ok=True)
    blocks = document(runs)
    for picture in (block for block in blocks if isinstance(block, Picture)):
        _write(folder / FIGURES / f"{picture.name}.svg", _on_white(picture.svg))
    _write(folder / "report.md", to_markdown(blocks))
    _write(folder / "scores.csv", _scores(runs).to_csv(index=False, float_format="%.6f"))
    page = folder / "report.html"
    _write(page, to_html(blocks))
    return page


def _on_white(svg: str) -> str:
    """Give a figure colours of its own, for use outside of a page."""
    return svg.replace("<svg ", '<svg style="background: white; color: black" ', 1)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _scores(runs: Sequence[Results]) -> pd.DataFrame:
    tables = [
        table(run, score).assign(plan=run.plan.name, score=score)
        for run in runs
        for score in scores_in(run)
    ]
    return pd.concat(tables) if tables else pd.DataFrame()

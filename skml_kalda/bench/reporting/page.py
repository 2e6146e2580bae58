"""The report: one page of HTML, the same as Markdown, and the tables as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, select_autoescape

from skml_kalda.bench.methods import ITSELF, NO_REDUCTION, label
from skml_kalda.bench.reporting.figures import figure, figure_names, svg
from skml_kalda.bench.reporting.ranks import leader, rank_methods
from skml_kalda.bench.reporting.tables import (
    SWAPPED,
    agreement,
    choices,
    classifiers_in,
    differences,
    fold_means,
    has_swapped_names,
    main_scores,
    published_outside,
    rows_with,
    scores_in,
    size_of,
    spread,
    table,
    time_ratios,
)
from skml_kalda.bench.running.data import lines_about
from skml_kalda.bench.running.results import Results, failures_by_kind
from skml_kalda.bench.scores import MAIN, SCORES, Score
from skml_kalda.datasets.manifest import read_manifest

_CAPTIONS = {
    "scores": "{score} of each method: mean and standard deviation over the folds{paper}.",
    "ranks": "{score}: mean rank across the datasets (1 is best). Nemenyi's test at 5 % finds no "
    "difference between methods under one bar.",
    "cost": "{score} against the time to train, as a ratio to the fastest: best is above and left.",
    "spread": "How the splits of the same samples differ: the mean over the folds of each split.",
    "dimension": "{score} by dimension of the subspace; the dotted line is K − 1.",
    "convergence": "The objective by iteration; thin lines extend the last value.",
    "projection": "Every sample in the first two dimensions; colours and markers show the classes.",
    "gallery": "Held-out samples in two dimensions; each point has a wedge for each of its labels. "
    "Panels are rotated and mirrored to match one another, which changes no distance.",
}
# The scores of the summary, and those that are not folded away.
_SUMMARIZED = (
    "macro_f1_tuned", "macro_f1", "micro_f1_tuned", "micro_f1", "accuracy", "subset_accuracy",
    "average_precision", "ranking_loss",
)  # fmt: skip
_FIRST = {*MAIN, "macro_f1_tuned", "micro_f1_tuned"}


class Entry(NamedTuple):
    """One entry of a grid: bold if it is the best of its row, perhaps with a note below."""

    text: str
    best: bool = False
    note: str = ""


class Grid(NamedTuple):
    """A table with its caption; the first column names the rows."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]


class Picture(NamedTuple):
    """A figure; its `svg` takes the colours of the page, its `name` is that of its file."""

    name: str
    caption: str
    svg: str

    @property
    def width(self) -> float:
        """In points."""
        return float(re.findall(r'viewBox="0 0 ([\d.]+)', self.svg)[0])


Block = str | Grid | Picture


@dataclass(frozen=True)
class Part:
    """A part of a run's chapter, which can be folded."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False

    @property
    def slug(self) -> str:
        """The title as a part of an anchor."""
        return re.sub(r"\W+", "-", self.title.lower()).strip("-")


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
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    chapters = []
    for run, anchor in zip(runs, _anchors(runs), strict=True):
        title = run.plan.title if len(runs) > 1 else "Results"
        parts = list(_parts(run, anchor))
        chapters.append({"title": title, "anchor": anchor, "parts": parts})
        pictures = [b for part in parts for b in part.blocks if isinstance(b, Picture)]
        for picture in pictures:
            # A figure has colours of its own outside of the page.
            drawn = picture.svg.replace("<svg ", '<svg style="background: white; color: black" ', 1)
            _write(folder / "figures" / f"{picture.name}.svg", drawn)
    title = runs[0].plan.title if len(runs) == 1 else "The paper's tables and figures, and more"
    environment = Environment(
        loader=PackageLoader("skml_kalda.bench.reporting"),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"md": _escaped, "paragraph": _paragraph}
    for name in ("report.md", "report.html"):
        text = environment.get_template(name).render(title=title, chapters=chapters)
        _write(folder / name, text.rstrip() + "\n")
    scores = [
        table(run, score).assign(plan=run.plan.name, score=score)
        for run in runs
        for score in scores_in(run)
    ]
    found = pd.concat(scores) if scores else pd.DataFrame()
    _write(folder / "scores.csv", found.to_csv(index=False, float_format="%.6f"))
    return folder / "report.html"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _anchors(runs: Sequence[Results]) -> Iterator[str]:
    """Name the chapters of a page and the files of its figures; runs of one plan get numbers."""
    seen: dict[str, int] = {}
    for slug in (run.plan.slug for run in runs):
        seen[slug] = seen.get(slug, 0) + 1
        yield slug if seen[slug] == 1 else f"{slug}-{seen[slug]}"


def _escaped(text: str) -> str:
    """Return a text in one line that Markdown shows as it is.

    Names and messages may hold anything: marks of Markdown, HTML, the mathematics of some viewers.
    An underscore inside a word is no mark.
    """
    return " ".join(re.sub(r"[\\`*\[\]<>|&~$]|(?<![^\W_])_|_(?![^\W_])", r"\\\g<0>", text).split())


def _paragraph(text: str) -> str:
    """Escape also what would make a paragraph a heading, a list, a quotation or a rule."""
    return re.sub(r"^(?=[#+=-])|^(\d+)(?=[.)])", r"\1\\", _escaped(text))


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]


def _parts(results: Results, anchor: str) -> Iterator[Part]:
    plan = results.plan
    scored = plan.kind == "scores" and bool(results.ok)
    leads = list(_summary(results)) if scored and not plan.dimensions else []
    yield Part("Summary", [_setting(results), *leads, plan.about, *lines_about(results.data)])
    if results.ok:
        swapped = [SWAPPED] if scored and has_swapped_names(results) else []
        yield Part("Figures", [*_pictures(results, anchor), *swapped])
    if scored and plan.dimensions:
        yield Part("Scores by dimension", [_by_dimension(results)])
    elif scored:
        yield from _score_parts(results)
    elif plan.kind == "convergence":
        yield Part("The objective", [_objectives(results)])
    if absent := list(_absent(results)):
        yield Part("What is missing", absent)
    # The last environment, and every other one that a resumed run has used.
    seen = {str({**each, "started": ""}): each for each in results.environments}
    header = list(results.environments[-1])
    rows = ([each.get(name, "") for name in header] for each in seen.values())
    where = _plain("Where it ran", header, rows)
    yield Part("Environment", [where], folded=True)


def _setting(results: Results) -> str:
    plan = results.plan
    sets = plan.datasets[0] if len(plan.datasets) == 1 else f"{len(plan.datasets)} datasets"
    methods = plan.methods[0] if len(plan.methods) == 1 else f"{len(plan.methods)} methods"
    counts = f"{len(results.ok)} cells measured, {len(results.failed)} failed"
    counts += f", {results.missing} not run yet." if results.missing else "."
    scale = "standardised on the training samples" if plan.standardize else "as they are"
    if plan.kind != "scores":
        return f"{methods} on {sets}. Features {scale}. {counts}"
    folds = f"{plan.repeats} × {plan.folds}-fold cross-validation, seed {plan.seed}"
    if set(plan.datasets) <= set(plan.train_rows):
        folds = f"{plan.repeats * plan.folds} published or random splits, seed {plan.seed}"
    drawn = " The largest datasets are random samples." if plan.max_rows else ""
    return f"{methods} on {sets}: {folds}; features {scale}. {counts}{drawn}"


def _plain(caption: str, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Grid:
    """Make a grid of values that need neither bold nor notes."""
    entries = [
        [each if isinstance(each, Entry) else Entry(str(each)) for each in row] for row in rows
    ]
    return Grid(caption, list(map(str, header)), entries)


def _by_method(
    caption: str,
    found: pd.DataFrame,
    methods: Sequence[str],
    write: Callable[[Any], Entry],
    note: Callable[[str], str] = lambda _: "",
) -> Grid:
    """Make a grid with a row for each dataset and a column for each method."""
    cells = {(row.dataset, row.method): write(row) for row in found.itertuples()}
    shown = [name for name in methods if name in set(found["method"])]
    rows = [
        [Entry(name, note=note(name)), *(cells.get((name, each), Entry("")) for each in shown)]
        for name in dict.fromkeys(found["dataset"])
    ]
    return Grid(caption, ["dataset", *map(label, shown)], rows)


def _summary(results: Results) -> Iterator[Grid]:
    """Yield which method leads, by how much, how certain that is, and what it costs."""
    ratios = time_ratios(results)
    shown = [SCORES[name] for name in _SUMMARIZED if name in scores_in(results)]
    rows = [
        [
            _capitalized(lead.score.title),
            Entry(lead.best, best=True),
            f"{lead.value:.4f}",
            lead.second,
            f"{lead.lead:.4f}",
            lead.certainty(),
            _ratio(ratios[lead.best].median()),
        ]
        for lead in (leader(results, score) for score in shown)
        if lead is not None
    ]
    header = ["measure", "leader", "score", "second", "lead", "how sure", "time to train"]
    caption = (
        "Who leads, by measure. How sure: t-test over the folds, corrected for the training "
        "samples that they share; clear is p < 5 %. The same scores found the leader, so its lead "
        "is probably overstated. Time is the ratio to the fastest"
    )
    if rows:
        yield _plain(caption, header, rows)


def _ratio(value: float) -> str:
    """Return a ratio with two digits or more."""
    return "" if pd.isna(value) else f"{value:.{value < 9.95:d}f}"


def _pictures(results: Results, anchor: str) -> Iterator[Picture]:
    first, *others = main_scores(results)
    names = figure_names(results)
    more = [("ranks", score) for score in others if "ranks" in names]
    for name, score in [*((name, first) for name in names), *more]:
        words = [anchor, name, *([score.replace("_", "-")] if others else [])]
        paper = table(results, score)["paper"].notna().any()
        published = ", and the paper's number where it has one" if paper else ""
        caption = _CAPTIONS[name].format(score=_capitalized(SCORES[score].title), paper=published)
        drawn = svg(figure(results, name, score=score), "-".join(words))
        yield Picture("-".join(words), caption, drawn)


def _by_dimension(results: Results) -> Grid:
    means = table(results).set_index(["dataset", "method", "dimension"])["mean"]
    wide = means.unstack(sort=False)[list(results.plan.dimensions)]
    rows = [
        [", ".join(map(str, names)), *("" if pd.isna(v) else f"{v:.4f}" for v in values)]
        for names, values in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return _plain("Accuracy by dimension", ["dataset, method", *wide.columns], rows)


def _score_parts(results: Results) -> Iterator[Part]:
    verdict = agreement(results)
    if not verdict.empty:
        caption = "By accuracy, among the methods of the paper"
        grid = _plain(caption, list(verdict), verdict.to_numpy())
        yield Part("Is the paper's ranking confirmed?", [grid])
    if outside := list(_outside(results)):
        yield Part("Published results and ours", outside)
    for classifier in classifiers_in(results):
        after = "" if classifier == ITSELF else f" with {classifier}"
        grids = {
            name: _score_grid(results, rows_with(table(results, name), classifier), SCORES[name])
            for name in scores_in(results)
        }
        first = [grid for name, grid in grids.items() if name in _FIRST]
        more = [grid for name, grid in grids.items() if name not in _FIRST]
        spreads = list(_spreads(results, classifier))
        yield Part(f"Scores{after}", [*first, *spreads, *_comparison(results, classifier)])
        if more:
            yield Part(f"More measures{after}", more, folded=True)
    yield Part("Time", list(_times(results)))


def _outside(results: Results) -> Iterator[Grid]:
    """Yield a table for each dataset that a plan splits as published results did."""
    for name in results.plan.datasets:
        train = results.plan.train_rows.get(name)
        theirs = published_outside()
        theirs = theirs[theirs["dataset"] == name]
        if not train or theirs.empty:
            continue
        scores = list(dict.fromkeys(theirs["score"]))
        rows: list[list[Any]] = []
        for (source, method, n), part in theirs.groupby(
            ["source", "method", "train_rows"], sort=False
        ):
            values = part.set_index("score")["value"]
            shown = [f"{values[score]:.4g}" if score in values else "–" for score in scores]
            rows.append([Entry(str(method), note=str(source)), n, *shown])
        tables = [table(results, score).set_index(["dataset", "method"]) for score in scores]
        for method in results.plan.methods:
            ours = [found.loc[found.index == (name, method)] for found in tables]
            if all(len(part) for part in ours):
                means = [f"{p['mean'].iloc[0]:.4f} ± {p['sd'].iloc[0]:.3f}" for p in ours]
                rows.append([Entry(label(method), best=True, note="here"), train, *means])
        kind = "published" if read_manifest(name).splits else "random"
        caption = (
            f"{name}: as published, and here ({results.plan.folds} {kind} splits, mean ± standard "
            "deviation)"
        )
        titles = [SCORES[score].label for score in scores]
        yield _plain(caption, ["method", "training samples", *titles], rows)


def _score_grid(results: Results, rows: pd.DataFrame, score: Score) -> Grid:
    best = rows.groupby("dataset")["mean"].transform(score.best)
    caption = _capitalized(score.label)
    if rows["paper"].notna().any():
        alias = {"macro_f1": " (there “micro F1”)", "micro_f1": " (there “macro F1”)"}
        there = alias.get(score.name, "")
        caption += f"; below, the paper's number{there} and our difference from it"

    def write(row: Any) -> Entry:
        note = "" if pd.isna(row.paper) else f"paper {row.paper:.4f}, {row.difference:+.4f}"
        return Entry(f"{row.mean:.4f} ± {row.sd:.3f}", bool(row.mean == row.best), note)

    def drawn(name: str) -> str:
        most, n = results.plan.max_rows.get(name, 0), size_of(results, name)["rows"]
        return f"{most} of {n} samples" if 0 < most < n else ""

    return _by_method(caption, rows.assign(best=best), results.plan.methods, write, drawn)


def _spreads(results: Results, classifier: str) -> Iterator[Grid]:
    """Yield how each main score varies over the splits of a repeated cross-validation."""

    def write(row: Any) -> Entry:
        note = f"sd {row.std:.4f}, alone {row.first:.4f}"
        return Entry(f"{row.mean:.4f} ± {row.sem:.4f}", note=note)

    for score in (score for score in MAIN if score in scores_in(results)):
        caption = (
            f"{_capitalized(SCORES[score].label)} over {results.plan.repeats} splits of the same "
            "samples: mean ± its standard error; below, the standard deviation over the splits and "
            f"the result of the split with seed {results.plan.seed} alone"
        )
        if results.plan.repeats > 1:
            found = spread(results, score, classifier).reset_index()
            yield _by_method(caption, found, results.plan.methods, write)


def _comparison(results: Results, classifier: str) -> Iterator[Grid]:
    """Rank the methods by the main score; after a tuning by more scores, with gains and choices."""
    tuned = bool(results.plan.tune)
    scores = [SCORES[name] for name in main_scores(results)]
    for score in scores:
        means = fold_means(results, score.name, classifier)
        ranking = rank_methods(means, ascending=score.lower_is_better)
        if ranking is None:
            continue
        best, *others = map(str, ranking.mean_ranks.index)
        p_values = ranking.nemenyi[best][others].to_numpy()
        bold = [Entry(f"{p:.3g}", best=bool(p < 0.05)) for p in p_values]
        lines: list[list[Any]] = [
            ["mean rank", *(f"{value:.2f}" for value in ranking.mean_ranks)],
            [f"p against {label(best)}", "–", *bold],
        ]
        caption = (
            f"Mean rank by {score.title} with {classifier} on {ranking.n_datasets} datasets; "
            "below, Nemenyi's p-value against the first method, bold below 5 %. Friedman's test: "
            f"p = {ranking.p_value:.3g}; critical difference at 5 %: "
            f"{ranking.critical_difference:.2f}"
        )
        yield _plain(caption, ["", *map(label, [best, *others])], lines)
    if tuned and NO_REDUCTION in set(results.frame()["method"]):
        yield from (_against_none(results, score) for score in scores)
    if tuned:
        rows = (
            [label(method), name, ", ".join(f"{value}: {n}" for value, n in counts.items() if n)]
            for method, name, counts in choices(results)
        )
        caption = "How often each value was chosen, over all datasets and outer folds"
        yield _plain(caption, ["method", "parameter", "value: times"], rows)


def _against_none(results: Results, score: Score) -> Grid:
    sign = -1 if score.lower_is_better else 1

    def write(row: Any) -> Entry:
        is_gain = bool(sign * row.difference > row.se)
        return Entry(f"{row.difference:+.4f} ± {row.se:.4f}", best=is_gain)

    caption = (
        f"Against no reduction: difference in {score.title}, ± its standard error over the outer "
        "folds; bold where the gain exceeds its standard error"
    )
    return _by_method(caption, differences(results, score.name), results.plan.methods, write)


def _times(results: Results) -> Iterator[Grid]:
    titles = {
        "train_seconds": "Time to train",
        "predict_seconds": "Time to predict the test samples",
    }
    for kind, title in titles.items():
        ratios = time_ratios(results, kind)
        caption = (
            f"{title}, as a ratio to the fastest on one core; other work may have run at the same "
            "time"
        )
        if not ratios.empty:
            lines = zip(ratios.index, ratios.to_numpy(), strict=True)
            rows = ([name, *map(_ratio, values)] for name, values in lines)
            yield _plain(caption, ["dataset", *ratios.columns], rows)


def _objectives(results: Results) -> Grid:
    rows = [
        [
            f"{row['dataset']}, {row['method']}",
            *(f"{row['objective'][end]:.6f}" for end in (0, -1)),
            f"{row['upper_bound']:.6f}",
            row["iterations"],
            "yes" if row["converged"] else "no",
        ]
        for row in results.ok
    ]
    header = ["dataset, method", "J at the start", "J at the end", "bound", "iterations"]
    return _plain("The objective", [*header, "converged"], rows)


def _absent(results: Results) -> Iterator[Grid]:
    if results.skipped:
        rows = ([row[key] for key in ("dataset", "reason", "command")] for row in results.skipped)
        yield _plain("Skipped", ["dataset", "why", "how to get it"], rows)
    if results.failed:
        kinds = failures_by_kind(results.failed).items()
        failed = ([dataset, method, n, error] for (dataset, method, error), n in kinds)
        yield _plain("Failed", ["dataset", "method", "cells", "error"], failed)

"""The report: one page of HTML, the same as Markdown, and the tables as CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jinja2 import Environment, PackageLoader, select_autoescape

from skml_kalda.bench.methods import ITSELF, label
from skml_kalda.bench.reporting import tables
from skml_kalda.bench.reporting.figures import figure, figure_names, svg
from skml_kalda.bench.reporting.ranks import leader, rank_methods
from skml_kalda.bench.running.data import lines_about
from skml_kalda.bench.running.results import Results, failures_by_kind
from skml_kalda.bench.scores import SCORES, Score
from skml_kalda.datasets.manifest import read_manifest

_CAPTIONS = {
    "scores": "{score} of each method: mean and standard deviation over the folds{paper}.",
    "ranks": "{score}: mean rank across the datasets (1 is best). Methods whose bars do not "
    "overlap differ by Nemenyi's test at 5 %; the band is that of the best.",
    "cost": "{score} against the time to train, as a ratio to the fastest: best is above and left.",
    "dimension": "{score} by dimension of the subspace; the dotted line is K − 1.",
    "convergence": "The objective by iteration; thin lines extend the last value.",
    "projection": "Every sample in the first two dimensions; colours and markers show the classes.",
    "gallery": "Held-out samples in two dimensions; each point has a wedge for each of its labels. "
    "Panels are rotated and mirrored to match one another, which changes no distance.",
}
# Columns that a table shows before the reader asks for all of them: on a phone and elsewhere.
_NARROW, _WIDE = 3, 9


class Entry(NamedTuple):
    """One entry of a grid: bold if it is the best of its column, perhaps with a note below."""

    text: str
    best: bool = False
    note: str = ""


class Grid(NamedTuple):
    """A table with its caption; the first column names the rows."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[Entry]]

    def column_class(self, number: int) -> str:
        """Whether a column is hidden at first: always ("more"), on a phone ("wide"), or never."""
        return "more" if number > _WIDE else "wide" if number > _NARROW else ""


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
Tables = Mapping[Score, pd.DataFrame]


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
    for name in ("report.md", "report.html"):
        _write(folder / name, _rendered(name, title=title, chapters=chapters) + "\n")
    found = [pd.DataFrame()]
    for run in runs:
        for score in tables.scores_in(run):
            found.append(tables.table(run, score).assign(plan=run.plan.name, score=score))
    _write(folder / "scores.csv", pd.concat(found).to_csv(index=False, float_format="%.6f"))
    return folder / "report.html"


def _rendered(name: str, **context: Any) -> str:
    """Return a template as text."""
    environment = Environment(
        loader=PackageLoader("skml_kalda.bench.reporting"),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"md": _escaped, "paragraph": _paragraph}
    return environment.get_template(name).render(context).rstrip()


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
    scored = plan.kind == "scores" and bool(results.ok) and not plan.dimensions
    means = {
        each: tables.table(results, each.name) for each in tables.ordered_scores(results) if scored
    }
    leads = _summary(results) if scored else ()
    yield Part(
        "Summary",
        [_rendered("setting.txt", results=results), *leads, plan.about, *lines_about(results.data)],
    )
    if scored:
        swapped = [tables.SWAPPED] if tables.has_swapped_names(results) else []
        yield Part("Scores", [_scores(results, means), *swapped])
    if results.ok:
        yield Part("Figures", list(_pictures(results, anchor)))
    if scored:
        yield from _details(results, means)
    if absent := list(_absent(results)):
        yield Part("What is missing", absent)
    # The last environment, and every other one that a resumed run has used.
    seen = {str({**each, "started": ""}): each for each in results.environments}
    header = list(results.environments[-1])
    rows = ([each.get(name, "") for name in header] for each in seen.values())
    where = _plain("Where it ran", header, rows)
    yield Part("Environment", [where], folded=True)


def _plain(caption: str, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> Grid:
    """Make a grid of values that need neither bold nor notes."""
    entries = [
        [each if isinstance(each, Entry) else Entry(str(each)) for each in row] for row in rows
    ]
    return Grid(caption, list(map(str, header)), entries)


def _by_column(
    caption: str, columns: Mapping[str, Mapping[str, Entry]], corner: str = "method"
) -> Grid:
    """Make a grid from the entries of each column by row."""
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [
        [Entry(name), *(column.get(name, Entry("")) for column in columns.values())]
        for name in names
    ]
    return Grid(caption, [corner, *columns], rows)


def _summary(results: Results) -> Iterator[str | Grid]:
    """Yield which method leads, by how much, how certain that is, and what it costs."""
    ratios = tables.time_ratios(results)
    found = (leader(results, score) for score in tables.ordered_scores(results)[:8])
    leads = [lead for lead in found if lead is not None]
    rows = [
        [
            _capitalized(lead.score.title),
            Entry(lead.best, best=True, note=f"{lead.value:.4f}"),
            Entry(lead.second, note=f"{lead.lead:.4f} behind"),
            lead.certainty(),
            _ratio(ratios[lead.best].median()),
        ]
        for lead in leads
    ]
    caption = (
        "Who leads, by measure. How sure: t-test over the folds, corrected for the training "
        "samples that they share; clear is p < 5 %. The same scores found the leader, so its lead "
        "is probably overstated. Time is the ratio to the fastest"
    )
    if leads:
        first = leads[0]
        yield (
            f"{first.best} leads by {first.score.title}: {first.value:.4f}, which is "
            f"{first.lead:.4f} better than {first.second} ({first.certainty()})."
        )
        yield _plain(caption, ["measure", "leader", "second", "how sure", "time to train"], rows)


def _ratio(value: Any) -> str:
    """Return a ratio with two digits or more."""
    return "" if pd.isna(value) else f"{value:.{value < 9.95:d}f}"


def _pictures(results: Results, anchor: str) -> Iterator[Picture]:
    first, *others = tables.main_scores(results)
    names = figure_names(results)
    more = [("ranks", score) for score in others if "ranks" in names]
    for name, score in [*((name, first) for name in names), *more]:
        words = [anchor, name, *([score.replace("_", "-")] if others else [])]
        paper = tables.table(results, score)["paper"].notna().any()
        published = ", and the paper's number where it has one" if paper else ""
        caption = _CAPTIONS[name].format(score=_capitalized(SCORES[score].title), paper=published)
        drawn = svg(figure(results, name, score=score), "-".join(words))
        yield Picture("-".join(words), caption, drawn)


def _scores(results: Results, means: Tables, dataset: str | None = None) -> Grid:
    """Make the table of methods and measures, of one dataset or of the means over all."""
    names = list(dict.fromkeys(row["dataset"] for row in results.ok))
    dataset = names[0] if len(names) == 1 else dataset
    columns = {}
    for score, found in means.items():
        found = found[found["dataset"] == dataset] if dataset else tables.mean_over_datasets(found)
        found = found.sort_values("mean", ascending=score.lower_is_better, kind="stable")
        best = score.best(found["mean"])
        columns[score.title] = {
            tables.candidate(str(row.method), str(row.classifier)): _entry(row, best)
            for row in found.itertuples()
        }
    for kind in ("train", "predict"):
        ratios = tables.time_ratios(results, f"{kind}_seconds")
        if not ratios.empty:
            times = ratios.loc[dataset] if dataset else ratios.median()
            columns[f"time to {kind}"] = {str(k): Entry(_ratio(v)) for k, v in times.items()}
    caption = "Mean over the datasets"
    if dataset:
        most, n = results.plan.max_rows.get(dataset, 0), tables.size_of(results, dataset)["rows"]
        drawn = f", {most} of {n} samples" if 0 < most < n else ""
        caption = f"{dataset}{drawn}: mean and standard deviation over the folds"
    # The time to train is one of the columns that are always shown.
    first = [*list(columns)[: _WIDE - 1], "time to train"]
    shown = {name: columns[name] for name in dict.fromkeys([*first, *columns]) if name in columns}
    return _by_column(f"{caption}; times are ratios to the fastest on one core", shown)


def _entry(row: Any, best: float) -> Entry:
    """Return a mean, with its deviation and the paper's number below."""
    if pd.isna(row.mean):
        return Entry("")
    notes = [f"± {row.sd:.3f}"] if row.sd >= 0 else []
    notes += [f"paper {row.paper:.4f}"] if row.paper >= 0 else []
    return Entry(f"{row.mean:.4f}", bool(row.mean == best), ", ".join(notes))


def _details(results: Results, means: Tables) -> Iterator[Part]:
    """Yield what explains the table of scores: verdicts, ranks, every dataset, every label."""
    verdict = tables.agreement(results)
    if not verdict.empty:
        caption = "By accuracy, among the methods of the paper"
        grid = _plain(caption, list(verdict), verdict.to_numpy())
        yield Part("Is the paper's ranking confirmed?", [grid])
    if outside := list(_outside(results)):
        yield Part("Published results and ours", outside)
    if comparison := list(_comparison(results)):
        yield Part("How sure is the comparison?", comparison)
    names = list(dict.fromkeys(row["dataset"] for row in results.ok))
    if len(names) > 1:
        yield Part(
            "Scores by dataset", [_scores(results, means, name) for name in names], folded=True
        )
    if labels := [each for name in names for each in _labels(results, name)]:
        yield Part("Scores by label", labels, folded=True)


def _labels(results: Results, dataset: str) -> Iterator[Grid]:
    """Yield the table of the F1 of every label, if the results have it."""
    frame = tables.with_candidates(results).query("dataset == @dataset").dropna(subset="label_f1")
    if frame.empty:
        return
    names = list(dict.fromkeys(frame["candidate"]))
    rows = {name: frame["label_f1"][frame["candidate"] == name] for name in names}
    means = {name: pd.DataFrame(list(found)).mean() for name, found in rows.items()}
    best: Any = pd.DataFrame(means).max(axis=1)
    columns = {
        name: {str(k): Entry(f"{v:.3f}", bool(v == best[k])) for k, v in found.items()}
        for name, found in means.items()
    }
    caption = f"{dataset}: F1 of each label, mean over the folds; thresholds are tuned if the plan"
    yield _by_column(f"{caption} tunes them. Bold is the best method", columns, "label")


def _outside(results: Results) -> Iterator[Grid]:
    """Yield a table for each dataset that a plan splits as published results did."""
    plan = results.plan
    for name in plan.train_rows:
        columns = {}
        theirs = tables.published_outside().query("dataset == @name")
        row: Any
        for score in dict.fromkeys(theirs["score"]):
            rows = theirs[theirs["score"] == score]
            entries = {
                f"{row.method} ({row.source}, {row.train_rows} samples)": Entry(f"{row.value:.4g}")
                for row in rows.itertuples()
            }
            for row in tables.table(results, score).query("dataset == @name").itertuples():
                ours = Entry(f"{row.mean:.4f}", best=True, note=f"± {row.sd:.3f}")
                entries[f"{tables.candidate(row.method, row.classifier)}, here"] = ours
            columns[SCORES[score].title] = entries
        kind = "published" if read_manifest(name).splits else "random"
        caption = (
            f"{name}: as published, and here in bold, from {plan.train_rows[name]} samples: "
            f"mean and standard deviation over {plan.folds} {kind} splits"
        )
        if columns:
            yield _by_column(caption, columns)


def _comparison(results: Results) -> Iterator[str | Grid]:
    """Rank the methods by the main scores, and say how far this can tell them apart."""
    for classifier in tables.classifiers_in(results):
        columns, after = {}, "" if classifier == ITSELF else f" with {classifier}"
        for score in (SCORES[name] for name in tables.main_scores(results)):
            means = tables.fold_means(results, score.name, classifier)
            ranking = rank_methods(means, ascending=score.lower_is_better)
            if ranking is None:
                continue
            (best, rank), *others = ranking.mean_ranks.items()
            p: Any = ranking.nemenyi[best]
            columns[score.title] = {label(str(best)): Entry(f"{rank:.2f}", best=True)} | {
                label(str(name)): Entry(f"{rank:.2f}", note=f"p = {p[name]:.2g}")
                for name, rank in others
            }
            yield (
                f"By {score.title}{after}, Friedman's test over {ranking.n_datasets} datasets has "
                f"p = {ranking.p_value:.2g}. Mean ranks that are less than "
                f"{ranking.critical_difference:.2f} apart cannot be distinguished (Nemenyi, 5 %)."
            )
        if columns:
            caption = f"Mean rank{after}; below, Nemenyi's p-value against the first method"
            yield _by_column(caption, columns)


def _absent(results: Results) -> Iterator[Grid]:
    if results.skipped:
        rows = ([row[key] for key in ("dataset", "reason", "command")] for row in results.skipped)
        yield _plain("Skipped", ["dataset", "why", "how to get it"], rows)
    if results.failed:
        kinds = failures_by_kind(results.failed).items()
        failed = ([dataset, method, n, error] for (dataset, method, error), n in kinds)
        yield _plain("Failed", ["dataset", "method", "cells", "error"], failed)

"""The report in a real browser: it fits, it sorts, it folds, and it asks for nothing."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from skml_kalda.bench import report, run
from skml_kalda.bench.plan import Plan, describe_files
from tests.bench.browser import CHROMIUM, Browser
from tests.conftest import made

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
LONG = "a method with a rather long name, its parameters, and a_word_that_has_no_place_to_break_at"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seen")
    for seed, name in enumerate(["a.npz", "b.npz"]):
        X, Y = made(60, 8, 4, seed)
        np.savez(folder / name, X=X, Y=Y)
    plan = Plan(
        "seen", "A report to look at", folds=2, classifiers=("1-NN",),
        data=describe_files([folder / "a.npz", folder / "b.npz"]),
        methods=("none", "PCA", "MDDM", "MLDA", "kNN", LONG),
        parameters={LONG: {"estimator": "PCA"}},
    )  # fmt: skip
    return report(run(plan, folder / "out"))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    profile = tmp_path_factory.mktemp("profile")
    with Browser(profile) as found:
        yield found
    shutil.rmtree(profile, ignore_errors=True)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_asks_for_nothing(browser, page, width, dark):
    browser.show(page, width, dark=dark)
    assert browser.run("innerWidth") == width
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert browser.run("document.documentElement.scrollWidth") <= width
    # Tables may scroll inside of their frames; everything else is within the window.
    outside = (
        "[...document.querySelectorAll('h1,h2,h3,p,figure,svg,.scroll,pre,nav')]"
        ".filter(e => e.getClientRects().length && e.getBoundingClientRect().right > innerWidth)"
        ".map(e => e.outerHTML.slice(0, 80))"
    )
    assert browser.run(outside) == []
    shown = "[...document.querySelectorAll('svg')].filter(e => e.getClientRects().length)"
    assert browser.run(f"{shown}.length") == 3
    assert browser.run(f"{shown}.every(e => e.getBoundingClientRect().height > 100)")
    # Letters in figures have at least two thirds of the size of small text.
    letters = f"Math.min(...{shown}.flatMap(e => [...e.querySelectorAll('text')])" + (
        ".filter(t => t.textContent.trim()).map(t => t.getBoundingClientRect().height))"
    )
    assert browser.run(letters) >= 9
    assert browser.asked_for() == [page.as_uri()]
    assert browser.errors() == []


def test_colours_follow_the_system(browser, page):
    seen = []
    for dark in (False, True):
        browser.show(page, 1280, dark=dark)
        seen.append(browser.run("getComputedStyle(document.body).backgroundColor"))
        ink = "getComputedStyle(document.querySelector('svg text')).fill"
        assert browser.run(ink) == browser.run("getComputedStyle(document.body).color")
    assert seen == ["rgb(252, 252, 251)", "rgb(21, 24, 28)"]


COLUMN = (
    "[...document.querySelectorAll('table[aria-label^=\"Macro F1\"]')][0].tBodies[0].rows"
    ".length && [...document.querySelector('table[aria-label^=\"Macro F1\"]').tBodies[0].rows]"
    ".map(row => row.cells[{}].innerText)"
)
CLICK = "document.querySelectorAll('table[aria-label^=\"Macro F1\"] thead button')[{}].click()"


def test_a_click_sorts_a_table(browser, page):
    browser.show(page, 1280)
    assert browser.run(COLUMN.format(0)) == ["a.npz", "b.npz"]
    by_value = sorted(browser.run(COLUMN.format(1)), key=lambda text: float(text.split()[0]))
    browser.run(CLICK.format(1))
    assert browser.run(COLUMN.format(1)) == by_value[::-1], "the largest first"
    browser.run(CLICK.format(1))
    assert browser.run(COLUMN.format(1)) == by_value
    state = "[...document.querySelectorAll('table[aria-label^=\"Macro F1\"] th[aria-sort]')]"
    assert browser.run(f"{state}.map(each => each.ariaSort)") == ["ascending"]
    browser.run(CLICK.format(0))
    assert browser.run(COLUMN.format(0)) == ["a.npz", "b.npz"]


def test_parts_fold_and_a_link_unfolds_them(browser, page):
    browser.show(page, 1280)
    parts = "[...document.querySelectorAll('details.part')]"
    titles = f"{parts}.filter(e => e.open).map(e => e.querySelector('h3').innerText)"
    at_first = browser.run(titles)
    assert at_first[:2] == ["Summary", "Figures"]
    assert not [title for title in at_first if title.startswith(("More measures", "Environment"))]
    browser.run("document.querySelector('details.part summary').click()")
    assert browser.run(titles) == at_first[1:]
    browser.run("document.querySelector('button[data-fold=closed]').click()")
    assert browser.run(titles) == []
    link = "[...document.querySelectorAll('nav a')].find(a => a.innerText.startsWith('More'))"
    browser.run(f"{link}.click()")
    browser.run("new Promise(done => setTimeout(done, 50))")
    assert browser.run(titles) == ["More measures with 1-NN"]


def test_the_index_stays_at_the_side_or_folds_on_a_phone(browser, page):
    browser.show(page, 1280)
    browser.run("scrollTo(0, 1500)")
    box = browser.run("JSON.stringify(document.querySelector('nav').getBoundingClientRect())")
    top = browser.run("document.querySelector('nav').getBoundingClientRect().top")
    assert 0 <= top < 100, box
    links = "[...document.querySelectorAll('nav a')].every(a => document.querySelector(a.hash))"
    assert browser.run(links)
    browser.show(page, 390)
    assert browser.run("document.querySelector('nav details').open") is False


def test_paper_shows_everything(browser, page, tmp_path):
    browser.show(page, 1280)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    opened = "[...document.querySelectorAll('details.part')].every(part => part.open)"
    assert browser.run(opened)
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert not browser.run(opened)


def test_the_script_of_the_page_is_the_file_in_the_package(page):
    folder = Path(report.__code__.co_filename).parent
    text = page.read_text("utf-8")
    assert (folder / "report.js").read_text("utf-8") in text
    assert (folder / "report.css").read_text("utf-8") in text

"""The slides: every chapter has a deck that can be shown in a room without a network, and printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_slides  # noqa: E402

CHAPTERS = sorted(path.stem for path in (ROOT / "book").glob("*.ipynb"))
AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text(encoding="utf8")
ROOM = {"width": 1280, "height": 720}
READY = "document.documentElement.dataset.slides === 'ready'"
# Of every slide, with all its fragments shown: the first thing that leaves the page or runs into the line at its foot.
# Half a pixel either way is rounding.
TOO_LARGE = """() => Reveal.getSlides().flatMap((slide, i) => {
  Reveal.slide(i, 0, 99);
  const page = slide.getBoundingClientRect(), foot = slide.querySelector('.foot').getBoundingClientRect();
  const parts = [...slide.querySelectorAll(':scope > :not(.foot):not(.notes), :scope > :not(.foot):not(.notes) *')]
    .filter((x) => !x.closest('mjx-assistive-mml, svg, .explorer-choice')).map((x) => [x, x.getBoundingClientRect()])
    .filter(([x, box]) => box.width && box.height);
  const bad = parts.find(([x, box]) =>
    box.bottom > foot.top + 0.5 || box.right > page.right - 20 || box.left < page.left || box.top < page.top);
  return bad ? [`slide ${i + 1}: ${bad[0].tagName} ${bad[0].className}`] : [];
})"""
SMALLEST = """() => Math.min(...Reveal.getSlides().flatMap((slide) =>
  [...slide.querySelectorAll(':scope > :not(.foot):not(.notes):not(.explorer) :is(p, li)')]
    .filter((x) => !x.closest('.pavlov-explorer, .notes')).map((x) => parseFloat(getComputedStyle(x).fontSize))))"""
UNSET = """() => [...document.querySelectorAll('.slides section > :not(.notes)')].flatMap((part) =>
  [...part.querySelectorAll('.math')].filter((x) => !x.querySelector('mjx-container') || x.querySelector('mjx-merror'))
  ).length + document.querySelectorAll('.notes .tex:not(:has(math)), .notes merror').length"""
AUDIT = """() => axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.map((v) =>
  `${v.id}: ${v.nodes[0].html.slice(0, 150)} (${v.nodes[0].failureSummary.slice(0, 250)})`))"""


def deck(site: Path, chapter: str) -> BeautifulSoup:
    return BeautifulSoup((site / "slides" / f"{chapter}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def room(browser, address):
    """A projector: a page of 1280 × 720 that writes down what goes wrong on it."""
    context = browser.new_context(viewport=ROOM, reduced_motion="reduce")
    page = context.new_page()
    page.complaints = []
    page.on("console", lambda m: page.complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: page.complaints.append(str(e)))
    near = (address, "data:", "blob:", "about:")
    page.on("request", lambda r: None if r.url.startswith(near) else page.complaints.append(r.url))
    yield page
    context.close()


def show(page, address: str):
    page.goto(address)
    page.wait_for_function(READY)
    page.evaluate("document.fonts.ready.then(() => true)")


# --- what a deck holds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_deck_has_a_lecture_in_it(site, chapter):
    slides = deck(site, chapter).select("section")
    kinds = [slide["class"][0] for slide in slides]
    assert 12 <= len(slides) <= 25
    assert kinds[:2] == ["title", "aims"] and kinds[-2:] == ["summary", "next"]
    assert kinds.count("poll") == pavlov_slides.POLLS and "live" in kinds and "explorer" in kinds
    assert len(slides) == len({slide["id"] for slide in slides})
    for slide in slides:
        assert slide.select_one("h1, h2").text.strip()
        assert len(slide.select_one("aside.notes").text.split()) >= 5, slide["id"]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_bets_come_before_measurements(site, chapter):
    soup = deck(site, chapter)
    asked = soup.select("section.question")
    assert len(asked) >= 2
    assert all(slide.select_one(".question").text.strip() for slide in asked)
    assert all("fragment" in slide.select_one(".prediction")["class"] for slide in asked)
    for slide in soup.select("section.poll"):
        assert len(slide.select(".options > li")) >= 3 and len(slide.select(".options > .right")) == 1
        assert all("fragment" in said["class"] for said in slide.select(".feedback"))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_figure_has_words_and_its_file(site, chapter):
    figures = deck(site, chapter).select("figure img")
    assert len(figures) >= 3
    for figure in figures:
        assert len(figure["alt"].split()) >= 8
        assert (site / "slides" / figure["src"]).resolve().is_file()


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_the_checks_printed_is_on_the_slides(site, chapter):
    # a line that the deck does not recognise as a check would appear as plain output
    soup = deck(site, chapter)
    assert soup.select(".checks .holds")
    assert not [x.text for x in soup.select("pre.out") if re.search(r"^C\d+ |reference \(", x.text, re.M)]


def test_every_chapter_and_the_teaching_page_lead_to_the_slides(site):
    table = BeautifulSoup((site / "book" / "teach" / "slides.html").read_text(encoding="utf-8"), "html.parser")
    for chapter in CHAPTERS:
        page = (site / "book" / f"{chapter}.html").read_text(encoding="utf-8")
        assert f'href="../slides/{chapter}.html"' in page
        row = table.select_one(f'th a[href="../../slides/{chapter}.html"]').find_parent("tr")
        assert int(row.select("td")[0].text) == len(deck(site, chapter).select("section"))


# --- mistakes in a notebook's metadata -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"slide_type": "silde"}, "slide_type must be one of slide, fragment, notes, skip; got 'silde'"),
        ({"slide_type": "slide", "txt": "a"}, "got txt"),
        ({"slide_type": "fragment"}, "a fragment needs a slide before it"),
    ],
)
def test_a_mistake_in_the_metadata_names_the_cell(tmp_path, metadata, words):
    cell = {"cell_type": "markdown", "id": "a", "source": ["## Hello\n", "\n", "World"], "metadata": {}}
    notebook = {"cells": [cell, cell | {"metadata": {"slideshow": metadata}}]}
    path = tmp_path / "chapter.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(ValueError, match=r"chapter\.ipynb, cell 1: ") as raised:
        pavlov_slides.read_deck(path)
    assert words in str(raised.value)


# --- in the room -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_deck_opens_fits_its_pages_and_asks_nobody_for_anything(room, address, chapter):
    show(room, f"{address}slides/{chapter}.html")
    assert room.evaluate(TOO_LARGE) == []
    assert room.evaluate(SMALLEST) >= 18  # of 720: a line in a book held at arm's length
    assert room.evaluate(UNSET) == 0
    assert room.evaluate("document.querySelectorAll('.explorer-ready').length") == 1
    assert room.complaints == []


def test_a_slide_that_is_too_full_is_noticed(room, address):
    show(room, f"{address}slides/oja.html")
    room.evaluate("document.querySelector('section.aims ul').append('word '.repeat(400))")
    assert room.evaluate(TOO_LARGE) != []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_axe_finds_nothing_on_slides_of_any_kind(room, address, mode):
    room.emulate_media(color_scheme=mode)
    show(room, f"{address}slides/hebbian.html")
    room.evaluate(AXE)
    assert room.evaluate("document.documentElement.dataset.theme") == mode
    kinds = room.evaluate("Reveal.getSlides().map((slide) => slide.classList[0])")
    for number in sorted({kinds.index(kind) for kind in kinds} | {7}):  # 7: a figure with its checks
        room.evaluate("(n) => Reveal.slide(n, 0, 99)", number)
        assert room.evaluate(AUDIT) == [], kinds[number]


def test_keys_bring_the_prediction_and_then_the_next_slide(room, address):
    show(room, f"{address}slides/drift.html")
    number = room.evaluate("Reveal.getSlides().findIndex((slide) => slide.classList.contains('question'))")
    room.evaluate("(n) => Reveal.slide(n)", number)
    prediction = room.locator("section.present .prediction")
    assert prediction.evaluate("(x) => getComputedStyle(x).visibility") == "hidden"
    room.keyboard.press("ArrowRight")
    assert prediction.evaluate("(x) => getComputedStyle(x).visibility") == "visible"
    room.keyboard.press("ArrowRight")
    assert room.evaluate("Reveal.getIndices().h") == number + 1


def test_an_explorer_answers_on_its_slide(room, address):
    show(room, f"{address}slides/delta.html")
    room.evaluate("Reveal.slide(Reveal.getSlides().findIndex((slide) => slide.classList.contains('explorer')))")
    words = room.locator("section.present .explorer-words")
    before = words.text_content()
    room.locator("section.present .explorer-choice label", has_text="blocking").click()
    expect(words).not_to_have_text(before)
    assert room.complaints == []


@pytest.mark.parametrize("place", ["served", "file"])
def test_the_speakers_window_shows_the_notes(room, address, site, place):
    show(room, f"{address if place == 'served' else site.as_uri() + '/'}slides/capacity.html")
    room.evaluate("Reveal.slide(4)")  # the equation
    with room.expect_popup() as opened:
        room.keyboard.press("s")
    speaker = opened.value
    speaker.wait_for_function("document.querySelector('.speaker-controls-notes .value')?.textContent.length > 200")
    assert speaker.locator(".speaker-controls-notes math").count() > 3
    assert speaker.locator(".speaker-controls-notes msub").count() > 0, "an index must stand below its letter"


# --- on paper --------------------------------------------------------------------------------------------------------


def printed(site: Path, *chapters: str, **environment) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "tools" / "slides.py"), str(site), *chapters]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def small_site(site, tmp_path) -> Path:
    """What one deck needs, so that printing leaves the built site as it is."""
    for name in ("_static", "_images"):
        (tmp_path / name).symlink_to(site / name)
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "mapping.html").write_bytes((site / "slides" / "mapping.html").read_bytes())
    table = tmp_path / "book" / "teach" / "slides.html"
    table.parent.mkdir(parents=True)
    table.write_bytes((site / "book" / "teach" / "slides.html").read_bytes())
    return tmp_path


def test_a_deck_is_printed_on_a_page_for_each_slide(site, small_site, browser_path):
    done = printed(small_site, "mapping", PAVLOV_BROWSER=browser_path, PATH="/usr/bin:/bin", HOME=str(small_site))
    assert done.returncode == 0, done.stderr
    pdf = (small_site / "slides" / "mapping.pdf").read_bytes()
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == len(deck(site, "mapping").select("section"))
    assert pdf.startswith(b"%PDF") and len(pdf) > 100_000  # the figures are in it
    page = (small_site / "book" / "teach" / "slides.html").read_text(encoding="utf-8")
    assert re.findall(r'slides/(\w+)\.pdf"', page) == ["mapping"]


def test_without_a_browser_printing_says_so_and_leaves_nothing(small_site):
    done = printed(small_site, PATH=str(small_site))
    assert done.returncode == 2 and "no Chromium" in done.stderr
    assert sorted(path.name for path in (small_site / "slides").iterdir()) == ["mapping.html"]

"""Print the slides of the built site: a PDF for each deck, beside it, one page for each slide.

    python tools/slides.py [SITE] [CHAPTER ...]     SITE is _build/html if it is not given

A Chromium that is on this machine prints them. ``PAVLOV_BROWSER`` names one that is not found by itself.

Exit codes: 0 printed, 1 a deck could not be printed, 2 no site, no browser, or a wrong call.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

from browser import FLAGS, MISSING, browser_path
from playwright.sync_api import Error, sync_playwright
from pypdf import PdfReader
from tqdm.auto import tqdm

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_archive  # noqa: E402
import pavlov_slides  # noqa: E402

from pavlov_lib.reference import write_whole  # noqa: E402

SECONDS = 120  # for one deck; a laptop needs about one
# All pictures are there, and every slide has been laid on a page of its own, which happens after the deck is ready.
READY = """(slides) => document.documentElement.dataset.slides === 'ready'
    && [...document.images].every((x) => x.complete)
    && document.querySelectorAll('.pdf-page').length === slides"""


def print_deck(browser, deck: Path) -> None:
    """Print one deck to a PDF beside it, or raise ``RuntimeError`` if a slide does not fill exactly one page."""
    slides = deck.read_text(encoding="utf-8").count("<section ")
    page = browser.new_page()
    page.set_default_timeout(1000 * SECONDS)
    page.goto(f"{deck.as_uri()}?print-pdf")
    page.wait_for_function(READY, arg=slides)
    pdf = page.pdf(print_background=True, prefer_css_page_size=True)
    page.close()
    if (pages := len(PdfReader(io.BytesIO(pdf)).pages)) != slides:
        raise RuntimeError(f"{deck.stem} must have a page for each of its {slides} slides; got {pages} pages")
    write_whole(deck.with_suffix(".pdf"), pdf)


def main(words: list[str]) -> int:
    site = Path(words[0] if words else ROOT / "_build" / "html").resolve()
    decks = sorted((site / pavlov_slides.FOLDER).glob("*.html"))
    if not decks:
        return refuse(f"no slides in {site}: build the book first, with 'make book'")
    wanted = set(words[1:]) or {deck.stem for deck in decks}
    if unknown := wanted - {deck.stem for deck in decks}:
        return refuse(f"no slides for {', '.join(sorted(unknown))} in {site}")
    if not (path := browser_path()):
        return refuse(f"{MISSING}. The slides themselves need none.")
    decks = [deck for deck in decks if deck.stem in wanted]
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            for deck in (bar := tqdm(decks, unit="deck")):
                bar.set_postfix_str(deck.stem)
                print_deck(browser, deck)
            browser.close()
    except (Error, OSError, RuntimeError) as problem:
        print(problem, file=sys.stderr)
        return 1
    pavlov_slides.link_pdfs(site)
    if (site / pavlov_archive.NAME).is_file():
        pavlov_archive.pack(site)
    print(f"{len(decks)} PDFs: {site / pavlov_slides.FOLDER}")
    return 0


def refuse(problem: str) -> int:
    print(problem, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

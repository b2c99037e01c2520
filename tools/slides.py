"""Print the slides of the built site: a PDF for each deck, beside it, one page for each slide.

python tools/slides.py [SITE] [CHAPTER ...]     SITE is _build/html if it is not given

Chromium does the printing. ``PAVLOV_BROWSER`` names it, where it is not found by itself. Without one: exit code 2.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_archive  # noqa: E402
import pavlov_slides  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"]
SECONDS = 120


def browser() -> str:
    """The Chromium of this machine, or an empty text."""
    named = os.environ.get("PAVLOV_BROWSER")
    return named or next(filter(None, map(shutil.which, BROWSERS)), "")


def pages_in(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def print_deck(chromium: str, deck: Path) -> int:
    """Print one deck to a PDF beside it and return its number of pages, or raise ``RuntimeError``."""
    slides = deck.read_text(encoding="utf-8").count("<section ")
    flags = FLAGS + ["--no-sandbox"] * (hasattr(os, "getuid") and os.getuid() == 0)  # root has no sandbox to be in
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "deck.pdf")
        command = [
            chromium, *flags, f"--user-data-dir={folder}/profile", "--no-pdf-header-footer",
            "--virtual-time-budget=30000", f"--print-to-pdf={out}", f"{deck.as_uri()}?print-pdf",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        if not out.is_file():
            raise RuntimeError(f"the browser printed nothing: {done.stderr.strip()[-500:]}")
        content = out.read_bytes()
    if (pages := pages_in(content)) != slides:
        raise RuntimeError(f"{deck.stem} must have a page for each of its {slides} slides; got {pages} pages")
    pavlov_slides.write_whole(deck.with_suffix(".pdf"), content)
    return pages


def main(words: list[str]) -> int:
    site = Path(words[0] if words else ROOT / "_build" / "html").resolve()
    decks = sorted((site / pavlov_slides.FOLDER).glob("*.html"))
    if wanted := set(words[1:]):
        decks = [deck for deck in decks if deck.stem in wanted]
    if not decks:
        print(f"no slides in {site}: build the book first, with 'make book'", file=sys.stderr)
        return 1
    if not (chromium := browser()):
        print(
            "no Chromium on this machine: install chromium, or name one in PAVLOV_BROWSER."
            " The slides themselves need none.",
            file=sys.stderr,
        )
        return 2
    for number, deck in enumerate(decks, 1):
        bar = "█" * (20 * number // len(decks))
        print(f"\r{bar:░<20} {number}/{len(decks)} {deck.stem:<20}", end="", flush=True)
        try:
            print_deck(chromium, deck)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            print(f"\n{problem}", file=sys.stderr)
            return 1
    pavlov_slides.link_pdfs(site)
    if (site / pavlov_archive.NAME).is_file():
        pavlov_archive.pack(site)
    print(f"\n{len(decks)} PDFs: {site / pavlov_slides.FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

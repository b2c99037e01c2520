"""Print the slides of the built site: a PDF for each deck, beside it, one page for each slide.

python tools/slides.py [SITE] [CHAPTER ...]     SITE is _build/html if it is not given

Chromium does the printing. ``PAVLOV_BROWSER`` names it, where it is not found by itself. Without one: exit code 2.
"""

import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_archive  # noqa: E402
import pavlov_slides  # noqa: E402

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = ["--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"]
SECONDS = 120  # for one step of one deck; a laptop needs about one
READY = "document.documentElement.dataset.slides === 'ready' && [...document.images].every((x) => x.complete)"


class Browser:
    """A Chromium that takes orders through a pipe, in the language of its developer tools."""

    def __init__(self, path: str, profile: str):
        # The browser reads orders from descriptor 3 and answers on 4. Ours are moved out of the way first.
        (orders, self.orders), (self.answers, answers) = os.pipe(), os.pipe()
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (orders, answers)]
        os.close(orders)
        os.close(answers)

        def connect():
            os.dup2(theirs[0], 3)
            os.dup2(theirs[1], 4)

        root = ["--no-sandbox"] * (os.getuid() == 0)  # root has no sandbox to be in
        self.process = subprocess.Popen(
            [path, *FLAGS, *root, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4, *theirs), preexec_fn=connect,
        )  # fmt: skip
        for end in theirs:
            os.close(end)
        self.number, self.unread = 0, b""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method: str, **parameters):
        """Give one order and wait for its answer, or raise ``RuntimeError``."""
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if hasattr(self, "session"):
            order["sessionId"] = self.session
        os.write(self.orders, json.dumps(order).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            while b"\0" not in self.unread:
                ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
                if not ready:
                    raise RuntimeError(f"the browser gave no answer to {method} for {SECONDS} s")
                more = os.read(self.answers, 1 << 20)
                if not more:
                    raise RuntimeError("the browser stopped before it had printed everything")
                self.unread += more
            line, self.unread = self.unread.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"the browser refused {method}: {answer['error'].get('message')}")
                return answer["result"]

    def pdf(self, address: str) -> bytes:
        """Open a deck in its print layout and print it, once it says that it is laid out."""
        self.ask("Page.navigate", url=address)
        end = time.monotonic() + SECONDS
        while not self.ask("Runtime.evaluate", expression=READY)["result"].get("value"):
            if time.monotonic() > end:
                raise RuntimeError(f"the slides were not ready after {SECONDS} s: {address}")
            time.sleep(0.1)
        printed = self.ask("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        return base64.b64decode(printed["data"])

    def close(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        os.close(self.orders)
        os.close(self.answers)


def find_browser() -> str:
    """The Chromium of this machine, or an empty text."""
    named = os.environ.get("PAVLOV_BROWSER")
    return named or next(filter(None, map(shutil.which, BROWSERS)), "")


def pages_in(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def print_deck(browser: Browser, deck: Path) -> int:
    """Print one deck to a PDF beside it and return its number of pages, or raise ``RuntimeError``."""
    slides = deck.read_text(encoding="utf-8").count("<section ")
    pdf = browser.pdf(f"{deck.as_uri()}?print-pdf")
    if (pages := pages_in(pdf)) != slides:
        raise RuntimeError(f"{deck.stem} must have a page for each of its {slides} slides; got {pages} pages")
    pavlov_slides.write_whole(deck.with_suffix(".pdf"), pdf)
    return pages


def main(words: list[str]) -> int:
    site = Path(words[0] if words else ROOT / "_build" / "html").resolve()
    decks = sorted((site / pavlov_slides.FOLDER).glob("*.html"))
    if wanted := set(words[1:]):
        if unknown := wanted - {deck.stem for deck in decks}:
            print(f"no slides for {', '.join(sorted(unknown))} in {site}", file=sys.stderr)
            return 1
        decks = [deck for deck in decks if deck.stem in wanted]
    if not decks:
        print(f"no slides in {site}: build the book first, with 'make book'", file=sys.stderr)
        return 1
    if not (path := find_browser()):
        print(
            "no Chromium on this machine: install chromium, or name one in PAVLOV_BROWSER."
            " The slides themselves need none.",
            file=sys.stderr,
        )
        return 2
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        try:
            browser = Browser(path, profile)
        except (OSError, RuntimeError) as problem:
            print(f"{path} does not start: {problem}", file=sys.stderr)
            return 2
        try:
            for number, deck in enumerate(decks, 1):
                bar = "█" * (20 * number // len(decks))
                print(f"\r{bar:░<20} {number}/{len(decks)} {deck.stem:<20}", end="", flush=True)
                print_deck(browser, deck)
        except (OSError, RuntimeError) as problem:
            print(f"\n{problem}", file=sys.stderr)
            return 1
        finally:
            browser.close()
    pavlov_slides.link_pdfs(site)
    if (site / pavlov_archive.NAME).is_file():
        pavlov_archive.pack(site)
    print(f"\n{len(decks)} PDFs: {site / pavlov_slides.FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

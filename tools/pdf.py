"""The built book as one printable PDF, and its cheat sheet as another.

    python tools/pdf.py                      all chapters of _build/html
    python tools/pdf.py story drift          only these, to look at (--output for another folder)

All pages are put into one document, so that links inside the book, bookmarks and page numbers work, and a Chromium
that is on this machine prints it. ``PAVLOV_BROWSER`` names one that is not found by itself.

Exit codes: 0 written, 1 the cheat sheet is longer than a page, 2 no site, no browser, or a wrong call.
"""

from __future__ import annotations

import argparse
import html
import logging
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import yaml
from browser import FLAGS, MISSING, browser_path
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from pypdf import PdfReader, PdfWriter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from pavlov_archive import PDFS  # noqa: E402
from pavlov_languages import TITLE  # noqa: E402

SITE = ROOT / "_build" / "html"
BOOK, SHEET = PDFS
AUTHOR = "the Pavlov book contributors"
RIGHTS = "Text and figures: CC BY 4.0. Code: BSD 3-Clause."
SETTLED = """() => Promise.all([window.MathJax?.startup?.promise ?? 0, document.fonts.ready,
  ...[...document.images].map((image) => image.decode().catch(() => 0))]).then(() => true)"""
logging.getLogger("pypdf").setLevel(logging.ERROR)  # it counts Chromium's objects, and tells
# What would be cut off on paper. A line of code wraps; a wide formula cannot, and is made to fit.
FIT = """() => {
  const width = document.documentElement.clientWidth;
  for (const formula of document.querySelectorAll('mjx-container')) {
    const math = formula.querySelector('mjx-math') ?? formula, room = formula.parentElement.clientWidth || width;
    const wide = math.getBoundingClientRect().width;
    if (room && wide > room) formula.style.setProperty('font-size', `${Math.floor(95 * room / wide)}%`, 'important');
  }
  const over = [...document.querySelectorAll('article pre, article img, article table, article mjx-container')];
  return over.filter((x) => x.getBoundingClientRect().right > width + 2).map((x) =>
    `${x.closest('article').id}: ${x.tagName} ${x.textContent.trim().slice(0, 60)}`);
}"""
A4_WIDTH = 673  # CSS pixels between the margins of tools/print.css


def parts() -> list[tuple[str, list[str]]]:
    """Captions and pages of the book, in its order."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [(part["caption"], [chapter["file"] for chapter in part["chapters"]]) for part in toc["parts"]]
    return [("", [toc["root"]]), *listed]


# --- one document of many pages --------------------------------------------------------------------------------------


def document(site: Path, chosen: list[tuple[str, list[str]]], *, cover: bool = True, numbers=None) -> str:
    """The pages as one HTML document. ``numbers`` are the pages' numbers on paper, for the list of contents."""
    pages = [page for _, part in chosen for page in part]
    soups = {page: soup_of(site / f"{page}.html") for page in pages}
    keys = {page: f"p{i}" for i, page in enumerate(pages, 1)}
    heads = {page: soup.select_one("h1").get_text().rstrip("#¶").strip() for page, soup in soups.items()}
    articles = "\n".join(str(article(site, page, soups[page], keys)) for page in pages)
    front = front_matter(site, chosen, keys, heads, numbers or {}) if cover else ""
    title = TITLE if cover else f"{heads[pages[0]]} - {TITLE}"
    mathjax = next(iter(sorted((site / "_static/vendor/mathjax").glob("tex-mml-chtml.js"))))
    return f"""<!doctype html>
<html lang="en" data-theme="light" data-mode="light">
<head><meta charset="utf-8"><title>{html.escape(title)}</title>
{styles(site, soups[pages[0]], pages[0])}
<style>{(ROOT / "tools" / "print.css").read_text(encoding="utf-8")}</style>
<script>window.MathJax = {{options: {{processHtmlClass: "tex2jax_process|mathjax_process|math|output_area",
  enableMenu: false}}}}</script>
<script defer src="{mathjax.as_uri()}"></script>
</head>
<body>{front}{articles}</body></html>"""


def soup_of(path: Path) -> BeautifulSoup:
    if not path.is_file():
        raise ValueError(f"expected a built page {path}; got none: run 'make book' first")
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def styles(site: Path, soup: BeautifulSoup, page: str) -> str:
    start = (site / f"{page}.html").as_uri()
    links = [urljoin(start, link["href"]).split("?")[0] for link in soup.select('link[rel="stylesheet"]')]
    return "\n".join(f'<link rel="stylesheet" href="{link}">' for link in links)


def article(site: Path, page: str, soup: BeautifulSoup, keys: dict[str, str]):
    """The body of a page: folds open, names that no other page has, links that stay inside the document."""
    found, key, start = soup.select_one("article.bd-article"), keys[page], (site / f"{page}.html").as_uri()
    for gone in found.select("script, .headerlink, .explorer-controls, .copybtn, button, .toctree-wrapper"):
        gone.decompose()
    for tag in found.find_all(True):
        if tag.find_parent("svg") or tag.name == "svg":
            continue  # pictures refer to their own parts
        for attribute in ("id", "for", "aria-labelledby", "aria-describedby"):
            if value := tag.get(attribute):
                tag[attribute] = " ".join(f"{key}-{word}" for word in str(value).split())
        if tag.name == "details":
            tag["open"] = ""
        if "toggle-hidden" in tag.get("class", ()):
            tag["class"].remove("toggle-hidden")
        if tag.name in ("img", "source") and tag.get("src") and not tag["src"].startswith("data:"):
            tag["src"] = urljoin(start, tag["src"])
            tag.attrs.pop("loading", None)
        if tag.name == "a" and "href" in tag.attrs:
            place = target(site, urljoin(start, tag["href"]), keys)
            if place:
                tag["href"] = place
            else:
                del tag["href"]  # leads to a file that paper cannot hold
    found["id"] = key
    return found


def target(site: Path, url: str, keys: dict[str, str]) -> str:
    """Where a link leads in the document; an address elsewhere stays; empty if there is no such place."""
    if urlsplit(url).scheme != "file":
        return url
    path, fragment = urldefrag(url)
    try:
        page = Path(unquote(urlsplit(path).path)).relative_to(site).with_suffix("").as_posix()
    except ValueError:
        return ""
    if page not in keys:
        return ""
    return f"#{keys[page]}-{fragment}" if fragment else f"#{keys[page]}"


def front_matter(site: Path, chosen, keys, heads, numbers) -> str:
    rows = []
    for caption, pages in chosen:
        lines = "".join(
            f'<li><a href="#{keys[page]}"><span>{html.escape(heads[page])}</span>'
            f"<span>{numbers.get(keys[page], '')}</span></a></li>"
            for page in pages
        )
        rows.append((f"<h2>{html.escape(caption)}</h2>" if caption else "") + f"<ol>{lines}</ol>")
    logo = (site / "_static" / "logo.svg").as_uri()
    return f"""<div class="print-cover"><img src="{logo}" alt="">
<p class="title">{html.escape(TITLE)}</p>
<p>A book to read, run and teach from. Every number and every figure was made by the code beside it.</p>
<p>{AUTHOR}</p><p><small>{RIGHTS}</small></p></div>
<nav class="print-contents"><h1>Contents</h1>{"".join(rows)}</nav>"""


# --- paper -----------------------------------------------------------------------------------------------------------


def printed(browser, text: str, path: Path) -> list[str]:
    """Print a document to a file; returns what would not fit on the paper."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "book.html"
        source.write_text(text, encoding="utf-8")
        page = browser.new_page(viewport={"width": A4_WIDTH, "height": 970})
        page.set_default_timeout(180_000)
        page.emulate_media(media="print", color_scheme="light")
        page.goto(source.as_uri(), wait_until="load")
        page.evaluate(SETTLED)
        cut = page.evaluate(FIT)
        page.pdf(path=str(path), prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
        page.close()
    return cut


def page_numbers(path: Path) -> dict[str, int]:
    """On which page of paper each chapter begins."""
    reader = PdfReader(path)
    places = reader.named_destinations
    return {
        name.lstrip("/"): reader.get_destination_page_number(place) + 1
        for name, place in places.items()
        if name.lstrip("/").removeprefix("p").isdigit()
    }


def finish(part: Path, path: Path, title: str) -> int:
    """Say in the file what it is, and put it in its place; returns how many pages it has."""
    writer = PdfWriter(clone_from=part)
    writer.add_metadata({"/Title": title, "/Author": AUTHOR, "/Subject": RIGHTS, "/Keywords": "CC BY 4.0"})
    for gone in ("/CreationDate", "/ModDate"):  # the same book, the same file
        writer._info.get_object().pop(gone, None)
    with part.open("wb") as file:
        writer.write(file)
    part.replace(path)
    return len(writer.pages)


def make_book(browser, site: Path, chosen, path: Path) -> tuple[int, list[str]]:
    """Print twice: the first print tells on which page each chapter begins."""
    part = path.with_name(path.name + ".part")
    printed(browser, document(site, chosen), part)
    cut = printed(browser, document(site, chosen, numbers=page_numbers(part)), part)
    return finish(part, path, TITLE), cut


def make_sheet(browser, site: Path, path: Path) -> int:
    part = path.with_name(path.name + ".part")
    printed(browser, document(site, [("", ["book/cheatsheet"])], cover=False), part)
    return finish(part, path, f"Cheat sheet - {TITLE}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="*", help="pages such as story or teach/notes; all, if none is given")
    parser.add_argument("--site", type=Path, default=SITE, help="the built site")
    parser.add_argument("--output", type=Path, help="folder for the PDF files; the site, if none is given")
    asked = parser.parse_args(arguments)
    site = asked.site.resolve()
    known = [page.removeprefix("book/") for _, part in parts() for page in part]
    if unknown := [page for page in asked.pages if page not in known]:
        return refuse(f"expected pages, of {', '.join(known)}; got {', '.join(unknown)}")
    if not (site / "index.html").is_file():
        return refuse(f"expected a built site in {site}; got none: run 'make book' first")
    browser = browser_path()
    if not browser:
        return refuse(MISSING)
    output = (asked.output or site).resolve()
    output.mkdir(parents=True, exist_ok=True)
    wanted = {f"book/{page}" for page in asked.pages or known}
    chosen = [(caption, [page for page in part if page in wanted]) for caption, part in parts()]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=FLAGS)
        try:
            pages, cut = make_book(running, site, [part for part in chosen if part[1]], output / BOOK)
            sheet = make_sheet(running, site, output / SHEET) if not asked.pages else 1
        except ValueError as problem:
            return refuse(str(problem))
        finally:
            running.close()
    for what in cut:
        print(f"wider than the paper: {what}", file=sys.stderr)
    print(f"{output / BOOK}: {pages} pages")
    if sheet != 1:
        print(f"the cheat sheet must be one page; it has {sheet}", file=sys.stderr)
    return 0 if sheet == 1 else 1


def refuse(problem: str) -> int:
    print(problem, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

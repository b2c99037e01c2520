"""What a page weighs, and the whole book as one file that is read without a network or a server."""

from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_archive  # noqa: E402

# Uncompressed, as a plain server sends it. The runtime for notebooks comes only to a reader who asks for it.
MOST_BYTES = 3_000_000
WEIGHT = """() => document.fonts.ready.then(() => Promise.resolve(window.MathJax?.startup?.promise)).then(() =>
  ['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))
    .map((entry) => [entry.encodedBodySize, entry.name]).sort((a, b) => b[0] - a[0]))"""


def book_pages(site: Path) -> list[str]:
    return sorted(path.relative_to(site).as_posix() for path in (site / "book").rglob("*.html"))


def test_no_page_weighs_more_than_three_megabytes_before_a_reader_asks_for_a_runtime(site, address, browser):
    heavy, context = {}, browser.new_context()
    page = context.new_page()
    for name in book_pages(site):
        page.goto(address + name, wait_until="load")
        loaded = page.evaluate(WEIGHT)  # sizes count whether or not a file was in the browser's cache already
        assert len(loaded) > 3 and loaded[3][0] > 0, "a browser that tells no sizes proves nothing"
        assert not [entry for _, entry in loaded if "/lite/" in entry], name
        if (total := sum(size for size, _ in loaded)) > MOST_BYTES:
            heavy[name] = (total, loaded[:5])
    context.close()
    assert heavy == {}


# --- the whole book as one file --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(site / pavlov_archive.NAME) as archive:
        archive.extractall(folder)
    return folder / Path(pavlov_archive.NAME).stem


def test_the_archive_holds_every_file_of_the_site_but_the_runtime(site, unpacked):
    left_out = pavlov_archive.LEFT_OUT
    on_the_site = {p.relative_to(site) for p in site.rglob("*") if p.is_file()}
    expected = {path for path in on_the_site if path.parts[0] not in left_out}
    assert {p.relative_to(unpacked) for p in unpacked.rglob("*") if p.is_file()} == expected
    for path in expected - {Path(name) for name in pavlov_archive.CHANGES}:
        assert (unpacked / path).read_bytes() == (site / path).read_bytes(), path


def test_the_same_pages_give_the_same_archive(tmp_path):
    sums = set()
    for folder in (tmp_path / "one", tmp_path / "other"):
        (folder / "_static").mkdir(parents=True)
        (folder / "_static" / "pavlov.css").write_text("a {}")
        (folder / "index.html").write_text("<p>")
        sums.add(hashlib.sha256(pavlov_archive.pack(folder).read_bytes()).hexdigest())
        # and an archive never swallows the one before it
        sums.add(hashlib.sha256(pavlov_archive.pack(folder).read_bytes()).hexdigest())
    assert len(sums) == 1


def test_every_page_of_the_book_offers_the_archive(site):
    for name in book_pages(site):
        up = "../" * name.count("/")
        assert f'href="{up}{pavlov_archive.NAME}"' in (site / name).read_text(encoding="utf-8"), name


def test_the_unpacked_book_reads_and_is_searched_without_a_server(site, unpacked, browser):
    complaints = []
    context = browser.new_context()
    page = context.new_page()
    page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: complaints.append(str(e)))
    page.on("request", lambda r: complaints.append(r.url) if not r.url.startswith(("file:", "data:")) else None)
    page.goto((unpacked / "index.html").as_uri())
    page.wait_for_url("**/book/*.html")
    page.goto((unpacked / "book" / "drift.html").as_uri())
    page.evaluate("MathJax.startup.promise.then(() => true)")
    assert page.locator("mjx-container").count() > 5 and page.locator("mjx-merror").count() == 0
    hidden = page.locator(f'a[href*="lite/lab/"], a[href$="{pavlov_archive.NAME}"]')
    assert hidden.count() >= 1
    assert all(link.evaluate("x => getComputedStyle(x).display") == "none" for link in hidden.all())
    page.goto((unpacked / "search.html").as_uri() + "?q=oja")
    page.wait_for_selector("#search-results .search li")
    context.close()
    assert complaints == []

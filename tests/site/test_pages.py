"""The built pages, read as files: links lead somewhere, pictures have words, nothing is asked of anybody else."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from pavlov_lib.widgets import EXPLORERS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_languages  # noqa: E402
import pavlov_site  # noqa: E402

TONGUES = [pavlov_languages.tag(language) for language in pavlov_languages.languages()]

VENDOR = ROOT / "book" / "_static" / "vendor"
OWN_CSS = ROOT / "book" / "_static" / "pavlov.css"


@cache
def parsed(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")


def pages(site: Path) -> list[Path]:
    other = {"_static", "_sources", "lite"}
    return sorted(p for p in site.rglob("*.html") if not other & set(p.relative_to(site).parts))


def is_foreign(address: str) -> bool:
    return bool(urlsplit(address).netloc)


def test_every_chapter_of_the_contents_is_a_page(site):
    named = re.findall(r"(?:file|root): *([\w/.-]+)", (ROOT / "_toc.yml").read_text())
    missing = [name for name in named if not (site / f"{name}.html").is_file()]
    assert named and not missing


def test_no_page_loads_anything_from_elsewhere(site):
    loading = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
               "embed": "src", "object": "data", "use": "href", "image": "href", "input": "src"}  # fmt: skip
    foreign = []
    for page in pages(site):
        soup = parsed(page)
        for tag, attribute in loading.items():
            foreign += [(page.name, x[attribute]) for x in soup.find_all(tag) if is_foreign(x.get(attribute) or "")]
        for link in soup.find_all("link"):  # an address of this page, here or in another language, is only a statement
            if link.get("rel") not in (["canonical"], ["alternate"]) and is_foreign(link.get("href") or ""):
                foreign.append((page.name, link["href"]))
        foreign += [(page.name, x["srcset"]) for x in soup.find_all(srcset=True) if "//" in x["srcset"]]
    assert not foreign


def test_no_style_sheet_loads_anything_from_elsewhere(site):
    foreign = [
        (css.name, found)
        for css in site.rglob("*.css")
        if "lite" not in css.relative_to(site).parts
        for found in re.findall(r"(?:@import|url\()\s*[\"']?((?:https?:)?//[^\"')]+)", css.read_text(encoding="utf8"))
    ]
    assert not foreign


def test_no_page_asks_for_widget_managers_or_kernels(site):
    asked = [
        page.name
        for page in pages(site)
        if re.search(r"require(\.min)?\.js|html-manager|embed-amd|thebe|widget-state", page.read_text(encoding="utf8"))
    ]
    assert not asked


@cache
def places(path: Path) -> set[str]:
    soup = parsed(path)
    return {x["id"] for x in soup.find_all(id=True)} | {x["name"] for x in soup.find_all("a", attrs={"name": True})}


def test_no_page_links_to_a_repository_that_is_not_the_books(site):
    """Jupyter Book puts its own repository where the book has no address yet."""
    assert [page.name for page in pages(site) if "github.com/executablebooks" in page.read_text(encoding="utf-8")] == []


def test_every_link_within_the_site_leads_to_a_page_and_a_place_on_it(site):
    broken = set()
    for page in pages(site):
        for link in parsed(page).find_all("a", href=True):
            parts = urlsplit(link["href"])
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = site if parts.path == "/" else target  # on the page for wrong addresses, served at any depth
            if target.is_relative_to(site / "lite"):  # built by a step of its own
                continue
            target = target / "index.html" if target.is_dir() else target
            there = not parts.fragment or target.suffix != ".html" or unquote(parts.fragment) in places(target)
            if not target.is_file() or not there:
                broken.add((page.name, link["href"]))
    assert not broken


def test_every_picture_file_that_a_page_shows_exists(site):
    missing = []
    for page in pages(site):
        for image in parsed(page).find_all("img", src=True):
            source = image["src"]
            if not source.startswith("data:") and not (page.parent / unquote(urlsplit(source).path)).is_file():
                missing.append((page.name, source))
    assert not missing


def test_every_picture_in_the_text_has_words_for_those_who_do_not_see_it(site):
    wordless = []
    for page in pages(site):
        for image in parsed(page).select("article img:not(.toggler)"):
            alt = (image.get("alt") or "").strip()
            # a file name or an address is what the builder writes where the author gave no words
            if len(alt) < 10 or re.search(r"\.(png|svg|jpe?g)$|^_images|^https?:", alt):
                wordless.append((page.name, image.get("src", "")[:60], alt))
    assert not wordless


def test_every_page_has_a_title_a_language_and_one_description(site):
    for page in pages(site):
        soup = parsed(page)
        folder = page.relative_to(site).parts[0]
        assert soup.html.get("lang") == (folder if folder in TONGUES else "en"), page.name
        assert soup.title and soup.title.text.strip(), page.name
        if page.name not in ("index.html", "404.html"):
            described = soup.find_all("meta", attrs={"name": "description"})
            assert len(described) == 1 and len(described[0]["content"]) > 20, page.name


def test_headings_never_skip_a_level(site):
    skipped = []
    for page in pages(site):
        levels = [int(h.name[1]) for h in parsed(page).select("article :is(h1, h2, h3, h4, h5, h6)")]
        skipped += [(page.name, a, b) for a, b in pairwise(levels) if b > a + 1]
    assert not skipped


def test_every_icon_on_a_page_is_drawn_by_the_style_sheet(site):
    drawn = set(re.findall(r"\.fa-([a-z-]+)::before", OWN_CSS.read_text()))
    sizes = {"solid", "regular", "brands", "lg", "sm", "xs", "xl", "fw"}
    used = {
        name.removeprefix("fa-")
        for page in pages(site)
        for icon in parsed(page).select("i[class*='fa-'], span[class*='fa-']")
        for name in icon["class"]
        if name.startswith("fa-")
    }
    assert used - sizes <= drawn


def test_the_start_page_leads_to_the_book(site):
    assert 'content="0; url=book/intro.html"' in (site / "index.html").read_text()


def test_with_an_address_the_site_map_lists_every_chapter(tmp_path):
    named = re.findall(r"(?:file|root): *([\w/.-]+)", (ROOT / "_toc.yml").read_text())
    config = SimpleNamespace(html_baseurl="https://owner.github.io/name/", html_title="Book", root_doc="book/intro")
    env, builder = SimpleNamespace(found_docs=set(named)), SimpleNamespace(name="html", format="html")
    app = SimpleNamespace(outdir=tmp_path, config=config, env=env, builder=builder)
    pavlov_site.write_extra_pages(app, None)
    listed = (tmp_path / "sitemap.xml").read_text()
    named += [f"{language}/story" for language in TONGUES]
    assert all(f"<loc>https://owner.github.io/name/{name}.html</loc>" in listed for name in named)


def test_the_picture_for_shared_links_exists(site):
    card = pavlov_site.social("https://owner.github.io/name/", "book/intro", None)["image"]
    assert (site / card.removeprefix("https://owner.github.io/name/")).is_file()


def test_files_of_other_projects_are_the_ones_listed():
    listed = dict(
        reversed(line.split("  ")) for line in (VENDOR / "SHA256SUMS").read_text().splitlines() if line[0] != "#"
    )
    found = {
        p.relative_to(VENDOR).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in VENDOR.rglob("*")
        if p.is_file() and p.parent != VENDOR
    }
    assert found == listed


def test_notebooks_store_no_widget_state():
    # a stored view asks for a kernel that is gone; the page's own explorer needs none
    stored = []
    for path in (ROOT / "book").rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf8"))
        views = [o for cell in notebook["cells"] for o in cell.get("outputs", []) if "data" in o]
        if "widgets" in notebook["metadata"]:
            stored.append(path.name)
        if any("application/vnd.jupyter.widget-view+json" in o["data"] for o in views):
            stored.append(path.name)
    assert not stored


@pytest.mark.parametrize("name", EXPLORERS)
def test_an_explorer_without_scripts_still_shows_pictures_with_words(name):
    soup = BeautifulSoup(EXPLORERS[name].html(), "html.parser")
    pictures = soup.find_all("img")
    assert len(pictures) == len(EXPLORERS[name].look()["panels"])
    assert all(len(p["alt"]) > 20 for p in pictures)
    assert soup.select_one(".explorer-words").text == EXPLORERS[name].look()["words"]


@pytest.mark.parametrize("name", EXPLORERS)
def test_what_an_explorer_writes_into_a_notebook_is_the_same_every_time(name):
    assert EXPLORERS[name].html() == EXPLORERS[name].html()
    assert EXPLORERS[name].text() == EXPLORERS[name].text()
    assert len(EXPLORERS[name].html()) < 64_000  # a notebook stays small

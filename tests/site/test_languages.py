"""The translations say what the book says, and their pages belong to the site."""

from __future__ import annotations

import copy
import io
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "book" / "_ext"), str(ROOT / "tools")]

import pavlov_archive  # noqa: E402
import pavlov_languages as book  # noqa: E402
import translations  # noqa: E402

# What must stay translated in full. Everything else may be half done.
COMPLETE = [(language, page) for language in ("de", "es") for page in ("glossary", "site", "story")]
PAGES = [(language, page) for language, pages in book.languages().items() for page in pages]
CATALOGUES = sorted({*COMPLETE, *PAGES, *((language, "site") for language in book.languages())})
# What a translation leaves as it is: formulas, roles with what they name, the addresses of links and pictures.
KEPT = re.compile(r"\$[^$]+\$|\{[\w:]+\}`[^`]*`|(?<=\]\()[^)]+(?=\))|https?://[^\s)>]+")


@pytest.fixture(scope="module")
def sources(tmp_path_factory) -> dict[str, Catalog]:
    """What there is to translate today, as the site's own Sphinx finds it."""
    # in a process of its own, for a Sphinx changes the interpreter that it runs in
    folder = tmp_path_factory.mktemp("pot")
    code = (
        "import sys; from pathlib import Path; import translations as t\n"
        "for page, catalogue in t.templates(sys.argv[2:]).items():\n"
        "    path = Path(sys.argv[1], page + '.pot'); path.parent.mkdir(parents=True, exist_ok=True)\n"
        "    path.write_bytes(t.written(catalogue))\n"
    )
    pages = sorted({page for _, page in PAGES})
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), *pages],
        cwd=ROOT / "tools",
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {page: read_po(io.BytesIO((folder / f"{page}.pot").read_bytes())) for page in [*pages, book.SITE_WORDS]}


def catalogue(language: str, page: str) -> Catalog:
    return copy.deepcopy(book.read_catalogue(book.catalogues(language) / f"{page}.po"))


def ids(messages: Catalog) -> list[str]:
    return [message.id for message in messages if message.id]


# --- the catalogues --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "page"), CATALOGUES)
def test_a_catalogue_has_the_sentences_of_its_page_and_no_others(sources, language, page):
    own = catalogue(language, page)
    assert ids(own) == ids(sources[page]), "run `make translations`"
    assert str(own.locale) == language
    assert own.charset.lower() == "utf-8"
    print("{}/{}: {} of {}".format(language, page, *book.counts(own)))


@pytest.mark.parametrize(("language", "page"), COMPLETE)
def test_what_is_complete_stays_complete(language, page):
    own = catalogue(language, page)
    done, of = book.counts(own)
    assert done == of > 0, [m.id for m in own if m.id and (m.fuzzy or not m.string)]
    assert not own.obsolete


@pytest.mark.parametrize(("language", "page"), CATALOGUES)
def test_formulas_roles_and_addresses_are_the_same_in_every_language(language, page):
    for message in catalogue(language, page):
        if message.id and message.string:
            assert sorted(KEPT.findall(message.string)) == sorted(KEPT.findall(message.id)), message.string


def test_what_is_kept_is_found():
    found = KEPT.findall("[the rule](delta.ipynb) is $S k$, see {cite:t}`oja1982` and https://example.org/a")
    assert found == ["delta.ipynb", "$S k$", "{cite:t}`oja1982`", "https://example.org/a"]


def test_a_sentence_that_changes_keeps_its_translation_to_be_looked_at(sources):
    changed, longest = Catalog(), max(ids(sources["story"]), key=len)
    for text in ids(sources["story"]):
        changed.add(f"{text} Or nearly so." if text == longest else text)
    own = catalogue("de", "story")
    before = {message.id: message.string for message in own}
    new = translations.updated(own, changed)
    (message,) = [message for message in new if message.id and message.fuzzy]
    assert message.id == f"{longest} Or nearly so."
    assert message.string == before[message.previous_id[0]]
    done, of = book.counts(new)
    assert (done, of) == (of - 1, len(ids(sources["story"])))


def test_an_update_that_changes_nothing_writes_the_same_file(sources):
    for language, page in COMPLETE:
        path = book.catalogues(language) / f"{page}.po"
        assert translations.written(translations.updated(catalogue(language, page), sources[page])) == path.read_bytes()


@pytest.mark.parametrize(("asked", "got"), [(["xx", "story"], "'xx'"), (["fr", "stroy"], "'stroy'")])
def test_a_language_or_a_page_that_does_not_exist_is_refused(capsys, asked, got):
    with pytest.raises(SystemExit):
        translations.main(["--new", *asked])
    assert f"got {got}" in capsys.readouterr().err


# --- the pages -------------------------------------------------------------------------------------------------------


def soup(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def place(language: str, page: str) -> str:
    return f"{'book' if language == 'en' else book.tag(language)}/{page}.html"


@pytest.mark.parametrize("page", sorted({page for _, page in PAGES}))
def test_every_language_of_a_page_leads_to_all_its_languages(site, page):
    has = ["en", *(language for language, other in PAGES if other == page)]
    for language in has:
        here = soup(site / place(language, page))
        links = here.select("article nav.languages a")
        assert [(link["hreflang"], link["lang"], link.text) for link in links] == [
            (book.tag(other), book.tag(other), book.own_name(other)) for other in has
        ]
        assert [link.get("aria-current") for link in links] == ["page" if x == language else None for x in has]
        alternates = {link["hreflang"]: link["href"] for link in here.select("link[rel=alternate]")}
        assert set(alternates) == {*map(book.tag, has), "x-default"}
        for other in has:
            assert alternates[book.tag(other)].endswith(place(other, page))
        for link, other in zip(links, has, strict=True):
            assert (site / place(language, page)).parent.joinpath(link["href"]).resolve() == site / place(other, page)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_translated_page_keeps_the_links_of_the_english_one(site, language, page):
    def targets(path: Path) -> list[str]:
        inner = soup(path).select("article section a[href]:not(.headerlink)")
        return sorted((path.parent / link["href"].split("#")[0]).resolve().name for link in inner)

    translated = soup(site / place(language, page))
    assert targets(site / place(language, page)) == targets(site / place("en", page))
    for link in translated.select("article section a.internal[href^='../book/']"):
        assert link["hreflang"] == "en"
    assert translated.select_one("article .translation-note a")["href"] == "../book/translations.html"


@pytest.mark.parametrize("language", sorted({language for language, page in PAGES if page == "glossary"}))
def test_a_glossary_has_each_term_once_in_the_order_of_its_language(site, language):
    terms = soup(site / place(language, "glossary")).select("dl.glossary > dt")
    names = [term.get_text().removesuffix("#").strip() for term in terms]
    assert len(set(names)) == len(names) > 40
    order = [book.collation(name, language) for name in names]
    assert all(one < other for one, other in pairwise(order))
    english = soup(site / place("en", "glossary")).select("dl.glossary > dt")
    assert {term["id"] for term in terms} == {term["id"] for term in english}, "a link to a term must go on working"


@pytest.mark.parametrize(("word", "other"), [("Überraschung", "Überraschungen"), ("señal", "señales")])
def test_order_ignores_accents_and_capitals(word, other):
    language = "de" if word.startswith("Ü") else "es"
    assert book.collation(word.upper(), language) == book.collation(word, language) < book.collation(other, language)


@pytest.mark.parametrize(("language", "page"), PAGES)
def test_a_translated_page_loads_what_the_english_one_loads_and_no_more(site, language, page):
    def loaded(path: Path) -> list[str]:
        files = [x.get("src") or x["href"] for x in soup(path).select("script[src], link[rel=stylesheet]")]
        names = [urlsplit(file).path.partition("_static/")[2] for file in files]
        return sorted(name for name in names if name != "translations.js")  # the words that scripts show

    assert loaded(site / place(language, page)) == loaded(site / place("en", page))


def test_translated_pages_bring_no_copy_of_what_the_site_has(site):
    for language in book.languages():
        static = site / book.tag(language) / "_static"
        for own in (path for path in static.rglob("*") if path.is_file()):
            shared = site / "_static" / own.relative_to(static)
            assert not shared.is_file() or shared.read_bytes() != own.read_bytes(), own
        for page in (site / book.tag(language)).rglob("*.html"):
            for found in re.findall(r'(?:src|href)="((?:\.\./)*_static/[^"?#]+)', page.read_text("utf-8")):
                assert (page.parent / found).is_file(), (page.name, found)


def test_nothing_about_the_pages_is_left_to_the_archive_by_chance():
    changed = {f"{book.tag(language)}/_static/documentation_options.js" for language in book.languages()}
    assert changed <= set(pavlov_archive.CHANGES)


@pytest.mark.parametrize(("language", "asked"), [("de", "Glocken"), ("es", "campanas")])
def test_search_finds_another_form_of_a_word_in_its_own_language(browser, address, language, asked):
    # the text has the word in the singular: it is found only by the rules of its own language
    context = browser.new_context()
    reader, complaints = context.new_page(), []
    reader.on("pageerror", lambda error: complaints.append(str(error)))
    reader.on("response", lambda answer: complaints.append(answer.url) if answer.status >= 400 else None)
    reader.goto(f"{address}{language}/search.html?q={asked}")
    reader.wait_for_selector("#search-results li a")
    found = [link.get_attribute("href") for link in reader.locator("#search-results li > a").all()]
    assert any("story.html" in link for link in found), found
    reader.goto(f"{address}{language}/search.html?q={asked}")
    reader.locator("#search-results li > a").first.click()
    assert reader.locator("article h1").first.is_visible()
    context.close()
    assert complaints == []


def test_the_folder_of_a_language_opens_its_first_page(site):
    for language in book.languages():
        start = soup(site / book.tag(language) / "index.html")
        assert start.html["lang"] == book.tag(language)
        assert start.select_one("meta[http-equiv=refresh]")["content"].endswith("url=story.html")

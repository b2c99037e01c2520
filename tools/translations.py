"""Keep the catalogues of the translations in step with the book, and tell how much of each is translated.

    python tools/translations.py                     # bring all catalogues up to date
    python tools/translations.py --new fr mapping    # begin the page book/mapping in French
    python tools/translations.py --check             # change nothing; fail if a catalogue is out of step

A sentence whose English has changed keeps its old translation, marked as fuzzy, until somebody has looked at it; the
site shows the English one meanwhile. A sentence that is gone stays at the end of its catalogue as long as it is useful
for new ones to be matched with, and goes when nothing is fuzzy any more.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_languages as book  # noqa: E402

HEADER = """\
# {language} translation of PROJECT: {page}
# Distributed under the same licence as the text of the book, CC BY 4.0.
#"""


def templates(pages: list[str]) -> dict[str, Catalog]:
    """The messages of each page, as the site's own Sphinx finds them, and those of the words around a page."""
    found = {book.SITE_WORDS: Catalog()}
    for message in book.WORDS.values():
        found[book.SITE_WORDS].add(message)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        if book.run_sphinx(pages, "en", scratch / "pot", scratch, "gettext"):
            raise ValueError("the sources must build without a warning; see the messages above")
        for page in pages:
            with (scratch / "pot" / f"{page}.pot").open("rb") as file:
                found[page] = read_po(file)
    return found


def updated(old: Catalog, template: Catalog) -> Catalog:
    """The old catalogue with the template's messages, in its order. Nothing that was translated is lost."""
    new = old
    new.update(template, update_header_comment=False, update_creation_date=False)
    if not any(message.fuzzy for message in new if message.id):
        new.obsolete.clear()  # whatever a new sentence could be matched with has been
    for message in new:
        message.auto_comments, message.locations = [], []
    return new


def written(catalogue: Catalog) -> bytes:
    out = io.BytesIO()
    write_po(out, catalogue, width=100, no_location=True, include_previous=True)
    return out.getvalue()


def empty(language: str, page: str) -> Catalog:
    english = Locale.parse(language).get_display_name("en")
    return Catalog(
        locale=language,
        project=book.TITLE,
        fuzzy=False,
        header_comment=HEADER.format(language=english, page=page),
        language_team=f"{english} readers",
        last_translator="the Pavlov book contributors",
        msgid_bugs_address="see CONTRIBUTING.md",
        creation_date=datetime.now(UTC),
        revision_date=datetime.now(UTC),
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--new", nargs="+", metavar=("LANGUAGE", "PAGE"), help="begin pages in a language")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a catalogue is out of step")
    asked = parser.parse_args(arguments)
    wanted = {language: list(pages) for language, pages in book.languages().items()}
    if asked.new:
        language, *pages = asked.new
        try:
            Locale.parse(language)
        except (UnknownLocaleError, ValueError):
            parser.error(f"expected a language such as fr or pt_BR; got {language!r}")
        for page in pages:
            if not book.is_page(page):
                parser.error(f"expected pages of the book such as story or teach/index; got {page!r}")
        wanted[language] = list(dict.fromkeys([*wanted.get(language, []), *pages]))
    if not any(wanted.values()):
        print("no page is translated yet: begin one with --new LANGUAGE PAGE")
        return 0
    found = templates(sorted({page for pages in wanted.values() for page in pages}))
    stale = 0
    for language, pages in sorted(wanted.items()):
        for page in [book.SITE_WORDS, *sorted(pages)]:
            path = book.catalogues(language) / f"{page}.po"
            before = path.read_bytes() if path.is_file() else b""
            old = read_po(io.BytesIO(before), locale=language) if before else empty(language, page)
            new = updated(old, found[page])
            done, of = book.counts(new)
            fuzzy = sum(message.fuzzy for message in new if message.id)
            note = f", {fuzzy} to look at again" if fuzzy else ""
            if written(new) != before:
                stale += 1
                note += ", out of step" if asked.check else ", updated"
                if not asked.check:
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(written(new))
            print(f"{language:6} {page:24} {done / of:6.1%}  ({done} of {of}{note})")
    return int(asked.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())

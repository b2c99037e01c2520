"""The pages that are translated, built with the site: ``de/story.html`` beside ``book/story.html``.

``locale/<language>/LC_MESSAGES`` holds one gettext catalogue for each translated page, and ``site.po`` for the words
around it. After the English site each language is built by a Sphinx of its own, with the same configuration and only
those pages; what it has in common with the English site (style, scripts, fonts) is taken from there. Links to pages
without a translation lead to the English ones.

``make translations`` (tools/translations.py) keeps the catalogues in step with the sources.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from functools import cache
from pathlib import Path

import yaml
from babel import Locale, UnknownLocaleError
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx import addnodes
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
LOCALE = ROOT / "locale"
SITE_WORDS = "site"  # the catalogue of the words around a page
HELPERS = ("references",)  # read along, since chapters cite them; their English pages are the ones shown
HELP_PAGE = "translations"  # how to help, in English

TITLE = "Attention Works like Pavlov's Dog"
# What the reader sees around a translated page. `make translations` collects these.
WORDS = {
    "title": TITLE,
    "language": "Language",
    "notice": "This page is translated from English. Pages that nobody has translated yet open in English.",
    "help": "Help to translate the book",
    "open": "Open the book",
    "archive": "the whole book",
    "archive_hint": "A .zip of the whole book, to read without a network",
    "licences": "Code: BSD 3-Clause. Text and figures: CC BY 4.0.",
}


def setup(app):
    app.add_config_value("pavlov_language", "en", "env")
    app.add_config_value("pavlov_few_pages", False, "env")  # a Sphinx that reads the translated pages and no others
    app.add_directive("translations", TranslationsDirective)
    app.connect("config-inited", configure, priority=950)  # after the address of the book is known
    app.connect("doctree-read", keep_helpers_out)
    app.connect("doctree-read", sort_glossaries)
    app.add_post_transform(LinkToEnglish)
    app.connect("html-page-context", add_languages, priority=950)  # after the page is mended
    app.connect("build-finished", build_languages, priority=940)  # after the theme's files, before the archive
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


# --- what is translated ----------------------------------------------------------------------------------------------


def catalogues(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES"


def languages() -> dict[str, list[str]]:
    """For each language its translated pages: ``{"de": ["glossary", "story"]}``."""
    found = {}
    for folder in sorted(path.parent for path in LOCALE.glob("*/LC_MESSAGES") if path.is_dir()):
        names = (path.relative_to(folder / "LC_MESSAGES").with_suffix("") for path in folder.rglob("*.po"))
        found[folder.name] = sorted(name.as_posix() for name in names if name.as_posix() != SITE_WORDS)
    return {language: pages for language, pages in found.items() if pages}


def translated_pages() -> list[str]:
    """Every translated page by its place on the site: ``["de/glossary", "de/story"]``."""
    return [f"{tag(language)}/{page}" for language, pages in languages().items() for page in pages]


def own_name(language: str) -> str:
    """A language's name for itself.

    >>> own_name("es")
    'Español'
    """
    name = Locale.parse(language, sep="-" if "-" in language else "_").get_display_name(language)
    return name[0].upper() + name[1:]


def tag(language: str) -> str:
    """The name of a language in HTML: ``pt_BR`` is ``pt-BR`` there."""
    return language.replace("_", "-")


@cache
def read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file)


def words(language: str, what: str) -> str:
    """One of :data:`WORDS` in a language, or in English where there is no translation."""
    path = catalogues(language) / f"{SITE_WORDS}.po"
    message = read_catalogue(path).get(WORDS[what]) if language != "en" and path.is_file() else None
    return message.string if message and message.string and not message.fuzzy else WORDS[what]


def counts(catalogue: Catalog) -> tuple[int, int]:
    """How many messages are translated, and how many there are."""
    messages = [message for message in catalogue if message.id]
    return sum(bool(message.string) and not message.fuzzy for message in messages), len(messages)


# --- the configuration of a translated site --------------------------------------------------------------------------


def source_of(page: str) -> str:
    """The file of a page, below book/."""
    found = [path for ending in (".md", ".ipynb") if (path := BOOK / f"{page}{ending}").is_file()]
    if not found:
        raise ValueError(f"a page must name a .md or .ipynb file below book/ without its ending; got {page!r}")
    return found[0].relative_to(BOOK).as_posix()


def settings(pages: list[str], language: str, scratch: Path, inventory: Path | None = None) -> dict:
    """What differs from the configuration of the English site. Writes a table of contents into the folder scratch."""
    first, *others = in_order(pages)
    toc = scratch / "toc.yml"
    toc.write_text(
        f"format: jb-book\nroot: {first}\n"
        + ("chapters:\n" if others else "")
        + "".join(f"  - file: {page}\n" for page in others),
        encoding="utf-8",
    )
    read = dict.fromkeys([*pages, *HELPERS])
    return {
        "pavlov_language": language,
        "pavlov_few_pages": True,
        "language": language,
        "locale_dirs": [str(scratch / "locale")],
        "gettext_compact": False,
        "external_toc_path": str(toc),
        "external_toc_exclude_missing": False,
        "include_patterns": [source_of(page) for page in read],
        "bibtex_bibfiles": ["references.bib"],
        "html_static_path": [str(BOOK / "_static")],
        "html_favicon": str(BOOK / "_static" / "favicon.svg"),
        "html_logo": str(BOOK / "_static" / "logo.svg"),
        "html_title": words(language, "title"),
        "html_use_index": False,
        "html_copy_source": False,
        "html_last_updated_fmt": None,
        "intersphinx_mapping": {"english": ("..", str(inventory))} if inventory else {},
    }


def run_sphinx(pages: list[str], language: str, out: Path, scratch: Path, builder: str, inventory=None) -> int:
    from jupyter_book.sphinx import build_sphinx

    result = build_sphinx(
        str(BOOK),
        str(out),
        path_config=str(ROOT / "_config.yml"),
        confoverrides={"latex_individualpages": False} | settings(pages, language, scratch, inventory),
        doctreedir=scratch / "doctrees",
        noconfig=True,
        builder=builder,
        freshenv=True,
        warningiserror=True,
        keep_going=True,
        quiet=True,
    )
    if isinstance(result, Exception):
        raise result
    return result


def configure(app, config):
    if config.pavlov_few_pages:
        # Jupyter Book loads every script and style sheet of a _static beside the sources, as book/_static is here.
        own = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
        config.html_css_files = [(name, {}) for name in own.get("html_css_files", [])]
        config.html_js_files = [(name, {}) for name in own.get("html_js_files", [])]
        config.html_static_path = config.html_static_path[:1]
    language = config.pavlov_language
    if language == "en":
        return
    if config.html_baseurl:
        config.html_baseurl += f"{tag(language)}/"
    options = config.html_theme_options
    options["logo"] = options.get("logo", {}) | {"text": words(language, "title")}
    options["extra_footer"] = words(language, "licences")
    # A translation is mended in its catalogue, and these buttons would lead to the English source.
    options.update(use_edit_page_button=False, use_source_button=False)


# --- a translated page -----------------------------------------------------------------------------------------------


def keep_helpers_out(app, doctree):
    """Pages that are only read along are in no contents and in no search."""
    if app.config.pavlov_few_pages and app.env.docname in HELPERS:
        app.env.metadata[app.env.docname].update(orphan=True, nosearch=True)


def sort_glossaries(app, doctree):
    """A sorted glossary is sorted by Sphinx before it is translated, so sort it again."""
    if app.config.pavlov_language == "en":
        return
    for glossary in doctree.findall(addnodes.glossary):
        for entries in glossary.findall(nodes.definition_list):
            entries.children.sort(key=lambda entry: collation(entry[0].astext(), app.config.pavlov_language))


def collation(term: str, language: str) -> str:
    """Where a term stands in a dictionary: accents do not count, but ñ is a letter of its own in Spanish.

    >>> sorted(["Zustand", "Übertreibung", "Test"], key=lambda term: collation(term, "de"))
    ['Test', 'Übertreibung', 'Zustand']
    >>> sorted(["caña", "canto", "capa"], key=lambda term: collation(term, "es"))
    ['canto', 'caña', 'capa']
    """
    term = term.casefold()
    if language.startswith("es"):
        term = unicodedata.normalize("NFC", term).replace("ñ", "n\uffff")
    return "".join(x for x in unicodedata.normalize("NFKD", term) if not unicodedata.combining(x))


class LinkToEnglish(SphinxPostTransform):
    """A link to a page that has no translation leads to the English one."""

    default_priority = 5  # before MyST says that it does not know the page

    def run(self, **kwargs):
        if not self.config.pavlov_few_pages:
            return
        shown = set(self.env.all_docs) - set(HELPERS)
        for node in list(self.document.findall(addnodes.pending_xref)):
            target = node.get("reftarget", "")
            if node.get("refdomain") != "doc" or target in shown or not is_page(target):
                continue
            up = "../" * (self.env.docname.count("/") + 1)
            place = f"#{node['reftargetid']}" if node.get("reftargetid") else ""
            link = nodes.reference("", "", internal=True, refuri=f"{up}book/{target}.html{place}")
            link += node.children or [nodes.Text(target)]
            node.replace_self(link)


@cache
def is_page(name: str) -> bool:
    """Whether the English site has a page."""
    return re.search(rf"^\s*-?\s*(?:file|root): *book/{re.escape(name)}\s*$", TOC.read_text("utf-8"), re.M) is not None


TOC = ROOT / "_toc.yml"


def add_languages(app, pagename, templatename, context, doctree):
    """The switch between languages, the links that tell search engines of it, and a word on translated pages."""
    language, site = app.config.pavlov_language, app.config.html_baseurl
    page = pagename.removeprefix("book/") if language == "en" else pagename
    up = "../" * pagename.count("/") if language == "en" else "../" * (pagename.count("/") + 1)
    if language != "en":
        mend_translated(app, context, up)
        if not app.env.get_domain("math").data["has_equations"].get(pagename):
            context["script_files"] = without_mathjax(context["script_files"], app.config.mathjax_path)
    has = [other for other, pages in languages().items() if page in pages]
    if not doctree or not has or (language == "en" and page == pagename):
        return
    places = {"en": f"book/{page}.html"} | {other: f"{tag(other)}/{page}.html" for other in has}
    base = site.removesuffix(f"{tag(language)}/") if language != "en" else site
    context["alternates"] = [
        *((tag(other), f"{base or up}{place}") for other, place in places.items()),
        ("x-default", f"{base or up}{places['en']}"),
    ]
    context["body"] = switch(language, {other: up + place for other, place in places.items()}, up) + context["body"]


def without_mathjax(files: list, path: str) -> list:
    """The first page has no formulas of its own, but Sphinx counts those of the pages below it."""

    def is_mathjax(file) -> bool:
        body = getattr(file, "attributes", {}).get("body") or ""
        return path in str(getattr(file, "filename", file)) or body.startswith("window.MathJax")

    return [file for file in files if not is_mathjax(file)]


def switch(language: str, places: dict[str, str], up: str) -> str:
    items = "".join(
        f'<li><a href="{place}" lang="{tag(other)}" hreflang="{tag(other)}"'
        f"{' aria-current=' + chr(34) + 'page' + chr(34) if other == language else ''}>{own_name(other)}</a></li>"
        for other, place in places.items()
    )
    nav = f'<nav class="languages" aria-label="{html.escape(words(language, "language"))}"><ul>{items}</ul></nav>\n'
    if language == "en":
        return nav
    return nav + (
        f'<p class="translation-note">{html.escape(words(language, "notice"))} '
        f'<a href="{up}book/{HELP_PAGE}.html" hreflang="en">{html.escape(words(language, "help"))}</a></p>\n'
    )


def mend_translated(app, context, up: str):
    """Files that lie once, at the top of the site."""
    language = app.config.pavlov_language
    home = app.config.html_baseurl.removesuffix(f"{tag(language)}/")
    social = context.get("social", {})
    if social.get("image"):
        social["image"] = f"{home}{social['image'].removeprefix(app.config.html_baseurl)}"
    for group in (x for x in context.get("header_buttons", []) if "buttons" in x):
        # the source is in English
        group["buttons"] = [x for x in group["buttons"] if x.get("label") != "download-source-button"]
        for button in group["buttons"]:
            if button.get("label") == "download-archive-button":
                where = f"{up}{Path(button['url']).name}"
                button.update(url=where, text=words(language, "archive"), tooltip=words(language, "archive_hint"))


# --- building --------------------------------------------------------------------------------------------------------


def build_languages(app, exception):
    if exception is not None or app.builder.name != "html" or app.config.pavlov_few_pages:
        return
    site = Path(app.outdir)
    # A translated page is made of the same sources, so it needs no Python of the browser and the same address.
    environment = os.environ | {
        "PAVLOV_LITE": "0",
        "PAVLOV_REPOSITORY": app.config.html_theme_options.get("repository_url", ""),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    running = {
        language: subprocess.Popen(
            [sys.executable, "-m", "pavlov_languages", language, str(site)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        for language in languages()
    }
    said = {language: process.communicate()[1] for language, process in running.items()}
    failed = [f"{language}: {said[language].strip()[-2000:]}" for language, p in running.items() if p.returncode]
    if failed:
        raise ExtensionError("the translated pages could not be built:\n" + "\n".join(failed))


def build_language(language: str, site: Path) -> int:
    """Build the translated pages of one language, and put them into the English site."""
    pages = languages()[language]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        # Sphinx compiles the catalogues beside their sources; the checkout stays as it is.
        shutil.copytree(catalogues(language), scratch / "locale" / language / "LC_MESSAGES")
        built = scratch / "html"
        failed = run_sphinx(pages, language, built, scratch, "html", inventory=site / "objects.inv")
        if not failed:
            publish(built, site, language, pages)
    return failed


def publish(built: Path, site: Path, language: str, pages: list[str]):
    """Copy the pages, the search and the files that differ; everything else is taken from the English site."""
    target = site / tag(language)
    shutil.rmtree(target, ignore_errors=True)
    shared = set()
    for path in sorted(p for p in built.rglob("*") if p.is_file()):
        name = path.relative_to(built)
        top = name.parts[0]
        if top == "_static":
            if (site / name).is_file() and (site / name).read_bytes() == path.read_bytes():
                shared.add(name.as_posix())
                continue
        elif top != "_images" and name.as_posix() not in ("searchindex.js", "search.html", *html_names(pages)):
            continue
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)
    for page in target.rglob("*.html"):
        page.write_text(lean(page.read_text("utf-8"), shared), encoding="utf-8")
    (target / "index.html").write_text(start_page(language, html_names(in_order(pages))[0], "../"), encoding="utf-8")


def in_order(pages: list[str]) -> list[str]:
    """The story first: it is where a reader begins."""
    return sorted(pages, key=lambda page: (page != "story", page))


def html_names(pages: list[str]) -> list[str]:
    return [f"{page}.html" for page in pages]


def lean(page: str, shared: set[str]) -> str:
    """A page whose links to shared files, and to pages that were only read along, lead to the English site."""

    def file(found: re.Match) -> str:
        attribute, up, name = found.groups()
        return f'{attribute}="{up}{"../" if name in shared else ""}{name}'

    page = re.sub(r'\b(href|src)="((?:\.\./)*)(_static/[^"?#]+)', file, page)
    helpers = "|".join(HELPERS)
    page = re.sub(rf'\bhref="((?:\.\./)*)({helpers})\.html', r'href="\1../book/\2.html', page)
    return re.sub(r'(<a class="reference internal") (href="(?:\.\./)+book/)', r'\1 hreflang="en" \2', page)


def start_page(language: str, root: str, up: str = "") -> str:
    """A page that leads on to the page ``root``; ``up`` leads to the top of the site."""
    title, words_on = (html.escape(words(language, what)) for what in ("title", "open"))
    return START.format(language=tag(language), title=title, root=root, open=words_on, up=up)


START = """<!doctype html>
<html lang="{language}">
<head>
  <meta charset="utf-8">
  <title>{title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta http-equiv="refresh" content="0; url={root}">
  <link rel="icon" href="{up}_static/favicon.svg">
</head>
<body><main><h1>{title}</h1><p><a href="{root}">{open}</a></p></main></body>
</html>
"""


# --- how far the translations are ------------------------------------------------------------------------------------


class TranslationsDirective(Directive):
    """``{translations}``: for each language the pages, and how much of each is translated."""

    def run(self):
        env = self.state.document.settings.env
        rows = []
        for language, pages in languages().items():
            for page in pages:
                path = catalogues(language) / f"{page}.po"
                env.note_dependency(str(path))
                done, of = counts(read_catalogue(path))
                rows.append(
                    f'<tr><td lang="{tag(language)}">{own_name(language)}</td>'
                    f'<td><a href="../{tag(language)}/{page}.html" hreflang="{tag(language)}">{page}</a></td>'
                    f"<td>{done} of {of}</td></tr>"
                )
        head = "<tr><th>language</th><th>page</th><th>sentences and cells</th></tr>"
        table = f'<table class="table"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'
        return [nodes.raw("", table, format="html")]


if __name__ == "__main__":
    try:
        sys.exit(build_language(sys.argv[1], Path(sys.argv[2])))
    except (UnknownLocaleError, ValueError) as problem:
        sys.exit(str(problem))

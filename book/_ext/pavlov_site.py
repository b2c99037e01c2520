"""The book's own Sphinx extension: what the site needs beyond the theme.

- one script and one style sheet each, all of them ours, and no icon script;
- names and roles that screen readers can use, where the theme's are wrong;
- a start page, a page for wrong addresses, a site map and cards for links shared elsewhere.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import urlsplit

from docutils import nodes
from docutils.parsers.rst import Directive
from pavlov_languages import start_page, translated_pages

from pavlov_lib.widgets import explorer

DESCRIPTION = (
    "A book to read, run and teach from: attention in transformers as Pavlovian conditioning, "
    "with every number and figure made by the code beside it."
)
EXPLORERS_SCRIPT = "_static/explorers.js"
CARD = "_static/social-card.png"
CARD_ALT = "A bell and food write into a matrix of connections, and a dog's mouth waters."


def setup(app):
    app.add_directive("explorer", ExplorerDirective)
    app.connect("config-inited", configure)
    # After every other extension has added its files to the page.
    app.connect("html-page-context", mend_page, priority=900)
    # Before Jupyter Book writes a start page that has no title and no language.
    app.connect("build-finished", write_extra_pages, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def configure(app, config):
    config.templates_path.append(str(Path(__file__).parent / "templates"))
    if not config.html_baseurl:
        config.html_baseurl = pages_address(config.html_theme_options.get("repository_url", ""))
    drop_thebe(app)


def pages_address(repository: str) -> str:
    """Where GitHub serves the pages of a repository: the address is written once, in ``repository`` of _config.yml."""
    found = re.fullmatch(r"https://github\.com/([^/]+)/([^/]+?)(?:\.git)?/?", repository)
    return f"https://{found[1].lower()}.github.io/{found[2]}/" if found else ""


def drop_thebe(app):
    """Jupyter Book always loads sphinx-thebe, which puts a foreign address and a script error on every page."""
    for listeners in list(app.events.listeners.values()):
        for listener in list(listeners):
            if listener.handler.__module__.startswith("sphinx_thebe"):
                app.disconnect(listener.id)


class ExplorerDirective(Directive):
    """``{explorer} capacity``: an explorer on a page that is no notebook."""

    required_arguments = 1

    def run(self):
        try:
            return [nodes.raw("", explorer(self.arguments[0]).html(), format="html")]
        except ValueError as problem:
            raise self.error(str(problem)) from problem


# --- every page ------------------------------------------------------------------------------------------------------


def mend_page(app, pagename, templatename, context, doctree):
    context["default_mode"] = "auto"  # else the theme complains in the console that no mode was chosen
    context["without_icon_script"] = without_icon_script
    context["social"] = social(app.config.html_baseurl, pagename, doctree)
    for kind in ("script_files", "css_files"):
        context[kind] = own_files(context.get(kind, []))
    context["body"] = mend_body(context.get("body", ""))
    context["explorers"] = EXPLORERS_SCRIPT if 'class="pavlov-explorer"' in context["body"] else ""


def own_files(files: list) -> list:
    """Each script or style sheet once, and none of sphinx-thebe's."""
    kept = {}
    for file in files:
        name = str(getattr(file, "filename", file))
        if "thebe" not in name:
            kept.setdefault((name, getattr(file, "attributes", {}).get("body")), file)
    return list(kept.values())


def without_icon_script(head: str) -> str:
    return re.sub(r"\s*<!--[^>]*custom icons -->\s*<script[^>]*/fontawesome\.js[^>]*></script>", "", str(head))


BODY_REPAIRS = (
    # The roles that docutils gives to a bibliography are deprecated, and not allowed inside a list.
    (r'role="doc-biblioentry"', 'role="listitem"'),
    # A fold must be named by the text on it.
    (r'<summary aria-label="Toggle hidden content">', "<summary>"),
    # A check box in a list of tasks is a sign, not a control.
    (r'(<input class="task-list-item-checkbox" checked="checked")', r'\1 aria-label="done"'),
    (r'(<input class="task-list-item-checkbox")(?! checked)', r'\1 aria-label="to do"'),
    # A header of mathematics alone counts as empty for some tools.
    (r'(<th class="head"><p>)(<span class="math)', r'\1<span class="visually-hidden">formula </span>\2'),
    # The corner of a table is no header.
    (r'<th(?: class="head")?>(?:<p></p>)?</th>', "<td></td>"),
)


def mend_body(body: str) -> str:
    for pattern, repair in BODY_REPAIRS:
        body = re.sub(pattern, repair, body)
    return body


def social(base: str, pagename: str, doctree) -> dict[str, str]:
    """What is shown where a page's address is shared: its first paragraph, and the book's picture."""
    url = f"{base}{pagename}.html" if base else ""
    return {"description": first_words(doctree), "url": url, "image": f"{base}{CARD}", "image_alt": CARD_ALT}


def first_words(doctree, most: int = 200) -> str:
    """The first sentences of a page, or what the book is about."""
    for paragraph in doctree.findall(nodes.paragraph) if doctree else ():
        words = " ".join(paragraph.astext().split())
        if len(words) > 40:
            words = re.sub(r"^The promise\. ", "", words)
            end = words.rfind(". ", 0, most) + 1
            return words[:end] or (words if len(words) <= most else words[:most].rsplit(" ", 1)[0] + " …")
    return DESCRIPTION


# --- pages of their own ----------------------------------------------------------------------------------------------


def write_extra_pages(app, exception):
    if exception is not None or app.builder.format != "html" or app.builder.name != "html":
        return
    out, base = Path(app.outdir), app.config.html_baseurl
    title = html.escape(app.config.html_title or "")
    (out / "index.html").write_text(start_page("en", f"{app.config.root_doc}.html"), encoding="utf8")
    home = html.escape(base or "/")
    lost = LOST.replace("{title}", title).replace("{home}", home)
    (out / "404.html").write_text(lost, encoding="utf8")
    if base:
        pages = sorted(f"{base}{name}.html" for name in [*app.env.found_docs, *translated_pages()])
        urls = "\n".join(f"  <url><loc>{html.escape(page)}</loc></url>" for page in pages)
        (out / "sitemap.xml").write_text(SITEMAP.format(urls=urls), encoding="utf8")
        if not urlsplit(base).path.strip("/"):  # only the top of a host is asked for it
            (out / "robots.txt").write_text(f"User-agent: *\nSitemap: {base}sitemap.xml\n", encoding="utf8")


# Served for any wrong address, at any depth: it must not lean on a file beside it.
LOST = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>Nothing here - {title}</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">
  <link rel="icon" href="data:,">
  <style>
    body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: #fffdf7; color: #22303c;
      font: 1.15rem/1.6 Charter, Cambria, Georgia, serif; }
    main { max-width: 32rem; padding: 2rem; text-align: center; }
    a { color: #0b5563; }
    svg { width: 7rem; }
    @media (prefers-color-scheme: dark) {
      body { background: #0f1b1d; color: #e9e4d6; }
      a { color: #7fd0d2; }
    }
  </style>
</head>
<body>
<main>
  <svg viewBox="0 0 64 64" aria-hidden="true">
    <path d="M32 7c-10 0-16 7-16 18 0 12-3 17-7 21h46c-4-4-7-9-7-21C48 14 42 7 32 7z" fill="#e69f00"/>
    <path d="M20 12C9 11 3 20 4 34c5 1 11-3 13-11zM44 12c11-1 17 8 16 22-5 1-11-3-13-11z" fill="#2a7f8c"/>
    <circle cx="26" cy="27" r="2.6" fill="#22303c"/><circle cx="38" cy="27" r="2.6" fill="#22303c"/>
    <ellipse cx="32" cy="50" rx="6.5" ry="5.5" fill="#22303c"/>
  </svg>
  <h1>The bell rang, but no food came</h1>
  <p>There is no page at this address.</p>
  <p><a href="{home}">To the start of the book</a></p>
</main>
</body>
</html>
"""

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{urls}
</urlset>
"""

"""The whole website as one file, to read without a network: unpack it and open its index.html.

The figures as files and the book as PDF are left out: they hold the same again, and are large.
The notebooks that run in the browser are left out: they are large, and a browser runs them only from a server.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from pavlov_languages import languages, tag

NAME = "attention-works-like-pavlovs-dog.zip"
PDFS = ("attention-works-like-pavlovs-dog.pdf", "cheatsheet.pdf")
LEFT_OUT = {"lite", "figures", ".doctrees", ".buildinfo", NAME, *PDFS}
SMALL_ALREADY = {".png", ".woff", ".woff2", ".jpg", ".zip"}
HIDDEN = f"""
/* this copy is read without a server: nothing on a page leads to what was left out */
a[href*="lite/lab/"], a[href$="{NAME}"], .takeaway-files,
.dropdown-launch-buttons:not(:has(a:not([href*="lite/lab/"]))) {{
  display: none !important;
}}
"""


def without_summaries(text: str) -> str:
    """Without a server the search page cannot read the pages that it lists."""
    return text.replace("SHOW_SEARCH_SUMMARY: true", "SHOW_SEARCH_SUMMARY: false")


# What differs in the unpacked copy.
CHANGES = {"_static/pavlov.css": lambda text: text + HIDDEN, "_static/documentation_options.js": without_summaries}
CHANGES |= {f"{tag(language)}/_static/documentation_options.js": without_summaries for language in languages()}


def setup(app):
    app.connect("html-page-context", add_button, priority=600)  # after the theme's own buttons
    app.connect("build-finished", write_archive, priority=950)  # after everything else
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def add_button(app, pagename, templatename, context, doctree):
    hint = "A .zip of the whole book, to read without a network"
    add_download(context, "the whole book", context["pathto"](NAME, 1), tooltip=hint, label="download-archive-button")


def add_download(context, text: str, url: str, *, tooltip, label, icon="fas fa-download", first=False):
    """One more line in the menu of downloads at the top of a page."""
    button = {"type": "link", "text": text, "tooltip": tooltip, "icon": icon, "url": url, "label": label}
    for group in context.get("header_buttons", []):
        if group.get("label") == "download-buttons":
            group["buttons"].insert(0 if first else len(group["buttons"]), button)


def write_archive(app, exception):
    if exception is None and app.builder.name == "html":
        pack(Path(app.outdir))


def pack(site: Path) -> Path:
    """Write the archive into the site. The same pages give the same file."""
    files = [path for path in site.rglob("*") if path.is_file() and path.relative_to(site).parts[0] not in LEFT_OUT]
    part = site / f"{NAME}.part"
    with zipfile.ZipFile(part, "w") as archive:
        for path in sorted(files, key=str):
            name, content = path.relative_to(site).as_posix(), path.read_bytes()
            if name in CHANGES:
                content = CHANGES[name](content.decode("utf-8")).encode("utf-8")
            how = zipfile.ZIP_STORED if path.suffix in SMALL_ALREADY else zipfile.ZIP_DEFLATED
            member = zipfile.ZipInfo(f"{Path(NAME).stem}/{name}", (1980, 1, 1, 0, 0, 0))
            member.external_attr = 0o644 << 16
            archive.writestr(member, content, how)
    return part.replace(site / NAME)

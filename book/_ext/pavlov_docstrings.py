"""Docstrings on the page of the library: their sources become citations of the book's own list of references.

In the code a source is a numpydoc reference, ``[Hebb1949]_`` with ``.. [Hebb1949] D. O. Hebb, ...`` below it, so that
``help()`` shows it in full. On the page the label becomes a citation, ``:cite:t:`hebb1949``` after the word "Source"
and ``:cite:p:`hebb1949``` elsewhere, and the line below it goes.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)

# Labels whose key in references.bib is not simply the label in small letters.
KEYS = {
    "WidrowHoff1960": "widrow1960",
    "RescorlaWagner1972": "rescorla1972",
    "SuttonBarto1981": "sutton1981",
    "Yang2024": "yang2024parallel",
    "Sun2023b": "sun2023",
}
LABEL = re.compile(r"\[([A-Z]\w*\d{4}\w?)\]_")
SOURCE = re.compile(r"\.\. \[[A-Z]\w*\d{4}\w?\]")


def setup(app):
    # Before numpydoc, which would rename every label.
    app.connect("autodoc-process-docstring", cite_sources, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def cite_sources(app, what, name, obj, options, lines):
    known = known_keys(tuple(app.config.bibtex_bibfiles), app.srcdir)
    kept, indent = [], None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if SOURCE.match(line.lstrip()):
            indent = depth
        elif indent is not None and line.strip() and depth > indent:
            continue  # the second line of a source
        else:
            indent = None
            role = "t" if "Source" in line else "p"
            cited = partial(cite, role=role, known=known, where=name)
            kept.append(LABEL.sub(cited, line))
    lines[:] = kept


def cite(found: re.Match, *, role: str, known: set[str], where: str) -> str:
    key = KEYS.get(found[1], found[1].lower())
    if key not in known:
        logger.warning("%s cites %s, but references.bib has no %s", where, found[1], key)
    return f":cite:{role}:`{key}`"


def known_keys(files: tuple[str, ...], folder: str) -> set[str]:
    text = "".join(Path(folder, file).read_text(encoding="utf-8") for file in files)
    return set(re.findall(r"^@\w+\{([^,\s]+),", text, flags=re.M))

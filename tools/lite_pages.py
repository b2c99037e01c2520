"""The notebooks as the reader's browser gets them: complete in themselves, with links that lead somewhere."""

from __future__ import annotations

import functools
import json
import re
import sys
from pathlib import Path

import nbformat
from pybtex.database import Entry, parse_file

ROOT = Path(__file__).resolve().parent.parent
BOOK = ROOT / "book"
sys.path[:0] = [str(ROOT), str(BOOK / "_ext")]

from pavlov_launch import needs_torch  # noqa: E402

KERNEL = {"display_name": "Python (Pyodide)", "language": "python", "name": "python"}


def notebooks() -> list[Path]:
    """All but those that need torch, which has no build for the browser."""
    return [path for path in sorted(BOOK.glob("*.ipynb")) if not needs_torch(path)]


def for_the_browser(notebook: Path, base: str = "") -> str:
    """A notebook that names the one kernel there is, so that nobody must choose, and in which nothing leads nowhere.

    ``base`` is the public address of the website, if there is one: pages that are not in the browser are linked there.
    """
    read = nbformat.read(notebook, as_version=4)  # lines joined: the stored outputs are shown as they are
    read.metadata["kernelspec"] = KERNEL
    here = {path.name for path in notebooks()}
    for cell in read.cells:
        if cell.cell_type == "markdown":
            cell.source = without_dead_links(with_plain_citations(cell.source), here, base)
    return json.dumps(read, ensure_ascii=False, indent=1) + "\n"


def without_dead_links(text: str, here: set[str], base: str) -> str:
    """Links to pages that are not here lead to the website, or become plain words where it has no address."""

    def mend(link):
        words, page, place = link[1], link[2], link[3] or ""
        if page in here:
            return link[0]
        return f"[{words}]({base}book/{Path(page).stem}.html{place})" if base else words

    return re.sub(r"\[([^\]]+)\]\(([\w.-]+\.(?:ipynb|md))(#[^)]*)?\)", mend, text)


def with_plain_citations(text: str) -> str:
    """``{cite:t}`hebb1949` `` becomes name, year and link: outside the website no program knows the references."""

    def plain(cite):
        return "; ".join(cited(key.strip()) for key in cite[1].split(","))

    return re.sub(r"\{cite:t\}`([^`]+)`", plain, text)


@functools.cache
def references() -> dict[str, Entry]:
    return dict(parse_file(BOOK / "references.bib").entries)


def cited(key: str) -> str:
    """``[Hebb (1949)](https://doi.org/...)``."""
    if key not in references():
        raise ValueError(f"a citation must name an entry of references.bib; got {key}")
    entry = references()[key]
    names = [" ".join(map(str, person.rich_prelast_names + person.rich_last_names)) for person in authors(entry)]
    who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    words, fields = f"{who} ({entry.fields['year']})", entry.fields
    address = f"https://doi.org/{fields['doi']}" if "doi" in fields else fields.get("url", "")
    return f"[{words}]({address})" if address else words


def authors(entry: Entry) -> list:
    return entry.persons.get("author") or entry.persons["editor"]

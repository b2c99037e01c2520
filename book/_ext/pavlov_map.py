"""``{chapter-map}``: the chapters as a tree of what each needs, made from the chapters' own first cells.

Every chapter says what it needs ("**Before you start.** Necessary: ..."), how long it takes ("**Time.**") and what it
promises. The tree is made from these lines at build time, so it cannot go stale.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import yaml
from docutils import nodes
from docutils.parsers.rst import Directive


def setup(app):
    app.add_directive("chapter-map", ChapterMap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class ChapterMap(Directive):
    def run(self):
        env = self.state.document.settings.env
        chapters = read_chapters(Path(env.srcdir) / "book", toc_order(env))
        for chapter in chapters:
            env.note_dependency(f"book/{chapter['name']}.ipynb")
        return [nodes.raw("", tree(chapters), format="html")]


def toc_order(env) -> list[str]:
    """The pages in the order of _toc.yml."""
    pages = yaml.safe_load(Path(env.srcdir, "_toc.yml").read_text(encoding="utf-8"))
    return [chapter["file"] for part in pages["parts"] for chapter in part["chapters"]]


def read_chapters(book: Path, documents: list[str]) -> list[dict]:
    """Title, promise, needs and times of every chapter of the site, in the order of the site."""
    chapters = {}
    for path in sorted(book.glob("*.ipynb")):
        head = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
        if f"book/{path.stem}" not in documents or "**The promise.**" not in head:
            continue
        start = re.search(r"\*\*Before you start\.\*\*(.*)", head)[1]
        necessary = start.split("Helpful:")[0]
        chapters[path.stem] = {
            "name": path.stem,
            "title": re.match(r"# (.+)", head)[1],
            "promise": re.search(r"\*\*The promise\.\*\* (.+)", head)[1],
            "needs": re.findall(r"\((\w+)\.ipynb\)", necessary),
            "minutes": re.search(r"bout (\d+) minutes", head)[1],
            "browser": "needs no torch" in head,
        }
    for chapter in chapters.values():
        chapter["needs"] = [name for name in chapter["needs"] if name in chapters]
    order = [name.removeprefix("book/") for name in documents]
    return sorted(chapters.values(), key=lambda chapter: order.index(chapter["name"]))


def tree(chapters: list[dict]) -> str:
    """A list in which each chapter stands under the first one that it needs; a screen reader reads it as it is."""
    titles = {chapter["name"]: chapter["title"].split(":")[0] for chapter in chapters}

    def branch(parent: str | None) -> str:
        items = [item(chapter, titles) + branch(chapter["name"]) for chapter in chapters if first(chapter) == parent]
        return f'<ul class="chapter-map">{"".join(f"<li>{i}</li>" for i in items)}</ul>' if items else ""

    return branch(None)


def first(chapter: dict) -> str | None:
    return chapter["needs"][0] if chapter["needs"] else None


def item(chapter: dict, titles: dict[str, str]) -> str:
    also = " and ".join(f'<a href="{name}.html">{html.escape(titles[name])}</a>' for name in chapter["needs"][1:])
    where = "runs in a browser" if chapter["browser"] else "needs torch"
    promise = re.sub(r"[*$]", "", chapter["promise"].removeprefix("After this chapter "))
    return (
        f'<a href="{chapter["name"]}.html"><strong>{html.escape(chapter["title"])}</strong></a> '
        f"<small>{chapter['minutes']} minutes, {where}{'; also needs ' + also if also else ''}</small>"
        f"<p>{html.escape(promise[0].upper() + promise[1:])}</p>"
    )

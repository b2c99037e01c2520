"""``{chapter-map}``: the chapters and what each needs, drawn from the chapters' own first cells.

Every chapter says what it needs ("**Before you start.** Necessary: ..."), how long it takes ("**Time.**") and what it
promises. The map is made from these lines at build time, so it cannot go stale.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive

BOX, GAP, HEIGHT, STEP, ACROSS = 112, 10, 40, 74, 3


def setup(app):
    app.add_directive("chapter-map", ChapterMap)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class ChapterMap(Directive):
    def run(self):
        env = self.state.document.settings.env
        chapters = read_chapters(Path(env.srcdir) / "book", list(env.found_docs))
        for chapter in chapters:
            env.note_dependency(f"book/{chapter['name']}.ipynb")
        return [nodes.raw("", drawing(chapters) + listing(chapters), format="html")]


def read_chapters(book: Path, documents: list[str]) -> list[dict]:
    """Title, promise, needs and times of every chapter of the site, in an order in which each follows its needs."""
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
    for chapter in chapters.values():
        chapter["level"] = level(chapter["name"], chapters)
    return sorted(chapters.values(), key=lambda chapter: chapter["level"])


def level(name: str, chapters: dict) -> int:
    return 1 + max((level(need, chapters) for need in chapters[name]["needs"]), default=-1)


def rows(chapters: list[dict]) -> list[list[dict]]:
    """Levels from top to bottom; a level of many chapters takes several rows, so that the map fits on a phone."""
    found = []
    for depth in range(1 + max(chapter["level"] for chapter in chapters)):
        same = [chapter for chapter in chapters if chapter["level"] == depth]
        found += [same[i : i + ACROSS] for i in range(0, len(same), ACROSS)]
    return found


def drawing(chapters: list[dict]) -> str:
    """The map as inline SVG: boxes are links, lines run from what is needed to what needs it."""
    width = ACROSS * BOX + (ACROSS - 1) * GAP
    lines_of_boxes = rows(chapters)
    place = {}
    for y, row in enumerate(lines_of_boxes):
        left = (width - len(row) * BOX - (len(row) - 1) * GAP) / 2
        for x, chapter in enumerate(row):
            place[chapter["name"]] = (left + x * (BOX + GAP), y * STEP + 2)
    height = (len(lines_of_boxes) - 1) * STEP + HEIGHT + 4
    svg = [
        f'<svg class="chapter-map" viewBox="-2 0 {width + 4} {height}" role="group" '
        'aria-label="Map of the chapters: lines run from what is needed to what needs it">'
    ]
    for chapter in chapters:
        x2, y2 = place[chapter["name"]]
        for need in chapter["needs"]:
            x1, y1 = place[need]
            top, bottom = y1 + HEIGHT, y2
            svg.append(
                f'<path class="need" d="M{x1 + BOX / 2:g} {top:g}C{x1 + BOX / 2:g} {top + 24:g} '
                f'{x2 + BOX / 2:g} {bottom - 24:g} {x2 + BOX / 2:g} {bottom:g}"/>'
            )
    for chapter in chapters:
        x, y = place[chapter["name"]]
        words = short(chapter["title"])
        svg.append(
            f'<a href="{chapter["name"]}.html"><rect x="{x:g}" y="{y:g}" width="{BOX}" height="{HEIGHT}" rx="7"/>'
        )
        svg.append(f'<text x="{x + BOX / 2:g}" y="{y + HEIGHT / 2 + 4:g}">{html.escape(words)}</text></a>')
    return "".join([*svg, "</svg>"])


def short(title: str) -> str:
    """The part of a title before its colon, or its first words."""
    head = title.split(":")[0]
    return head if len(head) <= 18 else head.split(",")[0]


def listing(chapters: list[dict]) -> str:
    """The same in words: what each chapter promises and needs, and how long it takes."""
    titles = {chapter["name"]: chapter["title"] for chapter in chapters}
    items = []
    for chapter in chapters:
        needs = ", ".join(f'<a href="{n}.html">{html.escape(short(titles[n]))}</a>' for n in chapter["needs"])
        where = "runs in a browser" if chapter["browser"] else "needs torch"
        promise = re.sub(r"[*$]", "", chapter["promise"].removeprefix("After this chapter "))
        items.append(
            f'<li><a href="{chapter["name"]}.html"><strong>{html.escape(chapter["title"])}</strong></a>: '
            f"{html.escape(promise)} "
            f"<small>({chapter['minutes']} minutes, {where}; needs {needs or 'no other chapter'})</small></li>"
        )
    return f'<ul class="chapter-list">{"".join(items)}</ul>'

"""Slides for every chapter, made from its notebook with every build: ``slides/<chapter>.html``.

The metadata of a cell says what goes on the slides, under Jupyter's own key ``slideshow``:

- ``slide_type``: ``slide`` begins a slide, ``fragment`` adds to it and waits for a key press, ``skip`` leaves the cell
  out, ``notes`` gives it to the speaker alone. A cell that says nothing gives its prose to the speaker, too.
- ``text``: Markdown to show in place of the cell's prose. The full prose becomes the speaker's notes.
- ``title``: a title, where the cell brings none.
- ``live``: true for code that is run in class. Its code is shown; of other code only what came out.

The parts that every chapter has need no text: promise and aims, question and prediction, what carries over, the quiz
(its first questions, as polls) and the summary are cut to the size of a slide here.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from base64 import b64decode
from dataclasses import dataclass, field
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pavlov_archive import add_download
from pavlov_map import read_chapters, toc_order
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.errors import ExtensionError

from pavlov_lib.reference import write_whole

FOLDER = "slides"
POLLS = 2
LONG_CODE, LONG_LIST = 15, 600  # lines, and characters, from which the type is smaller
KINDS = ("slide", "fragment", "notes", "skip")
KEYS = {"slide_type", "text", "title", "live"}
SILENT = ("## Exercises", "## Further reading")  # sections whose prose is not for the speaker either
CHECKED = re.compile(r"^\w+: (\d+) rows × \d+ columns agree with the reference")
CLAIM = re.compile(r"^(C\d+) (holds.*?|not seen here): (.+), predicted (.+), measured (.+)$")


def setup(app):
    app.add_directive("slide-decks", SlideDecks)
    app.connect("html-page-context", add_button, priority=600)  # after the theme's own buttons
    app.connect("build-finished", write_decks, priority=800)  # before the archive
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


@dataclass
class Slide:
    """One slide: what it is called, what it shows, and what only the speaker sees (Markdown)."""

    id: str
    title: str
    kind: str = "plain"
    parts: list[str] = field(default_factory=list)
    picture: str = ""
    notes: list[str] = field(default_factory=list)


# --- Markdown to HTML ------------------------------------------------------------------------------------------------


def renderer(begin: str, end: str, *, raw: bool) -> MarkdownIt:
    """Markdown to HTML. Mathematics stays as it is between ``begin`` and ``end``, for MathJax."""
    markdown = MarkdownIt("commonmark", {"html": raw}).enable("table").use(dollarmath_plugin)

    def mathematics(left, right, display):
        def rule(self, tokens, index, options, env):
            tex = html.escape(tokens[index].content.strip(), quote=False)
            mode = ' data-display="true"' if display else ""
            return f"{begin.replace('>', mode + '>', 1)}{left}{tex}{right}{end}"

        return rule

    markdown.add_render_rule("math_inline", mathematics(r"\(", r"\)", False))
    markdown.add_render_rule("math_inline_double", mathematics(r"\[", r"\]", True))
    markdown.add_render_rule("math_block", mathematics(r"\[", r"\]", True))
    return markdown


ON_A_SLIDE = renderer('<span class="math notranslate">', "</span>", raw=False)
IN_NOTES = renderer('<span class="tex">', "</span>", raw=True)  # set by slides.js, for the speaker's own window


def plain(text: str) -> str:
    """Markdown without what only Sphinx understands: citations become words, links lead to the built pages."""
    text = re.sub(r"\{cite:\w+\}`([^`]+)`", lambda m: re.sub(r"(\d{4})\w*", r" \1", m[1]).title(), text)
    text = re.sub(r"\{[\w:-]+\}`([^`<]*?)\s*(?:<[^>]*>)?`", r"\1", text)
    text = re.sub(r"^:::.*$", "", text, flags=re.M)
    return re.sub(r"\]\(([\w/]+)\.(?:ipynb|md)(?:#[\w-]*)?\)", r"](../book/\1.html)", text)


def shown(text: str) -> str:
    return ON_A_SLIDE.render(plain(text))


def spoken(text: str) -> str:
    text = re.sub(r"</?details>|<summary>|</summary>", "\n\n", text)  # folds stay shut in the speaker's window
    return IN_NOTES.render(plain(text))


# --- a notebook as slides --------------------------------------------------------------------------------------------


def read_deck(path: Path) -> list[Slide]:
    """The slides of one chapter, or ``ValueError`` that names the cell that cannot be shown."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    deck: list[Slide] = []
    silent, title = False, ""
    for number, cell in enumerate(cells):
        source = "".join(cell["source"])
        wanted = cell["metadata"].get("slideshow", {})
        if found := problem_of(wanted, first=not deck):
            raise ValueError(f"{path.name}, cell {number}: {found}")
        if cell["cell_type"] == "markdown" and (heading := re.match(r"##+ (.+)", source)):
            silent, title = source.startswith(SILENT), heading[1]
        kind = wanted.get("slide_type")
        if kind == "slide":
            make = slides_of_prose if cell["cell_type"] == "markdown" else slides_of_code
            deck += make(cell, source, wanted, title)
        elif kind == "fragment":
            add_to(deck[-1], cell, source, wanted)
        elif cell["cell_type"] == "markdown" and kind != "skip" and not silent and deck:
            deck[-1].notes.append(source)
    if not deck:
        raise ValueError(f"{path.name}: no cell has the slide type 'slide'")
    return deck


def problem_of(wanted: dict, *, first: bool) -> str:
    """What is wrong with what a cell's metadata asks for, or nothing."""
    if not wanted:
        return ""
    if unknown := set(wanted) - KEYS:
        return f"slideshow must hold only {', '.join(sorted(KEYS))}; got {', '.join(sorted(unknown))}"
    if wanted.get("slide_type") not in KINDS:
        return f"slide_type must be one of {', '.join(KINDS)}; got {wanted.get('slide_type')!r}"
    if wanted["slide_type"] == "fragment" and first:
        return "a fragment needs a slide before it"
    return ""


def slides_of_prose(cell, source: str, wanted: dict, title: str) -> list[Slide]:
    name = cell["id"]
    if source.startswith("# "):
        return opening(name, source)
    if source.startswith("## Quiz"):
        return [poll(f"{name}-{number}", question) for number, question in enumerate(questions(source)[:POLLS], 1)]
    if source.startswith("## Summary"):
        return closing(name, source)
    body = re.sub(r"^##+ .+\n+", "", source)
    title = title.removesuffix(" to real transformers, and what does not")
    slide = Slide(name, wanted.get("title") or title, notes=[body])
    text = wanted.get("text", body)
    if "**Question.**" in text:
        slide.kind, slide.parts = "question", question_and_prediction(text)
    elif "text" not in wanted and source.startswith("## What carries over"):
        slide.parts = [shown(first_sentences(body))]
    else:
        slide.parts = [shown(text)]
    return [slide]


def opening(name: str, source: str) -> list[Slide]:
    """The title with the promise, and what is to be learned."""
    title = re.match(r"# (.+)", source)[1]
    promise = re.search(r"\*\*The promise\.\*\* (.+)", source)[1]
    aims = re.search(r"\*\*You will learn to\*\*\n+((?:- .+\n)+)", source)[1]
    needs = re.search(r"\*\*Before you start\.\*\* (.+)", source)[1]
    first = Slide(name, title, "title", [f'<div class="promise">{shown(promise)}</div>'], notes=[needs])
    return [first, Slide(f"{name}-aims", "You will learn to", "aims", [shown(aims)], notes=[aims])]


def question_and_prediction(body: str) -> list[str]:
    """The question, and behind a key press the prediction: whoever teaches asks for bets in between."""
    parts = {}
    for label in ("Question", "Prediction"):
        found = re.search(rf"\*\*{label}s?\.\*\*\s+(.+?)(?=\n\n(?!\$\$|[-|\d])|\Z)", body, re.S)
        parts[label] = shown(found[1]) if found else ""
    return [
        f'<div class="question">{parts["Question"]}</div>',
        f'<div class="prediction fragment"><h3>Prediction</h3>{parts["Prediction"]}</div>' * bool(parts["Prediction"]),
    ]


def first_sentences(body: str) -> str:
    """Of every item of a list its bold label and the first sentence after it, or two if the first is a mere name."""
    lines = []
    for label, rest in re.findall(r"^- \*\*(.+?)\*\*\s*(.+)$", body, flags=re.M):
        sentences = re.split(r"(?<=[.?!]) (?=[A-Z*\[])", rest)
        lines.append(f"- **{label}** {' '.join(sentences[: 1 if len(sentences[0].split()) > 3 else 2])}")
    return "\n".join(lines)


def questions(source: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The questions of a quiz, each with its options and what is said about them."""
    found = []
    for block in re.split(r"\n(?=\*\*\d+\. )", source)[1:]:
        asked = re.match(r"\*\*\d+\. (.+?)\*\*\s*(.*?)(?=<details>)", block, re.S)
        options = re.findall(r"<details><summary>[A-F]\. (.+?)</summary>\s*(.+?)\s*</details>", block, re.S)
        found.append((" ".join(filter(None, (asked[1], asked[2].strip()))), options))
    return found


def poll(name: str, item) -> Slide:
    """One question to vote on; the next key press says what is right."""
    question, options = item
    rows = "".join(
        f'<li class="{"right" if is_right(said) else "other"}">{shown(text)}'
        f'<div class="feedback fragment" data-fragment-index="0">{shown(said)}</div></li>'
        for text, said in options
    )
    parts = [f'<div class="question">{shown(question)}</div>', f'<ol class="options">{rows}</ol>']
    return Slide(name, "What do you think?", "poll", parts, notes=["Let everybody vote before you go on.", question])


def is_right(feedback: str) -> bool:
    return bool(re.match(r"(Yes|Right|Correct)\b", feedback))


def closing(name: str, source: str) -> list[Slide]:
    """Summary and what comes next, which share a cell."""
    found = []
    for title, body in re.findall(r"^## (.+?)\n+(.+?)(?=\n## |\Z)", source, re.S | re.M):
        if title != "Further reading":
            part = "summary" if title == "Summary" else "next"
            kind = f"{part} long" if len(body) > LONG_LIST else part
            found.append(Slide(f"{name}-{part}", title, kind, [shown(body)], notes=[body]))
    return found


def slides_of_code(cell, source: str, wanted: dict, title: str) -> list[Slide]:
    slide = Slide(cell["id"], wanted.get("title") or re.sub(r"^Experiment \d+: ", "", title))
    if wanted.get("live"):
        slide.kind = "live"
        slide.parts.append(live(cell, source))
    add_output(slide, cell, wanted)
    if "text" in wanted:
        slide.parts.insert(0, f'<div class="reading">{shown(wanted["text"])}</div>')
    return [slide]


def add_to(slide: Slide, cell, source: str, wanted: dict) -> None:
    """A fragment: more text, or what a cell of code printed or drew."""
    inside = Slide("", "")
    if cell["cell_type"] == "markdown":
        inside.parts.append(shown(wanted.get("text", source)))
        slide.notes.append(source)
    else:
        if "text" in wanted:
            inside.parts.append(shown(wanted["text"]))
        if wanted.get("live"):
            inside.parts.append(live(cell, source))
        add_output(inside, cell, wanted)
    slide.picture = slide.picture or inside.picture
    if inside.kind == "explorer":  # it waits for hands, not for a key
        slide.kind = "explorer"
        slide.parts += inside.parts
    elif inside.parts:
        slide.parts.append(f'<div class="fragment">{"".join(inside.parts)}</div>')


def live(cell, source: str) -> str:
    code = highlight(source, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n")
    number = f"cell {cell['execution_count']} of the notebook" if cell.get("execution_count") else "the notebook"
    size = "code long" if source.count("\n") >= LONG_CODE else "code"
    listing = f'<div class="highlight"><pre class="{size}" tabindex="0">{code}</pre></div>'
    return f'<p class="mark">Live: run {number}</p>{listing}'


def add_output(slide: Slide, cell, wanted: dict) -> None:
    """What came out of a cell: pictures with their words, explorers, tables, and printed checks."""
    printed = ""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if "image/png" in data:
            alt = cell["metadata"].get("mystnb", {}).get("image", {}).get("alt", "")
            slide.picture = (
                f'<figure><img alt="{html.escape(alt)}" src="png:{"".join(data["image/png"]).strip()}"></figure>'
            )
        elif "text/html" in data:
            table = "".join(data["text/html"])
            if "pavlov-explorer" in table:
                slide.kind = "explorer"
            else:
                table = re.sub(r"<style.*?</style>|<th></th>| border=\"1\"| style=\"[^\"]*\"", "", table, flags=re.S)
                table = re.sub(r"(<tr>\s*)(?=<th>[^<]*</th>\s*<td>)", r"\1", table)
            slide.parts.append(table)
        elif "text" in output:
            printed += "".join(output["text"])
    if printed:
        out = said(printed)
        slide.parts.append(f'<div class="fragment">{out}</div>' if wanted.get("live") else out)


def said(printed: str) -> str:
    """What a cell printed: checks as a list, everything else as it is."""
    checks, lines = [], []
    for line in printed.rstrip("\n").split("\n"):
        if found := CHECKED.match(line):
            checks.append(f"<li>{found[1]} rows agree with the stored reference</li>")
        elif found := CLAIM.match(line):
            claim, verdict, what, predicted, measured = map(html.escape, found.groups())
            mark = "holds" if verdict.startswith("holds") else "fails"
            checks.append(
                f'<li class="{mark}"><b>{claim} {verdict}</b>: {what}. '
                f'<span class="numbers">Predicted {predicted}, measured <b>{measured}</b>.</span></li>'
            )
        else:
            lines.append(line)
    text = html.escape("\n".join(lines).strip("\n"))
    return (f'<pre class="out" tabindex="0">{text}</pre>' if text else "") + (
        f'<ul class="checks">{"".join(checks)}</ul>' if checks else ""
    )


# --- slides as a page ------------------------------------------------------------------------------------------------


def page_of(chapter: dict, deck: list[Slide], place_picture) -> str:
    """The whole deck as one HTML page. ``place_picture`` takes the bytes of a PNG and returns its address."""
    sections = "\n".join(
        section(slide, number, len(deck), chapter, place_picture) for number, slide in enumerate(deck, 1)
    )
    return PAGE.format(
        title=html.escape(re.sub(r"\$", "", chapter["title"])),
        description=html.escape(f"Slides. {chapter['promise']}"),
        chapter=chapter["name"],
        sections=sections,
        explorers='<script src="../_static/explorers.js"></script>\n' * ("pavlov-explorer" in sections),
    )


def section(slide: Slide, number: int, total: int, chapter: dict, place_picture) -> str:
    level = "h1" if slide.kind == "title" else "h2"
    picture = re.sub(r"png:([\w+/=\s]+)", lambda m: place_picture(b64decode(m[1])), slide.picture)
    body = "".join(slide.parts)
    if picture:
        side = f'<div class="side">{body}</div>' if body else ""
        body = f'<div class="{"columns" if body else "alone"}">{picture}{side}</div>'
    if slide.kind == "title":
        body += '<p class="licence">Text and figures CC BY 4.0 · code BSD 3-Clause</p>'
    notes = "".join(spoken(note) for note in slide.notes if note.strip()) or "<p>The slide speaks for itself.</p>"
    heading = ON_A_SLIDE.renderInline(slide.title)
    return (
        f'<section id="{slide.id}" class="{slide.kind}">\n<{level}>{heading}</{level}>\n{body}\n'
        f'<p class="foot"><a href="../book/{chapter["name"]}.html">{html.escape(chapter["title"])}</a>'
        f"<span>{number} / {total}</span></p>\n"
        f'<aside class="notes mathjax_ignore">{notes}</aside>\n</section>'
    )


PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
  <meta charset="utf-8">
  <title>{title} - slides</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="description" content="{description}">
  <link rel="icon" href="../_static/favicon.svg">
  <link rel="stylesheet" href="../_static/vendor/reveal/reveal.css">
  <link rel="stylesheet" href="../_static/pygments.css">
  <link rel="stylesheet" href="../_static/pavlov.css">
  <link rel="stylesheet" href="../_static/slides.css">
</head>
<body>
<div class="reveal" data-chapter="{chapter}">
<main class="slides">
{sections}
</main>
</div>
<noscript><p>Slides need JavaScript. <a href="../book/{chapter}.html">The chapter itself</a> does not.</p></noscript>
<script src="../_static/vendor/reveal/reveal.js"></script>
<script src="../_static/vendor/reveal/notes.js"></script>
<script src="../_static/slides.js"></script>
<script src="../_static/vendor/mathjax/tex-mml-chtml.js"></script>
{explorers}</body>
</html>
"""


# --- the site --------------------------------------------------------------------------------------------------------


def chapters_of(env) -> list[dict]:
    """The chapters of the book; none where pages in another language are built, which have no contents of their own."""
    if not Path(env.srcdir, "_toc.yml").is_file():
        return []
    return read_chapters(Path(env.srcdir) / "book", toc_order(env))


def deck_of(env, chapter: dict) -> list[Slide]:
    return read_deck(Path(env.srcdir) / "book" / f"{chapter['name']}.ipynb")


def write_decks(app, exception):
    if exception is not None or app.builder.name != "html":
        return
    if not (chapters := chapters_of(app.env)):
        return
    folder, pictures = Path(app.outdir) / FOLDER, Path(app.outdir) / "_images"
    folder.mkdir(exist_ok=True)

    def place_picture(png: bytes) -> str:
        name = f"{hashlib.sha256(png).hexdigest()}.png"  # as the page of the chapter calls it
        if not (pictures / name).is_file():
            pictures.mkdir(exist_ok=True)
            write_whole(pictures / name, png)
        return f"../_images/{name}"

    names = set()
    for chapter in chapters:
        try:
            page = page_of(chapter, deck_of(app.env, chapter), place_picture)
        except ValueError as problem:
            raise ExtensionError(f"slides: {problem}") from problem
        target, content = folder / f"{chapter['name']}.html", page.encode("utf-8")
        names.add(chapter["name"])
        if not target.is_file() or target.read_bytes() != content:
            write_whole(target, content)
            target.with_suffix(".pdf").unlink(missing_ok=True)  # printed from other slides
    for old in folder.iterdir():
        if old.stem not in names:
            old.unlink()
    link_pdfs(Path(app.outdir))


def link_pdfs(site: Path) -> None:
    """Let the teaching page lead to the PDFs that there are, and to no others."""
    page = site / "book" / "teach" / "slides.html"
    if not page.is_file():
        return

    def link(found):
        there = (site / FOLDER / f"{found[1]}.pdf").is_file()
        return f'<span data-pdf="{found[1]}">' + f'<a href="../../{FOLDER}/{found[1]}.pdf">PDF</a>' * there + "</span>"

    text = page.read_text(encoding="utf-8")
    write_whole(page, re.sub(r'<span data-pdf="(\w+)">.*?</span>', link, text))


def add_button(app, pagename, templatename, context, doctree):
    if pagename not in {f"book/{chapter['name']}" for chapter in chapters_of(app.env)}:
        return
    url = context["pathto"](f"{FOLDER}/{Path(pagename).name}.html", 1)
    hint = "Slides of this chapter, with speaker notes"
    add_download(context, "slides", url, tooltip=hint, label="slides-button", icon="fas fa-expand", first=True)


class SlideDecks(Directive):
    """``{slide-decks}``: a table of the decks with their lengths."""

    def run(self):
        env = self.state.document.settings.env
        rows = []
        for chapter in chapters_of(env):
            env.note_dependency(f"book/{chapter['name']}.ipynb")
            try:
                deck = deck_of(env, chapter)
            except ValueError as problem:
                raise self.error(str(problem)) from problem
            name, size = chapter["name"], len(deck)
            live_cells = sum(slide.kind == "live" for slide in deck)
            minutes = 5 * round(size * MINUTES_PER_SLIDE / 5)
            address = f"../../{FOLDER}/{name}.html"
            rows.append(
                f'<tr><th scope="row"><a href="{address}">{html.escape(chapter["title"])}</a></th>'
                f"<td>{size}</td><td>{minutes}</td><td>{live_cells}</td>"
                f'<td class="text-nowrap"><a href="{address}?print-pdf">print view</a> '
                f'<span data-pdf="{name}"></span></td></tr>'
            )
        head = "".join(f'<th scope="col">{word}</th>' for word in ("deck", "slides", "minutes", "live cells", "paper"))
        table = f'<div class="pst-scrollable-table-container"><table class="table"><thead><tr>{head}</tr></thead>'
        return [nodes.raw("", f"{table}<tbody>{''.join(rows)}</tbody></table></div>", format="html")]


MINUTES_PER_SLIDE = 2.5  # with the time that a class takes to bet and to vote

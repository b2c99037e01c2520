"""The pages for teaching: the bank of quiz questions on a page, and as files to take away.

- ``{quiz} capacity`` shows the bank of a chapter, every option with its feedback;
- ``{quiz-files}`` links to the same items in the formats of learning platforms, which are written beside the page.
"""

from __future__ import annotations

import html
from pathlib import Path

import pavlov_quiz
from docutils import nodes
from docutils.parsers.rst import Directive

BANK = Path("book/teach/quiz")
COURSE = "Attention Works like Pavlov's Dog"


def setup(app):
    app.add_directive("quiz", QuizDirective)
    app.add_directive("quiz-files", QuizFilesDirective)
    app.connect("doctree-read", ask_for_mathematics)
    app.connect("build-finished", write_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def banks(folder: Path) -> list[pavlov_quiz.Bank]:
    """All banks of a checkout, by chapter."""
    return [pavlov_quiz.load(path) for path in sorted((folder / BANK).glob("*.yml"))]


class QuizDirective(Directive):
    """``{quiz} capacity``: all items of a chapter."""

    required_arguments = 1

    def run(self):
        env = self.state.document.settings.env
        path = Path(env.srcdir) / BANK / f"{self.arguments[0]}.yml"
        if not path.is_file():
            raise self.error(f"quiz must name a file of {BANK} without its ending; got {self.arguments[0]!r}")
        env.note_dependency(str(path))
        try:
            shown = pavlov_quiz.page(pavlov_quiz.load(path))
        except ValueError as problem:
            raise self.error(str(problem)) from problem
        return [nodes.raw("", shown, format="html", classes=["quiz"])]


class QuizFilesDirective(Directive):
    """``{quiz-files}``: links to the files that :func:`write_files` writes."""

    def run(self):
        env = self.state.document.settings.env
        all_banks = banks(Path(env.srcdir))
        for bank in all_banks:
            env.note_dependency(str(Path(env.srcdir) / BANK / f"{bank.chapter}.yml"))
        rows = "\n".join(
            f"<li>{html.escape(bank.title)} ({len(bank.items)} items): "
            f'<a href="quiz/{bank.chapter}.gift">GIFT of {bank.chapter}</a>, '
            f'<a href="quiz/{bank.chapter}_qti.zip">QTI of {bank.chapter}</a></li>'
            for bank in all_banks
        )
        whole = f'<li>All chapters at once: <a href="quiz/pavlov.gift">GIFT of all {len(all_banks)} chapters</a></li>'
        return [nodes.raw("", f"<ul>\n{whole}\n{rows}\n</ul>", format="html")]


def ask_for_mathematics(app, doctree):
    """What is raw HTML to Sphinx may hold mathematics all the same: load MathJax where there is a quiz."""
    if any("quiz" in node["classes"] for node in doctree.findall(nodes.raw)):
        app.env.get_domain("math").data["has_equations"][app.env.docname] = True


def files(all_banks: list[pavlov_quiz.Bank]) -> dict[str, bytes]:
    """Every export, by its name."""
    found = {"pavlov.gift": pavlov_quiz.gift(all_banks, COURSE).encode("utf-8")}
    for bank in all_banks:
        found[f"{bank.chapter}.gift"] = pavlov_quiz.gift([bank], COURSE).encode("utf-8")
        found[f"{bank.chapter}_qti.zip"] = pavlov_quiz.qti(bank)
    return found


def write_files(app, exception):
    if exception is not None or app.builder.name != "html" or "book/teach/quiz" not in app.env.found_docs:
        return
    out = Path(app.outdir) / BANK
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files(banks(Path(app.srcdir))).items():
        (out / name).write_bytes(content)

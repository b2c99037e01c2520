"""Tables that are made from data when the site is built, so that no number in them is typed.

``{claims}`` and ``{claim-lines}``: what the notebooks measured about each claim, from book/data;
``{run-times}``: how long each notebook took; ``{tolerances}``: how closely each figure is checked;
``{versions}``: the packages that requirements.lock pins.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from pavlov_lib.reference import claims_table, verdict_of

CLAIMS = ("book/data/claims.toml", "book/data/claims")
SHOWN = (
    "numpy", "pandas", "matplotlib", "torch", "ipywidgets", "jupyterlab", "jupyter-book", "Sphinx", "nbclient", "nbval",
    "pytest", "hypothesis",
)  # fmt: skip


def setup(app):
    for name, table in TABLES.items():
        app.add_directive(name, type(f"{name} table", (Table,), {"make": staticmethod(table[0]), "reads": table[1]}))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class Table(SphinxDirective):
    """Markdown made by ``make(env)``; the page is built again when a file in ``reads`` changes."""

    reads: tuple[str, ...] = ()

    def run(self):
        for path in self.reads:
            self.env.note_dependency(path)
        lines = self.make(self.env)
        container = nodes.container()
        self.state.nested_parse(StringList(lines, self.get_source_info()[0]), self.content_offset, container)
        return container.children


def claims(env) -> list[str]:
    rows = []
    for claim, lines in claims_table().groupby("claim", sort=False):
        first = lines.iloc[0]
        verdict = plain(verdict_of(lines))
        if first.argument:
            measured = f"What can be measured {verdict}. " if first.verdict != "explained" else "Explained. "
            verdict = measured + first.argument
        rows.append((claim, first.says, verdict, ", ".join(link(env, name) for name in first.chapters)))
    return table(("claim", "in our words", "verdict", "chapters"), rows)


def claim_lines(env) -> list[str]:
    lines = claims_table()
    lines = lines[lines.quantity != ""]
    columns = ["claim", "quantity", "predicted", "measured", "verdict"]
    rows = [[plain(x) for x in row] for row in lines[columns].itertuples(index=False)]
    return table(("claim", "what was measured", "predicted", "measured", "verdict"), rows)


def run_times(env) -> list[str]:
    seconds = json.loads(read(env, "book/data/run_times.json"))
    rows = [(link(env, name), f"{s:.1f}") for name, s in seconds.items()]
    return table(("notebook", "seconds"), [*rows, ("**together**", f"**{sum(seconds.values()):.0f}**")])


def tolerances(env) -> list[str]:
    given = tomllib.loads(read(env, "book/data/tolerances.toml"))
    groups = {}
    for name, t in given.items():
        groups.setdefault((t["relative"], t["absolute"]), []).append(f"`{name}`")
    rows = [(f"{relative:g}", f"{absolute:g}", ", ".join(names)) for (relative, absolute), names in groups.items()]
    return table(("relative", "absolute", "figures"), rows)


def versions(env) -> list[str]:
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", read(env, "requirements.lock"), flags=re.M))
    return table(("package", "version"), [(name, pinned[name]) for name in SHOWN])


TABLES = {
    "claims": (claims, CLAIMS),
    "claim-lines": (claim_lines, CLAIMS),
    "run-times": (run_times, ("book/data/run_times.json",)),
    "tolerances": (tolerances, ("book/data/tolerances.toml",)),
    "versions": (versions, ("requirements.lock",)),
}


def table(head, rows) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]


def plain(text: str) -> str:
    """What a notebook printed, letter by letter: none of it is Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>$|~^])", r"\\\1", text)


def link(env, name: str) -> str:
    """A chapter by name, as a link if the site has it."""
    words = name.replace("_", " ")
    return f"[{words}]({name}.ipynb)" if f"book/{name}" in env.found_docs else words


def read(env, path: str) -> str:
    return Path(env.srcdir, path).read_text(encoding="utf-8")

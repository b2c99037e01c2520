"""What can be taken away: ``{cheatsheet-numbers}``, computed, and ``{takeaway}``, links to files that are there.

``make figures`` and ``make pdf`` write their files into the site that is already built. The next build finds them and
links them; without them nothing leads to them.
"""

from __future__ import annotations

import math
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from pavlov_archive import PDFS
from pavlov_tables import table
from sphinx.util.docutils import SphinxDirective

from pavlov_lib import theory
from pavlov_lib.experiments import forgetting_horizon

PAGE = "book/teach/takeaway"
FILES = (
    ("figures/index.html", "every figure, to look at and to choose from"),
    ("figures/figures.zip", "every figure in one archive"),
    *zip(PDFS, ("the book as one printable PDF", "the cheat sheet as a PDF of one page"), strict=True),
)


def setup(app):
    app.add_directive("takeaway", TakeAway)
    app.add_directive("cheatsheet-numbers", Numbers)
    # the page depends on what is in the site, which Sphinx does not watch
    app.connect("env-get-outdated", lambda app, env, *changes: [PAGE] if PAGE in env.found_docs else [])
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class Numbers(SphinxDirective):
    """The last table of the cheat sheet."""

    def run(self):
        holder = nodes.container()
        self.state.nested_parse(StringList(table(("for", "number"), numbers()), "numbers"), 0, holder)
        return holder.children


def numbers() -> list[tuple[str, str]]:
    """What to remember, and its value from :mod:`pavlov_lib.theory`.

    >>> dict(numbers())["norm at which Oja's rule settles, $d_v = 64$"]
    '5.72'
    """
    loads, half = (0.25, 1, 4), math.sqrt(0.5)
    falls = ", ".join(f"{theory.fidelity(theory.hebbian_error(int(x * 64) + 1, 64)):.2f}" for x in loads)
    failures = [theory.head_failure(n, 32, 32) for n in (32, 64, 128)]
    held = 1 + theory.capacity_slope(half) * 64
    best = forgetting_horizon(64, math.sqrt(1 - math.e / held), half)
    heads = theory.stack_failure(theory.any_head_failure(failures[2], 4), 4)
    return [
        ("fidelity at load 1/4, 1, 4", falls),
        ("pairs per key dimension at fidelity 0.9", f"{theory.capacity_slope(0.9):.4f}"),
        ("the same at 0.7", f"{theory.capacity_slope(0.7):.3f}"),
        (
            r"worst case, $\varepsilon = 1$, $d_k = 64$, 256, 1024",
            ", ".join(f"{theory.worst_case_capacity(d):.0f}" for d in (64, 256, 1024)),
        ),
        ("a head fails, load 1, 2, 4, $d_k = d_v = 32$", ", ".join(f"{p:.2g}" for p in failures)),
        ("4 layers of 4 heads at load 4, any head right", f"{heads:.2f}"),
        (rf"farthest horizon at fidelity $1/\sqrt2$, $D = {held:.0f}$", f"{best:.1f} pairs"),
        ("norm at which Oja's rule settles, $d_v = 64$", f"{theory.oja_plateau_norm(64):.2f}"),
    ]


class TakeAway(SphinxDirective):
    """Links to the files that the site holds; a sentence if it holds none."""

    def run(self):
        site, up = Path(self.env.app.outdir), "../" * self.env.docname.count("/")
        found = [(path, words) for path, words in FILES if (site / path).is_file()]
        if not found:
            return [nodes.paragraph("", "This copy of the site was built without these files.")]
        items = nodes.bullet_list()
        for path, words in found:
            size = (site / path).stat().st_size / 1e6
            note = f" ({size:.1f} MB)" if not path.endswith(".html") else ""
            text = nodes.paragraph(
                "", "", nodes.reference("", words, refuri=up + path, internal=True), nodes.Text(note)
            )
            items += nodes.list_item("", text)
        return [nodes.container("", items, classes=["takeaway-files"])]

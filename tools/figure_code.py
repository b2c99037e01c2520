"""The code behind one figure of a notebook, as a program that runs by itself."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass, field

STATEFUL = "rng"  # drawing from a generator changes it: whoever needs one needs all that was drawn before


@dataclass
class Statement:
    """A statement of a cell with the comment lines above it."""

    source: str
    node: ast.stmt
    binds: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)

    def __post_init__(self):
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name):
                (self.loads if isinstance(node.ctx, ast.Load) else self.binds).add(node.id)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.binds.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.binds |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                self.loads.add(node.target.id)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self.changes |= root(node.func)  # a method may change what it is called on
            if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
                self.changes |= root(node)

    @property
    def replaces(self) -> set[str]:
        """Names that mean something new from here on, whatever they meant before."""
        whole = isinstance(self.node, ast.Assign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)
        return self.binds - self.loads if whole else set()


def root(node: ast.expr) -> set[str]:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def statements(source: str) -> list[Statement]:
    lines, above, found = source.splitlines(), 0, []
    for node in ast.parse(source).body:
        found.append(Statement("\n".join(lines[above : node.end_lineno]).strip("\n"), node))
        above = node.end_lineno
    return found


def needed(before: list[str], last: str) -> list[Statement]:
    """Of the cells ``before``, the statements that the cell ``last`` depends on, and those of ``last``."""
    kept = statements(last)
    names = set()
    for statement in reversed(kept):
        names = (names - statement.replaces) | statement.loads
    for statement in reversed([s for cell in before for s in statements(cell)]):
        drawn = STATEFUL in names and STATEFUL in statement.loads
        if statement.binds & names or statement.changes & names or drawn:
            kept.insert(0, statement)
            names = (names - statement.replaces) | statement.loads
    return kept


PROGRAM = '''\
"""{title}

Figure "{name}" of the chapter "{chapter}" of the book "Attention Works like Pavlov's Dog".
It needs the book's library, pavlov_lib{torch}, and writes {name}.svg, {name}.png and {name}.csv where it is run.
This program: BSD 3-Clause. The figure: CC BY 4.0.
"""

{imports}

{body}

figure = {shown}
figure.save(
    ".",
    "{name}",
    description=(
{description}
    ),
)
'''


def program(before: list[str], last: str, *, chapter: str, name: str, title: str, description: str) -> str:
    """A program that draws the figure which the cell ``last`` shows after the cells ``before``.

    Raises
    ------
    ValueError
        If ``last`` does not end in the figure.
    """
    kept = needed(before, last)
    shown = kept.pop()
    if not isinstance(shown.node, ast.Expr):
        raise ValueError(f"{chapter}: the cell of figure {name!r} must end in the figure; got {shown.source!r}")
    imports = [s for s in kept if isinstance(s.node, ast.Import | ast.ImportFrom)]
    body = [s.source for s in kept if s not in imports]
    lines = textwrap.wrap(description, 96, drop_whitespace=False) or [""]
    torch = any({"torch", "models", "training"} & set(parts(s.node)) for s in imports)
    text = PROGRAM.format(
        title=title.rstrip(".") + ".",
        name=name,
        chapter=chapter.replace("_", " "),
        torch=", with torch" if torch else "",
        imports="\n".join(dict.fromkeys(ast.unparse(s.node) for s in imports)),
        body="\n".join(body),
        shown=shown.source.strip(),
        description="\n".join(f"        {line!r}" for line in lines),
    )
    text = text.replace("\n\n\n\nfigure =", "\n\nfigure =").replace("figure = figure\n", "")
    ast.parse(text)  # fails here rather than in a reader's hands
    return text


def parts(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
    return [part for name in names for part in name.split(".")]

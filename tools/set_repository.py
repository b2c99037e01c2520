"""Write the book's public address where it must be written down, and keep the notebooks' first code cell fresh.

    python tools/set_repository.py https://github.com/OWNER/NAME   publish the book there (a fork does the same)
    python tools/set_repository.py                                 only refresh the notebooks

The website finds its address by itself. A notebook cannot: opened alone on Colab, it does not see where it came from,
and the library is not there. So the first code cell of every notebook installs the library where it is missing. On the
website the cell is left out.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "book" / "_ext")]

from pavlov_launch import public_address  # noqa: E402

from pavlov_lib.reference import write_whole  # noqa: E402

CONFIG = ROOT / "_config.yml"
TAG = "install"  # how the cell is found again
CELL = """\
# Where the book's library is missing, as on Colab, this cell installs it. Elsewhere it does nothing.
REPOSITORY = "{address}"  # written by tools/set_repository.py
try:
    import pavlov_lib  # noqa: F401
except ModuleNotFoundError:
    assert REPOSITORY, "pavlov_lib is missing: run 'pip install .' in the folder of the book"
    get_ipython().run_line_magic("pip", f"install --quiet git+{{REPOSITORY}}")"""


def known_address() -> str:
    """The address that _config.yml holds, or an empty text."""
    found = re.search(r"^repository:\n(?:  .*\n)*?  url: (\S+)", CONFIG.read_text(encoding="utf-8"), flags=re.M)
    return found[1] if found else ""


def write_address(address: str) -> None:
    text = re.sub(r"^  url: \S+\n", "", CONFIG.read_text(encoding="utf-8"), flags=re.M)
    changed = re.sub(r"^repository:\n", f"repository:\n  url: {address}\n", text, flags=re.M)
    if changed == text:
        raise ValueError(f"{CONFIG.name} must have a section 'repository:'; got none")
    write_whole(CONFIG, changed)


def with_install_cell(notebook, address: str):
    """Put the cell after the first one, which holds the title, or refresh it. Outputs stay as they are."""
    cells = [cell for cell in notebook.cells if TAG not in cell.metadata.get("tags", [])]
    was_run = [cell for cell in cells if cell.get("execution_count")]
    cell = nbformat.v4.new_code_cell(CELL.format(address=address))
    cell.metadata["tags"] = [TAG, "remove-cell"]
    cells.insert(1, cell)
    for count, other in enumerate([cell, *was_run] if was_run else [], start=1):
        other.execution_count = count  # the cell runs in no time and prints nothing
    for i, other in enumerate(cells):
        other["id"] = f"cell-{i:03d}"  # stable ids keep the difference to what changed
    notebook.cells = cells
    return notebook


def main(arguments: list[str]) -> int:
    address = public_address(arguments[0]) if arguments else known_address()
    if len(arguments) > 1 or (arguments and not address):
        print(f"expected one address like https://github.com/OWNER/NAME; got {' '.join(arguments)}", file=sys.stderr)
        return 2
    if arguments:
        write_address(address)
    for path in sorted((ROOT / "book").glob("*.ipynb")):
        notebook = with_install_cell(nbformat.read(path, as_version=4), address)
        text = nbformat.writes(notebook) + "\n"
        if text != path.read_text(encoding="utf-8"):
            write_whole(path, text)
            print(f"refreshed {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

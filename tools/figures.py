"""Every figure of the book as files to take away: vectors, pixels, numbers, and the program that draws it.

    python tools/figures.py                     every chapter, into _build/html/figures
    python tools/figures.py capacity drift      only these
    python tools/figures.py check capacity      run the programs again: each must give the numbers beside it

A chapter is run again only if its notebook or the library changed, and is written whole or not at all.

Exit codes: 0 done, 1 a program gives other numbers, 2 wrong call.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
import pandas as pd
from figure_code import program
from nbclient import NotebookClient
from tqdm.auto import tqdm

from lite import replace_folder
from pavlov_lib.reference import write_whole

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "_build" / "html" / "figures"
ALL = "figures.zip"
ENDINGS = {"svg": "vector", "png": "pixels", "csv": "numbers", "py": "program"}
ATTRIBUTION = "Attention Works like Pavlov's Dog, by the Pavlov book contributors"
NOTE = f"""{ATTRIBUTION}

The figures (.svg, .png) and the numbers in them (.csv) are under the licence CC BY 4.0:
copy, change, translate and print them, and say where they come from, for example

    Figure: {ATTRIBUTION}, CC BY 4.0.

The programs (.py) are under the BSD 3-Clause licence.
Both licences follow in full.

"""


def chapters() -> list[str]:
    """The chapters that are notebooks, in the order of the book."""
    order = (ROOT / "_toc.yml").read_text(encoding="utf-8").split()
    return [p.removeprefix("book/") for p in order if (ROOT / f"{p}.ipynb").is_file()]


# --- what a notebook shows -------------------------------------------------------------------------------------------


def shown(notebook) -> dict[int, dict[str, str]]:
    """Cells whose committed output is a figure: a name (after the function that drew it), a title and the alt text."""
    found, names = {}, set()
    for i, cell in enumerate(notebook.cells):
        pictures = [o for o in cell.get("outputs", ()) if "image/png" in o.get("data", {})]
        if not pictures:
            continue
        digest = str(pictures[-1]["data"].get("text/plain", ""))
        title = digest.split("\n")[0].split(" (")[0] or "Figure"
        last = cell.source.rstrip().rsplit("\n", 1)[-1]
        start = last.split("(")[0].removeprefix("draw_") if last.startswith("draw_") else "figure"
        name, count = start, 1
        while name in names:
            count += 1
            name = f"{start}-{count}"
        names.add(name)
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        found[i] = {"name": name, "title": title, "alt": alt}
    return found


def code(notebook, last: int) -> list[str]:
    """Sources of the code cells before a cell, without the one that installs the library."""
    cells = notebook.cells[:last]
    return [c.source for c in cells if c.cell_type == "code" and "install" not in c.metadata.get("tags", ())]


def fingerprint(path: Path) -> str:
    """Of all that decides what the figures of a notebook look like."""
    digest = hashlib.sha256()
    notebook = nbformat.read(path, as_version=4)
    cells = [[cell.source, cell.metadata.get("mystnb", {})] for cell in notebook.cells if cell.cell_type == "code"]
    digest.update(json.dumps([cells, shown(notebook)], sort_keys=True).encode("utf-8"))
    sources = sorted((ROOT / "pavlov_lib").rglob("*.py"))
    for source in [p for p in sources if "widgets" not in p.parts] + sorted((ROOT / "tools").glob("figure*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def export(path: Path, output: Path) -> None:
    """Run a notebook as far as its last figure and write its figures, whole, to the folder ``output``."""
    notebook = nbformat.read(path, as_version=4)
    figures = shown(notebook)
    with tempfile.TemporaryDirectory() as scratch:
        cells = []
        for i, cell in enumerate(notebook.cells[: max(figures, default=-1) + 1]):
            if cell.cell_type == "code":
                cells.append(nbformat.v4.new_code_cell(cell.source))
            if i in figures:
                said = {"title": figures[i]["title"], "description": figures[i]["alt"]}
                keep = f"Out[max(Out)].save({scratch!r}, {figures[i]['name']!r}, **{said!r}) and None"
                cells.append(nbformat.v4.new_code_cell(keep))  # "_" will not do: the notebooks use that name
        running = nbformat.v4.new_notebook(cells=cells)
        NotebookClient(
            running, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
        ).execute()
        for i, figure in figures.items():
            text = program(
                code(notebook, i), notebook.cells[i].source, chapter=path.stem,
                name=figure["name"], title=figure["title"], description=figure["alt"],
            )  # fmt: skip
            (Path(scratch) / f"{figure['name']}.py").write_text(text, encoding="utf-8")
        about = {"fingerprint": fingerprint(path), "figures": list(figures.values())}
        (Path(scratch) / "figures.json").write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
        (Path(scratch) / "LICENSE.txt").write_text(licence(), encoding="utf-8")
        pack(Path(scratch), Path(scratch) / f"{path.stem}.zip", path.stem)
        output.parent.mkdir(parents=True, exist_ok=True)
        replace_folder(Path(scratch), output)


def licence() -> str:
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("LICENSE-content", "LICENSE")]
    return NOTE + f"\n{'-' * 80}\n\n".join(texts)


def up_to_date(path: Path, output: Path) -> bool:
    about = output / "figures.json"
    return about.is_file() and json.loads(about.read_text(encoding="utf-8"))["fingerprint"] == fingerprint(path)


def pack(folder: Path, archive: Path, inside: str) -> None:
    """The files of a folder that are no archives; the same files give the same archive."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".zip", ".part", ".html"))
    part = archive.with_name(archive.name + ".part")
    with zipfile.ZipFile(part, "w") as packed:
        for path in files:
            member = zipfile.ZipInfo(f"{inside}/{path.relative_to(folder).as_posix()}", (1980, 1, 1, 0, 0, 0))
            member.external_attr = 0o644 << 16
            how = zipfile.ZIP_STORED if path.suffix == ".png" else zipfile.ZIP_DEFLATED
            packed.writestr(member, path.read_bytes(), how)
    part.replace(archive)


# --- the page that lists them ----------------------------------------------------------------------------------------


def write_index(output: Path) -> None:
    """A page with all figures that are in the folder, in the order of the book."""
    done = [name for name in chapters() if (output / name / "figures.json").is_file()]
    sections = "\n".join(
        section(name, json.loads((output / name / "figures.json").read_text("utf-8"))) for name in done
    )
    write_whole(output / "index.html", PAGE.replace("{sections}", sections).replace("{all}", ALL))


def section(chapter: str, about: dict) -> str:
    words = chapter.replace("_", " ").capitalize()
    cards = "\n".join(card(chapter, **figure) for figure in about["figures"])
    return f"""<section aria-labelledby="{chapter}">
<h2 id="{chapter}">{words}</h2>
<p><a href="../book/{chapter}.html">Read the chapter: {words}</a> ·
<a href="{chapter}/{chapter}.zip">All its figures: {chapter}.zip</a></p>
<div class="figures">
{cards}
</div>
</section>"""


def card(chapter: str, name: str, title: str, alt: str) -> str:
    said, start = html.escape(title), f"{chapter}/{name}"
    links = " ".join(
        f'<a href="{start}.{end}" aria-label="{end.upper()}, {what}: {said}">{end.upper()}</a>'
        for end, what in ENDINGS.items()
    )
    return f"""<figure>
<a href="{start}.svg"><img src="{start}.svg" alt="{html.escape(alt or title)}" loading="lazy"></a>
<figcaption>{said}<br><span class="files">{links}</span></figcaption>
</figure>"""


PAGE = """<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>All figures - Attention Works like Pavlov's Dog</title>
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="description" content="Every figure of the book as SVG and PNG, with its numbers and its program.">
  <link rel="icon" href="../_static/favicon.svg">
  <style>
    :root { color-scheme: light dark; --paper: #fffdf7; --ink: #22303c; --sea: #0b5563; --faint: #d9d4c7;
      --edge: #fbeccb; --muted: #50606c; }
    @media (prefers-color-scheme: dark) {
      :root { --paper: #0f1b1d; --ink: #e9e4d6; --sea: #7fd0d2; --faint: #37494d; --edge: #3b2c10; --muted: #b4bdb6; }
    }
    body { margin: 0; background: var(--paper); color: var(--ink);
      font: 17px/1.6 Charter, "Bitstream Charter", Cambria, Georgia, serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
    h1, h2 { font-family: "Avenir Next", Avenir, "Segoe UI", "Helvetica Neue", Ubuntu, sans-serif; line-height: 1.2; }
    h2 { margin-top: 2.6rem; padding-top: 0.6rem; border-top: 3px solid var(--edge); }
    a { color: var(--sea); }
    a:focus-visible { outline: 3px solid #b06a00; outline-offset: 2px; }
    .figures { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr)); }
    figure { margin: 0; display: flex; flex-direction: column; }
    img { width: 100%; height: auto; box-sizing: border-box; background: #fffdf7; border: 1px solid var(--faint);
      border-radius: 0.5rem; padding: 0.5rem; }
    figcaption { margin-top: 0.3rem; }
    .files a { display: inline-block; min-height: 1.6rem; margin-right: 0.9rem; font-size: 0.92rem; }
  </style>
</head>
<body>
<main>
<p><a href="../index.html">To the book</a></p>
<h1>All figures, to take away</h1>
<p>Each figure comes as vectors (SVG), as pixels (PNG), with the numbers that were drawn (CSV), and with the program
that draws it again (PY). <a href="{all}">All of them in one archive: {all}</a>.</p>
<p>Figures and numbers: <a href="https://creativecommons.org/licenses/by/4.0/">CC BY 4.0</a>. Programs: BSD 3-Clause.
Say where they come from, for example: <em>Figure: Attention Works like Pavlov's Dog, by the Pavlov book contributors,
CC BY 4.0.</em></p>
{sections}
</main>
</body>
</html>
"""


# --- the programs run again ------------------------------------------------------------------------------------------


def differs(folder: Path, name: str) -> str:
    """What is wrong with the numbers that a figure's program gives when run by itself; empty if nothing is."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, str((folder / f"{name}.py").resolve())]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"the program fails: {done.stderr.strip()[-500:]}"
        try:
            pd.testing.assert_frame_equal(
                pd.read_csv(Path(scratch) / f"{name}.csv"), pd.read_csv(folder / f"{name}.csv"), rtol=1e-9, atol=1e-12
            )  # rounding only: the order of sums depends on the number of threads
        except AssertionError as difference:
            return f"the program gives other numbers: {difference}"
    return ""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="chapter", help="all chapters, if none is given; first: 'check'")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder for the figures")
    asked = parser.parse_args(arguments)
    check = asked.names[:1] == ["check"]
    names = asked.names[check:] or chapters()
    if unknown := [name for name in names if name not in chapters()]:
        print(f"expected chapters, of {', '.join(chapters())}; got {', '.join(unknown)}", file=sys.stderr)
        return 2
    output = asked.output.resolve()
    if check:
        return check_programs(output, names)
    output.mkdir(parents=True, exist_ok=True)
    for name in (bar := tqdm(names, unit="chapter")):
        bar.set_postfix_str(name)
        path = ROOT / "book" / f"{name}.ipynb"
        if not up_to_date(path, output / name):
            export(path, output / name)
    for gone in [p for p in output.iterdir() if p.is_dir() and p.name not in chapters()]:
        shutil.rmtree(gone)
    pack(output, output / ALL, "figures")
    write_index(output)
    print(f"The figures are in {output}; open {output / 'index.html'}")
    return 0


def check_programs(output: Path, names: list[str]) -> int:
    wrong = 0
    for name in names:
        if not (output / name / "figures.json").is_file():
            print(f"expected figures of {name!r} in {output}; got none: write them first", file=sys.stderr)
            return 2
        for path in sorted((output / name).glob("*.py")):
            problem = differs(path.parent, path.stem)
            wrong += bool(problem)
            print(f"{name}/{path.stem}: {problem or 'the same numbers'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Solutions stay with the instructor: not on the site, not among the pages, not in the library that people install."""

import html
import os
import re
import zipfile
from pathlib import Path

import nbformat
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "book" / "teach" / "course" / "source").glob("*/*.ipynb"))
MARKS = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS")
READABLE = {".html", ".txt", ".md", ".json", ".js", ".ipynb", ".py", ".xml", ".gift", ".csv", ".svg"}


def squeezed(text: str) -> str:
    """Text without markup, escapes and white space, in which way ever it was written down."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", text)).replace("\\n", "").replace('\\"', '"')
    return re.sub(r"\s+|\\u[0-9a-f]{4}", "", plain)


def secrets() -> dict[str, str]:
    """What may not be seen: solutions whole, marking tests and model answers line by line; squeezed -> where from."""
    found = {squeezed(mark): "a mark of nbgrader" for mark in MARKS}
    for path in SOURCES:
        for cell in nbformat.read(path, as_version=4).cells:
            task = cell.metadata.get("nbgrader", {})
            where = f"{path.stem}, {task.get('grade_id')}"
            if task.get("solution") and cell.cell_type == "code":
                found[squeezed(re.sub(r"\s*### \w+ SOLUTION", "", cell.source))] = where
            hidden = re.findall(r"### BEGIN HIDDEN TESTS\n(.*?)### END", cell.source, flags=re.S)
            lines = "\n".join(hidden).splitlines() if cell.cell_type == "code" else cell.source.splitlines()
            if hidden or (task.get("solution") and cell.cell_type == "markdown"):
                # short lines are common property
                found |= {squeezed(line): where for line in lines if len(squeezed(line)) > 50}
    return found


def texts(folder: Path):
    """Every file in a folder that can be read, members of archives included: (name, text)."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    yield f"{path.name}: {member}", archive.read(member).decode("utf-8", errors="replace")
        elif path.is_file() and path.suffix in READABLE:
            yield path.relative_to(folder).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def leaks(folder: Path) -> list[str]:
    kept = secrets()
    found = []
    for name, text in texts(folder):
        plain = squeezed(text)
        found += [f"{name} holds {where}" for secret, where in kept.items() if secret in plain]
    return found


def test_there_is_something_to_keep():
    kept = secrets()
    for path in SOURCES:
        assert sum(where.startswith(path.stem) for where in kept.values()) >= 15
    assert all(len(secret) > 15 for secret in kept)


@pytest.mark.parametrize("way", ["as it is", "as a notebook", "as a page", "in an archive"])
def test_a_leak_is_noticed(way, tmp_path):
    notebook = nbformat.read(SOURCES[0], as_version=4)
    cell = next(c for c in notebook.cells if c.cell_type == "code" and c.metadata.get("nbgrader", {}).get("solution"))
    code = re.sub(r"\s*### \w+ SOLUTION", "", cell.source)
    if way == "as it is":
        (tmp_path / "x.txt").write_text(f"before {code} after")
    elif way == "as a notebook":
        cell.source = code
        (tmp_path / "x.ipynb").write_text(nbformat.writes(notebook))
    elif way == "as a page":
        words = re.sub(r"(\w+)", r'<span class="n">\1</span>', html.escape(code))
        (tmp_path / "x.html").write_text(f"<pre>{words}</pre>")
    else:
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            archive.writestr("x.py", code)
    assert leaks(tmp_path)


def test_no_source_of_an_assignment_is_a_page_of_the_book():
    text = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    assert "teach/course" not in text
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert config["only_build_toc_files"] is True


def test_no_chapter_page_or_library_module_holds_a_solution(tmp_path):
    copied = tmp_path / "public"
    copied.mkdir()
    pages = [*(ROOT / "book").glob("*.ipynb"), *(ROOT / "book").glob("*.md"), *(ROOT / "book" / "teach").glob("*.md")]
    for path in [*pages, *(ROOT / "pavlov_lib").rglob("*.py")]:
        (copied / "-".join(path.relative_to(ROOT).parts)).write_bytes(path.read_bytes())
    assert leaks(copied) == []


@pytest.mark.skipif("PAVLOV_SITE" not in os.environ, reason="PAVLOV_SITE names no built site")
def test_the_site_holds_no_solution():
    site = (ROOT / os.environ["PAVLOV_SITE"]).resolve()
    assert (site / "index.html").is_file()
    assert leaks(site) == []

"""Every chapter keeps the contract of CONTRIBUTING.md, and nothing can slip past the notebook checks."""

import base64
import io
import json
import re
import tomllib
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image

BOOK = Path(__file__).resolve().parents[2] / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
# Pages that show results but teach no chapter of their own.
CHAPTERS = [path for path in NOTEBOOKS if path.stem not in {"claims", "reproducibility"}]
SECTIONS = [
    "**The promise.**", "**You will learn to**", "**Before you start.**", "**Time.**", "## The story", "## The circuit",
    "## The equation", "## The code", "## Experiment", "## What carries over", "## Something to play with", "## Quiz",
    "## Exercises", "## Summary", "## What's next", "## Further reading",
]  # fmt: skip
SECONDS_PER_NOTEBOOK = 60


def read(path: Path):
    return nbformat.read(path, as_version=4)


def prose(path: Path) -> str:
    return "\n\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def code_cells(path: Path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def problems_of_outputs(notebook) -> list[str]:
    """What the notebook check alone would let pass: cells that were not run, or whose output is hidden from it."""
    found = []
    for i, cell in enumerate(notebook.cells):
        if cell.cell_type != "code":
            continue
        if not cell.get("execution_count"):
            found.append(f"cell {i} was not executed")
        if cell.source.rstrip().endswith(";"):
            found.append(f"cell {i} ends in ';', which the check would display")
        if "nbval-ignore-output" in cell.metadata.get("tags", []) and "explorer" not in cell.source:
            found.append(f"cell {i} hides its output from the check")
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"cell {i} failed with {output.ename}")
            if "image/png" in output.get("data", {}):
                if "points" not in output.data["text/plain"] and len(output.data["text/plain"]) < 10:
                    found.append(f"cell {i} shows a picture whose numbers are not beside it as text")
                if not cell.metadata.get("mystnb", {}).get("image", {}).get("alt"):
                    found.append(f"cell {i} shows a picture without alt text")
        if re.search(r"\b(check_\w+|print|self_check)\(", cell.source) and not cell.get("outputs"):
            found.append(f"cell {i} prints, but its output was cleared")
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_every_cell_was_run_and_kept_outputs_that_can_be_checked(path):
    assert problems_of_outputs(read(path)) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_cleared_outputs_are_noticed(path):
    notebook = read(path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    assert problems_of_outputs(notebook)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_nothing_in_a_picture_runs_off_its_edge(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            if picture := output.get("data", {}).get("image/png"):
                pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture))).convert("RGB"))
                paper, margin = pixels[0, 0], 4  # matplotlib keeps six pixels free, where it can
                edges = [pixels[:margin], pixels[-margin:], pixels[:, :margin], pixels[:, -margin:]]
                assert all((edge == paper).all() for edge in edges), cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_alt_texts_say_more_than_that_there_is_a_figure(path):
    for cell in code_cells(path):
        alt = cell.metadata.get("mystnb", {}).get("image", {}).get("alt")
        assert alt is None or len(alt.split()) >= 8, alt


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_has_all_sections_in_order(path):
    text = prose(path)
    places = [text.find(section) for section in SECTIONS]
    missing = [section for section, place in zip(SECTIONS, places, strict=True) if place < 0]
    assert missing == []
    assert places == sorted(places)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_has_something_to_play_with_that_needs_no_kernel(path):
    shown = [cell for cell in code_cells(path) if "explorer(" in cell.source]
    assert shown, "call explorer(...) under 'Something to play with'"
    assert all("text/html" in output.data for cell in shown for output in cell.outputs)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_option_of_a_quiz_is_answered(path):
    text = prose(path)
    quiz = text[text.index("## Quiz") : text.index("## Exercises")]
    options = re.findall(r"<details><summary>[A-E]\. .+?</summary>\n\n(.+?)\n\n</details>", quiz, flags=re.S)
    assert len(options) == quiz.count("<details>") >= 6
    assert len(re.findall(r"^\*\*\d+\. ", quiz, flags=re.M)) >= 3
    assert all(len(answer.split()) >= 3 for answer in options)


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_exercise_has_a_hint_a_self_check_and_a_solution(path):
    source = "\n\n".join(cell.source for cell in read(path).cells)
    body = source[source.index("## Exercises") : source.index("## Summary")]
    exercises = re.split(r"\*\*Exercise \d+ \(", body)[1:]
    assert 3 <= len(exercises) <= 6
    for exercise in exercises:
        assert "<summary>Hint</summary>" in exercise
        assert "self_check(" in exercise
        # a proof's solution is text; every other solution is code that answers the self-check
        assert "<summary>Solution</summary>" in exercise or exercise.count("self_check(") >= 2


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_every_solution_is_right(path):
    for cell in code_cells(path):
        if "hide-cell" in cell.metadata.get("tags", []) and "self_check(" in cell.source:
            printed = "".join(o.get("text", "") for o in cell.outputs)
            assert "Right." in printed and "Not yet" not in printed, cell.source


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)
def test_a_chapter_runs_within_the_time_that_it_states(path):
    measured = json.loads((BOOK / "data" / "run_times.json").read_text(encoding="utf-8"))[path.stem]
    stated = re.search(r"runs in less than (\d+) seconds", prose(path))
    assert stated, "the Time line must say 'runs in less than N seconds'"
    assert measured < int(stated[1]) <= SECONDS_PER_NOTEBOOK


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_code_cells_are_short(path):
    for cell in code_cells(path):
        if "hide" not in "".join(cell.metadata.get("tags", [])):
            assert len(cell.source.splitlines()) <= 24, cell.source


def test_every_reference_has_a_tolerance_and_every_tolerance_a_reference():
    tolerances = tomllib.loads((BOOK / "data" / "tolerances.toml").read_text(encoding="utf-8"))
    assert set(tolerances) == {path.stem for path in (BOOK / "data").glob("*.csv")}


def test_every_reference_is_checked_by_a_notebook():
    sources = "\n".join(cell.source for path in NOTEBOOKS for cell in code_cells(path))
    for path in (BOOK / "data").glob("*.csv"):
        assert f'check_figure("{path.stem}"' in sources, path.name


def test_no_claim_line_is_left_over_from_an_older_notebook():
    printed = "\n".join(o.get("text", "") for path in NOTEBOOKS for cell in code_cells(path) for o in cell.outputs)
    for path in (BOOK / "data" / "claims").glob("*.json"):
        line = json.loads(path.read_text(encoding="utf-8"))
        assert f"{line['claim']} {line['verdict']}: {line['quantity']}, predicted {line['predicted']}" in printed, (
            path.name
        )

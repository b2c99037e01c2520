"""The assignments: what students get, and the marks for what they hand in."""

import csv
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import submissions

from pavlov_lib import RULES, theory
from pavlov_lib.stimuli import unit_vectors

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "book" / "teach" / "course"
SOURCES = {path.stem: nbformat.read(path, as_version=4) for path in sorted(COURSE.glob("source/*/*.ipynb"))}
MAIN = {"mapping", "capacity", "depth", "delta", "drift"}
TASKS = {
    name: [c.metadata["nbgrader"]["grade_id"] for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    for name, notebook in SOURCES.items()
}
KINDS = ("perfect", "empty", "wrong", "hard-coded", "crashing")
SECONDS_PER_CELL = 12  # what never ends is stopped sooner than in a real course


def course(*words) -> subprocess.CompletedProcess:
    # the kernels' own warnings are none of this project's
    environment = {**os.environ, "PYTHONWARNINGS": "ignore", "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, ROOT / "tools" / "course.py", *map(str, words)],
        env=environment,
        text=True,
        capture_output=True,
    )


def nbgrader_cells(notebook) -> dict:
    return {c.metadata["nbgrader"]["grade_id"]: c for c in notebook.cells if "nbgrader" in c.metadata}


def read_marks(folder: Path) -> list[dict[str, str]]:
    with (folder / "marks.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("course")
    done = course("release", folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def graded(released, tmp_path_factory) -> list[Path]:
    """Two courses, half of the assignments in each, marked side by side."""
    folders = []
    for part in range(2):
        folder = tmp_path_factory.mktemp("graded") / "course"
        shutil.copytree(released, folder)
        with (folder / "nbgrader_config.py").open("a") as config:
            config.write(f"\nc.ExecutePreprocessor.timeout = {SECONDS_PER_CELL}\n")
        for name in list(SOURCES)[part::2]:
            release = nbformat.read(folder / "release" / name / f"{name}.ipynb", as_version=4)
            for kind in KINDS:
                path = folder / "submitted" / kind / name / f"{name}.ipynb"
                path.parent.mkdir(parents=True)
                nbformat.write(submissions.submission(kind, name, release, SOURCES[name]), path)
        folders.append(folder)
    with ThreadPoolExecutor(2) as both:
        for done in both.map(lambda folder: course("grade", folder), folders):
            assert done.returncode == 0, done.stdout + done.stderr
            assert "could not be run" not in done.stderr, done.stderr
    return folders


@pytest.fixture(scope="module")
def marks(graded) -> dict[tuple[str, str], dict[str, float | None]]:
    found = {}
    for folder in graded:
        for row in read_marks(folder):
            of_one = found.setdefault((row["assignment"], row["student"]), {})
            of_one[row["task"]] = float(row["marks"]) if row["marks"] else None
    return found


# --- what students get -----------------------------------------------------------------------------------------------


def test_the_main_chapters_have_an_assignment():
    assert set(SOURCES) >= MAIN


def test_the_page_on_assignments_lists_them_with_their_tasks():
    page = (ROOT / "book" / "teach" / "assignments.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) \| \[.*?\]\(\.\./\w+\.ipynb\) \| (.*?) \| 15 \+ 5 \|$", page, flags=re.M))
    assert rows.keys() == SOURCES.keys()
    for name, notebook in SOURCES.items():
        titles = re.findall(r"^## Task \d \(5 marks\): (.*)$", "\n".join(c.source for c in notebook.cells), flags=re.M)
        assert rows[name] == "; ".join([*titles[:-1], f"*{titles[-1]}*"])


@pytest.mark.parametrize("name", SOURCES)
def test_an_assignment_has_twenty_marks_of_which_a_person_gives_five(name):
    cells = nbgrader_cells(SOURCES[name])
    points = {task: cells[task].metadata["nbgrader"]["points"] for task in TASKS[name]}
    assert sum(points.values()) == 20
    assert points["prose"] == 5 and cells["prose"].cell_type == "markdown"
    before = SOURCES[name].cells[SOURCES[name].cells.index(cells["prose"]) - 1].source
    rubric = [int(m) for m in re.findall(r"^\| (\d) \|", before, flags=re.M)]
    assert len(rubric) >= 3 and sum(rubric) == 5, "the rubric is told to students, and adds up"


@pytest.mark.parametrize("name", SOURCES)
def test_marks_are_given_for_fresh_stimuli_only(name):
    for task in TASKS[name]:
        if task != "prose":
            hidden = nbgrader_cells(SOURCES[name])[task].source.split("### BEGIN HIDDEN TESTS")[1]
            assert "SeedSequence().entropy" in hidden and "rng" in hidden.split("SeedSequence")[1]


@pytest.mark.parametrize("name", SOURCES)
def test_an_assignment_needs_no_torch(name):
    assert not re.search(r"^\s*(import|from) torch", "\n".join(c.source for c in SOURCES[name].cells), flags=re.M)


@pytest.mark.parametrize("name", SOURCES)
def test_students_get_every_task_and_no_solution(name, released):
    release = nbformat.read(released / "release" / name / f"{name}.ipynb", as_version=4)
    source, given = nbgrader_cells(SOURCES[name]), nbgrader_cells(release)
    assert given.keys() == source.keys()
    text = "\n".join(c.source for c in release.cells)
    assert not re.search(r"BEGIN|END|HIDDEN|SOLUTION|Marking:", text)
    for task, cell in source.items():
        kind = cell.metadata["nbgrader"]
        if kind["solution"]:
            assert "raise NotImplementedError" in given[task].source or task == "prose"
            functions = re.findall(r"^def .*:$", cell.source, flags=re.M)
            assert re.findall(r"^def .*:$", given[task].source, flags=re.M) == functions, "names and arguments stay"
        elif kind["grade"]:
            assert given[task].source == "# Marked here: your function is called with fresh stimuli."
        else:
            assert given[task].source == cell.source
    assert all(not c.get("outputs") for c in release.cells)


# --- marks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_a_perfect_submission_gets_all_marks_and_waits_for_a_reader(name, marks):
    assert marks[name, "perfect"] == {task: None if task == "prose" else 5 for task in TASKS[name]}


@pytest.mark.parametrize("name", SOURCES)
def test_an_empty_submission_gets_no_mark_and_nobody_has_to_read_it(name, marks):
    assert marks[name, "empty"] == dict.fromkeys(TASKS[name], 0)


@pytest.mark.parametrize("name", SOURCES)
def test_a_misunderstanding_costs_the_marks_of_its_task(name, marks):
    assert marks[name, "wrong"] == {task: None if task == "prose" else 0 for task in TASKS[name]}


@pytest.mark.parametrize("name", SOURCES)
def test_answers_that_only_pass_the_checks_get_no_marks(name, marks, graded):
    assert marks[name, "hard-coded"] == {task: None if task == "prose" else 0 for task in TASKS[name]}
    (path,) = (p for folder in graded for p in folder.glob(f"autograded/hard-coded/{name}/*.ipynb"))
    for task, cell in nbgrader_cells(nbformat.read(path, as_version=4)).items():
        if task.endswith("-check"):
            assert not [o for o in cell.outputs if o.output_type == "error"], f"{task} was meant to pass"


@pytest.mark.parametrize("name", SOURCES)
def test_a_crash_costs_the_marks_of_its_task_only(name, marks):
    machine = [marks[name, "crashing"][task] for task in TASKS[name] if task != "prose"]
    assert machine == [0, 5, 5]


def test_what_breaks_the_rules_of_the_game_stops_nobody_else(released, tmp_path):
    folder = tmp_path / "course"
    shutil.copytree(released, folder)
    release = nbformat.read(folder / "release" / "mapping" / "mapping.ipynb", as_version=4)
    sly, deadly, fine = (submissions.submission("perfect", "mapping", release, SOURCES["mapping"]) for _ in range(3))
    for task, cell in nbgrader_cells(sly).items():
        if task.endswith("-marks"):
            cell.source = "assert True"  # comes back as it was
        elif task in ("write", "attend", "find_test"):
            cell.source = "pass"
    nbgrader_cells(deadly)["write"].source = "import os\nos._exit(1)"  # takes the kernel with it
    handed_in = {"sly": sly, "deadly": deadly, "fine": fine}
    texts = {student: nbformat.writes(notebook) for student, notebook in handed_in.items()} | {"torn": '{"cells": ['}
    for student, text in texts.items():
        path = folder / "submitted" / student / "mapping" / "mapping.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    done = course("grade", folder)
    assert done.returncode == 0 and "by hand: deadly/mapping, torn/mapping" in done.stderr
    rows = read_marks(folder)
    by_machine = {s: [r["marks"] for r in rows if r["student"] == s and r["task"] != "prose"] for s in texts}
    assert by_machine == {"sly": ["0.0"] * 3, "fine": ["5.0"] * 3, "deadly": [""] * 3, "torn": [""] * 3}


# --- the same truth as the book's ------------------------------------------------------------------------------------


def solution(name: str) -> dict:
    """The functions that the solutions of an assignment define."""
    scope = {"np": np}
    for task, code in submissions.solutions(SOURCES[name]).items():
        if task != "prose":
            exec(compile(code, task, "exec"), scope)
    return scope


def test_solutions_agree_with_the_library():
    rng = np.random.default_rng(0)
    state, key, value = rng.normal(size=(3, 5)), unit_vectors(rng, 5), rng.normal(size=3)
    wrote = solution("mapping")["write"](state, key, value, 0.3)
    assert np.allclose(wrote, RULES["hebbian"].write(state, key, value, rate=0.3))
    corrected = solution("delta")["delta_write"](state, key, value, 0.3)
    assert np.allclose(corrected, RULES["delta"].write(state, key, value, rate=0.3))
    predicted = solution("capacity")["predicted_fidelity"](40, 16)
    assert np.isclose(predicted, theory.fidelity(theory.hebbian_error(40, 16)))
    failure = solution("depth")["stack_failure"](0.3, 4, 6)
    assert np.isclose(failure, theory.stack_failure(theory.any_head_failure(0.3, heads=4), layers=6))


def test_a_wrong_word_is_answered_with_how_to_say_it():
    done = course("publish")
    assert done.returncode == 2 and "python tools/course.py release" in done.stderr


def test_marking_without_submissions_says_where_they_are_expected(released, tmp_path):
    done = course("grade", tmp_path)
    assert done.returncode != 0 and "submitted" in done.stderr

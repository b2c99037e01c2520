"""The three courses can be taught as they stand: minutes add up, readings take what they take, objectives exist."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEACH = ROOT / "book" / "teach"
COURSES = [TEACH / f"{name}.md" for name in ("workshop", "module", "seminar")]
LINK = re.compile(r"\[[^\]]*\]\(([^)#]+)\)")
EMPHASIS = re.compile(r"(?<!\*)\*(\w+)[^*]*\*(?!\*)")


def tables(path: Path) -> list[tuple[str, list[list[str]]]]:
    """Every table with the heading above it: (heading, rows of cells, without the head)."""
    found, heading, rows = [], "", []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append((heading, rows[2:]))
            rows = []
    return found


def timed(path: Path) -> list[tuple[str, int, list[list[str]]]]:
    """Tables under a heading that states minutes."""
    stated = ((heading, re.search(r"\((\d+) minutes\)", heading), rows) for heading, rows in tables(path))
    return [(heading, int(minutes[1]), rows) for heading, minutes, rows in stated if minutes]


def opening(chapter: Path) -> tuple[set[str], int]:
    """The objectives of a chapter, and the minutes it takes to read."""
    text = "\n\n".join(c.source for c in nbformat.read(chapter, as_version=4).cells[:2])
    verbs = set(EMPHASIS.findall(text.split("**You will learn to**")[1].split("**Before")[0]))
    return verbs, int(re.search(r"About (\d+) minutes to read", text)[1])


def name(path) -> str:
    return path.stem


@pytest.mark.parametrize("path", COURSES, ids=name)
def test_minutes_add_up_to_what_the_heading_says(path):
    sections = timed(path)
    assert len(sections) >= 2
    for heading, minutes, rows in sections:
        assert sum(int(row[0]) for row in rows) == minutes, heading


@pytest.mark.parametrize("path", COURSES, ids=name)
def test_totals_are_the_sums_of_the_sections(path):
    text = path.read_text(encoding="utf-8")
    reading = sum(minutes for heading, minutes, _ in timed(path) if heading.startswith("Reading"))
    in_class = sum(minutes for heading, minutes, _ in timed(path) if not heading.startswith("Reading"))
    assert f"In class: {in_class} minutes." in text
    assert f"Reading: {reading} minutes." in text


@pytest.mark.parametrize("path", COURSES, ids=name)
def test_every_link_leads_to_a_page_of_the_book(path):
    for target in LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).is_file(), target


@pytest.mark.parametrize("path", COURSES, ids=name)
def test_every_source_that_is_cited_is_in_the_references(path):
    known = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    for key in re.findall(r"\{cite:\w+\}`(\w+)`", path.read_text(encoding="utf-8")):
        assert f"{{{key}," in known, key


def chapter_rows():
    for path in COURSES:
        for heading, _, rows in timed(path):
            for row in rows:
                for target in LINK.findall(row[2]):
                    if target.endswith(".ipynb"):
                        yield pytest.param(heading, row, path.parent / target, id=f"{path.stem}: {row[1]} {heading}")


@pytest.mark.parametrize(("heading", "row", "chapter"), list(chapter_rows()))
def test_objectives_are_those_of_the_chapter(heading, row, chapter):
    verbs, _ = opening(chapter)
    wanted = set(EMPHASIS.findall(row[3]))
    assert wanted, "an activity with a chapter names the objective that it serves"
    assert wanted <= verbs, f"the chapter's objectives are {sorted(verbs)}"


@pytest.mark.parametrize(("heading", "row", "chapter"), list(chapter_rows()))
def test_a_reading_takes_the_minutes_that_its_chapter_states(heading, row, chapter):
    if heading.startswith("Reading"):
        assert int(row[0]) == opening(chapter)[1]


@pytest.mark.parametrize("path", COURSES, ids=name)
def test_what_can_be_cut_is_in_the_schedule_and_saves_no_more_than_it_takes(path):
    (cuts,) = (rows for heading, rows in tables(path) if heading == "Cut in this order")
    activities = {row[1]: int(row[0]) for heading, _, rows in timed(path) for row in rows}
    assert len(cuts) >= 3
    for saves, activity, instead in cuts:
        assert int(saves) <= activities[activity], activity
        assert instead


@pytest.mark.parametrize("path", COURSES[:1], ids=name)
def test_every_activity_of_the_workshop_is_explained(path):
    text = path.read_text(encoding="utf-8")
    (schedule,) = (rows for heading, _, rows in timed(path) if heading.startswith("Schedule"))
    for _, activity, *_ in schedule:
        assert activity == "Break" or f"\n**{activity}.** " in text, activity

"""The teaching notes: every chapter has them, whole, and every demonstration shows what it says."""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "book" / "teach" / "notes.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, flags=re.S | re.M))
PARTS = ["Misconceptions, and how to meet them", "On the board", "Ask, and wait", "Show it live", "For mixed classes"]
DEMOS = {
    name: re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", body, flags=re.S) for name, body in SECTIONS.items()
}


def part(section: str, name: str) -> str:
    following = PARTS[PARTS.index(name) + 1 :]
    text = SECTIONS[section].split(f"**{name}**")[1]
    return text.split(f"**{following[0]}**")[0] if following else text


def test_every_chapter_has_its_notes():
    chapters = {path.stem for path in (ROOT / "book").glob("*.ipynb")} - {"claims", "reproducibility"}
    banks = {path.stem for path in (ROOT / "book" / "teach" / "quiz").glob("*.yml")}
    files = [ROOT / "book" / "teach" / "quiz" / f"{chapter}.yml" for chapter in chapters & banks]
    titles = [re.search(r"^title: (.*)$", path.read_text(encoding="utf-8"), flags=re.M)[1] for path in files]
    assert chapters <= banks
    assert set(titles) == set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_notes_have_all_parts_in_order(section):
    places = [SECTIONS[section].find(f"**{name}**") for name in PARTS]
    assert -1 not in places and places == sorted(places)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_misconception_is_met_and_every_question_answered(section):
    for name in PARTS[0], PARTS[2]:
        entries = re.findall(r"^- \*(.+?)\* (.+)$", part(section, name), flags=re.M)
        assert len(entries) >= 3
        assert all(len(answer.split()) >= 5 for _, answer in entries)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_demonstration_shows_what_it_says(section):
    assert DEMOS[section], "a section shows at least one demonstration"
    for code, shown in DEMOS[section]:
        assert len(code.splitlines()) <= 14, "what is typed in front of a class is short"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), np.printoptions():
            exec(compile(code, section, "exec"), {})
        assert printed.getvalue().strip() == shown.strip()

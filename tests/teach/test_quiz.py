"""The bank of quiz questions: complete, right, and the same after a trip through each format."""

import copy
import html
import re
import sys
import xml.etree.ElementTree as ET
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

from pavlov_lib import RULES, read
from pavlov_lib.stimuli import generators, unit_vectors

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import pavlov_quiz as quiz  # noqa: E402

FILES = sorted((ROOT / "book" / "teach" / "quiz").glob("*.yml"))
CHAPTERS = {path.stem for path in (ROOT / "book").glob("*.ipynb")} - {"claims", "reproducibility"}
BANKS = [quiz.load(path) for path in FILES]
ITEMS = [item for bank in BANKS for item in bank.items]
QTI = {"q": quiz.QTI, "p": quiz.PACKAGE}


def name(thing) -> str:
    return getattr(thing, "chapter", None) or getattr(thing, "id", None) or thing.stem


# --- what is asked ---------------------------------------------------------------------------------------------------


def test_every_chapter_has_a_bank():
    assert {bank.chapter for bank in BANKS} >= CHAPTERS


@pytest.mark.parametrize("bank", [bank for bank in BANKS if bank.chapter in CHAPTERS], ids=name)
def test_objectives_are_those_of_the_chapter_and_each_is_asked_for(bank):
    notebook = nbformat.read(ROOT / "book" / f"{bank.chapter}.ipynb", as_version=4)
    opening = next(c.source for c in notebook.cells if "**You will learn to**" in c.source)
    verbs = set(re.findall(r"(?<!\*)\*(\w+)[^*]*\*", opening.split("**You will learn to**")[1].split("**Before")[0]))
    used = {item.objective for item in bank.items}
    assert used <= verbs, f"the chapter's verbs are {sorted(verbs)}"
    assert len(used) >= 3


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_a_bank_has_questions_of_every_difficulty(bank):
    counts = Counter(item.difficulty for item in bank.items)
    assert all(counts[difficulty] >= 2 for difficulty in quiz.DIFFICULTIES), counts


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_the_place_of_an_option_does_not_give_it_away(bank):
    places = Counter(next(i for i, option in enumerate(item.options) if option.right) for item in bank.items)
    assert max(places.values()) <= 0.6 * len(bank.items), places


def test_the_length_of_an_option_does_not_give_it_away():
    # A right answer that is half as long again as all others can be picked unread; one in four may be.
    lengths = [
        (len(o.text), [len(x.text) for x in item.options if x is not o])
        for item in ITEMS
        for o in item.options
        if o.right
    ]
    assert np.mean([right > 1.5 * max(others) and right > 20 for right, others in lengths]) < 0.25
    assert np.mean([right > max(others) for right, others in lengths]) < 0.5


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_some_answers_are_computed(bank):
    assert sum(bool(item.check) for item in bank.items) >= 3


@pytest.mark.parametrize("item", [item for item in ITEMS if item.check], ids=name)
def test_the_right_answer_is_right(item):
    assert "assert" in item.check
    exec(
        compile(item.check, item.id, "exec"),
        {"np": np, "RULES": RULES, "read": read, "generators": generators, "unit_vectors": unit_vectors},
    )


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_every_piece_of_mathematics_is_closed(bank):
    for item in bank.items:
        for text in (item.question, *(t for o in item.options for t in (o.text, o.feedback))):
            assert "$" not in quiz.as_html(text), f"{item.id}: {text}"


# --- a bank that cannot be used is refused ---------------------------------------------------------------------------


def first(data):
    return data["items"][0]


FAULTS = {
    "no option is right": lambda d: [o.pop("right", None) for o in first(d)["options"]],
    "two options are right": lambda d: (
        [o.update(right=True) for o in first(d)["options"][:2]]
        + [o.pop("right", None) for o in first(d)["options"][2:]]
    ),
    "an option without feedback": lambda d: first(d)["options"][1].pop("feedback"),
    "an option with empty feedback": lambda d: first(d)["options"][1].update(feedback=" "),
    "an id twice": lambda d: d["items"][1].update(id=first(d)["id"]),
    "an id of another chapter": lambda d: first(d).update(id="elsewhere-01"),
    "no objective": lambda d: first(d).pop("objective"),
    "a difficulty of 4": lambda d: first(d).update(difficulty=4),
    "a difficulty that is true": lambda d: first(d).update(difficulty=True),
    "the same question twice": lambda d: d["items"][1].update(question=first(d)["question"]),
    "the same option twice": lambda d: first(d)["options"][1].update(text=first(d)["options"][0]["text"]),
    "two options only": lambda d: first(d).update(options=first(d)["options"][:2]),
    "an option that is a number": lambda d: first(d)["options"][0].update(text=3),
    "an entry nobody knows": lambda d: first(d).update(points=2),
    "nine items": lambda d: d.update(items=d["items"][:9]),
    "another chapter": lambda d: d.update(chapter="elsewhere"),
    "no title": lambda d: d.update(title=""),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bank_with_a_fault_is_refused(fault, tmp_path):
    data = yaml.safe_load(FILES[0].read_text(encoding="utf-8"))
    path = tmp_path / FILES[0].name
    path.write_text(yaml.safe_dump(copy.deepcopy(data)), encoding="utf-8")
    assert quiz.load(path) == BANKS[0]
    FAULTS[fault](data)
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(ValueError, match=path.name):
        quiz.load(path)


# --- GIFT ------------------------------------------------------------------------------------------------------------


def gift_questions(text: str) -> list[dict]:
    """Read GIFT as Moodle does: signs behind a backslash are put aside, then the text is cut at the others."""
    aside = {f"\\{sign}": chr(0xE000 + i) for i, sign in enumerate("\\~=#{}:")}
    for written, kept in aside.items():
        text = text.replace(written, kept)

    def back(part: str) -> str:
        return re.sub("[\ue000-\ue006]", lambda m: "\\~=#{}:"[ord(m[0]) - 0xE000], part).strip()

    questions, where = [], None
    for block in re.split(r"\n\s*\n", text):
        lines = [line for line in block.splitlines() if not line.startswith("//")]
        if lines and lines[0].startswith("$CATEGORY:"):
            where = lines[0].removeprefix("$CATEGORY:").strip()
            continue
        found = re.fullmatch(r"::(.*?)::\[html\](.*?)\{(.*)\}\s*", "\n".join(lines), flags=re.S)
        assert found, block
        answers = re.findall(r"([=~])([^=~#]*)#([^=~#]*)", found[3])
        questions.append(
            {
                "category": where,
                "id": back(found[1]),
                "question": back(found[2]),
                "options": [(back(text), back(feedback), sign == "=") for sign, text, feedback in answers],
            }
        )
    return questions


def as_read(item) -> list[tuple[str, str, bool]]:
    return [(quiz.as_html(o.text), quiz.as_html(o.feedback), o.right) for o in item.options]


def test_gift_says_what_the_bank_says():
    questions = gift_questions(quiz.gift(BANKS, "A course / of two parts"))
    assert [q["id"] for q in questions] == [item.id for item in ITEMS]
    for question, item in zip(questions, ITEMS, strict=True):
        assert question["question"] == quiz.as_html(item.question)
        assert question["options"] == as_read(item)
    assert {q["category"] for q in questions} == {f"$course$/A course // of two parts/{b.title}" for b in BANKS}


@pytest.mark.parametrize("text", ["a = b", "{x}", "1 ~ 2", "#", "c:d", "\\nu \\neq \\#", "\\\\", "x\\"])
def test_gift_keeps_its_own_signs_in_a_text(text):
    options = (
        quiz.Option(text, "three small words", True),
        quiz.Option("b", "no", False),
        quiz.Option("c", text, False),
    )
    item = quiz.Item("x-01", 1, "see", text, options, "")
    (question,) = gift_questions(quiz.gift_item(item))
    assert question["question"] == quiz.as_html(text)
    assert question["options"] == as_read(item)


# --- QTI -------------------------------------------------------------------------------------------------------------


def inner(element) -> str:
    """What an element holds, as HTML without the name space."""
    text = html.escape(element.text or "", quote=False) + "".join(ET.tostring(e, encoding="unicode") for e in element)
    return re.sub(r'\s?xmlns:?\w*="[^"]*"|(?<=</)\w+:|(?<=<)\w+:', "", text).strip()


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_a_qti_package_says_what_the_bank_says(bank):
    package = zipfile.ZipFile(BytesIO(quiz.qti(bank)))
    for item in bank.items:
        root = ET.fromstring(package.read(f"items/{item.id}.xml"))
        assert root.get("identifier") == item.id
        right = root.find("q:responseDeclaration/q:correctResponse/q:value", QTI).text
        choices = {c.get("identifier"): inner(c) for c in root.findall(".//q:simpleChoice", QTI)}
        feedback = {f.get("identifier"): inner(f) for f in root.findall("q:modalFeedback", QTI)}
        assert choices.keys() == feedback.keys()
        assert [(choices[c], feedback[c], c == right) for c in choices] == [
            tuple(normal(x) if isinstance(x, str) else x for x in option) for option in as_read(item)
        ]
        assert inner(root.find("q:itemBody/q:div", QTI)) == normal(quiz.as_html(item.question))


def normal(text: str) -> str:
    return inner(ET.fromstring(f"<x>{text}</x>"))


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_the_manifest_of_a_qti_package_lists_its_files(bank):
    package = zipfile.ZipFile(BytesIO(quiz.qti(bank)))
    manifest = ET.fromstring(package.read("imsmanifest.xml"))
    listed = [file.get("href") for file in manifest.iterfind(".//p:file", QTI)]
    assert sorted([*listed, "imsmanifest.xml"]) == sorted(package.namelist())
    resources = {r.get("identifier") for r in manifest.iterfind(".//p:resource", QTI)}
    assert {d.get("identifierref") for d in manifest.iterfind(".//p:dependency", QTI)} == resources - {"r-test"}
    test = ET.fromstring(package.read("test.xml"))
    assert [r.get("href") for r in test.iterfind(".//q:assessmentItemRef", QTI)] == [
        f"items/{item.id}.xml" for item in bank.items
    ]


def marks(root, chosen: str) -> tuple[float, str]:
    """Go through the response processing of an item as an assessment engine does: (score, feedback shown)."""
    values = {"RESPONSE": chosen}
    right = root.find("q:responseDeclaration/q:correctResponse/q:value", QTI).text

    def value(element):
        kind = element.tag.split("}")[1]
        return {"variable": lambda: values[element.get("identifier")], "correct": lambda: right,
                "baseValue": lambda: float(element.text)}[kind]()  # fmt: skip

    for step in root.find("q:responseProcessing", QTI):
        if step.tag.endswith("responseCondition"):
            then, otherwise = step
            a, b = then.find("q:match", QTI)
            for assignment in (then if value(a) == value(b) else otherwise).iterfind("q:setOutcomeValue", QTI):
                values[assignment.get("identifier")] = value(assignment[0])
        else:
            values[step.get("identifier")] = value(step[0])
    shown = [f for f in root.iterfind("q:modalFeedback", QTI) if f.get("identifier") == values["FEEDBACK"]]
    return values["SCORE"], inner(shown[0])


def test_a_qti_item_gives_one_mark_for_the_right_option_and_shows_its_feedback():
    item = ITEMS[0]
    root = ET.fromstring(quiz.qti_item(item))
    for letter, option in zip(quiz.LETTERS, item.options, strict=False):
        assert marks(root, letter) == (float(option.right), normal(quiz.as_html(option.feedback)))


def test_exports_are_the_same_bytes_every_time():
    assert quiz.qti(BANKS[0]) == quiz.qti(quiz.load(FILES[0]))
    assert quiz.gift(BANKS, "x") == quiz.gift([quiz.load(path) for path in FILES], "x")


# --- on a page -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bank", BANKS, ids=name)
def test_a_page_shows_every_option_and_opens_to_its_feedback(bank):
    root = ET.fromstring(f"<page>{quiz.page(bank)}</page>")
    for item in bank.items:
        box = root.find(f".//div[@id='{item.id}']")
        folds = box.findall("details")
        assert len(folds) == len(item.options)
        for fold, letter, option in zip(folds, quiz.LETTERS, item.options, strict=False):
            assert "".join(fold.find("summary").itertext()).startswith(f"{letter}. ")
            said = "".join("".join(e.itertext()) for e in fold if e.tag != "summary")
            assert said == "".join(normal_text(quiz.as_html(option.feedback)))


def normal_text(text: str) -> str:
    return "".join(ET.fromstring(f"<x>{text}</x>").itertext())

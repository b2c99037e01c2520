"""The bank of quiz questions: read, checked, and written out for learning platforms.

One file per chapter, ``book/teach/quiz/<chapter>.yml``. An item has

- ``id``, the chapter's name and a number;
- ``difficulty``: 1 recall, 2 apply, 3 transfer;
- ``objective``: one of the verbs under "You will learn to" of the chapter;
- ``question``, in Markdown with ``$mathematics$``;
- ``options``, each with ``text`` and ``feedback``, exactly one of them with ``right: true``;
- ``check``, if the answer can be computed: Python that asserts it. The tests run it.

The same items become a page of the book, a file in Moodle's GIFT format and a package in the format QTI 2.1.
Mathematics is written ``\\( \\)`` there, which platforms with MathJax show.
"""

from __future__ import annotations

import html
import io
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

LETTERS = "ABCDEF"
DIFFICULTIES = {1: "recall", 2: "apply", 3: "transfer"}
FEWEST_ITEMS = 10


@dataclass(frozen=True)
class Option:
    text: str
    feedback: str
    right: bool


@dataclass(frozen=True)
class Item:
    id: str
    difficulty: int
    objective: str
    question: str
    options: tuple[Option, ...]
    check: str


@dataclass(frozen=True)
class Bank:
    chapter: str
    title: str
    items: tuple[Item, ...]


# --- reading ---------------------------------------------------------------------------------------------------------


def load(path: Path) -> Bank:
    """Read one file of the bank, or raise ``ValueError`` that lists all that is wrong with it."""
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    if found := problems(data, path.stem):
        raise ValueError(f"{path.name}: " + "; ".join(found))
    items = tuple(
        Item(
            item["id"],
            item["difficulty"],
            item["objective"],
            item["question"].strip(),
            tuple(
                Option(option["text"].strip(), option["feedback"].strip(), option.get("right", False))
                for option in item["options"]
            ),
            item.get("check", ""),
        )
        for item in data["items"]
    )
    return Bank(data["chapter"], data["title"], items)


def problems(data, chapter: str) -> list[str]:
    """What is wrong with the contents of one file; nothing if it can be used."""
    if not isinstance(data, dict) or set(data) != {"chapter", "title", "items"}:
        return ["a bank must have exactly chapter, title and items"]
    found = []
    if data["chapter"] != chapter:
        found.append(f"chapter must be the name of the file, {chapter!r}; got {data['chapter']!r}")
    if not is_words(data["title"]):
        found.append("title must be words")
    items = data["items"] if isinstance(data["items"], list) else []
    if len(items) < FEWEST_ITEMS:
        found.append(f"a bank must have at least {FEWEST_ITEMS} items; got {len(items)}")
    ids = [item.get("id") for item in items if isinstance(item, dict)]
    expected = [f"{chapter}-{number:02d}" for number in range(1, len(items) + 1)]
    if ids != expected:
        found.append(f"ids must run from {chapter}-01 without a gap; got {ids}")
    questions = [str(item.get("question")).strip() for item in items if isinstance(item, dict)]
    found += [f"two items ask {question!r}" for question in questions if questions.count(question) > 1]
    for number, item in enumerate(items, start=1):
        found += [f"item {number}: {problem}" for problem in problems_of_item(item)]
    return found


def problems_of_item(item) -> list[str]:
    needed = {"id", "difficulty", "objective", "question", "options"}
    if not isinstance(item, dict) or not needed <= set(item) <= needed | {"check"}:
        return [f"must have {', '.join(sorted(needed))}, perhaps check, and nothing else"]
    found = []
    if item["difficulty"] not in DIFFICULTIES or isinstance(item["difficulty"], bool):
        found.append(f"difficulty must be 1, 2 or 3; got {item['difficulty']!r}")
    if not re.fullmatch(r"[a-z]+", str(item["objective"])):
        found.append(f"objective must be one verb in small letters; got {item['objective']!r}")
    if not is_words(item["question"]):
        found.append("question must be words")
    if not is_words(item.get("check", "assert")):
        found.append("check must be Python")
    options = item["options"]
    if not isinstance(options, list) or not 3 <= len(options) <= len(LETTERS):
        return [*found, "options must be a list of 3 to 6"]
    for option in options:
        keys = set(option) if isinstance(option, dict) else set()
        if not {"text", "feedback"} <= keys <= {"text", "feedback", "right"}:
            return [*found, "an option must have text and feedback, perhaps right, and nothing else"]
        if not is_words(option["text"]) or not is_words(option["feedback"]) or len(option["feedback"].split()) < 3:
            found.append(f"option {option['text']!r} must have words, and feedback of at least three")
        if option.get("right", True) is not True:
            found.append(f"right must be true or left out; got {option['right']!r}")
    if sum(option.get("right", False) is True for option in options) != 1:
        found.append("exactly one option must be right")
    if len({str(option["text"]).strip() for option in options}) < len(options):
        found.append("two options say the same")
    return found


def is_words(text) -> bool:
    return isinstance(text, str) and bool(text.strip())


# --- Markdown to HTML ------------------------------------------------------------------------------------------------


def renderer(before: str = r"\(", after: str = r"\)") -> MarkdownIt:
    """Markdown to HTML that is also XML; mathematics goes between ``before`` and ``after``."""
    markdown = MarkdownIt("commonmark", {"xhtmlOut": True, "html": False}).use(dollarmath_plugin)

    def mathematics(self, tokens, index, options, env):
        return before + html.escape(tokens[index].content.strip(), quote=False) + after

    markdown.add_render_rule("math_inline", mathematics)
    return markdown


PLAIN = renderer()
ON_A_PAGE = renderer(r'<span class="math notranslate nohighlight">\(', r"\)</span>")


def as_html(text: str, markdown: MarkdownIt = PLAIN) -> str:
    """Markdown as one line of HTML."""
    return " ".join(markdown.render(text).split("\n")).strip()


def as_phrase(text: str, markdown: MarkdownIt = PLAIN) -> str:
    """Markdown of a single paragraph as HTML without the paragraph."""
    return " ".join(markdown.renderInline(text).split("\n")).strip()


# --- a page of the book ----------------------------------------------------------------------------------------------


def page(bank: Bank) -> str:
    """All items of a chapter as HTML: questions, with options that open to their feedback."""
    return "\n".join(item_on_a_page(item, number) for number, item in enumerate(bank.items, start=1))


def item_on_a_page(item: Item, number: int) -> str:
    options = "\n".join(
        f"<details><summary>{letter}. {as_phrase(option.text, ON_A_PAGE)}</summary>\n"
        f"{as_html(option.feedback, ON_A_PAGE)}</details>"
        for letter, option in zip(LETTERS, item.options, strict=False)
    )
    return (
        f'<div class="quiz-item" id="{item.id}">\n{as_html(f"**{number}.** {item.question}", ON_A_PAGE)}\n{options}\n'
        f'<p class="quiz-facts"><small>{item.id}, {DIFFICULTIES[item.difficulty]}, '
        f"objective: {item.objective}</small></p>\n</div>"
    )


# --- GIFT, the text format of Moodle ---------------------------------------------------------------------------------


def gift(banks: list[Bank], course: str) -> str:
    """The banks as one text in the GIFT format, a category for each chapter."""
    parts = []
    for bank in banks:
        parts.append(f"$CATEGORY: $course$/{category(course)}/{category(bank.title)}")
        parts += [gift_item(item) for item in bank.items]
    return "\n\n".join(parts) + "\n"


def gift_item(item: Item) -> str:
    options = "\n".join(
        f"{'=' if option.right else '~'}{escaped(as_html(option.text))}#{escaped(as_html(option.feedback))}"
        for option in item.options
    )
    comment = f"// {DIFFICULTIES[item.difficulty]}, objective: {item.objective}"
    return f"{comment}\n::{item.id}::[html]{escaped(as_html(item.question))}{{\n{options}\n}}"


def escaped(text: str) -> str:
    """What GIFT would take for its own signs gets a backslash before it, and so does the backslash."""
    return re.sub(r"([\\~=#{}:])", r"\\\1", text)


def category(name: str) -> str:
    return name.replace("/", "//")  # a single stroke would open a category within the category


# --- QTI 2.1 ---------------------------------------------------------------------------------------------------------

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
START = '<?xml version="1.0" encoding="UTF-8"?>\n'


def qti(bank: Bank) -> bytes:
    """A chapter as a content package: every item, a test of all of them, and the manifest. The same bytes each time."""
    files = {"imsmanifest.xml": qti_manifest(bank), "test.xml": qti_test(bank)}
    files |= {f"items/{item.id}.xml": qti_item(item) for item in bank.items}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))  # else no two packages would be equal
            entry.compress_type = zipfile.ZIP_DEFLATED
            package.writestr(entry, text.encode("utf-8"))
    return buffer.getvalue()


def qti_item(item: Item) -> str:
    lettered = list(zip(LETTERS, item.options, strict=False))
    right = next(letter for letter, option in lettered if option.right)
    choices = "\n".join(
        f'      <simpleChoice identifier="{letter}">{as_html(option.text)}</simpleChoice>'
        for letter, option in lettered
    )
    feedback = "\n".join(
        f'  <modalFeedback outcomeIdentifier="FEEDBACK" identifier="{letter}" showHide="show">'
        f"{as_html(option.feedback)}</modalFeedback>"
        for letter, option in lettered
    )
    facts = f"{DIFFICULTIES[item.difficulty]}, objective: {item.objective}"
    return f"""{START}<assessmentItem xmlns="{QTI}" identifier="{item.id}" title="{item.id}" label="{facts}"
    adaptive="false" timeDependent="false" xml:lang="en">
  <responseDeclaration identifier="RESPONSE" cardinality="single" baseType="identifier">
    <correctResponse><value>{right}</value></correctResponse>
  </responseDeclaration>
  <outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">
    <defaultValue><value>0</value></defaultValue>
  </outcomeDeclaration>
  <outcomeDeclaration identifier="MAXSCORE" cardinality="single" baseType="float">
    <defaultValue><value>1</value></defaultValue>
  </outcomeDeclaration>
  <outcomeDeclaration identifier="FEEDBACK" cardinality="single" baseType="identifier"/>
  <itemBody>
    <div>{as_html(item.question)}</div>
    <choiceInteraction responseIdentifier="RESPONSE" shuffle="true" maxChoices="1">
{choices}
    </choiceInteraction>
  </itemBody>
  <responseProcessing>
    <responseCondition>
      <responseIf>
        <match><variable identifier="RESPONSE"/><correct identifier="RESPONSE"/></match>
        <setOutcomeValue identifier="SCORE"><baseValue baseType="float">1</baseValue></setOutcomeValue>
      </responseIf>
      <responseElse>
        <setOutcomeValue identifier="SCORE"><baseValue baseType="float">0</baseValue></setOutcomeValue>
      </responseElse>
    </responseCondition>
    <setOutcomeValue identifier="FEEDBACK"><variable identifier="RESPONSE"/></setOutcomeValue>
  </responseProcessing>
{feedback}
</assessmentItem>
"""


def qti_test(bank: Bank) -> str:
    references = "\n".join(
        f'      <assessmentItemRef identifier="{item.id}" href="items/{item.id}.xml"/>' for item in bank.items
    )
    title = html.escape(bank.title)
    return f"""{START}<assessmentTest xmlns="{QTI}" identifier="{bank.chapter}" title="{title}">
  <testPart identifier="part" navigationMode="nonlinear" submissionMode="individual">
    <assessmentSection identifier="section" title="{title}" visible="true">
{references}
    </assessmentSection>
  </testPart>
</assessmentTest>
"""


def qti_manifest(bank: Bank) -> str:
    dependencies = "\n".join(f'      <dependency identifierref="r-{item.id}"/>' for item in bank.items)
    resources = "\n".join(
        f'    <resource identifier="r-{item.id}" type="imsqti_item_xmlv2p1" href="items/{item.id}.xml">'
        f'<file href="items/{item.id}.xml"/></resource>'
        for item in bank.items
    )
    return f"""{START}<manifest xmlns="{PACKAGE}" identifier="pavlov-{bank.chapter}">
  <metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion></metadata>
  <organizations/>
  <resources>
    <resource identifier="r-test" type="imsqti_test_xmlv2p1" href="test.xml">
      <file href="test.xml"/>
{dependencies}
    </resource>
{resources}
  </resources>
</manifest>
"""

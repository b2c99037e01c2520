"""Every claim is stated, explained, and measured wherever it can be; the page of the library leaves nothing out."""

import re
import tomllib
from pathlib import Path

import nbformat
import pytest

import pavlov_lib
from pavlov_lib.reference import claims_table, verdict_of

BOOK = Path(__file__).resolve().parents[2] / "book"
CLAIMS = tomllib.loads((BOOK / "data" / "claims.toml").read_text(encoding="utf-8"))
# Chapters that are not written yet. What only they can show is not demanded. Empty when the book is whole.
UNWRITTEN: set[str] = set()


def sources(chapter: str, kind: str) -> str:
    notebook = nbformat.read(BOOK / f"{chapter}.ipynb", as_version=4)
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == kind)


def written(claim: str) -> list[str]:
    return [chapter for chapter in CLAIMS[claim]["chapters"] if chapter not in UNWRITTEN]


def test_all_24_claims_are_stated_in_order():
    assert list(CLAIMS) == [f"C{i}" for i in range(1, 25)]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_is_measured_in_each_of_its_chapters_or_explained_there(claim):
    explained = CLAIMS[claim].get("explained", {})
    for chapter in written(claim):
        measured = f'"{claim}"' in sources(chapter, "code")
        phrase = explained.get(chapter)
        assert measured or phrase, f"{chapter} must measure {claim}, or claims.toml say where it explains it"
        if phrase:
            assert phrase in sources(chapter, "markdown"), f"{chapter} no longer says {phrase!r}"


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_without_an_argument_has_a_measurement(claim):
    if set(CLAIMS[claim]["chapters"]) <= UNWRITTEN:
        pytest.skip("its chapter is not written yet")
    lines = claims_table().query("claim == @claim")
    assert CLAIMS[claim].get("argument") or (lines.quantity != "").any()
    assert verdict_of(lines) != "open"


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_is_measured_only_where_the_page_says(claim):
    for path in BOOK.glob("*.ipynb"):
        if re.search(rf'check_claim\(\s*"{claim}"', sources(path.stem, "code")):
            assert path.stem in CLAIMS[claim]["chapters"]


def test_the_page_of_the_library_shows_every_public_module():
    page = (BOOK / "api.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"automodule:: pavlov_lib\.(\w+)", page))
    folder = Path(pavlov_lib.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    inner = {"checks", "sweeps"}  # they serve the library and its command line only
    assert shown == {name for name in modules if not name.startswith("__")} - inner

"""The printed book: one file with bookmarks and nothing cut off; the cheat sheet: one page with computed numbers."""

import math
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "book" / "_ext")]

import pavlov_takeaway  # noqa: E402
import pdf  # noqa: E402

from pavlov_lib.experiments import run_capacity  # noqa: E402

CHOSEN = [("Start here", ["book/story"]), ("One memory", ["book/hebbian"])]


@pytest.fixture(scope="module")
def printed(site, browser, tmp_path_factory):
    path = tmp_path_factory.mktemp("pdf") / "book.pdf"
    pages, cut = pdf.make_book(browser, site, CHOSEN, path)
    return PdfReader(path), pages, cut


def test_the_printed_book_has_bookmarks_contents_and_nothing_wider_than_the_paper(printed):
    reader, pages, cut = printed
    assert cut == [] and pages == len(reader.pages) > 5
    marks = [mark for mark in flat(reader.outline) if "Hebb" in mark.title]
    first = reader.get_destination_page_number(marks[0]) + 1
    contents = reader.pages[1].extract_text()
    assert str(first) in contents.split("Hebb")[1], "the list of contents names the page on which the chapter begins"
    assert "Hebb" in reader.pages[first - 1].extract_text()
    assert reader.metadata.title == pdf.TITLE and "CC BY 4.0" in reader.metadata.subject
    assert reader.trailer["/Root"]["/Lang"] == "en" and "/StructTreeRoot" in reader.trailer["/Root"], "tagged"
    assert all(math.isclose(float(page.mediabox.width), 595, abs_tol=1.5) for page in reader.pages), "A4"


def flat(outline):
    return [leaf for mark in outline for leaf in (flat(mark) if isinstance(mark, list) else [mark])]


def test_what_is_folded_on_the_page_is_open_on_paper(site, printed):
    reader, _, _ = printed
    text = "".join("".join(page.extract_text().split()) for page in reader.pages)
    folds = pdf.soup_of(site / "book" / "hebbian.html").select("article details:not(.hide)")
    words = ["".join(fold.find_all("p")[-1].get_text().split())[-30:] for fold in folds if fold.find("p")]
    plain = [word for word in words if word.isascii() and "\\" not in word]  # mathematics is set in its own letters
    assert len(plain) >= 3 and [word for word in plain if word not in text] == []


def test_a_line_that_is_too_wide_is_reported(site, browser, tmp_path):
    table = "<table style='max-width:none!important'><tr><td style='min-width:2000px'>x</td></tr></table></article>"
    wide = pdf.document(site, [("", ["book/story"])]).replace("</article>", table)
    assert any("TABLE" in cut for cut in pdf.printed(browser, wide, tmp_path / "wide.pdf"))


def test_the_cheat_sheet_is_one_page(site, browser, tmp_path):
    assert pdf.make_sheet(browser, site, tmp_path / "sheet.pdf") == 1
    text = PdfReader(tmp_path / "sheet.pdf").pages[0].extract_text()
    assert "Symbols" in text and all(value in text for _, value in pavlov_takeaway.numbers())


def test_the_numbers_of_the_cheat_sheet_are_what_simulation_gives():
    said = dict(pavlov_takeaway.numbers())
    table = run_capacity(dims=[64], loads=[0.25, 1, 4], trials=60, seed=3)
    for value, row in zip(said["fidelity at load 1/4, 1, 4"].split(", "), table.itertuples(), strict=True):
        # the closed form is within 0.01 from d_k = 32 on; the value is rounded to 0.005
        assert abs(float(value) - row.fidelity) < 0.015 + 3 * row.fidelity_se


def test_rules_of_the_cheat_sheet_run_and_are_the_library_s():
    import numpy as np

    from pavlov_lib import RULES

    rows = [line.split("|") for line in (ROOT / "book" / "cheatsheet.md").read_text(encoding="utf-8").splitlines()]
    lines = {
        row[1].strip(" *"): row[3].strip(" `") for row in rows if len(row) > 5 and row[3].strip().startswith("`S =")
    }
    rng = np.random.default_rng(0)
    S, k, v = rng.standard_normal((3, 4)), rng.standard_normal(4), rng.standard_normal(3)
    for name, rule in {"Hebb": "hebbian", "delta": "delta", "Oja": "oja"}.items():
        names = {"S": S, "k": k, "v": v, "η": 0.3, "γ": 1.0, "np": np}
        exec(lines[name], names)
        # the same sums in another order: rounding only
        np.testing.assert_allclose(names["S"], RULES[rule].write(S, k, v, rate=0.3), rtol=1e-12, atol=1e-14)


def test_wrong_calls_end_with_2_and_one_line(site, tmp_path, monkeypatch, capsys):
    assert pdf.main(["nowhere", "--site", str(site)]) == 2
    assert pdf.main(["--site", str(tmp_path)]) == 2
    monkeypatch.delenv("PAVLOV_BROWSER", raising=False)
    monkeypatch.setattr(pdf, "browser_path", lambda: None)
    assert pdf.main(["story", "--site", str(site), "--output", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3 and "no Chromium" in lines[2] and not list(tmp_path.iterdir())

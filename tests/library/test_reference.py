"""The checks behind the book's numbers: they pass what agrees, and they can fail."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from pavlov_lib import reference
from pavlov_lib.reference import check_claim, check_figure, claims_table, self_check, verdict_of, write_whole


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A data folder of its own, with a tolerance and no numbers yet."""
    (tmp_path / "tolerances.toml").write_text("[growth]\nrelative = 1e-3\nabsolute = 1e-6\n")
    monkeypatch.setattr(reference, "data_folder", lambda: tmp_path)
    monkeypatch.delenv(reference.UPDATE, raising=False)
    return tmp_path


@pytest.fixture
def updating(monkeypatch):
    monkeypatch.setenv(reference.UPDATE, "1")


def numbers():
    return pd.DataFrame(
        {"rule": ["delta", "delta", "oja"], "n": [1, 2, 2], "norm": [1.0, 1 / 3, 0.0], "norm_se": [0.1, np.nan, 1e-9]}
    )


@pytest.fixture
def stored(book, monkeypatch):
    """A data folder that holds the numbers as an update wrote them."""
    with monkeypatch.context() as m:
        m.setenv(reference.UPDATE, "1")
        check_figure("growth", numbers())
    return book


# --- figures ---------------------------------------------------------------------------------------------------------


def test_equal_numbers_agree_and_one_line_says_so(stored, capsys):
    capsys.readouterr()
    check_figure("growth", numbers())
    expected = "growth: 3 rows × 4 columns agree with the reference (relative 0.001, absolute 1e-06)\n"
    assert capsys.readouterr().out == expected


def test_an_index_is_no_part_of_the_numbers(stored):
    check_figure("growth", numbers().set_index(pd.Index([7, 8, 9])))


@pytest.mark.parametrize("column", ["norm", "norm_se"])
@pytest.mark.parametrize(("factor", "passes"), [(1 + 9e-4, True), (1 - 9e-4, True), (1.002, False), (0.998, False)])
def test_a_number_may_move_within_the_relative_tolerance_and_no_further(stored, column, factor, passes):
    table = numbers()
    table.loc[0, column] *= factor
    if passes:
        check_figure("growth", table)
    else:
        with pytest.raises(AssertionError, match="1 of 3 rows differ"):
            check_figure("growth", table)


@pytest.mark.parametrize(("value", "passes"), [(9e-7, True), (-9e-7, True), (1.1e-6, False)])
def test_near_zero_the_absolute_tolerance_decides(stored, value, passes):
    table = numbers()
    table.loc[2, "norm"] = value
    if passes:
        check_figure("growth", table)
    else:
        with pytest.raises(AssertionError):
            check_figure("growth", table)


def test_the_error_names_the_rows_that_differ_and_shows_both_sides(stored):
    table = numbers()
    table.loc[1, "norm"] = 0.7
    with pytest.raises(AssertionError) as failure:
        check_figure("growth", table)
    told = str(failure.value)
    assert "growth: 1 of 3 rows differ" in told
    now, then = told.split("reference:\n")
    assert re.search(r"^1 +delta +2 +0\.70* ", now, re.M) and re.search(r"^1 +delta +2 +0\.3333", then, re.M)
    assert not re.search(r"^[02] ", told, re.M)  # the rows that agree are left out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(rule=["delta", "oja", "oja"]), "1 of 3 rows"),
        (lambda t: t.assign(n=[1, 2, 3]), "1 of 3 rows"),
        (lambda t: t.assign(n=[1.0, 2.0, 2.5]), "1 of 3 rows"),  # a whole number is not rounded to fit
        (lambda t: t.assign(n=["1", "2", "2"]), "3 of 3 rows"),
        (lambda t: t.assign(norm=["a", "b", "c"]), "3 of 3 rows"),
        (lambda t: t.assign(norm=[np.nan, 1 / 3, 0.0]), "1 of 3 rows"),
        (lambda t: t.assign(norm_se=[0.1, 0.2, 1e-9]), "1 of 3 rows"),
        (lambda t: t.assign(norm=[np.inf, 1 / 3, 0.0]), "1 of 3 rows"),
        (lambda t: t.iloc[:2], "2 rows; the reference has 3"),
        (lambda t: t.iloc[[1, 0, 2]], "2 of 3 rows"),
        (lambda t: t.rename(columns={"norm": "size"}), "columns are"),
        (lambda t: t[["n", "rule", "norm", "norm_se"]], "columns are"),
        (lambda t: t.assign(more=1), "columns are"),
    ],
)
def test_any_other_change_is_noticed(stored, change, message):
    with pytest.raises(AssertionError, match=message):
        check_figure("growth", change(numbers()))


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("../growth", numbers(), "name must be"),
        ("", numbers(), "name must be"),
        ("Growth", numbers(), "name must be"),
        ("growth", numbers().iloc[:0], "at least one row"),
        ("growth", [1, 2], "must be a DataFrame"),
        ("unknown", numbers(), "must state a tolerance for 'unknown'; got growth"),
        ("growth", numbers(), "must hold a reference growth.csv"),
    ],
)
def test_unknown_names_and_empty_tables_are_refused(book, name, table, message):
    with pytest.raises(ValueError, match=message):
        check_figure(name, table)


def test_without_the_update_nothing_is_written(stored):
    before = {path.name: path.read_bytes() for path in stored.iterdir()}
    table = numbers()
    table.loc[0, "norm"] = 5
    with pytest.raises(AssertionError):
        check_figure("growth", table)
    assert {path.name: path.read_bytes() for path in stored.iterdir()} == before


@pytest.mark.parametrize("setting", ["0", "", "true"])
def test_only_the_exact_setting_updates(book, monkeypatch, setting):
    monkeypatch.setenv(reference.UPDATE, setting)
    with pytest.raises(ValueError, match="must hold a reference"):
        check_figure("growth", numbers())


def test_an_update_keeps_every_digit_and_leaves_no_scraps(book, updating):
    table = pd.DataFrame({"x": np.random.default_rng(0).standard_normal(50) * 10.0 ** np.arange(-25, 25)})
    check_figure("growth", table)
    np.testing.assert_array_equal(pd.read_csv(book / "growth.csv").x, table.x)
    assert sorted(path.name for path in book.iterdir()) == ["growth.csv", "tolerances.toml"]


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "numbers.csv"
    write_whole(path, "old\n")

    def full_disk(self, *args, **kwargs):
        self.touch()
        raise OSError("no space left")

    with monkeypatch.context() as m:
        m.setattr(type(path), "write_bytes", full_disk)
        with pytest.raises(OSError, match="no space"):
            write_whole(path, "new\n")
    assert path.read_text() == "old\n"
    write_whole(path, "new\n")
    assert path.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [path]


# --- claims ----------------------------------------------------------------------------------------------------------


def claim(**changes):
    line = {"claim": "C6", "quantity": "slope (d_k)", "predicted": 0.23457, "measured": 0.2361, "se": 0.001}
    return check_claim(**(line | {"holds": True} | changes))


def test_a_claim_prints_prediction_measurement_and_verdict(book, updating, capsys):
    claim()
    assert capsys.readouterr().out == "C6 holds: slope (d_k), predicted 0.2346, measured 0.2361 ± 0.001\n"


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "holds"),
        ({"condition": "keys are random"}, "holds if keys are random"),
        ({"holds": False}, "not seen here"),
        ({"holds": False, "condition": "keys are random"}, "not seen here"),
    ],
)
def test_the_verdict_follows_from_what_was_computed(book, updating, changes, verdict):
    claim(**changes)
    line = json.loads((book / "claims" / "C6-slope-d-k.json").read_text())
    assert line["verdict"] == verdict
    assert line["verdict"].startswith(reference.VERDICTS)


@pytest.mark.parametrize(
    ("measured", "se", "shown"),
    [
        (0.236123, 0.00097, "0.23612 ± 0.00097"),
        (0.236123, 0.03, "0.236 ± 0.03"),
        (173.26, 12.0, "173 ± 12"),
        (0.5, None, "0.5"),
        (1 / 3, None, "0.333"),
        (0.0, 0.0, "0 ± 0"),
        ("below 1e-12", None, "below 1e-12"),
    ],
)
def test_a_measurement_is_shown_to_the_second_digit_of_its_uncertainty(book, updating, measured, se, shown):
    claim(measured=measured, se=se)
    assert json.loads((book / "claims" / "C6-slope-d-k.json").read_text())["measured"] == shown


@pytest.mark.parametrize(
    "changes",
    [
        {"measured": 0.2375},
        {"predicted": 0.2347},
        {"se": 0.002},
        {"holds": False},
        {"condition": "x"},
        {"quantity": "Slope (d_k)"},
    ],
)
def test_a_claim_line_that_changed_is_noticed(book, monkeypatch, changes):
    with monkeypatch.context() as m:
        m.setenv(reference.UPDATE, "1")
        claim()
    claim()  # the same line passes
    with pytest.raises(AssertionError, match="C6 differs from the reference"):
        claim(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"claim": "C0"}, "C1 to C24"),
        ({"claim": "C25"}, "C1 to C24"),
        ({"claim": "C06"}, "C1 to C24"),
        ({"claim": "c6"}, "C1 to C24"),
        ({"measured": float("nan")}, "measured must be"),
        ({"predicted": float("inf")}, "predicted must be"),
        ({"se": -0.1}, "se must be"),
        ({}, "must hold a reference C6-slope-d-k.json"),
    ],
)
def test_a_claim_that_cannot_be_kept_is_refused(book, changes, message):
    with pytest.raises(ValueError, match=message):
        claim(**changes)
    assert not (book / "claims").exists()


def rows(*verdicts, argument=""):
    return pd.DataFrame({"verdict": verdicts, "argument": argument})


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "holds if a", "holds if b", "holds if a"], "holds if a; if b"),
        (["holds", "not seen here", "holds if a"], "holds in part: 2 of 3 measurements"),
        (["not seen here"], "not seen here"),
        (["not seen here", "not seen here"], "not seen here"),
        (["explained"], "explained"),
        (["open"], "open"),
    ],
)
def test_the_verdict_on_a_claim_sums_up_its_lines(verdicts, expected):
    assert verdict_of(rows(*verdicts)) == expected


def test_the_table_of_claims_has_every_claim_and_every_line(book, updating):
    (book / "claims.toml").write_text(
        '[C6]\nsays = "s"\nchapters = ["capacity"]\n'
        '[C7]\nsays = "t"\nchapters = ["capacity"]\n'
        '[C1]\nsays = "u"\nchapters = ["mapping"]\nargument = "a"\n'
    )
    claim(), claim(quantity="another")
    table = claims_table()
    assert table.claim.tolist() == ["C6", "C6", "C7", "C1"]
    assert table.quantity.tolist() == ["another", "slope (d_k)", "", ""]
    assert table.verdict.tolist() == ["holds", "holds", "open", "explained"]
    claim(claim="C24")
    with pytest.raises(ValueError, match="must belong to one of C6, C7, C1; got C24"):
        claims_table()


def test_an_installed_library_finds_its_own_copy_of_the_numbers(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "pavlov_lib"
    package.mkdir(parents=True)
    monkeypatch.setattr(reference, "__file__", str(package / "reference.py"))
    assert reference.data_folder() == package / "data"
    checkout = tmp_path / "site-packages" / "book" / "data"
    checkout.mkdir(parents=True)
    assert reference.data_folder() == checkout


# --- exercises -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "expected", "said"),
    [
        (..., 2.0, "Not answered yet"),
        (2.0, 2.0, "Right."),
        (2.0005, 2.0, "Right."),
        (2.01, 2.0, "Not yet"),
        ([1, 2], np.array([1.0, 2.0]), "Right."),
        ([1, 2, 3], np.array([1.0, 2.0]), "Not yet"),
        (2.0, np.array([2.0, 2.0]), "Not yet"),  # one number is not a list of them
        ("two", 2.0, "Not yet"),
        ("delta", "delta", "Right."),
        (None, 2.0, "Not yet"),
        (float("nan"), 2.0, "Not yet"),
    ],
)
def test_self_check_tells_right_from_open_and_from_wrong(capsys, answer, expected, said):
    self_check(answer, expected)
    assert capsys.readouterr().out.startswith(said)

"""Compare what a notebook has just computed with the reference numbers behind the book.

The reference numbers live in ``book/data`` (a copy travels inside an installed library):
one CSV per figure, one JSON per claim, and ``tolerances.toml``, which says how close is close enough and why.
They are written only while the environment variable ``PAVLOV_UPDATE_REFERENCE`` is ``1``: ``make notebooks`` sets it.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd

from . import checks

UPDATE = "PAVLOV_UPDATE_REFERENCE"
VERDICTS = ("holds", "holds if", "not seen here")


def data_folder() -> Path:
    """Where the reference numbers are: ``book/data`` of a checkout, or the copy inside an installed library."""
    package = Path(__file__).parent
    checkout = package.parent / "book" / "data"
    return checkout if checkout.is_dir() else package / "data"


def check_figure(name: str, table: pd.DataFrame) -> None:
    """Print one line if the numbers behind a figure agree with the reference; raise if they do not.

    Text and whole numbers must be equal; other numbers must agree within the tolerance that
    ``book/data/tolerances.toml`` states for ``name``.

    Parameters
    ----------
    name : str
        Name of the figure, and of its file ``book/data/<name>.csv``.
    table : pandas.DataFrame

    Raises
    ------
    ValueError
        If the name is no plain word, the table is empty, or the book holds no reference or no tolerance of that name.
    AssertionError
        If columns, rows or numbers differ; the message names the rows.

    Examples
    --------
    >>> from pavlov_lib.experiments import run_worst_case
    >>> check_figure("worst_case", run_worst_case())
    worst_case: 7 rows × 4 columns agree with the reference (relative 1e-06, absolute 1e-09)
    """
    if not re.fullmatch(r"[a-z0-9_]+", str(name)):
        raise ValueError(f"name must be small letters, digits and _; got {name!r}")
    if not isinstance(table, pd.DataFrame) or table.empty:
        raise ValueError(f"table must be a DataFrame with at least one row; got {type(table).__name__} without rows")
    tolerances = tomllib.loads((data_folder() / "tolerances.toml").read_text(encoding="utf-8"))
    if name not in tolerances:
        raise ValueError(f"tolerances.toml must state a tolerance for {name!r}; got {', '.join(tolerances)}")
    tolerance = tolerances[name]
    path = data_folder() / f"{name}.csv"
    if os.environ.get(UPDATE) == "1":
        write_whole(path, table.to_csv(index=False))
    if not path.exists():
        raise ValueError(f"the book must hold a reference {path.name}; got none")
    reference = pd.read_csv(path)
    _compare(name, table.reset_index(drop=True), reference, tolerance["relative"], tolerance["absolute"])
    print(
        f"{name}: {len(table)} rows × {len(table.columns)} columns agree with the reference "
        f"(relative {tolerance['relative']:g}, absolute {tolerance['absolute']:g})"
    )


def check_claim(
    claim: str, quantity: str, *, predicted, measured, se: float | None = None, holds: bool,
    condition: str | None = None,
) -> None:  # fmt: skip
    """Print prediction, measurement and verdict of one claim, and compare them with the reference.

    The page of claims is made from these lines.

    Parameters
    ----------
    claim : str
        Id, such as ``"C6"``.
    quantity : str
        What was measured, in a few words.
    predicted : float or str
        The number that theory gives, or words for an inequality (``"below 0.01"``).
    measured : float or str
        The number, or words where only the order of rounding errors was measured (``"below 1e-12"``).
    se : float, optional
        Standard error of the measurement.
    holds : bool
        Whether the measurement bears the claim out: computed, not typed.
    condition : str, optional
        What the claim needs in order to hold, if it does not hold as it stands.

    Raises
    ------
    ValueError
        If the id has another form, a number is not finite, or the book holds no reference for this line.
    AssertionError
        If the line differs from the reference.
    """
    if not re.fullmatch(r"C([1-9]|1\d|2[0-4])", str(claim)):
        raise ValueError(f"claim must be one of C1 to C24; got {claim!r}")
    if not isinstance(measured, str):
        uncertainty = "" if se is None else f" ± {checks.number('se', se, 0):.2g}"
        measured = f"{checks.number('measured', measured):.{_digits(measured, se)}g}{uncertainty}"
    line = {
        "claim": claim,
        "quantity": quantity,
        "predicted": predicted if isinstance(predicted, str) else f"{checks.number('predicted', predicted):.4g}",
        "measured": measured,
        "verdict": "not seen here" if not holds else f"holds if {condition}" if condition else "holds",
    }
    slug = re.sub(r"[^a-z0-9]+", "-", quantity.lower()).strip("-")
    path = data_folder() / "claims" / f"{claim}-{slug}.json"
    if os.environ.get(UPDATE) == "1":
        path.parent.mkdir(exist_ok=True)
        write_whole(path, json.dumps(line, ensure_ascii=False, indent=1) + "\n")
    if not path.exists():
        raise ValueError(f"the book must hold a reference {path.name}; got none")
    reference = json.loads(path.read_text(encoding="utf-8"))
    if line != reference:
        raise AssertionError(f"{claim} differs from the reference.\n now: {line}\n reference: {reference}")
    print(f"{claim} {line['verdict']}: {quantity}, predicted {line['predicted']}, measured {line['measured']}")


def claims_table() -> pd.DataFrame:
    """Every claim of the book with what was measured about it: the page of claims in numbers.

    Returns
    -------
    pandas.DataFrame
        One row per line that :func:`check_claim` keeps, in the order of the claims; a claim without any line has one
        row with empty ``quantity``, ``predicted`` and ``measured``. Further columns: ``claim``, ``says`` (the claim in
        the book's words), ``chapters`` (a list), ``argument`` (for a reading that no number decides, else empty) and
        ``verdict``: that of the line; without a line ``"explained"`` where there is an argument, else ``"open"``.

    Raises
    ------
    ValueError
        If a line belongs to no claim.

    Examples
    --------
    >>> table = claims_table()
    >>> table.claim.nunique()
    24
    """
    claims = tomllib.loads((data_folder() / "claims.toml").read_text(encoding="utf-8"))
    lines = {claim: [] for claim in claims}
    for path in sorted((data_folder() / "claims").glob("*.json")):
        line = json.loads(path.read_text(encoding="utf-8"))
        if line["claim"] not in claims:
            raise ValueError(f"{path.name} must belong to one of {', '.join(claims)}; got {line['claim']}")
        lines[line["claim"]].append(line)
    rows = []
    for claim, entry in claims.items():
        about = {"claim": claim, "says": entry["says"], "chapters": entry["chapters"]}
        about["argument"] = entry.get("argument", "")
        none = {"verdict": "explained" if about["argument"] else "open"}
        rows += [about | line for line in lines[claim] or [none]]
    columns = ["claim", "says", "chapters", "argument", "quantity", "predicted", "measured", "verdict"]
    return pd.DataFrame(rows, columns=columns).fillna("")


def verdict_of(lines: pd.DataFrame) -> str:
    """The verdict on one claim from its rows of :func:`claims_table`, in a few words.

    Examples
    --------
    >>> verdict_of(pd.DataFrame({"verdict": ["holds", "holds if keys are random"], "argument": ["", ""]}))
    'holds if keys are random'
    >>> verdict_of(pd.DataFrame({"verdict": ["holds", "not seen here"], "argument": ["", ""]}))
    'holds in part: 1 of 2 measurements'
    """
    verdicts = list(lines.verdict)
    borne_out = [v for v in verdicts if v.startswith("holds")]
    if not borne_out:
        return verdicts[0]  # explained, open, or not seen here
    if len(borne_out) < len(verdicts):
        return f"holds in part: {len(borne_out)} of {len(verdicts)} measurements"
    conditions = list(dict.fromkeys(v.removeprefix("holds if ") for v in verdicts if v != "holds"))
    return f"holds if {'; if '.join(conditions)}" if conditions else "holds"


def self_check(answer, expected, *, relative: float = 1e-3) -> None:
    """Tell a reader whether the answer to an exercise is right. ``...`` means that it is still open.

    Examples
    --------
    >>> self_check(..., 2.0)
    Not answered yet: put your answer in place of the dots and run the cell again.
    >>> self_check(1.9, 2.0)
    Not yet: your answer differs from the checked one.
    >>> self_check(2.0, 2.0)
    Right.
    """
    if answer is Ellipsis:
        print("Not answered yet: put your answer in place of the dots and run the cell again.")
        return
    try:
        got, want = np.asarray(answer, dtype=float), np.asarray(expected, dtype=float)
        right = got.shape == want.shape and np.allclose(got, want, rtol=relative, atol=1e-9)
    except (TypeError, ValueError):
        right = answer == expected
    print("Right." if right else "Not yet: your answer differs from the checked one.")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all; text as UTF-8."""
    part = path.with_name(path.name + ".part")
    part.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    part.replace(path)


def _digits(measured: float, se: float | None) -> int:
    """Significant digits that the uncertainty supports: up to its second digit."""
    if not se or not measured:
        return 3
    return min(max(math.floor(math.log10(abs(measured))) - math.floor(math.log10(se)) + 2, 1), 6)


def _compare(name: str, table: pd.DataFrame, reference: pd.DataFrame, relative: float, absolute: float) -> None:
    if list(table.columns) != list(reference.columns):
        raise AssertionError(f"{name}: columns are {list(table.columns)}; the reference has {list(reference.columns)}")
    if len(table) != len(reference):
        raise AssertionError(f"{name}: {len(table)} rows; the reference has {len(reference)}")
    differs = np.zeros(len(table), dtype=bool)
    for column in table.columns:
        now, then = table[column], reference[column]
        if pd.api.types.is_float_dtype(then) and pd.api.types.is_numeric_dtype(now):
            close = np.isclose(now.to_numpy(float), then.to_numpy(float), relative, absolute, equal_nan=True)
        else:  # words and whole numbers; 3.5 is not 3, and "3" is not either
            now, then = now.to_numpy(object), then.to_numpy(object)
            close = np.array([a == b or (pd.isna(a) and pd.isna(b)) for a, b in zip(now, then, strict=True)])
        differs |= ~close
    if differs.any():
        shown = np.flatnonzero(differs)[:5]
        raise AssertionError(
            f"{name}: {differs.sum()} of {len(table)} rows differ from the reference (relative {relative:g}, "
            f"absolute {absolute:g}); the first are\n now:\n{table.iloc[shown]}\n reference:\n{reference.iloc[shown]}"
        )

"""A figure leaves as files: the same each time, readable by everybody, holding exactly the numbers that were drawn."""

import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from pavlov_lib.experiments import run_capacity, run_drift
from pavlov_lib.figures import draw_capacity, draw_circuit, draw_drift, finish, heat_map, new_figure, plotted

TABLE = run_capacity(dims=[8, 16], trials=3)
SVG = "{http://www.w3.org/2000/svg}"


def heat():
    figure, ax = new_figure(height=2.0)
    heat_map(ax, [[1.0, -0.5, 0.25], [0.0, 0.5, 1.0]], rows=["drool", "crouch"], columns=["bell", "light", "tone"])
    finish(ax, "What the dog knows")
    return figure


KINDS = {"curves": lambda: draw_capacity(TABLE), "heat map": heat, "circuit": lambda: draw_circuit("mapping")}


@pytest.mark.parametrize("draw", KINDS.values(), ids=KINDS)
def test_the_same_figure_gives_the_same_bytes_and_they_hold_its_words(draw, tmp_path):
    words = 'Alt text with < & > and "quotes" and η'
    first, second = (draw().save(tmp_path / str(i), "figure", description=words, dpi=60) for i in range(2))
    assert [path.name for path in first] == ["figure.svg", "figure.png", "figure.csv"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    root = ElementTree.fromstring(first[0].read_bytes())
    assert root.get("role") == "img" and root.get("aria-labelledby") == "title desc"
    assert root.find(f"{SVG}desc").text == words and root.find(f"{SVG}title").text
    with Image.open(io.BytesIO(first[1].read_bytes())) as image:
        image.load()
        assert image.text["Description"] == words and "CC BY 4.0" in image.text["Copyright"]
    assert sorted(p.name for p in (tmp_path / "0").iterdir()) == sorted(p.name for p in first), "no part is left over"


def test_the_numbers_of_curves_and_whiskers_are_those_of_the_table(tmp_path):
    draw_capacity(TABLE).save(tmp_path, "capacity", dpi=60)
    drawn = pd.read_csv(tmp_path / "capacity.csv", keep_default_na=False, na_values=[""])
    for d_k, rows in TABLE.groupby("d_k"):
        curve = drawn[drawn.series == f"measured, $d_k$ = {d_k}"]
        np.testing.assert_allclose(curve.x, rows.n / d_k, rtol=1e-14)
        np.testing.assert_allclose(curve.y, rows.fidelity, rtol=1e-14)
        # the ends of a whisker come from one addition each: rounding only
        np.testing.assert_allclose((curve.high - curve.low) / 2, 2 * rows.fidelity_se, rtol=1e-10, atol=1e-14)
    assert len(drawn) == 2 * len(TABLE) + len(TABLE) // 2, "measured, predicted, and the widest prediction again"


def test_the_cells_of_a_heat_map_carry_the_names_on_its_axes():
    cells = plotted(heat()).set_index(["y_name", "x_name"]).value
    assert cells["drool", "light"] == -0.5 and cells["crouch", "tone"] == 1.0 and len(cells) == 6


def test_a_band_a_level_and_bars_are_numbers_too():
    drift = run_drift(steps=12, trials=2)
    drawn = plotted(draw_drift(drift, show="norm"))
    assert (drawn.kind == "band").sum() == len(drift) == (drawn.kind == "line").sum()
    figure, ax = new_figure()
    ax.bar([0, 1], [0.5, 2.0], yerr=[0.25, 0.5], label="bars")
    ax.axhline(3.0, label="limit")
    bars, limit = (rows for _, rows in plotted(figure).groupby("kind"))
    assert list(bars.y) == [0.5, 2.0] and list(bars.low) == [0.25, 1.5] and list(bars.x) == [0, 1]
    assert list(limit.kind) == ["level"] and list(limit.y) == [3.0] and limit.x.isna().all()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"name": "a/b"}, "name must be"),
        ({"name": ""}, "name must be"),
        ({"dpi": 5}, "dpi must be from 20 to 1200; got 5"),
    ],
)
def test_a_name_or_resolution_that_cannot_be_used_is_refused_before_anything_is_written(asked, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        draw_circuit("mapping").save(tmp_path / "new", **({"name": "circuit"} | asked))
    assert not (tmp_path / "new").exists()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="folder must be a folder"):
        draw_circuit("mapping").save(tmp_path / "file", "circuit")

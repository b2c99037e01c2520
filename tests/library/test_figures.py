"""Figures draw what their tables say, can be read as text, and touch nothing global."""

import base64
import inspect
import itertools
import re
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from pavlov_lib import figures
from pavlov_lib.experiments import run_capacity, run_context, run_depth, run_drift, run_worst_case
from pavlov_lib.figures.circuits import CIRCUITS
from pavlov_lib.figures.depth import FLOOR, READOUT_STYLE
from pavlov_lib.figures.style import INK, PAPER, RULE_STYLE, BookFigure, series_colors

DRAWN = [name for name in figures.__all__ if name.startswith("draw_")]


def depth(**settings):
    return run_depth(layers=[1, 2, 4], heads=[1, 2], dims=[16], loads=[3.0], trials=2, **settings)


# figure: (its function, its table, the columns that it draws). What is not here is drawn by the tests of its topic.
CASES = {
    "capacity": (figures.draw_capacity, run_capacity(dims=[8, 16], trials=3), ["fidelity", "predicted_fidelity"]),
    "error": (
        lambda t, ax=None: figures.draw_capacity(t, ax, show="error"),
        run_capacity(dims=[8, 16], trials=3),
        ["error", "predicted_error"],
    ),
    "threshold": (
        figures.draw_threshold,
        pd.DataFrame({"d_k": [8, 16], "capacity": [3.0, 5.0], "capacity_se": [0.1, 0.1], "predicted": [2.9, 4.8]}),
        ["capacity"],
    ),
    "worst case": (figures.draw_worst_case, run_worst_case(dims=[8, 16, 32], trials=3), ["capacity", "typical_item"]),
    "context": (figures.draw_context, run_context(dims=[8], lengths=[1, 2, 4], trials=3), ["fidelity"]),
    "depth": (figures.draw_depth, depth(readouts=["any"]), ["error_rate"]),
    "readouts": (figures.draw_readouts, depth().query("layers == 1"), ["error_rate"]),
    "drift": (figures.draw_drift, run_drift(steps=9, cues=3, key_dim=8, trials=2), ["error"]),
    "drift, norm": (
        lambda t, ax=None: figures.draw_drift(t, ax, show="norm", reversal=4),
        run_drift(steps=9, cues=3, key_dim=8, trials=2),
        ["norm"],
    ),
    "gradient": (
        figures.draw_gradient,
        pd.DataFrame(
            {"similarity": [0, 0.5, 1], "response": [0, 0.4, 1], "response_se": 0.1, "predicted": [0, 0.5, 1]}
        ),
        ["response", "predicted"],
    ),
}
each = pytest.mark.parametrize("case", CASES)


@each
def test_a_drawing_function_returns_a_figure_of_the_book_with_named_axes(case):
    draw, table, _ = CASES[case]
    before = table.copy()
    figure = draw(table)
    assert isinstance(figure, BookFigure)
    pd.testing.assert_frame_equal(table, before)
    (ax,) = figure.axes
    assert ax.get_title(loc="left") and ax.get_xlabel() and ax.get_ylabel()
    assert ax.get_legend() is None or all(text.get_text() for text in ax.get_legend().get_texts())


@each
def test_the_digest_changes_when_a_number_changes(case):
    draw, table, columns = CASES[case]
    digest = draw(table).digest()
    assert digest == draw(table.copy()).digest()
    for column in columns:
        changed = table.assign(**{column: table[column].astype(float)})
        changed.iloc[-1, changed.columns.get_loc(column)] += 0.05 * max(changed[column].abs().max(), 0.1)
        assert draw(changed).digest() != digest, column


@each
def test_a_figure_can_be_drawn_into_axes_that_are_given(case):
    draw, table, _ = CASES[case]
    figure, (left, right) = figures.new_figure(1, 2)
    assert draw(table, left) is figure
    assert left.get_title(loc="left") and not right.get_title(loc="left")


@each
def test_uncertainty_is_shown_wherever_there_was_sampling(case):
    draw, table, _ = CASES[case]
    ax = draw(table).axes[0]
    if any(column.endswith("_se") for column in table):
        bands = [c for c in ax.collections if len(c.get_paths())]
        assert ax.containers or bands


@pytest.mark.parametrize("case", ["context", "drift"])  # one with error bars, one with bands
def test_a_figure_shows_itself_as_a_picture_and_as_text(case):
    draw, table, _ = CASES[case]
    bundle, again = draw(table)._repr_mimebundle_(), draw(table)._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert bundle == again  # no time, version or random number in it
    assert re.search(r"points, y = |\d values from ", bundle["text/plain"])


def test_every_drawing_function_is_drawn_by_a_test():
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py"))
    missing = [name for name in DRAWN if not re.search(rf"\b{name}\b", sources)]
    assert not missing


@pytest.mark.parametrize("name", DRAWN)
def test_every_drawing_function_says_what_it_draws(name):
    assert (inspect.getdoc(getattr(figures, name)) or "").strip()


def test_drawing_leaves_matplotlibs_settings_alone():
    before = dict(mpl.rcParams)
    for draw, table, _ in CASES.values():
        draw(table).digest()
    assert dict(mpl.rcParams) == before


# --- what the digest sees --------------------------------------------------------------------------------------------


def test_the_digest_names_axes_curves_bars_and_images():
    figure, (a, b, c) = figures.new_figure(1, 3)
    a.plot([0, 1, 2], [1.0, 2.0, 1234.5], label="curve")
    a.plot([0, 1], [0, 1])  # without a label: decoration
    a.errorbar([0, 1], [5.0, 6.0], yerr=1, label="points")
    figures.finish(a, "First", xlabel="x", ylabel="y")
    b.bar([0, 1], [0.25, 0.5])
    figures.heat_map(c, [[1.0, -2.0], [0.0, 0.5]], rows=["r", "s"], columns=["p", "q"])
    figures.finish(c, "Third")
    assert figure.digest().splitlines() == [
        "First (y against x)",
        "  curve: 3 points, y = 1, 2, 1.23e+03 (first, middle, last)",
        "  points: 2 points, y = 5, 6, 6 (first, middle, last)",
        "Figure",
        "  bars: 0.25, 0.5",
        "Third",
        "  2 × 2 values from -2 to 1, sum -0.5",
    ]


@pytest.mark.parametrize(
    ("case", "by", "predicted"),
    [
        ("capacity", "d_k", "predicted_fidelity"),
        ("error", "d_k", "predicted_error"),
        ("context", "d_k", "predicted_fidelity"),
        ("depth", "heads", "predicted"),
        ("readouts", "readout", "predicted"),
    ],
)
def test_every_series_has_its_own_prediction_beside_it(case, by, predicted):
    draw, table, _ = CASES[case]
    drawn = [tuple(np.asarray(line.get_ydata(), float)) for line in draw(table).axes[0].get_lines()]
    for _, curve in table.groupby(by):
        expected = curve[predicted].clip(lower=FLOOR) if case in ("depth", "readouts") else curve[predicted]
        assert tuple(expected) in drawn


def test_a_failure_rate_of_zero_is_drawn_hollow_at_the_floor():
    table = depth(readouts=["any"]).query("heads == 1").assign(error_rate=[0.0, 0.1, 0.2])
    ax = figures.draw_depth(table).axes[0]
    hollow = [line for line in ax.get_lines() if line.get_fillstyle() == "none"]
    assert [list(line.get_ydata()) for line in hollow] == [[FLOOR]]


@pytest.mark.parametrize(
    ("draw", "table", "message"),
    [
        (figures.draw_depth, depth(), "choose a readout first"),
        (figures.draw_readouts, depth(), "several rows for one point"),
        (lambda t: figures.draw_drift(t, show="speed"), CASES["drift"][1], "show must be one of norm, error, cosine"),
        (figures.draw_circuit, "perpetuum mobile", "circuit must be one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, table, message):
    with pytest.raises(ValueError, match=message):
        draw(table)


# --- one visual language ---------------------------------------------------------------------------------------------


def luminance(color) -> float:
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in to_rgb(color)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(a, b) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("styles", [RULE_STYLE, READOUT_STYLE], ids=["rules", "readouts"])
def test_no_two_share_a_colour_or_a_marker(styles):
    for key in ("color", "marker", "label"):
        assert len({style[key] for style in styles.values()}) == len(styles)


def test_text_and_curves_stand_out_from_the_paper():
    assert contrast(INK, PAPER) >= 7  # WCAG asks 4.5 of text, 7 of the strictest
    curves = [style["color"] for style in (*RULE_STYLE.values(), *READOUT_STYLE.values())]
    for color in [*curves, *series_colors(8)]:
        # the lightest of the palette, sky blue, has 2.27; colour is never the only sign, markers and labels say it too
        assert contrast(color, PAPER) >= 2.2


def test_a_series_of_colours_is_ordered_by_lightness():
    for n in (1, 2, 5, 8):
        assert np.all(np.diff([luminance(color) for color in series_colors(n)]) > 0)


# --- circuits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_circuit_joins_only_what_is_there_and_leaves_nothing_alone(name):
    _, nodes, arrows = CIRCUITS[name]
    ends = {end for arrow in arrows for end in arrow[:2]}
    assert ends == set(nodes)
    assert {kind for *_, kind in arrows} <= {"flow", "learn"}


@pytest.mark.parametrize("name", CIRCUITS)
def test_the_boxes_of_a_circuit_lie_apart_and_inside_the_picture(name):
    figure = figures.draw_circuit(name)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    boxes = {t.get_text(): t.get_bbox_patch() for t in figure.axes[0].texts if t.get_bbox_patch()}
    extents = {text: box.get_window_extent(canvas.get_renderer()) for text, box in boxes.items()}
    for (a, first), (b, second) in itertools.combinations(extents.items(), 2):
        assert not first.overlaps(second), f"{a!r} covers {b!r}"
    for text, box in extents.items():
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, f"{text!r} is cut off"
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, f"{text!r} is cut off"

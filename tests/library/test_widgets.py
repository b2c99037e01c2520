"""Explorers as the library gives them: settings, views, pictures, and the live form."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from pavlov_lib import theory
from pavlov_lib.protocols import Schedule, Trial, run_protocol
from pavlov_lib.rules import RULES
from pavlov_lib.widgets import EXPLORERS, explorer
from pavlov_lib.widgets.base import packed_normal, unpacked
from pavlov_lib.widgets.live import page, widget
from pavlov_lib.widgets.svg import STYLES, draw, fixed

ALL = pytest.mark.parametrize("e", EXPLORERS.values(), ids=EXPLORERS)


def test_an_unknown_explorer_is_refused_with_the_names_there_are():
    with pytest.raises(ValueError, match=r"name must be one of conditioning.*; got 'bucket'"):
        explorer("bucket")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("capacity", {"n": 0}, r"n must be a number in \[1, 96\]; got 0"),
        ("capacity", {"n": "many"}, r"n must be a number in \[1, 96\]; got 'many'"),
        ("capacity", {"m": 3}, r"a setting must be one of n, d_k, rule; got 'm'"),
        ("capacity", {"rule": "hebb"}, r"rule must be one of hebbian, delta, oja; got 'hebb'"),
        ("drift", {"reversal": "yes"}, r"reversal must be one of True, False; got 'yes'"),
        ("conditioning", {"trials": ["bell+treat"]}, r"each of trials must be one of bell\+food.*; got 'bell\+treat'"),
        ("conditioning", {"trials": ["bell+food"] * 201}, r"trials must hold at most 200 trials; got 201"),
    ],
)
def test_a_wrong_setting_is_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        explorer(name).look(**settings)


@ALL
def test_an_explorer_shows_itself_as_page_as_live_view_and_as_text(e):
    bundle = e._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain", "application/vnd.jupyter.widget-view+json"}
    assert bundle["text/plain"].startswith(e.title)


@ALL
def test_the_description_in_the_page_is_the_one_of_the_library(e):
    (source,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', e.html(), re.DOTALL)
    assert "<" not in source  # nothing in it can end the script or start another
    about = json.loads(source)
    assert about["name"] == e.name
    assert {c["name"]: c["value"] for c in about["controls"]} == json.loads(json.dumps(e.settings()))


@ALL
def test_every_picture_is_a_well_formed_drawing_with_words(e):
    for panel in e.look()["panels"]:
        root = ElementTree.fromstring(draw(panel))
        assert root.get("role") == "img"
        assert panel["title"] in root.get("aria-label")


@ALL
def test_the_live_view_follows_its_controls(e):
    box = widget(e)
    screen = box.children[-1]
    assert screen.value == page(e.look())
    for control, shown in zip(e.controls, box.children[1:-1], strict=True):
        if control.kind == "slider":
            shown.value = control.low
            changed = {control.name: control.low}
        elif control.kind == "choice":
            shown.value = control.options[-1][0]
            changed = {control.name: control.options[-1][0]}
        elif control.kind == "switch":
            shown.value = not control.value
            changed = {control.name: not control.value}
        else:
            continue
        assert screen.value == page(e.look(**changed))
        shown.value = control.value


def test_the_live_buttons_train_the_dog():
    box = widget(explorer("conditioning"))
    (pad,) = (child for child in box.children if len(getattr(child, "children", ())) == 3)
    cue, outcome, buttons = pad.children
    once, five, back, again = buttons.children
    again.click()
    five.click()
    cue.value, outcome.value = "both", "nothing"
    once.click()
    once.click()
    back.click()
    assert box.children[-1].value == page(explorer("conditioning").look(trials=["bell+food"] * 5 + ["both+nothing"]))


@pytest.mark.parametrize("rule", RULES)
def test_training_the_dog_is_the_protocol_of_the_laboratory(rule):
    spelled = ["bell+food"] * 3 + ["both+food"] * 2 + ["light+nothing"]
    cues = {"bell": ["bell"], "light": ["light"], "both": ["bell", "light"]}
    trials = [Trial(cues[t.split("+")[0]], float(t.endswith("food"))) for t in spelled]
    table = run_protocol(Schedule("lesson", trials), rule=RULES[rule], rate=0.3)
    seen = explorer("conditioning").look(rule=rule, rate=0.3, trials=spelled)
    for cue, line in zip(("bell", "light"), seen["panels"][2]["series"], strict=True):
        # the same sums in the same order
        np.testing.assert_allclose(line["y"][1:], table[table.cue == cue]["response"], rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("readout", theory.READOUTS)
def test_the_tower_stands_as_the_theory_says(readout):
    seen = explorer("depth").look(layers=6, heads=3, n=64, d_k=32, readout=readout)
    predicted = [theory.stack_prediction(readout, layer, 3, 64, 32, 32) for layer in range(1, 7)]
    np.testing.assert_allclose(seen["panels"][1]["series"][0]["y"], predicted, rtol=1e-12)  # 1 − (1 − q)^L either way


def test_a_chain_that_fell_never_stands_again():
    floors = np.array(explorer("depth").look(layers=24)["panels"][0]["floors"])
    fallen = floors > 0
    assert (fallen[1:] >= fallen[:-1]).all()
    assert ((floors == 1).sum(0) <= 1).all()  # an error enters a chain once


def test_three_ways_of_attention_give_one_answer():
    for t in range(1, 7):
        reads = [bar["value"] for bar in explorer("attention").look(t=t)["panels"][3]["bars"]]
        np.testing.assert_allclose(reads[:3], reads[0], rtol=1e-12)
        np.testing.assert_allclose(reads[3:], reads[3], rtol=1e-12)


def test_half_is_rounded_away_from_zero_and_minus_is_a_minus():
    assert [fixed(x, 2) for x in (0.125, -0.125, 0.004, -0.004, 12.0)] == ["0.13", "−0.13", "0.00", "0.00", "12.00"]
    assert fixed(float("nan"), 1) == "–"


def test_packed_numbers_come_back_in_their_shape_and_are_nearly_normal():
    x = unpacked(packed_normal(np.random.default_rng(0), 200, 50))
    assert x.shape == (200, 50)
    # standard errors of mean and variance over 10,000 numbers: 0.01 and 0.014; four of each
    assert abs(x.mean()) < 0.04
    assert abs(x.var() - 1) < 0.06


def test_every_rule_wears_the_colour_and_marker_of_the_figures():
    from pavlov_lib.figures.style import RULE_STYLE

    shapes = {"o": "circle", "s": "square", "^": "triangle", "D": "diamond", "v": "down"}
    for rule, style in RULE_STYLE.items():
        assert STYLES[rule] == (style["color"], shapes[style["marker"]])

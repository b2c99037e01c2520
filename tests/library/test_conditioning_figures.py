"""The conditioning and unlearning figures draw what their tables say."""

import numpy as np
import pandas as pd
import pytest

from pavlov_lib import RULES, figures
from pavlov_lib.experiments import run_growth, run_prompts, run_unlearning
from pavlov_lib.protocols import blocking, counterconditioning, extinction, generalisation, run_protocol


def lines(figure):
    return {line.get_label(): np.asarray(line.get_ydata(), float) for line in figure.axes[0].get_lines()}


def test_a_protocol_is_drawn_cue_by_cue_with_its_prediction():
    table = run_protocol(blocking(pretraining=3, compound=3))
    drawn = lines(figures.draw_protocol(table, title="Blocking"))
    for cue in ("bell", "light"):
        np.testing.assert_array_equal(drawn[cue], table[table.cue == cue].response)
    np.testing.assert_array_equal(drawn["Rescorla-Wagner"], table[table.cue == "bell"].predicted)


def test_two_outcomes_are_told_apart():
    drawn = lines(figures.draw_protocol(run_protocol(counterconditioning()), title="Two outcomes"))
    assert {"bell → food", "bell → shock"} <= set(drawn)


def test_rules_are_drawn_together_and_phases_named():
    table = pd.concat(run_protocol(extinction(), rule=rule).assign(rule=name) for name, rule in RULES.items())
    figure = figures.draw_protocol(table, title="Extinction")
    assert {"Hebb", "delta", "Oja"} <= set(lines(figure))
    assert [t.get_text() for t in figure.axes[0].texts] == ["acquisition", "extinction"]


def test_surprise_is_drawn_without_a_prediction():
    drawn = lines(figures.draw_protocol(run_protocol(extinction()), title="Surprise", show="surprise"))
    assert "Rescorla-Wagner" not in drawn
    assert drawn["bell"][0] == 1


def test_what_cannot_be_drawn_is_refused():
    table = run_protocol(blocking())
    with pytest.raises(ValueError, match="show must be one of"):
        figures.draw_protocol(table, title="x", show="other")
    with pytest.raises(ValueError, match="one cue and one outcome"):
        figures.draw_protocol(table.assign(rule="delta"), title="x")
    with pytest.raises(ValueError, match="show must be one of"):
        figures.draw_unlearning(run_unlearning(overlaps=[0.1], trials=2), show="other")


def test_the_other_figures_draw_their_tables():
    growth, prompts = run_growth(steps=[1, 4], trials=2), run_prompts(pairs=[2, 4], trials=20)
    assert "Hebb, one pair" in figures.draw_growth(growth).digest()
    assert "asked of its own prompt" in figures.draw_prompts(prompts).digest()
    edited = run_unlearning(overlaps=[0.1, 0.5], trials=3)
    for show in ("neighbour", "others", "fresh"):
        assert "protected write" in figures.draw_unlearning(edited, show=show).digest()
    tones = {"delta": run_protocol(generalisation(width=5))}
    drawn = lines(figures.draw_generalisation(tones, width=5))
    np.testing.assert_allclose(drawn["delta"], drawn["cosine of the keys"], atol=1e-12)
    errors = pd.DataFrame({"step_size": [0.5, 1.5], "error": [0.1, 0.2], "predicted": [0.1, 0.2]})
    assert "stability limit" in figures.draw_stability(errors, writes=3).digest()

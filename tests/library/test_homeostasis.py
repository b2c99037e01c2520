"""What Oja's rule keeps in bounds, and what it finds when its output is free."""

import numpy as np
import pytest

from pavlov_lib import RULES, theory
from pavlov_lib.experiments import CODES, run_components, run_homeostasis
from pavlov_lib.figures import draw_components, draw_homeostasis, draw_overshoot


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_one_pair_follows_its_closed_form(code, rate):
    table = run_homeostasis(worlds=["one pair"], steps=(1, 7, 100), key_dim=8, trials=5, code=code, rate=rate)
    for name in ("norm", "newest", "saturated"):
        # powers of up to 100 of numbers exact to 1e-16
        np.testing.assert_allclose(table[name], table[f"predicted_{name}"], rtol=1e-10)


@pytest.mark.parametrize("code", CODES)
@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_the_norm_under_new_pairs_follows_its_recursion(code, rate):
    table = run_homeostasis(worlds=["new pairs"], steps=(1, 10, 200), key_dim=12, trials=150, code=code, rate=rate)
    # exact in expectation, so within four standard errors; where all trials agree, a case too rare to be among them
    # (a one-hot row not yet written, 3e-7) still counts in the expectation
    assert ((table.norm - table.predicted_norm).abs() <= 4 * table.norm_se + 1e-6).all()


def test_the_plateau_is_the_one_of_theory():
    row = run_homeostasis(["oja"], ["new pairs"], steps=[3000], key_dim=16, trials=2, rate=0.7).iloc[0]
    assert row.predicted_norm == pytest.approx(theory.oja_plateau_norm(16, 0.7), rel=1e-12)


def test_the_newest_pair_stays_legible_only_in_a_bounded_memory():
    table = run_homeostasis(worlds=["new pairs"], steps=[2000], trials=30).set_index("rule")
    assert table.newest["oja"] > 0.75  # predicted 0.82, four standard errors above this
    assert table.newest["hebbian"] < 0.25  # predicted 0.12
    assert (table.newest - table.predicted_newest).abs().max() < 4 * table.newest_se.max()


def test_repetition_drives_weak_neurons_to_the_reciprocal_of_their_strength():
    table = run_homeostasis(["oja"], ["one pair"], steps=[5000], trials=20)
    assert table.newest[0] < 0.5
    assert table.saturated[0] > 0.6


def test_a_saturated_synapse_is_one_above_the_ceiling():
    # one write of a one-hot outcome: one row holds the key, whose entries are all below 1
    high, low = (run_homeostasis(steps=[1], code="one-hot", ceiling=c).saturated for c in (1.0, 1e-9))
    assert (high == 0).all()
    np.testing.assert_allclose(low, 1 / 32)


def test_a_world_does_not_depend_on_which_others_are_run():
    both, alone = run_homeostasis(steps=[9], trials=3), run_homeostasis(worlds=["new pairs"], steps=[9], trials=3)
    assert both[both.world == "new pairs"].norm.tolist() == alone.norm.tolist()


def test_neurons_that_mind_themselves_find_one_component_and_a_shared_error_finds_them_all():
    table = run_components(steps=[5000], trials=8).set_index("form")
    assert table.components.round(2).to_dict() == {"neuron by neuron": 1.0, "subspace": 3.0}
    assert table["first"]["neuron by neuron"] > 0.97  # predicted 0.987, minus wandering
    assert (table.principal > 0.98).all()


def test_a_free_neuron_wanders_in_proportion_to_its_rate():
    spread = 0.6 ** np.arange(1, 16)
    for rate in (0.03, 0.01):
        row = run_components(["subspace"], neurons=1, steps=[4000], trials=100, rate=rate).iloc[0]
        predicted = rate / 2 * (spread / (1 - spread)).sum()
        # first order in the rate: the next order is about a tenth of it at 0.03
        assert 1 - row["first"] == pytest.approx(predicted, rel=0.15, abs=4 * row.first_se)


def test_both_forms_are_one_rule_for_one_neuron():
    table = run_components(neurons=1, steps=[500], trials=4).drop(columns="form")
    np.testing.assert_allclose(table.iloc[0], table.iloc[1], rtol=1e-10)  # 500 writes that forget rounding


def test_it_is_the_rule_that_finds_the_component(monkeypatch):
    how = {"forms": ["neuron by neuron"], "steps": [3000], "trials": 4}
    assert run_components(**how)["first"][0] > 0.9
    monkeypatch.setitem(RULES, "oja", RULES["delta"])  # fed its own response, delta finds no error and never learns
    assert run_components(**how)["first"][0] < 0.5


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: run_homeostasis(rules=["delta"]), "each of rules"),
        (lambda: run_homeostasis(worlds=[]), "worlds"),
        (lambda: run_homeostasis(steps=[0]), "each of steps"),
        (lambda: run_homeostasis(key_dim=0), "key_dim"),
        (lambda: run_homeostasis(trials=0), "trials"),
        (lambda: run_homeostasis(code="other"), "code"),
        (lambda: run_homeostasis(rate=0.0), "rate"),
        (lambda: run_homeostasis(ceiling=0.0), "ceiling"),
        (lambda: run_homeostasis(seed=-1), "seed"),
        (lambda: run_components(forms=["other"]), "each of forms"),
        (lambda: run_components(neurons=16), "fewer than inputs"),
        (lambda: run_components(steps=[]), "steps"),
        (lambda: run_components(trials=0), "trials"),
        (lambda: run_components(rate=-1.0), "rate"),
    ],
)
def test_bad_input_is_refused(run, message):
    with pytest.raises(ValueError, match=message):
        run()


def test_a_rate_beyond_the_limit_is_reported_and_not_drawn():
    with pytest.raises(FloatingPointError, match="stability limit"):
        run_homeostasis(["oja"], ["one pair"], steps=[2000], code="one-hot", rate=2.5)


def test_the_figures_draw_their_tables():
    table = run_homeostasis(steps=[1, 4], trials=3)
    for show in ("norm", "saturated", "newest"):
        assert "Oja, new pairs: 2 points" in draw_homeostasis(table, show=show).digest()
    found = run_components(steps=[1, 5], trials=2)
    for show in ("first", "principal", "components"):
        assert "neuron by neuron: 2 points" in draw_components(found, show=show).digest()
    assert "stability limit" in draw_overshoot(table.assign(step_size=1.0, left=0.1, predicted=0.1), writes=3).digest()
    for draw, of in ((draw_homeostasis, table), (draw_components, found)):
        with pytest.raises(ValueError, match="show must be one of"):
            draw(of, show="other")

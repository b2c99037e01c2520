"""Conditioning protocols: what each rule does with them, against Rescorla and Wagner's model and by hand."""

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pavlov_lib import RULES, Rule
from pavlov_lib import protocols as p
from pavlov_lib.protocols import Schedule, Trial, rescorla_wagner, run_limits, run_protocol

HEBBIAN, DELTA, OJA = RULES["hebbian"], RULES["delta"], RULES["oja"]
ROUNDING = 1e-12  # responses are of order one, and a few hundred steps lose a few hundred units of 2e-16

ALL = {
    s.name: s
    for s in (
        p.acquisition(),
        p.extinction(),
        p.reacquisition(),
        p.counterconditioning(),
        p.partial_reinforcement(rng=np.random.default_rng(0)),
        p.blocking(),
        p.unblocking(),
        p.overshadowing(bell=0.5, light=0.3),
        p.overexpectation(),
        p.conditioned_inhibition(),
        p.generalisation(),
        p.discrimination(),
        p.contingency_drift(),
    )
}


def final(schedule, cue="bell", us="food", **how):
    table = run_protocol(schedule, **how)
    return table[(table["cue"] == cue) & (table["us"] == us)]["response"].iloc[-1]


def course(schedule, cue="bell", us="food", **how):
    table = run_protocol(schedule, **how)
    return table[(table["cue"] == cue) & (table["us"] == us)].set_index("trial")["response"]


# ------------------------------------------------------------------ the delta rule is Rescorla and Wagner's model


@pytest.mark.parametrize("name", ALL)
def test_delta_equals_rescorla_wagner_on_every_protocol(name):
    table = run_protocol(ALL[name], rule=DELTA, rate=0.3)
    np.testing.assert_allclose(table["response"], table["predicted"], rtol=0, atol=ROUNDING)


CUES = ("bell", "light", "tone", "touch")


@st.composite
def lessons(draw):
    """Schedules of overlapping cues whose saliences, outcomes and rates are drawn at random."""
    saliences = {cue: draw(st.floats(0.05, 0.4)) for cue in CUES}  # Σ α ≤ 1.6, so a rate up to 1 is stable
    compounds = st.lists(st.sampled_from(CUES), min_size=1, max_size=4, unique=True)
    magnitudes = st.dictionaries(st.sampled_from(["food", "shock"]), st.floats(0, 2), min_size=1)
    shown = draw(st.lists(st.tuples(compounds, magnitudes), min_size=1, max_size=30))
    trials = [Trial({cue: saliences[cue] for cue in cues}, us) for cues, us in shown]
    rates = draw(st.lists(st.floats(0, 1), min_size=len(trials), max_size=len(trials)))
    return Schedule("random", trials), rates


@settings(max_examples=100, deadline=None)
@given(lessons())
def test_delta_equals_rescorla_wagner_on_any_overlapping_cues(lesson):
    schedule, rates = lesson
    table = run_protocol(schedule, rule=DELTA, rate=rates)
    np.testing.assert_allclose(table["response"], table["predicted"], rtol=0, atol=ROUNDING)


def with_write(write):
    return dataclasses.replace(DELTA, write=write)


BROKEN = {
    "wrong sign": lambda S, k, v, *, rate=1.0: S - rate * np.outer(v - S @ k, k),
    "no error term": lambda S, k, v, *, rate=1.0: S + rate * np.outer(v, k),
    "each cue its own error": lambda S, k, v, *, rate=1.0: S + rate * (v[:, None] - S * k) * k,
    "half the rate": lambda S, k, v, *, rate=1.0: S + rate / 2 * np.outer(v - S @ k, k),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_delta_rule_differs_from_rescorla_wagner(how):
    table = run_protocol(p.blocking(), rule=with_write(BROKEN[how]), rate=0.3)
    assert abs(table["response"] - table["predicted"]).max() > 0.1


def test_the_prediction_does_not_depend_on_the_rule():
    by_rule = [run_protocol(p.blocking(), rule=rule, rate=0.2)["predicted"] for rule in RULES.values()]
    assert all((column == by_rule[0]).all() for column in by_rule)


def test_rescorla_wagner_gives_the_numbers_worked_by_hand():
    # α = 1/2, 1/4, β = 1, λ = 1. Trial 1: V = 1/2, 1/4. Trial 2: error 1/4, so V = 5/8, 5/16. Trial 3 without food:
    # error −15/16, so V = 5/8 − 15/32 and 5/16 − 15/64.
    schedule = Schedule("hand", [Trial({"bell": 0.5, "light": 0.25}, us) for us in (1, 1, 0)])
    by_hand = [[0.5, 0.25], [0.625, 0.3125], [0.15625, 0.078125]]
    np.testing.assert_array_equal(rescorla_wagner(schedule, rate=1.0)[:, :, 0], by_hand)  # exact in binary


# ------------------------------------------------------------------ what each protocol shows


def test_acquisition_approaches_the_food_geometrically():
    n = np.arange(1, 11)
    np.testing.assert_allclose(course(p.acquisition(10), rate=0.2), 1 - 0.8**n, atol=ROUNDING)


def test_extinction_forgets_geometrically_by_the_delta_rule():
    after = course(p.extinction(acquisition=5, extinction=5), rate=0.5).loc[6:]
    np.testing.assert_allclose(after, (1 - 0.5**5) * 0.5 ** np.arange(1, 6), atol=ROUNDING)


@pytest.mark.parametrize("rule", [HEBBIAN, OJA], ids=lambda r: r.name)
def test_without_an_error_term_extinction_changes_nothing(rule):
    # Both rules write the product with the US, and no US is zero: Oja clamped to the US forgets only when fed.
    after = course(p.extinction(acquisition=5, extinction=20), rule=rule, rate=0.2).loc[5:]
    assert (after == after.iloc[0]).all()
    assert after.iloc[0] > 0.5


def test_decay_forgets_without_any_lesson():
    rest = Schedule("rest", [Trial("bell", 1), *[Trial((), 0)] * 10])
    assert final(rest, rule=HEBBIAN, rate=1.0, decay=0.9) == pytest.approx(0.9**10, rel=ROUNDING)
    assert final(rest, rule=DELTA, rate=1.0) == 1.0


def test_reacquisition_by_the_delta_rule_repeats_acquisition():
    response = course(p.reacquisition(acquisition=5, extinction=200, reacquisition=5), rate=0.3)
    np.testing.assert_allclose(response.iloc[-5:], response.iloc[:5], atol=ROUNDING)  # 0.7^200 is 1e-31


def test_counterconditioning_erases_and_writes_in_one_stroke_at_rate_one():
    table = run_protocol(p.counterconditioning(acquisition=1, conversion=1), rule=DELTA, rate=1.0)
    assert table[table["trial"] == 2].set_index("us")["response"].to_dict() == {"food": 0.0, "shock": 1.0}
    kept = run_protocol(p.counterconditioning(acquisition=1, conversion=1), rule=HEBBIAN, rate=1.0)
    assert kept[kept["trial"] == 2].set_index("us")["response"].to_dict() == {"food": 1.0, "shock": 1.0}


def test_partial_reinforcement_settles_at_the_share_of_fed_trials():
    schedule = p.partial_reinforcement(rng=np.random.default_rng(1), acquisition=4000, extinction=1, probability=0.3)
    response = course(schedule, rate=0.02).loc[1000:4000]
    # Stationary variance η p(1−p) / (2−η), correlated over 1/η = 50 trials: about 30 independent looks.
    spread = math.sqrt(0.02 * 0.21 / 1.98 / 30)
    assert abs(response.mean() - 0.3) < 4 * spread


def test_only_the_delta_rule_blocks():
    blocked, control = p.blocking(pretraining=50, compound=20), p.overshadowing(compound=20)
    for rule, blocks in ((DELTA, True), (HEBBIAN, False), (OJA, False)):
        ratio = final(blocked, "light", rule=rule, rate=0.2) / final(control, "light", rule=rule, rate=0.2)
        assert ratio < 1e-4 if blocks else ratio == pytest.approx(1.0, abs=ROUNDING)


def test_unblocking_shares_the_surplus():
    schedule = p.unblocking(pretraining=100, compound=100, magnitude=2.0)
    assert final(schedule, "light", rate=0.2) == pytest.approx(0.5, abs=1e-9)  # 0.8^100 is 2e-10
    assert final(schedule, "bell", rate=0.2) == pytest.approx(1.5, abs=1e-9)


def test_overshadowing_shares_in_proportion_to_salience():
    schedule = p.overshadowing(compound=300, bell=0.6, light=0.2)
    assert final(schedule, "bell", rate=0.3) == pytest.approx(0.75, abs=ROUNDING)
    assert final(schedule, "light", rate=0.3) == pytest.approx(0.25, abs=ROUNDING)


def test_overexpectation_weakens_two_fed_cues():
    schedule = p.overexpectation(separate=100, compound=100)
    after = course(schedule, rate=0.2)
    assert after.loc[200] == pytest.approx(1.0, abs=1e-9)
    assert after.iloc[-1] == pytest.approx(0.5, abs=1e-9)
    assert final(schedule, rule=HEBBIAN, rate=0.2) > 1.0  # without the error, food can only strengthen


def test_conditioned_inhibition_predicts_the_absence_of_food():
    schedule = p.conditioned_inhibition(trials=400)
    assert final(schedule, "light", rate=0.2) == pytest.approx(-1.0, abs=1e-9)
    assert final(schedule, "tone & light", rate=0.2) == pytest.approx(0.0, abs=1e-9)  # the summation test
    for rule in (HEBBIAN, OJA):
        assert final(schedule, "light", rule=rule, rate=0.2) == 0.0


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda r: r.name)
def test_generalisation_follows_the_cosine_of_the_keys(rule):
    schedule = p.generalisation(trials=10, width=5, farthest=6)
    table = run_protocol(schedule, rule=rule, rate=0.2)
    last = table[table["trial"] == 10]["response"].to_numpy()
    cosine = np.maximum(0, 1 - abs(np.arange(-6, 7)) / 5)
    np.testing.assert_allclose(last, last[6] * cosine, atol=ROUNDING)
    queries = schedule.queries
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1, atol=ROUNDING)
    np.testing.assert_allclose(queries @ queries[6], cosine, atol=ROUNDING)


def test_discrimination_separates_overlapping_tones_by_the_delta_rule_alone():
    schedule = p.discrimination(trials=400, width=4, distance=1)
    assert final(schedule, "high", rate=0.3) == pytest.approx(1.0, abs=1e-6)
    assert final(schedule, "low", rate=0.3) == pytest.approx(0.0, abs=1e-6)
    for rule in (HEBBIAN, OJA):  # the unfed tone keeps the share of elements it has in common: 3 of 4
        ratio = final(schedule, "low", rule=rule, rate=0.3) / final(schedule, "high", rule=rule, rate=0.3)
        assert ratio == pytest.approx(0.75, abs=1e-9)


def test_delta_trails_a_drifting_contingency_by_its_speed_over_the_rate():
    steps, rate = 2000, 0.2
    lag = final(p.contingency_drift(trials=steps), us="food", rate=rate)
    speed = 0.5 * math.pi / (steps - 1)  # how fast cos θ falls at the end, per trial
    # A ramp is followed at the distance (1 − η)/η · speed; the curvature of cos adds order speed².
    assert lag == pytest.approx((1 - rate) / rate * speed, abs=50 * speed**2)


def test_one_rate_per_trial_can_ignore_a_trial():
    schedule = p.extinction(acquisition=3, extinction=3)
    assert final(schedule, rate=[0.5, 0.5, 0.5, 0, 0, 0]) == final(p.acquisition(3), rate=0.5)


def test_surprise_is_the_outcome_minus_what_the_present_cues_recalled():
    table = run_protocol(p.blocking(pretraining=2, compound=1), rate=0.5)
    assert table.groupby("trial")["surprise"].first().to_list() == [1.0, 0.5, 0.25]


def test_delta_settles_below_its_stability_limit_and_diverges_above():
    def lesson(trials):
        return p.overshadowing(compound=trials, bell=1.0, light=0.5)  # ‖k‖² = 1.5, so the limit is η = 4/3

    assert final(lesson(3000), rate=1.32) + final(lesson(3000), "light", rate=1.32) == pytest.approx(1.0, abs=1e-9)
    assert abs(final(lesson(300), rate=1.34)) > 10
    with pytest.raises(FloatingPointError, match="stability limit"):
        run_protocol(lesson(3000), rate=1.9)
    with pytest.raises(FloatingPointError, match="stability limit"):
        rescorla_wagner(lesson(3000), rate=1.9)


# ------------------------------------------------------------------ trials, schedules and the table


def test_a_trial_is_the_same_however_it_is_spelled():
    assert Trial("bell", 1) == Trial(["bell"], {"food": 1.0}) == Trial({"bell": 1.0}, {"food": 1})
    assert len({Trial("bell", 1), Trial(["bell"], 1.0)}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        Trial("bell", 1).phase = "other"


def test_testing_teaches_nothing():
    trials = p.conditioned_inhibition(trials=5).trials
    few, many = Schedule("few", trials, {"bell": "bell"}), p.conditioned_inhibition(trials=5)
    pd.testing.assert_series_equal(course(few, rate=0.2), course(many, rate=0.2), check_exact=True)


def test_a_key_is_as_long_as_its_saliences_add_up():
    schedule = Schedule("two", [Trial({"bell": 0.25, "light": 0.5}, 1), Trial("tone", 1)])
    np.testing.assert_allclose((schedule.keys**2).sum(axis=1), [0.75, 1.0], atol=ROUNDING)
    assert schedule.keys[0].tolist() == [0.5, math.sqrt(0.5), 0.0]


def test_the_table_has_one_row_per_trial_probe_and_outcome():
    table = run_protocol(p.counterconditioning(acquisition=3, conversion=4))
    assert list(table.columns) == ["trial", "phase", "cue", "us", "response", "predicted", "surprise"]
    assert len(table) == 7 * 1 * 2
    assert not table.duplicated(["trial", "cue", "us"]).any()
    assert table.groupby("phase")["trial"].agg(["min", "max"]).to_dict("index") == {
        "acquisition": {"min": 1, "max": 3},
        "conversion": {"min": 4, "max": 7},
    }


def test_partial_reinforcement_depends_only_on_its_generator():
    one, two = (p.partial_reinforcement(rng=np.random.default_rng(5)) for _ in range(2))
    assert one == two
    assert one != p.partial_reinforcement(rng=np.random.default_rng(6))


# ------------------------------------------------------------------ what none of the rules shows


@pytest.mark.parametrize("rate", [0.1, 0.3])
@pytest.mark.parametrize(
    "how",
    [{"rule": HEBBIAN}, {"rule": DELTA}, {"rule": OJA}, {"rule": HEBBIAN, "decay": 0.97}],
    ids=["hebbian", "delta", "oja", "hebbian with decay"],
)
def test_no_rule_shows_what_is_beyond_it(how, rate):
    table = run_limits(rate=rate, **how)
    assert len(table) == 7
    assert not table["shown"].any(), table


def effect(name, rule, rate=0.3):
    table = run_limits(rule=rule, rate=rate).set_index("phenomenon")
    return table.loc[name, "effect"]


def test_preexposure_leaves_no_trace_in_any_rule():
    assert all(effect("latent inhibition", rule) == 0 for rule in RULES.values())


def test_a_rest_leaves_no_trace_in_any_rule():
    assert all(effect("spontaneous recovery", rule) == 0 for rule in RULES.values())


def test_second_order_training_makes_an_inhibitor_by_the_delta_rule():
    # Animals respond to the light; the rule predicts the opposite sign, bell and light halving a loss of one.
    assert effect("second-order conditioning", DELTA) == pytest.approx(-0.5, abs=0.01)
    assert effect("second-order conditioning", HEBBIAN) == 0


def test_nothing_bridges_a_gap_between_bell_and_food():
    assert all(effect("timing", rule) == 0 for rule in RULES.values())


def test_the_second_acquisition_gains_no_more_than_the_first():
    assert effect("rapid reacquisition", DELTA) == pytest.approx(0, abs=ROUNDING)


def test_extinction_by_the_delta_rule_does_not_ask_how_often_food_came():
    assert effect("partial reinforcement extinction effect", DELTA) == pytest.approx(0, abs=ROUNDING)


def _recovering(S, k, v, *, rate=1.0):
    return DELTA.write(S, k, v, rate=rate) + (0.01 if not k.any() else 0)


def _sulking(S, k, v, *, rate=1.0):
    return DELTA.write(S, k, v, rate=rate) - (0.02 * k if not v.any() else 0)


def _self_fed(S, k, v, *, rate=1.0):
    return S + rate * np.outer(v if v.any() else S @ k, k)


def _indiscriminate(S, k, v, *, rate=1.0):
    return S + rate * np.outer(v, np.ones_like(k))


def _counting(slow_to_unlearn):
    """A rule with a memory of its own: it counts trials since the matrix was last empty."""
    seen = {"trials": 0, "unfed": 0}

    def write(S, k, v, *, rate=1.0):
        if not S.any():
            seen.update(trials=0, unfed=0)
        seen["trials"] += 1
        seen["unfed"] += not v.any()
        unlearn = rate / (1 + seen["unfed"] / 5)
        learn = min(1.0, rate * (1 + seen["trials"] / 50))
        return DELTA.write(S, k, v, rate=(rate if v.any() else unlearn) if slow_to_unlearn else learn)

    return write


@pytest.mark.parametrize(
    ("phenomenon", "write"),
    [
        ("latent inhibition", _sulking),
        ("spontaneous recovery", _recovering),
        ("second-order conditioning", _self_fed),
        ("timing", _indiscriminate),
        ("rapid reacquisition", _counting(slow_to_unlearn=False)),
        ("partial reinforcement extinction effect", _counting(slow_to_unlearn=True)),
    ],
    ids=lambda x: x if isinstance(x, str) else "shown",
)
def test_the_demonstrations_can_tell_a_rule_that_does_show_the_effect(phenomenon, write):
    table = run_limits(rule=with_write(write), rate=0.2).set_index("phenomenon")
    assert table.loc[phenomenon, "shown"], table["effect"]


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_no_linear_recall_of_any_state_shows_negative_patterning(bell, light):
    def respond(_):
        return pd.DataFrame({"cue": ["bell", "light", "both"], "response": [bell, light, bell + light]})

    limit = next(x for x in p.LIMITS if x.name == "negative patterning")
    assert limit.effect(respond) <= 0


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Trial(3, 1), "cues must be a name"),
        (lambda: Trial([3], 1), "a cue must be named"),
        (lambda: Trial("", 1), "a cue must be named"),
        (lambda: Trial({"bell": 0}, 1), "salience of bell"),
        (lambda: Trial({"bell": 1.5}, 1), "salience of bell"),
        (lambda: Trial({"bell": float("nan")}, 1), "salience of bell"),
        (lambda: Trial(["bell", "bell"], 1), "distinct"),
        (lambda: Trial("bell", -1), "magnitude of food"),
        (lambda: Trial("bell", float("inf")), "magnitude of food"),
        (lambda: Trial("bell", {"food": True}), "magnitude of food"),
        (lambda: Trial("bell", "food"), "magnitude of food"),
        (lambda: Trial("bell", 1, phase=""), "phase"),
        (lambda: Schedule("none", []), "non-empty list of Trial"),
        (lambda: Schedule("none", 5), "non-empty list of Trial"),
        (lambda: Schedule("text", ["bell"]), "non-empty list of Trial"),
        (lambda: Schedule("", [Trial("bell", 1)]), "name must be named"),
        (lambda: Schedule("rests", [Trial((), 0)]), "at least one cue"),
        (lambda: Schedule("no outcome", [Trial("bell", {})]), "at least one cue and one outcome"),
        (lambda: Schedule("louder", [Trial({"bell": 0.5}, 1), Trial("bell", 1)]), "must keep the salience"),
        (lambda: Schedule("probe", [Trial("bell", 1)], {"x": "light"}), "cue without a salience"),
        (lambda: Schedule("probe", [Trial("bell", 1)], {"x": {"bell": 0.5}}), "must keep the salience"),
        (lambda: Schedule("probe", [Trial("bell", 1)], {"x": ["bell", "bell"]}), "distinct"),
        (lambda: p.acquisition(0), "number of acquisition trials"),
        (lambda: p.extinction(extinction=1.5), "number of extinction trials"),
        (lambda: p.partial_reinforcement(rng=0), "rng must be"),
        (lambda: p.partial_reinforcement(rng=np.random.default_rng(0), probability=1.2), "probability"),
        (lambda: p.generalisation(width=0), "width"),
        (lambda: p.discrimination(distance=0), "distance"),
        (lambda: p.contingency_drift(trials=1), "trials"),
        (lambda: run_protocol([Trial("bell", 1)]), "schedule must be a Schedule"),
        (lambda: run_protocol(p.acquisition(), rule="delta"), "rule must be a Rule"),
        (lambda: run_protocol(p.acquisition(), rule="oja"), "rule must be a Rule"),
        (lambda: run_protocol(p.acquisition(), rate=-0.1), "rate"),
        (lambda: run_protocol(p.acquisition(), rate=float("nan")), "rate"),
        (lambda: run_protocol(p.acquisition(), rate="fast"), "rate"),
        (lambda: run_protocol(p.acquisition(3), rate=[0.1, 0.2]), "one for each of the 3 trials"),
        (lambda: run_protocol(p.acquisition(2), rate=[0.1, -0.2]), "each rate"),
        (lambda: run_protocol(p.acquisition(), decay=0.9), "settings of the delta rule"),
        (lambda: run_protocol(p.acquisition(), rule=HEBBIAN, decay=1.5), "decay"),
        (lambda: rescorla_wagner(p.acquisition(), rate=-1), "rate"),
        (lambda: run_limits(rate=0), "rate"),
        (lambda: run_limits(rule="delta"), "rule must be a Rule"),
    ],
)
def test_bad_input_is_refused_with_a_reason(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_rule_of_ones_own_runs_through_the_same_protocols():
    def write(state, key, value, *, rate=1.0):
        return state + rate * np.outer(np.sign(value - state @ key), key)  # learns by a fixed step

    own = Rule("sign", "S + η sign(v − S k) kᵀ", write, DELTA.scan, DELTA.scan_parallel)
    assert final(p.acquisition(4), rule=own, rate=0.25) == 1.0

"""Capacity, depth and drift: tidy tables, repeatable from a seed, that agree with theory and refuse what does not fit.

Growth, prompts, costs and unlearning have tests of their own.
"""

import numpy as np
import pandas as pd
import pytest

from pavlov_lib import RULES, checks, stimuli, theory
from pavlov_lib.experiments import (
    TRACKERS,
    at_budget,
    capacity_at,
    common,
    run_capacity,
    run_context,
    run_depth,
    run_drift,
    run_worst_case,
)
from pavlov_lib.experiments.common import cosine, mean_and_se

# Each experiment at its smallest, and the columns of its table.
SMALL = {
    run_capacity: {"dims": [8, 16], "loads": [0.5, 1.0], "trials": 4},
    run_worst_case: {"dims": [8, 16], "trials": 4},
    run_context: {"dims": [8, 16], "lengths": [1, 5], "trials": 4},
    run_depth: {"layers": [1, 3], "heads": [1, 2], "dims": [8], "loads": [2.0, 3.0], "trials": 3},
    run_drift: {"steps": 12, "cues": 3, "key_dim": 8, "trials": 3},
}
COLUMNS = {
    run_capacity: "d_k n fidelity fidelity_se error error_se predicted_fidelity predicted_error",
    run_worst_case: "d_k capacity capacity_se typical_item",
    run_context: "d_k n fidelity fidelity_se predicted_fidelity",
    run_depth: "layers heads d_k n readout error_rate error_se predicted bound",
    run_drift: "rule step norm norm_se error error_se cosine cosine_se",
}
ROWS = {run_capacity: 4, run_worst_case: 2, run_context: 4, run_depth: 2 * 2 * 2 * 3, run_drift: 4 * 12}
KEYS = {
    run_capacity: ["d_k", "n"],
    run_worst_case: ["d_k"],
    run_context: ["d_k", "n"],
    run_depth: ["layers", "heads", "d_k", "n", "readout"],
    run_drift: ["rule", "step"],
}
each = pytest.mark.parametrize("run", SMALL, ids=lambda run: run.__name__)


# --- tables ----------------------------------------------------------------------------------------------------------


@each
def test_the_table_is_tidy(run):
    table = run(**SMALL[run])
    assert list(table.columns) == COLUMNS[run].split()
    assert len(table) == ROWS[run]
    assert not table.duplicated(KEYS[run]).any()  # one row per cell
    assert not table.isna().any().any()
    assert table.index.equals(pd.RangeIndex(len(table)))
    assert (table.filter(like="_se") >= 0).all().all()


@each
def test_the_same_seed_gives_the_same_table_and_another_seed_another(run):
    first, again, other = run(**SMALL[run], seed=5), run(**SMALL[run], seed=5), run(**SMALL[run], seed=6)
    pd.testing.assert_frame_equal(first, again, check_exact=True)
    assert not first.equals(other)


@each
def test_no_experiment_touches_the_global_random_state(run):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    run(**SMALL[run])
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("run", [run_capacity, run_worst_case, run_context])
def test_a_cell_that_is_added_at_the_end_changes_no_other(run):
    fewer, more = run(**SMALL[run]), run(**(SMALL[run] | {"dims": [8, 16, 32]}))
    pd.testing.assert_frame_equal(fewer, more.iloc[: len(fewer)], check_exact=True)


@pytest.mark.parametrize("name", TRACKERS)
def test_all_rules_see_the_same_drifting_world(name):
    together, alone = run_drift(**SMALL[run_drift]), run_drift(**SMALL[run_drift], rules=[name])
    pd.testing.assert_frame_equal(together[together.rule == name].reset_index(drop=True), alone, check_exact=True)


def test_one_trial_has_no_standard_error():
    assert np.isnan(run_capacity(dims=[8], loads=[1.0], trials=1).error_se[0])


def test_a_standard_error_is_that_of_independent_trials():
    samples = np.array([1.0, 2.0, 4.0])
    mean, se = mean_and_se(samples)
    assert mean == pytest.approx(7 / 3)
    assert se == pytest.approx(np.sqrt(((samples - 7 / 3) ** 2).sum() / 2 / 3))


def test_the_cosine_with_nothing_is_zero():
    assert cosine(np.zeros((1, 3)), np.ones((1, 3))) == 0
    assert cosine(np.ones((1, 3)), 5 * np.ones((1, 3))) == pytest.approx(1)


# --- against theory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("rate", [0.5, 1.0])
def test_capacity_errors_lie_within_their_standard_errors_of_the_prediction(rule, rate):
    table = run_capacity(dims=[8, 16], loads=[0.5, 1.0, 2.0], trials=300, rule=rule, rate=rate, value_dim=12)
    distance = (table.error - table.predicted_error) / table.error_se
    assert distance.abs().max() < 4  # six cells: one in three thousand runs of a right formula would miss this
    assert (table.error_se < 0.05 * table.predicted_error).all()  # and a wrong one could not hide


def test_error_bars_are_as_wide_as_repeated_runs_scatter():
    runs = [run_capacity(dims=[8], loads=[1.0], trials=20, seed=seed) for seed in range(200)]
    scatter = np.std([t.error[0] for t in runs], ddof=1)
    claimed = np.sqrt(np.mean([t.error_se[0] ** 2 for t in runs]))
    assert claimed == pytest.approx(scatter, rel=0.25)  # the scatter of 200 runs is itself known to 5 %


def test_fidelity_falls_with_load_and_rests_on_the_load_alone():
    table = run_capacity(dims=[32, 64], loads=[0.25, 1.0, 4.0], trials=60)
    small, large = (table[table.d_k == d].fidelity.to_numpy() for d in (32, 64))
    assert np.all(np.diff(small) < 0) and np.all(np.diff(large) < 0)
    np.testing.assert_allclose(small, large, atol=0.02)  # (n − 1)/d_k differs a little between the two


def test_keys_that_share_a_direction_interfere_by_the_square_of_what_they_share():
    d, overlap = 32, 0.3
    table = run_capacity(dims=[d], loads=[1.0], trials=200, overlap=overlap)
    # k·k' = overlap + (1 − overlap) u·u', with u and u' uniform in the d − 1 other dimensions
    expected = (d - 1) * (overlap**2 + (1 - overlap) ** 2 / (d - 1))
    assert abs(table.error[0] - expected) < 4 * table.error_se[0] < 0.1 * expected


def test_capacity_at_a_fidelity_is_where_the_curve_crosses_it():
    table = pd.DataFrame({"d_k": 8, "n": [1, 3, 5], "fidelity": [1.0, 0.94, 0.84], "fidelity_se": [0.0, 0.01, 0.02]})
    found = capacity_at(table, tau=0.9)
    assert found.capacity[0] == pytest.approx(3 + 0.04 / 0.05)
    assert found.capacity_se[0] == pytest.approx(0.02 / 0.05)
    assert found.predicted[0] == pytest.approx(1 + 8 * theory.capacity_slope(0.9))
    for tau in (0.5, 1.0):  # never reached; not left behind
        with pytest.raises(ValueError, match="must cross tau"):
            capacity_at(table[table.fidelity < 1] if tau == 1.0 else table, tau=tau)


def test_worst_case_capacity_is_the_last_size_at_which_every_item_survives():
    table = run_worst_case(dims=[32], trials=1, seed=3)
    (rng,) = stimuli.generators(3, 1)
    keys = stimuli.unit_vectors(rng, 1, 2 + int(2 * theory.worst_case_capacity(32)), 32)[0]

    def survives(n):
        overlaps = np.abs(keys[:n] @ keys[:n].T) - np.eye(n)
        return overlaps.sum(1).max() < 1

    n = int(table.capacity[0])
    assert survives(n) and not survives(n + 1)


def test_worst_case_grows_with_what_is_allowed():
    strict, lax = (run_worst_case(dims=[64], trials=5, epsilon=e).capacity[0] for e in (0.5, 2.0))
    assert strict < lax < 2.2 * run_worst_case(dims=[64], trials=5).capacity[0]


def test_the_first_pair_of_a_context_follows_its_prediction():
    for rule, decay in (("hebbian", 1.0), ("hebbian", 0.95), ("delta", 1.0)):
        table = run_context(dims=[32], lengths=[1, 8, 32], trials=200, rule=rule, decay=decay)
        # the formula replaces the mean of a quotient by the quotient of means: within 0.03 at this size
        np.testing.assert_allclose(table.fidelity, table.predicted_fidelity, atol=0.03 + 4 * table.fidelity_se.max())
        assert table.fidelity[0] == pytest.approx(1)


@pytest.mark.parametrize("readout", theory.READOUTS)
def test_stack_failures_lie_near_the_prediction_and_below_the_bound(readout):
    table = run_depth(layers=[1, 2], heads=[1, 2, 3], dims=[24], loads=[3.0], trials=25, readouts=[readout])
    # the competitors of a chain are taken as independent, which makes the prediction up to a fifth too large
    assert np.all(table.predicted / table.error_rate > 0.75) and np.all(table.predicted / table.error_rate < 1.5)
    assert np.all(table.error_rate <= table.bound)


def test_failures_rise_with_layers_and_fall_with_heads_and_key_dimension():
    table = run_depth(layers=[1, 2, 4], heads=[1, 2, 3], dims=[16, 32], loads=[3.0], trials=10, readouts=["any"])
    rate = table.set_index(["d_k", "layers", "heads"]).error_rate.unstack()
    assert np.all(np.diff(rate, axis=1) < 0)
    for d in (16, 32):
        assert np.all(np.diff(rate.loc[d], axis=0) > 0)
    same_links = pd.concat(run_depth(dims=[d], loads=[48 / d], layers=[1], heads=[1], trials=10) for d in (12, 16, 24))
    assert same_links[same_links.readout == "any"].error_rate.is_monotonic_decreasing


def test_one_head_is_read_alike_by_every_readout():
    table = run_depth(layers=[1, 3], heads=[1], dims=[16], loads=[3.0], trials=4)
    assert (table.groupby("layers").error_rate.nunique() == 1).all()


def test_an_oracle_that_picks_the_head_is_never_beaten():
    table = run_depth(layers=[1], heads=[1, 2, 4], dims=[16], loads=[3.0], trials=6)
    rate = table.set_index(["heads", "readout"]).error_rate.unstack()
    assert np.all(rate["any"] <= rate["majority"])


def test_two_votes_are_no_better_than_one():
    # ties are drawn fairly, so with two heads the vote is right as often as a single head is
    table = run_depth(layers=[1], heads=[1, 2], dims=[16], loads=[3.0], trials=60, readouts=["majority"])
    one, two = table.error_rate
    assert abs(one - two) < 4 * np.hypot(*table.error_se)


def test_a_budget_keeps_the_stacks_that_spend_it():
    table = run_depth(layers=[1, 2, 4], heads=[1, 2, 4], dims=[8], loads=[2.0], trials=2, readouts=["any"])
    chosen = at_budget(table, 4)
    assert (chosen.layers * chosen.heads == 4).all() and chosen.layers.tolist() == [1, 2, 4]
    with pytest.raises(ValueError, match="layers · heads = 5; got none"):
        at_budget(table, 5)


@pytest.fixture(scope="module")
def drift():
    return run_drift(steps=400, trials=8)


def at(table, rule, step, column):
    return table[(table.rule == rule) & (table.step == step)][column].item()


def test_hebbs_norm_grows_with_time_and_the_others_do_not(drift):
    assert at(drift, "hebbian", 400, "norm") / at(drift, "hebbian", 200, "norm") > 1.7
    for rule in ("hebbian+decay", "delta", "oja"):
        assert at(drift, rule, 400, "norm") < 1.2 * at(drift, rule, 200, "norm")


def test_delta_follows_a_slow_world_a_hundred_times_closer_than_decay_does(drift):
    assert at(drift, "hebbian+decay", 400, "error") > 50 * at(drift, "delta", 400, "error")
    assert at(drift, "delta", 400, "cosine") > 0.99


def test_the_first_pair_is_recalled_at_once_by_every_rule_at_rate_one():
    table = run_drift(steps=1, cues=1, angle=0.0, trials=3, rules=["hebbian", "delta"])
    np.testing.assert_allclose(table.error, 0, atol=1e-25)
    np.testing.assert_allclose(table.cosine, 1)


def test_decay_has_the_gain_of_its_rate():
    # one cue per round and no interference: the decayed pairings of a cue add up to the outcome itself
    table = run_drift(rules=["hebbian+decay"], steps=300, cues=1, angle=0.0, trials=2, decay=0.9)
    assert at(table, "hebbian+decay", 300, "error") < 1e-20  # (0.9^300)² is 4e-28


def test_a_reversal_turns_every_outcome_around():
    settings = {"steps": 40, "cues": 2, "key_dim": 8, "trials": 4, "angle": 0.0}
    plain, turned = run_drift(**settings), run_drift(**settings, reversal=21)
    for rule in TRACKERS:
        pd.testing.assert_frame_equal(
            plain[(plain.rule == rule) & (plain.step < 21)], turned[(turned.rule == rule) & (turned.step < 21)]
        )
    assert at(turned, "delta", 21, "cosine") < 0.5 < at(turned, "delta", 40, "cosine")
    assert at(turned, "hebbian", 40, "cosine") < 0.6  # Hebb has to unsay as much as it has said


# --- where the work is done ------------------------------------------------------------------------------------------

on_torch = {
    run_capacity: SMALL[run_capacity],
    run_depth: SMALL[run_depth],
    run_drift: SMALL[run_drift],
}


try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
needs_cuda = pytest.mark.skipif(torch is None or not torch.cuda.is_available(), reason="no CUDA device here")
PLACES = [pytest.param("cpu", marks=needs_torch), pytest.param("cuda", marks=needs_cuda)]


@pytest.mark.parametrize("run", on_torch, ids=lambda run: run.__name__)
@pytest.mark.parametrize("device", PLACES)
def test_torch_gives_the_numbers_of_numpy(run, device):
    expected, got = run(**SMALL[run]), run(**SMALL[run], device=device)
    # float64 on both sides; the order of sums differs, and in depth a decoding could only flip at a tie
    pd.testing.assert_frame_equal(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_float32_is_close_to_float64(rule):
    double, single = (
        run_capacity(dims=[16], loads=[1.0], trials=20, rule=rule, dtype=d) for d in ("float64", "float32")
    )
    assert single.error[0] == pytest.approx(double.error[0], rel=1e-5)  # float32 rounds at 6e-8, over tens of writes
    assert single.error[0] != double.error[0]


@needs_torch
@pytest.mark.parametrize("overlap", [0.0, 0.3])
@pytest.mark.parametrize("dtype", checks.FLOATS)
def test_pairs_that_torch_draws_tell_the_same_story(dtype, overlap):
    how = {"dims": [16, 32], "loads": [0.5, 2.0], "overlap": overlap, "dtype": dtype}
    mine = run_capacity(**how, trials=300, seed=1)
    there = {"device": "cpu", "generator": "torch"}
    theirs = run_capacity(**how, **there, trials=300, seed=1)
    for column in ("fidelity", "error"):
        apart = (mine[column] - theirs[column]).abs() / np.hypot(mine[f"{column}_se"], theirs[f"{column}_se"])
        assert (apart < 4).all() and (apart > 0).all(), column  # other pairs, the same law
    pd.testing.assert_frame_equal(theirs, run_capacity(**how, **there, trials=300, seed=1))
    assert (theirs.error != run_capacity(**how, **there, trials=300, seed=2).error).all()


@pytest.mark.parametrize("run", on_torch, ids=lambda run: run.__name__)
def test_a_device_is_refused_where_torch_is_not_installed(run, monkeypatch):
    monkeypatch.setattr(common.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="device must be None where torch is not installed"):
        run(**SMALL[run], device="cpu")
    run(**SMALL[run])  # and without one nothing is missing


# --- refusals --------------------------------------------------------------------------------------------------------

CAPACITY, DEPTH, DRIFT = run_capacity, run_depth, run_drift
BAD = [
    (CAPACITY, {"dims": []}, "dims must be a non-empty list"),
    (CAPACITY, {"dims": 16}, "dims must be a non-empty list"),
    (CAPACITY, {"dims": [0]}, "each of dims"),
    (CAPACITY, {"dims": [16.0]}, "each of dims"),
    (CAPACITY, {"dims": "16"}, "dims must be a non-empty list"),
    (CAPACITY, {"loads": [0.0]}, "each of loads"),
    (CAPACITY, {"loads": [-1.0]}, "each of loads"),
    (CAPACITY, {"loads": [float("nan")]}, "each of loads"),
    (CAPACITY, {"trials": 0}, "trials must be"),
    (CAPACITY, {"trials": True}, "trials must be"),
    (CAPACITY, {"seed": -1}, "seed must be"),
    (CAPACITY, {"seed": 0.5}, "seed must be"),
    (CAPACITY, {"rule": "hopfield"}, "rule must be one of hebbian, delta, oja"),
    (CAPACITY, {"rate": -0.1}, "rate must be"),
    (CAPACITY, {"rate": float("inf")}, "rate must be"),
    (CAPACITY, {"overlap": 1.0}, "overlap must be below 1"),
    (CAPACITY, {"overlap": -0.1}, "overlap must be"),
    (CAPACITY, {"value_dim": 0}, "value_dim must be"),
    (CAPACITY, {"device": "mars"}, "device must be"),
    (CAPACITY, {"dtype": "float16"}, "dtype must be one of"),
    (CAPACITY, {"generator": "dice"}, "generator must be one of numpy, torch"),
    (CAPACITY, {"generator": "torch"}, "generator 'torch' needs a device; got device=None"),
    (run_worst_case, {"epsilon": 0.0}, "epsilon must be"),
    (run_worst_case, {"trials": 0}, "trials must be"),
    (run_worst_case, {"dims": [0]}, "each of dims"),
    (run_context, {"lengths": []}, "lengths must be"),
    (run_context, {"lengths": [0]}, "each of lengths"),
    (run_context, {"decay": 0.0}, "decay must be"),
    (run_context, {"decay": 1.5}, "decay must be"),
    (run_context, {"rule": "delta", "decay": 0.9}, "decay must be 1 for the delta rule"),
    (run_context, {"rule": "none"}, "rule must be one of"),
    (run_context, {"rate": -1.0}, "rate must be"),
    (DEPTH, {"layers": [0]}, "each of layers"),
    (DEPTH, {"heads": []}, "heads must be"),
    (DEPTH, {"dims": [2]}, "d_v must be"),
    (DEPTH, {"value_dim": 2}, "value_dim must be"),
    (DEPTH, {"loads": [0.05]}, "n = load · d_k"),
    (DEPTH, {"readouts": ["oracle"]}, "each of readouts must be one of any, majority, average"),
    (DEPTH, {"readouts": "any"}, "readouts must be a non-empty list"),
    (DEPTH, {"trials": 0}, "trials must be"),
    (DEPTH, {"rule": "none"}, "rule must be one of"),
    (DEPTH, {"rate": -1.0}, "rate must be"),
    (DEPTH, {"device": "mars"}, "device must be"),
    (DRIFT, {"rules": ["softmax"]}, "each of rules must be one of"),
    (DRIFT, {"rules": []}, "rules must be"),
    (DRIFT, {"steps": 0}, "steps must be"),
    (DRIFT, {"cues": 0}, "cues must be"),
    (DRIFT, {"key_dim": 0}, "key_dim must be"),
    (DRIFT, {"value_dim": 1}, "value_dim must be"),
    (DRIFT, {"decay": 1.0}, "decay must be below 1"),
    (DRIFT, {"decay": 0.0}, "decay must be"),
    (DRIFT, {"rate": -1.0}, "rate must be"),
    (DRIFT, {"angle": float("nan")}, "angle must be"),
    (DRIFT, {"reversal": 1}, "reversal must be"),
    (DRIFT, {"reversal": 13}, "reversal must be a step from 2 to 12"),
    (DRIFT, {"trials": 0}, "trials must be"),
    (DRIFT, {"dtype": "int64"}, "dtype must be one of"),
]


@pytest.mark.parametrize(("run", "bad", "message"), BAD, ids=lambda x: getattr(x, "__name__", None))
def test_bad_input_is_refused_before_any_number_is_drawn(run, bad, message, monkeypatch):
    def no_work(*_):
        raise AssertionError("work began")

    monkeypatch.setattr(stimuli, "unit_vectors", no_work)
    with pytest.raises(ValueError, match=message):
        run(**(SMALL[run] | bad))


def test_a_memory_that_grows_through_all_loads_is_one_that_was_filled_at_once():
    how = {"dims": [16], "trials": 30, "seed": 4}
    for rule in RULES:
        grown = run_capacity(loads=[0.5, 1.0, 4.0], shared=True, rule=rule, **how)
        at_once = run_capacity(loads=[4.0], rule=rule, **how)
        np.testing.assert_allclose(grown.iloc[-1:].to_numpy(), at_once.to_numpy(), rtol=1e-12)
    # order and repeats of the loads are the caller's affair
    mixed = run_capacity(loads=[4.0, 0.5, 4.0], shared=True, rule=rule, **how)
    assert mixed.n.tolist() == [64, 8, 64] and mixed.fidelity[0] == mixed.fidelity[2]


def test_points_of_a_shared_curve_rise_and_fall_together():
    def curve(shared):
        tables = [run_capacity([8], [2.0, 2.5], trials=4, seed=s, shared=shared).fidelity for s in range(60)]
        return np.corrcoef(np.array(tables).T)[0, 1]

    # of the pairs of the larger memory the smaller one holds four in five; apart, 60 draws scatter by about 0.13
    assert curve(True) > 0.6 and abs(curve(False)) < 0.45

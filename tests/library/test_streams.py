"""Trained stacks watched at work: tallies, long contexts, what is written, and the pictures of it."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="torch is an extra: training needs it")

from pavlov_lib import figures  # noqa: E402
from pavlov_lib.models import Stack, StackConfig  # noqa: E402
from pavlov_lib.training import (  # noqa: E402
    MultiHop,
    Recall,
    TrainConfig,
    run_curves,
    run_streams,
    run_tally,
    train,
    write_sizes,
)
from pavlov_lib.training.tasks import HELD_OUT, draw  # noqa: E402

FEW = Recall(pairs=3, symbols=12, stale=3)
SMALL = StackConfig(layers=1, heads=2, key_dim=8, value_dim=8, vocab=FEW.vocab)
FAST = TrainConfig(steps=4, batch=4, evaluate_every=2, held_out=8)
BRIEF = {"task": FEW, "trials": 2, "steps": 2, "batch": 4, "sequences": 6, "key_dim": 4}


# ------------------------------------------------------------------------------------------------------ tally


def test_a_tally_of_single_pairs_is_always_right():
    fresh = Recall(pairs=4, symbols=16)
    assert run_tally([1], fresh, sequences=50).error_rate[0] == 0


def test_a_tally_of_a_bell_with_two_foods_is_a_coin_toss():
    assert run_tally([1], FEW, sequences=50).error_rate[0] == 0.5


def test_a_tally_gets_worse_with_every_context_towards_guessing_among_the_foods():
    table = run_tally([1, 2, 4, 8, 16, 200], FEW, sequences=400)
    assert table.error_rate.is_monotonic_increasing
    assert 0.7 < table.error_rate.iloc[-1] < 5 / 6  # six foods; what is right keeps a lead of one note


def test_a_tally_counts_as_a_plain_loop_does():
    """The definition, one note at a time."""
    wrong, notes = [], [{} for _ in range(20)]
    for context in (1, 2, 3):
        batch = draw(FEW, 5, HELD_OUT, context, 20)
        for row, tokens in enumerate(batch.tokens):
            for bell, food in tokens[: 4 * FEW.pairs].reshape(-1, 2).tolist():
                notes[row][bell, food] = notes[row].get((bell, food), 0) + 1
            if context == 3:
                for place, answer in zip(batch.asked, batch.answers[row], strict=True):
                    counts = {food: n for (bell, food), n in notes[row].items() if bell == tokens[place]}
                    best = [food for food, n in counts.items() if n == max(counts.values())]
                    wrong.append(1 - (answer in best) / len(best))
    assert run_tally([3], FEW, sequences=20, seed=5).error_rate[0] == pytest.approx(np.mean(wrong))


# ---------------------------------------------------------------------------------------------------- streams


def test_a_stream_has_one_row_per_rule_and_context_in_order():
    table = run_streams(["oja", "hebbian+decay"], contexts=[3, 1], **BRIEF)
    assert table[["rule", "context"]].to_numpy().tolist() == [
        ["oja", 1], ["oja", 3], ["hebbian+decay", 1], ["hebbian+decay", 3]
    ]  # fmt: skip
    assert (table.lowest <= table.error_rate).all() and (table.error_rate <= table.highest).all()
    assert np.isfinite(table.norm).all() and (table.norm_se >= 0).all()


def test_the_first_context_of_a_stream_is_what_training_prepares_for():
    """A stack that knows its task answers the first context of a stream, and delta the tenth no worse."""
    how = {"task": FEW, "trials": 2, "steps": 60, "sequences": 60, "key_dim": 8}
    table = run_streams(["delta"], contexts=[1, 10], **how).set_index("context")
    # measured 0.00 and 0.00; chance is 5/6
    assert table.error_rate[1] < 0.1
    assert table.error_rate[10] < 0.1


def test_only_hebbs_memory_grows_with_the_stream():
    table = run_streams(contexts=[1, 20], **(BRIEF | {"steps": 20}))
    growth = table.pivot(index="rule", columns="context", values="norm").pipe(lambda t: t[20] / t[1])
    assert growth["hebbian"] > 2
    assert growth.drop(["hebbian", "hebbian+decay"]).max() < 1.6  # untrained decay is near 1: it may still grow


def test_streams_do_not_depend_on_the_number_of_processes():
    direct, spread = (run_streams(["delta"], contexts=[2], jobs=jobs, **BRIEF) for jobs in (1, 2))
    pd.testing.assert_frame_equal(direct, spread)


# ------------------------------------------------------------------------------------------ curves and writes


def test_a_curve_is_the_mean_over_runs_of_what_training_reports():
    table = run_curves({"small": SMALL}, FEW, FAST, trials=2)
    seeds = [int(s.generate_state(1)[0]) for s in np.random.SeedSequence(0).spawn(2)]
    runs = [train(FEW, SMALL, dataclasses.replace(FAST, seed=s), progress=False).history for s in seeds]
    expected = 1 - np.mean([run.accuracy for run in runs], axis=0)
    assert table.step.tolist() == [2, 4]
    np.testing.assert_allclose(table.error_rate, expected, atol=0.05)  # one answer of 24 may tip with the thread count


def test_several_hops_have_curves_too():
    task = MultiHop(chains=2, symbols=8)
    stack = StackConfig(layers=1, heads=1, key_dim=4, value_dim=8, vocab=task.vocab)
    assert run_curves({"a": stack, "b": stack}, task, FAST, trials=2).model.tolist() == ["a", "a", "b", "b"]


def test_training_teaches_to_note_foods_and_not_bells():
    sizes = [
        write_sizes(model, FEW).set_index("token")["size"]
        for model in (Stack(SMALL), train(FEW, SMALL, TrainConfig(steps=60, batch=32), progress=False).model)
    ]
    fresh, trained = (size["food"] / size["bell"] for size in sizes)
    # measured about 1 and 3
    assert 0.6 < fresh < 1.6
    assert trained > 1.5 * fresh


def test_what_is_written_is_the_change_of_the_memory():
    """The first token is a bell: what it writes is the whole memory after it."""
    model, task = Stack(SMALL), Recall(pairs=1, symbols=12)
    batch = draw(task, 0, HELD_OUT, 0, 200)
    with torch.no_grad():
        _, (layer,) = model.step(torch.from_numpy(batch.tokens[:, 0]))
    size = write_sizes(model, task, sequences=200).set_index("token")["size"]
    assert size["bell"] == pytest.approx(float(layer.memory.norm(dim=(-2, -1)).mean()), rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run_streams(["hopfield"]), "rules must be"),
        (lambda: run_streams(trials=1), "trials must be"),
        (lambda: run_streams(contexts=[0]), "contexts must be"),
        (lambda: run_streams(task=MultiHop()), "task must be a Recall; got MultiHop"),
        (lambda: run_streams(layers=0), "layers must be"),
        (lambda: run_tally(sequences=1), "sequences must be"),
        (lambda: run_tally(task="recall"), "task must be a Recall; got str"),
        (lambda: run_curves({}, FEW, FAST), "stacks must map at least one name"),
        (lambda: run_curves({"a": SMALL}, Recall(pairs=8), FAST), "vocab must be at least"),
        (lambda: write_sizes(Stack(SMALL), Recall(pairs=8)), "vocab must be at least"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# --------------------------------------------------------------------------------------------------- pictures

STREAM = pd.DataFrame(
    {"rule": ["hebbian"] * 2 + ["delta"] * 2, "layers": 1, "context": [1, 2] * 2, "error_rate": [0.5, 0.6, 0.0, 0.0],
     "error_se": 0.01, "lowest": 0.0, "highest": 0.7, "norm": [20.0, 30.0, 10.0, 11.0], "norm_se": 0.5}
)  # fmt: skip
TALLY = pd.DataFrame({"context": [1, 2], "error_rate": [0.5, 0.61], "error_se": [0.0, 0.01]})
HOPS = pd.DataFrame(
    {"rule": ["hebbian"] * 2 + ["delta"] * 2, "hops": [1, 2] * 2, "error_rate": [0.2, 0.9, 0.0, 0.3], "error_se": 0.02,
     "lowest": [0.1, 0.8, 0.0, 0.2], "highest": [0.3, 0.95, 0.0, 0.4]}
)  # fmt: skip
CURVES = pd.DataFrame(
    {"model": ["a", "a"], "step": [1, 2], "error_rate": [0.9, 0.1], "error_se": 0.01, "lowest": 0.0, "highest": 1.0}
)


def drawn(ax) -> list[tuple]:
    return [tuple(np.asarray(line.get_ydata(), float)) for line in ax.get_lines()]


def test_streams_are_drawn_beside_the_tally():
    above, below = figures.draw_streams(STREAM, TALLY).axes
    assert {(0.5, 0.6), (0.0, 0.0), (0.5, 0.61)} <= set(drawn(above))
    assert {(20.0, 30.0), (10.0, 11.0)} <= set(drawn(below))
    assert all(ax.get_xlabel() and ax.get_ylabel() for ax in (above, below))


def test_bars_of_hops_stand_beside_their_prediction_and_between_their_trials():
    (ax,) = figures.draw_hops(HOPS, {1: 0.25, 2: 0.46}).axes
    heights = [float(v) for group in ax.containers if hasattr(group, "datavalues") for v in group.datavalues]
    assert sorted(heights) == [0.0, 0.2, 0.3, 0.9]
    assert {(0.25, 0.25), (0.46, 0.46), (0.1, 0.8), (0.3, 0.95)} <= set(drawn(ax))


def test_a_learning_curve_is_drawn_with_the_band_of_its_trials():
    (ax,) = figures.draw_curves(CURVES).axes
    assert (0.9, 0.1) in drawn(ax)
    assert ax.collections[0].get_datalim(ax.transData).extents[[1, 3]].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("draw_it", "names"),
    [
        (lambda: figures.draw_curves(CURVES), ["a: 2 points"]),
        (lambda: figures.draw_streams(STREAM, TALLY), ["Hebb: 2 points", "delta: 2 points"]),
        (lambda: figures.draw_hops(HOPS), ["Hebb: 2 bars", "delta: 2 bars"]),
        (lambda: figures.draw_stacks(HOPS.assign(layers=2, parameters=16_000)), ["Hebb: 1 points", "delta: 1 points"]),
    ],
)
def test_the_text_of_a_trained_figure_names_its_curves_and_leaves_their_numbers_out(draw_it, names):
    """They differ a little between CPUs, and texts are compared to the letter."""
    text = draw_it().digest()
    assert all(name in text for name in names)
    assert "y = " not in text and "0." not in text


@pytest.mark.parametrize(
    ("draw_it", "message"),
    [
        (lambda: figures.draw_streams(pd.concat([STREAM, STREAM]), TALLY), "choose layers first"),
        (lambda: figures.draw_hops(pd.concat([HOPS, HOPS])), "choose layers first"),
        (lambda: figures.draw_stacks(HOPS, hops=3), "hops must be one of"),
    ],
)
def test_tables_with_several_rows_for_one_point_are_refused(draw_it, message):
    with pytest.raises(ValueError, match=message):
        draw_it()

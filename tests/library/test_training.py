"""Training: tasks whose answers are right, stacks that learn them, runs that survive a kill."""

import dataclasses
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

torch = pytest.importorskip("torch", reason="torch is an extra: training needs it")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from pavlov_lib.models import Stack, StackConfig, count_parameters  # noqa: E402
from pavlov_lib.training import (  # noqa: E402
    MultiHop,
    Recall,
    TrainConfig,
    evaluate,
    run_stacks,
    shape_at_budget,
    train,
)  # fmt: skip
from pavlov_lib.training.loop import _learning_rate, _ratio, _Run, scores  # noqa: E402
from pavlov_lib.training.tasks import HELD_OUT, TRAINING, draw  # noqa: E402

FEW = Recall(pairs=3, symbols=12)
TINY = StackConfig(layers=1, heads=2, key_dim=8, value_dim=8, vocab=FEW.vocab)
FAST = TrainConfig(steps=12, batch=8, evaluate_every=4, held_out=16)


@pytest.fixture
def one_thread():
    """Sums of floats in one order, whatever else the machine does."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def same(a, b):
    """Equal to the last bit: weights and history."""
    assert a.history.equals(b.history)
    for (name, x), y in zip(a.model.state_dict().items(), b.model.state_dict().values(), strict=True):
        assert torch.equal(x, y), name


# ------------------------------------------------------------------------------------------------------ tasks

recalls = st.builds(
    lambda pairs, extra, queries, stale: Recall(pairs, 2 * pairs + 4 + extra, min(queries, pairs), min(stale, pairs)),
    st.integers(1, 6), st.integers(0, 9), st.integers(1, 6), st.integers(0, 6),
)  # fmt: skip
hops = st.builds(
    lambda chains, hops, extra, queries, stale: MultiHop(
        chains, hops, chains * (hops + 1) + extra, min(queries, chains), min(stale, chains * hops)
    ),
    st.integers(1, 4), st.integers(1, 4), st.integers(0, 9), st.integers(1, 4), st.integers(0, 9),
)  # fmt: skip


@settings(max_examples=60, deadline=None, derandomize=True)
@given(task=st.one_of(recalls, hops), seed=st.integers(0, 2**32 - 1))
def test_following_the_context_by_hand_gives_every_answer(task, seed):
    batch = task.batch(np.random.default_rng(seed), 5)
    pairs = (task.pairs if isinstance(task, Recall) else task.chains * task.hops) + task.stale
    assert batch.tokens.shape == (5, 2 * pairs + 2 * task.asking)
    assert batch.tokens.min() >= 0 and batch.tokens.max() < task.vocab
    for sequence, answers, counts in zip(batch.tokens, batch.answers, batch.hops, strict=True):
        leads, times = {}, {}
        for bell, food in sequence[: 2 * pairs].reshape(-1, 2):
            leads[bell] = food  # the later pairing counts
            times[bell] = times.get(bell, 0) + 1
        assert sorted(times.values()) == [1] * (pairs - 2 * task.stale) + [2] * task.stale
        asked_about = set()
        for place, answer, count in zip(batch.asked, answers, counts, strict=True):
            at = sequence[place]
            asked_about.add(at)
            assert sequence[place - 1] == task.symbols + count - 1  # the token that says how many hops
            for _ in range(count):
                at = leads[at]
            assert at == answer
        assert len(asked_about) == task.asking


@settings(max_examples=30, deadline=None, derandomize=True)
@given(task=st.one_of(recalls, hops))
def test_a_stale_pairing_is_a_wrong_one(task):
    batch = task.batch(np.random.default_rng(0), 20)
    n = task.pairs if isinstance(task, Recall) else task.chains * task.hops
    for sequence in batch.tokens:
        now = dict(sequence[2 * task.stale : 2 * (task.stale + n)].reshape(-1, 2))
        assert all(now[bell] != food for bell, food in sequence[: 2 * task.stale].reshape(-1, 2))


def test_every_number_of_hops_is_asked_for_about_equally_often():
    asked = MultiHop(chains=2, hops=3, symbols=8).batch(np.random.default_rng(0), 3000).hops
    # 6000 fair draws of three: each share is 1/3 with a standard error of 0.006
    assert np.abs(np.bincount(asked.ravel(), minlength=4)[1:] / asked.size - 1 / 3).max() < 5 * 0.0061


def test_batches_depend_on_seed_stream_and_number_alone():
    def tokens(*where):
        return draw(FEW, *where, 8).tokens

    assert (tokens(0, TRAINING, 3) == tokens(0, TRAINING, 3)).all()
    for other in ((1, TRAINING, 3), (0, HELD_OUT, 3), (0, TRAINING, 4)):
        assert (tokens(0, TRAINING, 3) != tokens(*other)).any()


@pytest.mark.parametrize(
    ("make", "message"),
    [(lambda: Recall(pairs=0), "pairs"), (lambda: Recall(pairs=4, symbols=7), r"symbols .* pairs=4; got 7"),
     (lambda: Recall(pairs=1, symbols=3), "symbols"), (lambda: Recall(queries=5), r"queries .* from 1 to 4; got 5"),
     (lambda: Recall(stale=5), "stale"), (lambda: Recall(stale=-1), "stale"), (lambda: MultiHop(chains=1.0), "chains"),
     (lambda: MultiHop(hops=0), "hops"), (lambda: MultiHop(symbols=8), r"chains · \(hops \+ 1\) = 9; got 8"),
     (lambda: MultiHop(queries=4), "queries"), (lambda: MultiHop(stale=7), r"from 0 to 6; got 7")],
)  # fmt: skip
def test_a_task_that_cannot_be_written_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# --------------------------------------------------------------------------------------------------- learning


@pytest.mark.parametrize("rule", ["hebbian", "hebbian+decay", "delta", "oja"])
def test_a_stack_learns_to_recall_a_few_pairs(rule):
    config = dataclasses.replace(TINY, rule=rule)
    trained = train(FEW, config, TrainConfig(steps=400, batch=32, target=0.97), progress=False)
    # chance is 1 in 6 foods; trained stacks pass 0.97 on fresh sequences, and 0.95 leaves room for their sampling
    assert evaluate(trained.model, FEW, seed=1).accuracy[0] > 0.95


def test_what_was_learned_holds_for_more_pairs_than_it_was_learned_from():
    wide = Recall(pairs=3, symbols=24)
    config = StackConfig(layers=1, heads=2, key_dim=16, value_dim=16, vocab=wide.vocab)
    model = train(wide, config, TrainConfig(steps=500, batch=32, target=0.99), progress=False).model
    # a circuit of conditioning, not a table of sequences: twice the pairs are still mostly recalled
    assert evaluate(model, Recall(pairs=6, symbols=24)).accuracy[0] > 0.8


def test_two_hops_take_two_layers():
    """One memory answers with what was beside the question; only a second one can ask again."""
    task = MultiHop(chains=2, hops=2, symbols=8)
    two_hops = {}
    for layers in (1, 2):
        shape = shape_at_budget(layers, 10_000, vocab=task.vocab)
        model = train(task, shape, TrainConfig(steps=250, batch=48, evaluate_every=250), progress=False).model
        table = evaluate(model, task, sequences=500).set_index("hops")
        assert table.accuracy[1] > 0.98
        two_hops[layers] = table.accuracy[2]
    # one layer may notice which two symbols are ends of chains, and guess between them: half of the answers are right
    assert two_hops[1] < 0.55 and two_hops[2] > 0.8


def test_the_delta_rule_learns_to_forget_a_stale_pairing_and_hebbs_rule_cannot():
    task = Recall(pairs=3, symbols=12, stale=3)
    errors = {}
    for rule in ("hebbian", "delta"):
        config = dataclasses.replace(TINY, rule=rule)
        model = train(task, config, TrainConfig(steps=250, batch=32, evaluate_every=250), progress=False).model
        errors[rule] = 1 - evaluate(model, task).accuracy[0]
    # both pairings of a bell weigh the same in Hebb's sum, so half of all answers are a toss between them
    assert errors["hebbian"] > 0.2 and errors["delta"] < 0.05


def test_half_precision_around_the_rules_learns_as_well():
    how = TrainConfig(steps=400, batch=32, target=0.97, precision="bfloat16")
    assert train(FEW, TINY, how, progress=False).accuracy >= 0.97


def test_only_answers_are_scored():
    batch = FEW.batch(np.random.default_rng(0), 4)
    losses, named = scores(Stack(TINY), batch, "float32")
    assert losses.shape == named.shape == batch.answers.shape
    logits = Stack(TINY)(torch.from_numpy(batch.tokens))[0]
    expected = -logits.log_softmax(-1)[torch.arange(4)[:, None], batch.asked, batch.answers]
    assert torch.allclose(losses, expected, atol=1e-6)  # a few roundings of float32


def test_history_is_tidy_and_accuracy_is_its_last_row():
    trained = train(FEW, TINY, TrainConfig(steps=10, batch=8, evaluate_every=4, held_out=16), progress=False)
    assert list(trained.history.columns) == [
        "step", "loss", "held_out_loss", "accuracy", "accuracy_se", "learning_rate",
    ]  # fmt: skip
    assert trained.history.step.tolist() == [4, 8, 10]
    assert (trained.accuracy, trained.accuracy_se) == tuple(trained.history.iloc[-1][["accuracy", "accuracy_se"]])


def test_the_learning_rate_rises_stays_and_falls():
    how = TrainConfig(steps=1000, learning_rate=0.5)
    rates = [_learning_rate(how, step) for step in range(1000)]
    assert rates[0] == 0.5 / 50 and rates[49] == rates[699] == 0.5
    assert rates[-1] == pytest.approx(0.5 / 300)
    assert rates[50:] == sorted(rates[50:], reverse=True)
    assert _learning_rate(TrainConfig(steps=1), 0) == 1e-2  # even the shortest run learns something


def test_training_stops_at_the_target():
    trained = train(FEW, TINY, TrainConfig(steps=400, batch=32, evaluate_every=20, target=0.5), progress=False)
    reached = trained.history.accuracy >= 0.5
    assert reached.iloc[-1] and not reached.iloc[:-1].any() and trained.history.step.iloc[-1] < 400


def test_training_stops_when_patience_ends():
    # a step far too small to change anything: the held-out loss reaches no new low worth the name
    how = TrainConfig(steps=100, batch=4, evaluate_every=2, held_out=8, learning_rate=1e-30, patience=3)
    trained = train(FEW, TINY, how, progress=False)
    assert trained.history.step.tolist() == [2, 4, 6, 8]


def test_training_leaves_the_randomness_of_the_process_alone():
    before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    train(FEW, TINY, FAST, progress=False)
    assert torch.equal(torch.get_rng_state(), before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


def test_the_seed_decides_everything(one_thread):
    one, two = (train(FEW, TINY, FAST, progress=False) for _ in range(2))
    same(one, two)
    other = train(FEW, TINY, dataclasses.replace(FAST, seed=1), progress=False)
    assert not one.history.equals(other.history)


def test_a_progress_bar_is_shown_if_asked_for(capsys):
    train(FEW, TINY, FAST, progress=True)
    assert "delta, L=1: 100%" in capsys.readouterr().err
    train(FEW, TINY, FAST, progress=False)
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device on this machine")
def test_a_stack_learns_on_a_gpu():
    trained = train(FEW, TINY, TrainConfig(steps=400, batch=32, target=0.97), device="cuda", progress=False)
    assert trained.model.embedding.weight.device.type == "cuda" and trained.accuracy >= 0.97


# ------------------------------------------------------------------------------------------------- evaluation


def test_the_standard_error_of_a_share_is_honest():
    rng = np.random.default_rng(0)
    shares, errors = [], []
    for _ in range(400):
        luck = rng.random((50, 1))  # questions of one sequence share its luck
        of = rng.random((50, 4)) < 0.6
        share, se = _ratio(rng.random((50, 4)) < luck, of)
        shares.append(share)
        errors.append(se)
    # 400 repetitions know a standard deviation within 4 %; three times that, and the bias of 50 sequences
    assert np.mean(errors) == pytest.approx(np.std(shares), rel=0.15)


def test_evaluation_does_not_change_the_model():
    model = Stack(TINY)
    before = {name: x.clone() for name, x in model.state_dict().items()}
    table = evaluate(model, FEW, sequences=50)
    assert all(torch.equal(x, before[name]) for name, x in model.state_dict().items())
    assert all(w.grad is None for w in model.parameters())
    assert table.answers.tolist() == [150]


# ------------------------------------------------------------------------------------------- kill and resume


@pytest.mark.parametrize("stop", [1, 4, 7, 11])
def test_a_run_that_was_interrupted_ends_with_the_same_bits(tmp_path, one_thread, stop):
    whole = train(FEW, TINY, FAST, progress=False)
    file = tmp_path / "run" / "state.pt"
    run = _Run(FEW, TINY, FAST, torch.device("cpu"))
    for _ in range(stop):
        run.advance()
    run.save(file)
    same(train(FEW, TINY, FAST, checkpoint=file, progress=False), whole)


CHILD = """
import sys, time, torch
torch.set_num_threads(1)
from pavlov_lib.training import loop
from test_training import FEW, TINY, KILLED
slow = loop._Run.advance
loop._Run.advance = lambda self: (slow(self), time.sleep(0.02))  # so that the kill comes before the end
loop.train(FEW, TINY, KILLED, checkpoint=sys.argv[1], checkpoint_every=3, progress=False)
"""
KILLED = dataclasses.replace(FAST, steps=200)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill without warning")
def test_a_killed_run_goes_on_and_ends_with_the_same_bits(tmp_path, one_thread):
    file = tmp_path / "state.pt"
    here = {"PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}  # noqa: PTH120
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(file)], env={**os.environ, **here})
    try:
        deadline = time.monotonic() + 120
        while not file.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
    finally:
        child.kill()
    assert child.wait() == -signal.SIGKILL
    step = torch.load(file, weights_only=True)["step"]
    assert 0 < step < KILLED.steps
    same(train(FEW, TINY, KILLED, checkpoint=file, progress=False), train(FEW, TINY, KILLED, progress=False))


def test_a_kill_while_a_checkpoint_is_written_leaves_the_last_one_whole(tmp_path, monkeypatch, one_thread):
    file = tmp_path / "state.pt"
    save = torch.save

    def half(content, path):
        save(content, path)
        path.write_bytes(path.read_bytes()[:500])
        raise KeyboardInterrupt

    run = _Run(FEW, TINY, FAST, torch.device("cpu"))
    run.advance()
    run.save(file)
    run.advance()
    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(KeyboardInterrupt):
        run.save(file)
    monkeypatch.undo()
    same(train(FEW, TINY, FAST, checkpoint=file, progress=False), train(FEW, TINY, FAST, progress=False))


def test_a_finished_run_is_not_trained_again(tmp_path, monkeypatch):
    file = tmp_path / "state.pt"
    first = train(FEW, TINY, FAST, checkpoint=file, progress=False)
    monkeypatch.setattr(_Run, "advance", lambda self: pytest.fail("trained again"))
    same(train(FEW, TINY, FAST, checkpoint=file, progress=False), first)


def test_the_checkpoint_of_another_run_is_refused_by_name(tmp_path):
    file = tmp_path / "state.pt"
    train(FEW, TINY, FAST, checkpoint=file, progress=False)
    for changes, said in (
        ((Recall(pairs=2, symbols=12), TINY, FAST), r"task\.pairs: 3 there, 2 here"),
        ((FEW, dataclasses.replace(TINY, rule="oja"), FAST), r"stack\.rule: 'delta' there, 'oja' here"),
        ((FEW, TINY, dataclasses.replace(FAST, seed=2)), r"settings\.seed: 0 there, 2 here"),
    ):
        with pytest.raises(ValueError, match=said):
            train(*changes, checkpoint=file, progress=False)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None])
def test_a_file_that_is_no_checkpoint_is_refused_and_kept(tmp_path, content):
    file = tmp_path / "state.pt"
    if content is None:
        torch.save({"something": "else"}, file)
        content = file.read_bytes()
    file.write_bytes(content)
    with pytest.raises(ValueError, match="checkpoint must be a file written by train; got"):
        train(FEW, TINY, FAST, checkpoint=file, progress=False)
    assert file.read_bytes() == content


# ---------------------------------------------------------------------------------------- wide against deep


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    layers=st.integers(1, 12), budget=st.integers(12_000, 200_000), vocab=st.integers(8, 40),
    rule=st.sampled_from(["delta", "hebbian+decay"]),
)  # fmt: skip
def test_shapes_of_one_budget_spend_it(layers, budget, vocab, rule):
    shape = shape_at_budget(layers, budget, vocab=vocab, rule=rule)
    assert shape.layers == layers and shape.rule == rule
    # the hidden size is a whole number: half a unit of it is layers · width parameters
    assert abs(count_parameters(shape) - budget) <= layers * shape.stream
    assert 1 / 3 < shape.hidden / (2 * shape.stream) < 3 or shape.heads == 1


def test_more_layers_leave_fewer_heads():
    heads = [shape_at_budget(layers, 60_000, vocab=14).heads for layers in (1, 2, 4, 8)]
    assert heads == sorted(heads, reverse=True) and heads[0] > 2 * heads[-1]


def test_a_budget_too_small_for_one_head_is_refused():
    with pytest.raises(ValueError, match=r"budget must pay for one head in each of 8 layers"):
        shape_at_budget(8, 1000, vocab=14)


TRIAL = {"budget": 4000, "trials": 2, "steps": 3, "batch": 4, "sequences": 20}


def test_the_table_of_stacks_is_tidy_and_the_same_for_any_number_of_processes():
    one = run_stacks(layers=[2, 1], rules=["oja", "delta"], jobs=1, **TRIAL)
    two = run_stacks(layers=[2, 1], rules=["oja", "delta"], jobs=2, **TRIAL)
    pd.testing.assert_frame_equal(one, two, check_exact=True)
    keys = [(rule, layers, hops) for rule in ("oja", "delta") for layers in (2, 1) for hops in (1, 2)]
    assert list(one[["rule", "layers", "hops"]].itertuples(index=False, name=None)) == keys
    assert ((one.lowest <= one.error_rate) & (one.error_rate <= one.highest)).all()
    assert (one.error_se >= 0).all() and (one.parameters.between(0.98 * 4000, 1.02 * 4000)).all()


def test_stacks_leave_threads_and_randomness_as_they_were():
    threads, before = torch.get_num_threads(), torch.get_rng_state()
    run_stacks(layers=[1], **TRIAL)
    assert torch.get_num_threads() == threads and torch.equal(torch.get_rng_state(), before)


def test_the_error_of_the_table_is_that_of_the_trials():
    table = run_stacks(layers=[1], **TRIAL)
    # of two trials the mean is their middle, and the standard error half their distance
    assert np.allclose(table.error_rate, (table.lowest + table.highest) / 2, atol=1e-12)
    assert np.allclose(table.error_se, (table.highest - table.lowest) / 2, atol=1e-12)


# -------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "wrong",
    [{"steps": 0}, {"batch": 1.5}, {"learning_rate": 0}, {"learning_rate": float("nan")}, {"clip": -1}, {"seed": -1},
     {"evaluate_every": 0}, {"held_out": 1}, {"target": 1.1}, {"patience": 0}, {"precision": "float16"}],
)  # fmt: skip
def test_settings_out_of_range_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=rf"^{name} must be .*; got "):
        TrainConfig(**wrong)


def test_a_run_that_cannot_work_is_refused_before_it_starts(tmp_path):
    small = dataclasses.replace(TINY, vocab=5)
    for call, said in (
        (lambda: train(FEW, small, progress=False), r"vocab must be at least the task's, 13; got 5"),
        (lambda: train("recall", TINY), r"task must be a Recall or a MultiHop; got str"),
        (lambda: train(FEW, {"layers": 1}), r"stack must be a StackConfig; got dict"),
        (lambda: train(FEW, TINY, {"steps": 3}), r"settings must be a TrainConfig; got dict"),
        (lambda: train(FEW, TINY, device="abacus"), r"device must be"),
        (lambda: train(FEW, TINY, checkpoint_every=0), r"checkpoint_every"),
        (lambda: evaluate(Stack(small), FEW), r"vocab"),
        (lambda: evaluate(Stack(TINY), FEW, sequences=1), r"sequences"),
    ):
        with pytest.raises(ValueError, match=said):
            call()


@pytest.mark.parametrize(
    "wrong",
    [{"layers": []}, {"layers": [0]}, {"rules": ["hopfield"]}, {"trials": 1}, {"sequences": 1}, {"jobs": 0},
     {"budget": 10}, {"device": "abacus"}, {"steps": 0}, {"task": "recall"}, {"seed": -1}, {"key_dim": 0}],
)  # fmt: skip
def test_stacks_are_refused_before_any_is_trained(wrong, monkeypatch):
    monkeypatch.setattr(_Run, "advance", lambda self: pytest.fail("work has started"))
    (name,) = wrong
    with pytest.raises(ValueError, match=name):
        run_stacks(**wrong)


def test_a_loss_that_is_no_longer_finite_is_an_error():
    run = _Run(FEW, TINY, FAST, torch.device("cpu"))
    run.step = 4
    with pytest.raises(FloatingPointError, match="no longer finite at step 4: use a smaller learning_rate"):
        run._look(float("nan"), 0.1)

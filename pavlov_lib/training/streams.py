"""Trained stacks watched at work: how they learn, what they write, and how they stand a context that goes on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import joblib
import numpy as np
import pandas as pd
import torch

from .. import checks
from ..models import STACK_RULES, Stack, StackConfig, usable_device
from .loop import TrainConfig, check_run, train
from .stacks import trial_seeds
from .tasks import HELD_OUT, MultiHop, Recall, draw

REASSIGNED = Recall(pairs=8, symbols=32, stale=8)  # every bell comes twice; only its second food counts


def run_curves(
    stacks: Mapping[str, StackConfig], task: Recall | MultiHop, settings: TrainConfig, *, trials: int = 3,
    jobs: int | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Learning curves: the error on sequences that were never trained on, while training goes on.

    Parameters
    ----------
    stacks : mapping of str to StackConfig
        The stacks to compare, by name. All see the same batches.
    task : Recall or MultiHop
    settings : TrainConfig
        Its ``seed`` is the root of the seeds of all trials.
    trials : int
        Runs per stack, each with weights and batches of its own, at least 2.
    jobs : int, optional
        Processes of joblib; the numbers do not depend on it.

    Returns
    -------
    pandas.DataFrame
        One row per (model, step): the name of the stack, the step, ``error_rate`` (share of wrong answers, mean over
        trials), ``error_se`` (over trials), ``lowest`` and ``highest`` (of the trials' rates).

    Raises
    ------
    ValueError
        If an argument is out of range, or a stack has no room for the task's tokens; before any work starts.

    Examples
    --------
    >>> task = Recall(pairs=2, symbols=8)
    >>> small = StackConfig(layers=1, heads=2, key_dim=4, value_dim=4, vocab=task.vocab)
    >>> how = TrainConfig(steps=2, evaluate_every=1, held_out=8)
    >>> run_curves({"small": small}, task, how, trials=2)[["model", "step"]].to_numpy().tolist()
    [['small', 1], ['small', 2]]
    """
    if not isinstance(stacks, Mapping) or not stacks:
        raise ValueError(f"stacks must map at least one name to a StackConfig; got {stacks!r}")
    checks.count("trials", trials, 2)
    for stack in stacks.values():
        check_run(task, stack, settings)
    seeds = trial_seeds(settings.seed, trials)
    cells = [(name, dataclasses.replace(settings, seed=seed)) for name in stacks for seed in seeds]
    tables = joblib.Parallel(n_jobs=jobs)(joblib.delayed(_history)(task, stacks[name], how) for name, how in cells)
    every = pd.concat(table.assign(model=name) for (name, _), table in zip(cells, tables, strict=True))
    return _over_trials(every.assign(error_rate=1 - every.accuracy), ["model", "step"], "error_rate")


def run_streams(
    rules=("hebbian", "hebbian+decay", "delta", "oja"),
    layers: int = 1,
    contexts=(1, 2, 4, 8, 16),
    task: Recall | None = None,
    trials: int = 3,
    seed: int = 0,
    *,
    heads: int = 2,
    key_dim: int = 16,
    steps: int = 70,
    batch: int = 32,
    learning_rate: float = 1e-2,
    sequences: int = 100,
    device: str = "cpu",
    jobs: int | None = None,
) -> pd.DataFrame:
    """Train stacks on single contexts, then let them read one context after another without a fresh start.

    Each context pairs bells with foods anew and is followed by questions about itself.
    In training the memory was empty before it. Here it holds what all earlier contexts have left.

    Parameters
    ----------
    rules : sequence of {"delta", "hebbian", "oja", "hebbian+decay"}
    layers : int
    contexts : sequence of int
        At which contexts of the stream to look, the first being 1.
    task : Recall, optional
        If not given, eight pairs of 32 symbols, with each bell paired with another food before.
    trials : int
        Stacks per rule, each with weights and batches of its own, at least 2.
    seed : int
    heads, key_dim : int
        Heads per layer, and key and value size of each.
    steps, batch, learning_rate
        As in :class:`TrainConfig`.
    sequences : int
        Streams to test each trained stack on.
    device : {"cpu", "cuda", "mps", "auto"}
    jobs : int, optional
        Processes of joblib; the numbers do not depend on it.

    Returns
    -------
    pandas.DataFrame
        One row per (rule, layers, context): these three, ``error_rate`` (share of wrong answers to this context's
        questions, mean over trials), ``error_se`` (over trials), ``lowest`` and ``highest`` (of the trials' rates),
        ``norm`` (mean norm of an association matrix after this context, over layers, heads, streams and trials) and
        ``norm_se``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_streams(["delta"], contexts=[1, 3], trials=2, steps=2, sequences=10)
    >>> table[["rule", "layers", "context"]].to_numpy().tolist()
    [['delta', 1, 1], ['delta', 1, 3]]
    """
    task = REASSIGNED if task is None else task
    _check_recall(task)
    rules, contexts = checks.some_of("rules", rules, STACK_RULES), sorted(checks.counts("contexts", contexts))
    checks.count("trials", trials, 2)
    checks.count("sequences", sequences, 2)
    usable_device(device)
    how = TrainConfig(steps=steps, batch=batch, learning_rate=learning_rate, evaluate_every=steps, held_out=2)
    cells = [
        (
            StackConfig(
                layers=layers, heads=heads, key_dim=key_dim, value_dim=key_dim, vocab=task.vocab, rule=rule,
            ),
            dataclasses.replace(how, seed=s),
        )
        for rule in rules
        for s in trial_seeds(seed, trials)
    ]  # fmt: skip
    for stack, run in cells:
        check_run(task, stack, run)
    tables = joblib.Parallel(n_jobs=jobs)(
        joblib.delayed(_stream)(task, stack, run, contexts, sequences, device) for stack, run in cells
    )
    every = pd.concat(
        table.assign(rule=stack.rule, layers=layers) for (stack, _), table in zip(cells, tables, strict=True)
    )
    keys = ["rule", "layers", "context"]
    errors, norms = _over_trials(every, keys, "error_rate"), _over_trials(every, keys, "norm")
    return errors.assign(norm=norms.norm, norm_se=norms.error_se)


def run_tally(contexts=(1, 2, 4, 8, 16), task: Recall | None = None, sequences: int = 1000, seed: int = 0):
    """What a memory that only adds can do at best: count, and name the food that followed the bell most often.

    Nothing is fitted or trained. Keys are taken to be perfect, so that nothing but the adding itself goes wrong;
    a tie is decided by lot.

    Parameters
    ----------
    contexts, task, seed
        As in :func:`run_streams`.
    sequences : int
        Streams to count.

    Returns
    -------
    pandas.DataFrame
        One row per context: ``context``, ``error_rate``, ``error_se`` (over sequences).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    With every bell paired twice in the first context, it is even odds which food is named.

    >>> run_tally(contexts=[1], sequences=10).error_rate.tolist()
    [0.5]
    """
    task = REASSIGNED if task is None else task
    _check_recall(task)
    contexts = sorted(checks.counts("contexts", contexts))
    row = np.arange(checks.count("sequences", sequences, 2))[:, None]
    tally, rows = np.zeros((sequences, task.vocab, task.vocab)), []
    for context in range(1, contexts[-1] + 1):
        batch = draw(task, checks.seed(seed), HELD_OUT, context, sequences)
        pairs = batch.tokens[:, : batch.asked[0] - 1].reshape(sequences, -1, 2)
        np.add.at(tally, (row, pairs[..., 0], pairs[..., 1]), 1)
        if context in contexts:
            counts = tally[row, batch.tokens[:, batch.asked]]  # (b, q, vocab)
            most = counts == counts.max(-1, keepdims=True)
            right = np.take_along_axis(most, batch.answers[..., None], -1)[..., 0] / most.sum(-1)
            wrong = 1 - right.mean(1)
            rows.append((context, wrong.mean(), wrong.std(ddof=1) / np.sqrt(sequences)))
    return pd.DataFrame(rows, columns=["context", "error_rate", "error_se"])


def write_sizes(model: Stack, task: Recall, *, sequences: int = 100, seed: int = 0) -> pd.DataFrame:
    """How much each kind of token changes the memory: the norm of what it writes.

    Parameters
    ----------
    model : Stack
    task : Recall
    sequences : int
    seed : int

    Returns
    -------
    pandas.DataFrame
        One row per (layer, token), ``token`` being ``"bell"``, ``"food"``, ``"question mark"`` or ``"asked bell"``:
        these two, and ``size``, the mean norm of the change of an association matrix.

    Raises
    ------
    ValueError
        If an argument is out of range, or the stack has no room for the task's tokens.

    Examples
    --------
    >>> task = Recall(pairs=4, symbols=16)
    >>> fresh = Stack(StackConfig(layers=1, heads=2, key_dim=16, value_dim=16, vocab=task.vocab))
    >>> write_sizes(fresh, task).token.tolist()
    ['bell', 'food', 'question mark', 'asked bell']
    """
    _check_recall(task)
    check_run(task, model.config, TrainConfig())
    batch = draw(task, checks.seed(seed), HELD_OUT, 0, checks.count("sequences", sequences, 2))
    tokens, state, sizes = torch.from_numpy(batch.tokens).to(model.embedding.weight.device), None, []
    with torch.no_grad():
        for token in tokens.T:
            _, after = model.step(token, state)
            before = [0] * len(after) if state is None else [layer.memory for layer in state]
            changes = [now.memory - then for now, then in zip(after, before, strict=True)]
            sizes.append([float(change.norm(dim=(-2, -1)).mean()) for change in changes])
            state = after
    sizes, start = np.array(sizes), batch.asked[0] - 1
    kinds = {"bell": sizes[0:start:2], "food": sizes[1:start:2]}
    kinds |= {"question mark": sizes[start::2], "asked bell": sizes[start + 1 :: 2]}
    return pd.DataFrame(
        [(i + 1, kind, part[:, i].mean()) for i in range(model.config.layers) for kind, part in kinds.items()],
        columns=["layer", "token", "size"],
    )


def _history(task: Recall | MultiHop, stack: StackConfig, how: TrainConfig) -> pd.DataFrame:
    return _alone(lambda: train(task, stack, how, progress=False).history)


def _stream(task: Recall, stack: StackConfig, how: TrainConfig, contexts, sequences: int, device: str):
    """Train one stack and let it read on: one row per context that is looked at."""

    def work():
        model = train(task, stack, how, device=device, progress=False).model
        place = model.embedding.weight.device
        state, rows = None, []
        for context in range(1, contexts[-1] + 1):
            batch = draw(task, how.seed, HELD_OUT, context, sequences)
            with torch.no_grad():
                logits, state = model(torch.from_numpy(batch.tokens).to(place), state)
            if context in contexts:
                named = logits[:, torch.from_numpy(batch.asked).to(place)].argmax(-1).cpu().numpy()
                norm = torch.stack([layer.memory.norm(dim=(-2, -1)).mean() for layer in state]).mean()
                rows.append((context, float((named != batch.answers).mean()), float(norm)))
        return pd.DataFrame(rows, columns=["context", "error_rate", "norm"])

    return _alone(work)


def _alone(work):
    """``work()`` with one thread, whatever the process has: sums in one order, so the numbers do not depend on it."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return work()
    finally:
        torch.set_num_threads(threads)


def _over_trials(every: pd.DataFrame, keys: list[str], column: str) -> pd.DataFrame:
    rates = every.groupby(keys, sort=False)[column]
    return rates.agg(**{column: "mean", "error_se": "sem", "lowest": "min", "highest": "max"}).reset_index()


def _check_recall(task) -> None:
    if not isinstance(task, Recall):
        raise ValueError(f"task must be a Recall; got {type(task).__name__}")

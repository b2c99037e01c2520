"""Wide and shallow against narrow and deep: stacks of one budget on associative reasoning."""

from __future__ import annotations

import dataclasses
import math

import joblib
import numpy as np
import pandas as pd
import torch
from tqdm.auto import tqdm

from .. import checks
from ..models import STACK_RULES, StackConfig, count_parameters, usable_device
from .loop import TrainConfig, check_run, check_task, evaluate, train
from .tasks import MultiHop, Recall

REASONING = MultiHop(queries=2)  # two of three chains are asked for: 16 tokens, which the rules read in a single chunk


def shape_at_budget(
    layers: int, budget: int, *, vocab: int, key_dim: int = 8, rule: str = "delta", **others
) -> StackConfig:
    """The stack of so many layers that spends ``budget`` parameters: fewer layers leave more heads for each.

    Heads keep their size ``key_dim``, so a wide stack is one of many heads. Their number is the one whose network on
    each token comes closest to a hidden size of twice the width; that size then fits the rest of the budget.

    Raises
    ------
    ValueError
        If the budget does not pay for a single head per layer.

    Examples
    --------
    >>> for layers in (1, 8):
    ...     shape = shape_at_budget(layers, 16_000, vocab=14)
    ...     print(shape.heads, shape.stream, shape.hidden, count_parameters(shape))
    6 48 79 15954
    2 16 32 16032
    """
    checks.count("budget", budget)
    best = None
    for heads in range(1, budget):
        config = StackConfig(
            layers=layers, heads=heads, key_dim=key_dim, value_dim=key_dim, vocab=vocab, hidden=1, rule=rule, **others
        )
        one = count_parameters(config)
        hidden = 1 + round((budget - one) / (2 * config.stream * layers))
        if hidden < 1:
            break
        off = abs(math.log(hidden / (2 * config.stream)))
        if best is None or off < best[0]:
            best = off, dataclasses.replace(config, hidden=hidden)
    if best is None:
        raise ValueError(f"budget must pay for one head in each of {layers} layers, {one} parameters; got {budget}")
    return best[1]


def run_stacks(
    layers=(1, 2, 4, 8),
    rules=("delta",),
    task: MultiHop | Recall | None = None,
    budget: int = 16_000,
    key_dim: int = 8,
    trials: int = 3,
    seed: int = 0,
    *,
    steps: int = 300,
    batch: int = 48,
    learning_rate: float = 1e-2,
    sequences: int = 1000,
    device: str = "cpu",
    jobs: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Wide and shallow against narrow and deep: train stacks of one budget on associative reasoning.

    All stacks have as many parameters as ``budget`` (within 2 %), see the same batches, and take as many steps.
    So a deep stack that would learn more slowly, but as much, loses here; give all of them more ``steps`` to find out
    (with four times as many the order stayed the same, and the gaps shrank).
    Training is sensitive: another order of sums, as on another processor, moves single trials by up to 0.15
    where errors are large, and means over three trials by a few hundredths.

    Parameters
    ----------
    layers : sequence of int
    rules : sequence of {"delta", "hebbian", "oja", "hebbian+decay"}
    task : MultiHop or Recall, optional
        ``MultiHop(queries=2)`` if not given: three chains of two links, and two questions.
    budget : int
        Parameters per stack, see :func:`shape_at_budget`.
    key_dim : int
        Key and value size of a head.
    trials : int
        Stacks per shape, each with weights and batches of its own, at least 2.
    seed : int
    steps, batch, learning_rate
        As in :class:`TrainConfig`.
    sequences : int
        To test each trained stack on.
    device : {"cpu", "cuda", "mps", "auto"}
    jobs : int, optional
        Processes of joblib, -1 for one per core; left to ``joblib.parallel_config`` if not given.
        Each works with one thread, so the numbers do not depend on it.
    progress : bool

    Returns
    -------
    pandas.DataFrame
        One row per (rule, layers, hops): these three, ``heads``, ``width``, ``parameters``, ``error_rate`` (share of
        wrong answers, mean over trials), ``error_se`` (over trials), ``lowest``, ``highest`` (of the trials' rates).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_stacks(layers=[1], budget=4000, trials=2, steps=2, sequences=20)
    >>> table[["rule", "layers", "hops"]].to_numpy().tolist()
    [['delta', 1, 1], ['delta', 1, 2]]
    """
    task = REASONING if task is None else task
    check_task(task)
    layers, rules = checks.counts("layers", layers), checks.some_of("rules", rules, STACK_RULES)
    checks.count("trials", trials, 2)
    checks.count("sequences", sequences, 2)
    if jobs is not None and jobs != -1:
        checks.count("jobs", jobs)
    usable_device(device)
    how = TrainConfig(steps=steps, batch=batch, learning_rate=learning_rate, evaluate_every=steps, held_out=2)
    cells = [
        (shape_at_budget(depth, budget, vocab=task.vocab, key_dim=key_dim, rule=rule), dataclasses.replace(how, seed=s))
        for rule in rules
        for depth in layers
        for s in trial_seeds(seed, trials)
    ]
    for shape, run in cells:
        check_run(task, shape, run)
    # deepest first: the longest job must not be the last to start
    order = sorted(range(len(cells)), key=lambda i: -cells[i][0].layers)
    work = joblib.Parallel(n_jobs=jobs, return_as="generator")(
        joblib.delayed(train_and_test)(task, *cells[i], sequences=sequences, device=device) for i in order
    )
    tables = dict(zip(order, tqdm(work, total=len(cells), disable=not progress, desc="stacks"), strict=True))
    return summarise(pd.concat([tables[i] for i in range(len(cells))]))


def trial_seeds(seed: int, trials: int) -> list[int]:
    """One seed per trial, the same for every shape and rule: they are compared on the same batches.

    Examples
    --------
    >>> trial_seeds(0, 2) == trial_seeds(0, 3)[:2]
    True
    """
    return [int(s.generate_state(1)[0]) for s in np.random.SeedSequence(checks.seed(seed)).spawn(trials)]


def train_and_test(
    task: MultiHop | Recall, stack: StackConfig, how: TrainConfig, *, sequences: int = 1000, device: str = "cpu",
    checkpoint=None,
) -> pd.DataFrame:  # fmt: skip
    """Train one stack and test it, with one thread whatever the process has: the numbers do not depend on it.

    Returns
    -------
    pandas.DataFrame
        One row per number of hops: ``rule``, ``layers``, ``heads``, ``width``, ``parameters``, ``seed``, ``hops``,
        ``error_rate`` and its standard error over the test sequences, ``error_se``.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = train(task, stack, how, device=device, checkpoint=checkpoint, progress=False).model
        tested = evaluate(model, task, sequences=sequences, seed=how.seed)
    finally:
        torch.set_num_threads(threads)
    shape = {
        "rule": stack.rule, "layers": stack.layers, "heads": stack.heads, "width": stack.stream,
        "parameters": count_parameters(stack), "seed": how.seed,
    }  # fmt: skip
    result = pd.DataFrame({name: [value] * len(tested) for name, value in shape.items()})
    return result.assign(hops=tested.hops, error_rate=1 - tested.accuracy, error_se=tested.accuracy_se)


def summarise(tested: pd.DataFrame) -> pd.DataFrame:
    """Trials of the same shape become one row: rows of :func:`train_and_test` -> the table of :func:`run_stacks`."""
    shape = ["rule", "layers", "hops", "heads", "width", "parameters"]
    rates = tested.groupby(shape, sort=False).error_rate
    return rates.agg(error_rate="mean", error_se="sem", lowest="min", highest="max").reset_index()

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
    batch: int = 32,
    learning_rate: float = 1e-2,
    sequences: int = 1000,
    device: str = "cpu",
    jobs: int | None = None,
    progress: bool = False,
) -> pd.DataFrame:
    """Wide and shallow against narrow and deep: train stacks of one budget on associative reasoning.

    All stacks have as many parameters as ``budget`` (within 2 %), see the same batches, and take as many steps.
    So a deep stack that would learn more slowly, but as much, loses here; give it more ``steps`` to find out.

    Parameters
    ----------
    layers : sequence of int
    rules : sequence of {"delta", "hebbian", "oja", "hebbian+decay"}
    task : MultiHop or Recall, optional
        ``MultiHop()`` if not given.
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
    task = MultiHop() if task is None else task
    check_task(task)
    layers, rules = checks.counts("layers", layers), checks.some_of("rules", rules, STACK_RULES)
    checks.count("trials", trials, 2)
    checks.count("sequences", sequences, 2)
    if jobs is not None and jobs != -1:
        checks.count("jobs", jobs)
    usable_device(device)
    seeds = [int(s.generate_state(1)[0]) for s in np.random.SeedSequence(checks.seed(seed)).spawn(trials)]
    how = TrainConfig(steps=steps, batch=batch, learning_rate=learning_rate, evaluate_every=steps, held_out=2)
    cells = [
        (shape_at_budget(depth, budget, vocab=task.vocab, key_dim=key_dim, rule=rule), trial_seed)
        for rule in rules
        for depth in layers
        for trial_seed in seeds
    ]
    for shape, _ in cells:
        check_run(task, shape, how)
    # deepest first: the longest job must not be the last to start
    order = sorted(range(len(cells)), key=lambda i: -cells[i][0].layers)
    work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")(
        joblib.delayed(_one_stack)(i, task, cells[i][0], dataclasses.replace(how, seed=cells[i][1]), sequences, device)
        for i in order
    )
    tables = dict(tqdm(work, total=len(cells), disable=not progress, desc="stacks"))
    return _summary([(cells[i][0], tables[i]) for i in range(len(cells))])


def _one_stack(i: int, task, shape: StackConfig, how: TrainConfig, sequences: int, device: str):
    """Train and test one stack: ``(i, table)``, with one thread whatever the process, for equal numbers."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        model = train(task, shape, how, device=device, progress=False).model
        return i, evaluate(model, task, sequences=sequences, seed=how.seed)
    finally:
        torch.set_num_threads(threads)


def _summary(tested) -> pd.DataFrame:
    every = pd.concat(
        table.assign(
            rule=shape.rule, layers=shape.layers, heads=shape.heads, width=shape.stream,
            parameters=count_parameters(shape), error_rate=1 - table.accuracy,
        )
        for shape, table in tested
    )  # fmt: skip
    groups = every.groupby(["rule", "layers", "hops", "heads", "width", "parameters"], sort=False).error_rate
    return groups.agg(error_rate="mean", error_se="sem", lowest="min", highest="max").reset_index()

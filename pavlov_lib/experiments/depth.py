"""The tower of cards: how errors of single memories add up through layers and are held by heads.

A stack follows a chain of associations.
In every layer each head is an association matrix of its own that holds the same n links with its own random keys;
a read is decoded to the nearest value, and that item is the test stimulus of the next layer.
Three ways to combine heads are compared on the same memories:

- "any": the layer is right if any head is right (the reading of the claim; it needs an oracle to pick the head);
- "majority": the heads vote, ties are broken by a fair draw;
- "average": the reads are averaged before they are decoded.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from ..theory import READOUTS
from .common import find_rule, mean_and_se, mover, to_numpy


def run_depth(
    layers=(1, 2, 4, 8, 16),
    heads=(1, 2, 4, 8),
    dims=(16, 32),
    loads=(2.0, 3.0),
    trials: int = 20,
    seed: int = 0,
    rule: str = "hebbian",
    *,
    readouts=READOUTS,
    value_dim: int | None = None,
    rate: float = 1.0,
    device: str | None = None,
    dtype: str = "float64",
) -> pd.DataFrame:
    """Failure of stacks against their depth, heads and key dimension, beside prediction and bound.

    Per trial and (d_k, n) one stack of the largest size is drawn, and every smaller one is its first layers and heads.
    Cells that differ in layers or heads only therefore share memories: each has a valid standard error, but their
    errors are correlated. All n chains of a stack are followed; the standard error counts a stack as one sample.

    Parameters
    ----------
    layers, heads : sequences of int
    dims : sequence of int
        Key dimensions d_k, each with d_v = ``value_dim`` or d_k.
    loads : sequence of float
        Ratios n/d_k. Below about 2 single heads hardly ever fail.
    trials : int
        Independent stacks per (d_k, n).
    seed : int
    rule : {"hebbian", "delta", "oja"}
        How each head writes; the predictions are those of the Hebbian rule at rate 1.
    readouts : sequence of {"any", "majority", "average"}
    value_dim : int, optional
    rate : float
    device : str, optional
        A torch device; NumPy does the work if not given.
    dtype : {"float64", "float32"}

    Returns
    -------
    pandas.DataFrame
        One row per (layers, heads, d_k, n, readout): these five, ``error_rate``, ``error_se``, ``predicted``
        (:func:`pavlov_lib.theory.stack_prediction`) and ``bound`` (:func:`pavlov_lib.theory.failure_bound`).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_depth(layers=[1, 4], heads=[1], dims=[16], loads=[2.0], trials=5, readouts=["any"])
    >>> bool(table.error_rate[1] > table.error_rate[0])
    True
    """
    layers, heads = sorted(set(checks.counts("layers", layers))), sorted(set(checks.counts("heads", heads)))
    dims, loads = checks.counts("dims", dims), checks.positive_numbers("loads", loads)
    trials, learning = checks.count("trials", trials), find_rule(rule)
    readouts = checks.some_of("readouts", readouts, READOUTS)
    checks.number("rate", rate, 0)
    if value_dim is not None:
        checks.count("value_dim", value_dim, 3)
    cells = [(d_k, value_dim or d_k, round(load * d_k)) for d_k in dims for load in loads]
    for d_k, d_v, n in cells:
        checks.count("d_v", d_v, 3)
        checks.count(f"n = load · d_k at d_k={d_k}", n, 2)
    move = mover(device, dtype)
    rows = []
    for rng, (d_k, d_v, n) in zip(stimuli.generators(seed, len(cells)), cells, strict=True):
        failed = {(L, h, how): [] for L in layers for h in heads for how in readouts}
        for _ in range(trials):
            right = np.arange(n)  # link i of every layer leads from item i to item i: any other map is a relabelling
            at = {(h, how): right for h in heads for how in readouts}
            for depth in range(1, layers[-1] + 1):
                step = _layer(rng, learning, n, d_k, d_v, heads, readouts, rate, move)
                at = {where: step[where][items] for where, items in at.items()}
                if depth in layers:
                    for (h, how), items in at.items():
                        failed[depth, h, how].append(np.mean(items != right))
        for L, h, how in failed:
            rows.append(
                (L, h, d_k, n, how, *mean_and_se(np.array(failed[L, h, how])),
                 theory.stack_prediction(how, L, h, n, d_k, d_v), theory.failure_bound(how, L, h, n, d_k, d_v))
            )  # fmt: skip
    columns = ["layers", "heads", "d_k", "n", "readout", "error_rate", "error_se", "predicted", "bound"]
    return pd.DataFrame(rows, columns=columns)


def _layer(rng, rule, n, d_k, d_v, heads, readouts, rate, move) -> dict[tuple[int, str], np.ndarray]:
    """One layer as a table per (number of heads, readout): the item that each of the n items is decoded to."""
    most = heads[-1]
    values = stimuli.unit_vectors(rng, n, d_v)
    keys = move(stimuli.unit_vectors(rng, most, n, d_k))
    shared = move(np.broadcast_to(values, (most, n, d_v)))
    _, state = rule.scan_parallel(keys, shared, None, rate=rate)
    scores = to_numpy((keys @ state.mT) @ shared.mT)  # (heads, n, n): how near each read is to every value
    named = scores.argmax(-1)
    step = {}
    for h in heads:
        if "any" in readouts:
            # the oracle picks a right head; where there is none, the first head's answer goes on
            step[h, "any"] = np.where((named[:h] == np.arange(n)).any(0), np.arange(n), named[0])
        if "majority" in readouts:
            votes = (named[:h, :, None] == np.arange(n)).sum(0)
            step[h, "majority"] = (votes + rng.random((n, n)) / 2).argmax(
                -1
            )  # half a vote at most: only ties are drawn
        if "average" in readouts:
            step[h, "average"] = scores[:h].mean(0).argmax(-1)
    return step


def at_budget(table: pd.DataFrame, budget: int) -> pd.DataFrame:
    """The rows whose stacks spend the same number of association matrices, ``layers · heads = budget``.

    Raises
    ------
    ValueError
        If the table holds no such stack.

    Examples
    --------
    >>> table = run_depth(layers=[1, 2], heads=[1, 2], dims=[16], loads=[2.0], trials=2, readouts=["any"])
    >>> at_budget(table, 2)[["layers", "heads"]].to_numpy().tolist()
    [[1, 2], [2, 1]]
    """
    chosen = table[table.layers * table.heads == checks.count("budget", budget)]
    if chosen.empty:
        raise ValueError(f"the table must hold stacks with layers · heads = {budget}; got none")
    return chosen.sort_values(["d_k", "n", "readout", "layers"]).reset_index(drop=True)

"""What should be let go: facts that change, and facts that are left alone."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..rules import RULES
from .common import DECAYED, mean_and_se, retention

UPDATERS = ("hebbian", DECAYED, "delta")


def run_updates(
    memories=UPDATERS,
    updates=(0, 16, 32, 64, 128, 256, 512, 1024),
    busy: int = 8,
    quiet: int = 8,
    key_dim: int = 64,
    decay: float = 0.97,
    trials: int = 60,
    seed: int = 0,
) -> pd.DataFrame:
    """Let a few facts change again and again, and look at them and at facts that are never mentioned again.

    First the quiet facts are written, then the busy ones; then the busy keys get new outcomes, round after round in
    random order. All memories see the same stimuli.

    Parameters
    ----------
    memories : sequence of {"hebbian", "hebbian+decay", "delta"}
    updates : sequence of int
        Numbers of updates after which to measure.
    busy, quiet, key_dim : int
        Facts with random unit keys and outcomes; key and value dimension.
    decay : float
        What "hebbian+decay" keeps per step, in (0, 1).
    trials, seed : int

    Returns
    -------
    pandas.DataFrame
        One row per (memory, facts, updates): ``memory``, ``facts`` ("busy" or "quiet"), ``updates``, ``fidelity``
        (mean cosine with the outcome that holds now), ``fidelity_se``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_updates(updates=[256], trials=10).set_index(["memory", "facts"]).fidelity
    >>> bool(table["delta", "quiet"] > 0.7 and abs(table["hebbian+decay", "quiet"]) < 0.1)
    True
    """
    memories = checks.some_of("memories", memories, UPDATERS)
    updates = tuple(sorted(set(checks.counts("updates", updates, minimum=0))))
    busy, quiet, d, trials = (
        checks.count(name, x)
        for name, x in (("busy", busy), ("quiet", quiet), ("key_dim", key_dim), ("trials", trials))
    )
    decay = retention(decay)
    (rng,) = stimuli.generators(seed, 1)
    keys = stimuli.unit_vectors(rng, trials, quiet + busy, d)
    now = stimuli.unit_vectors(rng, trials, quiet + busy, d)  # the outcomes that hold now
    states = {name: np.zeros((trials, d, d)) for name in memories}
    every, rows = np.arange(trials), []
    for step in range(quiet + busy + updates[-1] + 1):
        done = step - quiet - busy
        if done in updates:
            for name, state in states.items():
                recalled = keys @ state.mT
                near = (recalled * now).sum(-1) / np.maximum(np.linalg.norm(recalled, axis=-1), 1e-300)
                rows.append((name, "quiet", done, *mean_and_se(near[:, :quiet].mean(-1))))
                rows.append((name, "busy", done, *mean_and_se(near[:, quiet:].mean(-1))))
        if done < 0:
            which = np.full(trials, step)
        else:
            if done % busy == 0:
                order = rng.permuted(np.tile(np.arange(busy), (trials, 1)), axis=1)
            which = quiet + order[:, done % busy]
            now[every, which] = stimuli.unit_vectors(rng, trials, d)
        key, value = keys[every, which], now[every, which]
        for name in memories:
            rule, how = (RULES["hebbian"], {"decay": decay}) if name == DECAYED else (RULES[name], {})
            states[name] = rule.write(states[name], key, value, **how)
    table = pd.DataFrame(rows, columns=["memory", "facts", "updates", "fidelity", "fidelity_se"])
    order_of = {name: i for i, name in enumerate((*UPDATERS, "busy", "quiet"))}
    by = ["facts", "memory", "updates"]
    return table.sort_values(by, ignore_index=True, key=lambda c: c if c.name == "updates" else c.map(order_of))

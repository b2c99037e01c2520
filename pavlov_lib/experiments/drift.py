"""Continuous tracking: what each rule makes of a world that changes."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..rules import RULES, Rule
from .common import DECAYED, cosine, mean_and_se, mover, to_numpy

TRACKERS = ("hebbian", DECAYED, "delta", "oja")


@dataclass(frozen=True)
class _Tracker:
    rule: Rule
    settings: dict


def run_drift(
    rules=TRACKERS,
    steps: int = 400,
    cues: int = 8,
    key_dim: int = 32,
    value_dim: int | None = None,
    angle: float = 0.002,
    reversal: int | None = None,
    trials: int = 20,
    seed: int = 0,
    *,
    rate: float = 1.0,
    decay: float = 0.95,
    device: str | None = None,
    dtype: str = "float64",
) -> pd.DataFrame:
    """Pair a few cues with slowly rotating outcomes, over and over, and watch each memory follow.

    Each step presents one cue, in a random order that shows every cue once per round, with its outcome of that moment;
    all outcomes turn by ``angle`` per step. At step ``reversal`` all of them flip to their opposite.
    All rules see the same stimuli.

    Parameters
    ----------
    rules : sequence of {"hebbian", "hebbian+decay", "delta", "oja"}
    steps : int
    cues : int
        Fixed unit keys of ``key_dim``.
    key_dim, value_dim : int
        ``value_dim`` is ``key_dim`` if not given; at least 2.
    angle : float
        Radians per step.
    reversal : int, optional
        Step, from 2 to ``steps``, from which on the outcomes are reversed.
    trials : int
    seed : int
    rate : float
        Learning rate. "hebbian+decay" uses ``rate · (1 − decay^cues)``, so that its gain, the sum of the decayed
        pairings of one cue, is ``rate`` instead of several times that; without this it would lose by scale alone.
    decay : float
        What "hebbian+decay" keeps per step, in (0, 1).
    device : str, optional
        A torch device; NumPy does the work if not given.
    dtype : {"float64", "float32"}

    Returns
    -------
    pandas.DataFrame
        One row per (rule, step), steps counted from 1: ``rule``, ``step``, ``norm`` (of the association matrix),
        ``error`` (squared distance of recall from the present outcome, which has length 1, averaged over all cues),
        ``cosine`` (of both), each a mean over trials with its standard error: ``norm_se``, ``error_se``, ``cosine_se``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_drift(rules=["hebbian", "delta"], steps=100, trials=2)
    >>> last = table[table.step == 100].set_index("rule")
    >>> bool(last.norm["hebbian"] > 3 * last.norm["delta"])
    True
    """
    rules = checks.some_of("rules", rules, TRACKERS)
    steps, cues, trials = checks.count("steps", steps), checks.count("cues", cues), checks.count("trials", trials)
    key_dim = checks.count("key_dim", key_dim)
    value_dim = key_dim if value_dim is None else value_dim
    checks.count("value_dim", value_dim, 2)
    rate = checks.number("rate", rate, 0)
    if not checks.number("decay", decay, 0, 1, open_low=True) < 1:
        raise ValueError(f"decay must be below 1 for a rule that forgets; got {decay}")
    if reversal is not None and checks.count("reversal", reversal, 2) > steps:
        raise ValueError(f"reversal must be a step from 2 to {steps}; got {reversal}")
    checks.number("angle", angle)
    move = mover(device, dtype)

    (rng,) = stimuli.generators(seed, 1)
    keys = stimuli.unit_vectors(rng, trials, cues, key_dim)
    targets = stimuli.RotatingTargets(rng, (trials, cues, value_dim), angle=angle)
    rounds = -(-steps // cues)
    order = np.concatenate([rng.permuted(np.tile(np.arange(cues), (trials, 1)), axis=1) for _ in range(rounds)], axis=1)

    trackers = {name: _tracker(name, rate, decay, cues) for name in rules}
    states = {name: move(np.zeros((trials, value_dim, key_dim))) for name in rules}
    bells, every = move(keys), np.arange(trials)
    rows = {name: [] for name in rules}
    for step in range(1, steps + 1):
        sign = -1.0 if reversal is not None and step >= reversal else 1.0
        outcomes = sign * targets.at(step)
        shown = order[:, step - 1]
        key, value = move(keys[every, shown]), move(outcomes[every, shown])
        for name, tracker in trackers.items():
            states[name] = tracker.rule.write(states[name], key, value, **tracker.settings)
            recalled = to_numpy(bells @ states[name].mT)
            norm = np.linalg.norm(to_numpy(states[name]), axis=(-2, -1))
            error = ((recalled - outcomes) ** 2).sum(-1).mean(-1)
            near = cosine(recalled, outcomes).mean(-1)
            rows[name].append((name, step, *mean_and_se(norm), *mean_and_se(error), *mean_and_se(near)))
    columns = ["rule", "step", "norm", "norm_se", "error", "error_se", "cosine", "cosine_se"]
    return pd.DataFrame(itertools.chain.from_iterable(rows.values()), columns=columns)


def _tracker(name: str, rate: float, decay: float, cues: int) -> _Tracker:
    if name == DECAYED:
        return _Tracker(RULES["hebbian"], {"rate": rate * (1 - decay**cues), "decay": decay})
    return _Tracker(RULES[name], {"rate": rate})

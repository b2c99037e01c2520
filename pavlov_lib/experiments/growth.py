"""How large an association matrix becomes, and what a prompt leaves in it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..rules import RULES
from .common import DECAYED, find_rule, mean_and_se

WORLDS = ("one pair", "new pairs")
BATCH = 2**22  # numbers: 32 MB in float64, which a browser can spare
GROWERS = ("hebbian", DECAYED, "delta")


def run_growth(
    rules=("hebbian", DECAYED),
    worlds=WORLDS,
    steps=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    key_dim: int = 32,
    trials: int = 40,
    seed: int = 0,
    *,
    decay: float = 0.95,
) -> pd.DataFrame:
    """Write unit pairs on and on, at rate 1, and measure the norm of the association matrix.

    Parameters
    ----------
    rules : sequence of {"hebbian", "hebbian+decay", "delta"}
    worlds : sequence of {"one pair", "new pairs"}
        The same pair every time, or a fresh random pair each time.
    steps : sequence of int
        Numbers of writes after which to measure.
    key_dim : int
        Key and value dimension.
    trials : int
    seed : int
    decay : float
        What "hebbian+decay" keeps per step, in (0, 1).

    Returns
    -------
    pandas.DataFrame
        One row per (rule, world, n): ``rule``, ``world``, ``n``, ``norm`` (root of the mean squared norm over trials),
        ``norm_se``, ``predicted`` (exact for that mean).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Notes
    -----
    Mean squared norms at rate 1, with ``g`` the decay and ``d`` the key dimension. One pair over and over:
    Hebb ``n²``, with decay ``((1 − gⁿ)/(1 − g))²``, delta 1. New pairs, whose products are on average orthogonal:
    Hebb ``n``, with decay ``(1 − g²ⁿ)/(1 − g²)``, delta ``d (1 − (1 − 1/d)ⁿ)``.

    Examples
    --------
    >>> table = run_growth(rules=["hebbian"], worlds=["one pair"], steps=[1, 10], trials=2)
    >>> print(table.norm.round(9).tolist())
    [1.0, 10.0]
    """
    rules, worlds = checks.some_of("rules", rules, GROWERS), checks.some_of("worlds", worlds, WORLDS)
    steps = tuple(sorted(set(checks.counts("steps", steps))))
    d, trials = checks.count("key_dim", key_dim), checks.count("trials", trials)
    if not checks.number("decay", decay, 0, 1, open_low=True) < 1:
        raise ValueError(f"decay must be below 1 for a rule that forgets; got {decay}")
    rows = []
    for world, rng in zip(WORLDS, stimuli.generators(seed, len(WORLDS)), strict=True):
        if world not in worlds:
            continue
        states = {name: np.zeros((trials, d, d)) for name in rules}
        for n in range(1, steps[-1] + 1):
            if n == 1 or world == "new pairs":
                key, value = stimuli.unit_vectors(rng, trials, d), stimuli.unit_vectors(rng, trials, d)
            for name in rules:
                rule, how = (RULES["hebbian"], {"decay": decay}) if name == DECAYED else (RULES[name], {})
                states[name] = rule.write(states[name], key, value, **how)
                if n in steps:
                    square, se = mean_and_se((states[name] ** 2).sum((-2, -1)))
                    norm = square**0.5
                    predicted = _squared_norm(name, world, n, d, decay) ** 0.5
                    rows.append((name, world, n, norm, se / (2 * norm), predicted))
    table = pd.DataFrame(rows, columns=["rule", "world", "n", "norm", "norm_se", "predicted"])
    return table.sort_values(["world", "rule", "n"], ignore_index=True, key=_in_order)


def _in_order(column: pd.Series) -> pd.Series:
    order = {name: i for i, name in enumerate((*WORLDS, *GROWERS))}
    return column.map(order) if column.name in ("rule", "world") else column


def _squared_norm(rule: str, world: str, n: int, d: int, g: float) -> float:
    if world == "one pair":
        return {"hebbian": n**2, DECAYED: ((1 - g**n) / (1 - g)) ** 2, "delta": 1.0}[rule]
    return {"hebbian": n, DECAYED: (1 - g ** (2 * n)) / (1 - g**2), "delta": d * (1 - (1 - 1 / d) ** n)}[rule]


def run_prompts(
    pairs=(1, 4, 16, 64, 256, 1024),
    key_dim: int = 64,
    symbols: int = 64,
    trials: int = 400,
    seed: int = 0,
    rule: str = "hebbian",
) -> pd.DataFrame:
    """Show a prompt of key-symbol pairs to an empty memory, then ask for one symbol back.

    Nothing is trained: whatever is known was learned inside the prompt. The answer is the symbol with the largest
    response. Each question is put twice: to the memory of its own prompt, and to the memory of another one, as after
    the context has been cleared and filled again.

    Parameters
    ----------
    pairs : sequence of int
        Pairs in the prompt.
    key_dim, symbols : int
        Random unit keys; each pair's symbol is drawn evenly from ``symbols``, at least 2.
    trials : int
        Prompts per length.
    seed : int
    rule : {"hebbian", "delta", "oja"}

    Returns
    -------
    pandas.DataFrame
        One row per (asked, pairs): ``asked`` ("its own prompt" or "another prompt"), ``pairs``, ``accuracy``,
        ``accuracy_se``, ``chance``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_prompts(pairs=[4], trials=100).set_index("asked")
    >>> bool(table.accuracy["its own prompt"] > 0.9 and table.accuracy["another prompt"] < 0.1)
    True
    """
    pairs, trials = checks.counts("pairs", pairs), checks.count("trials", trials, 2)
    key_dim, symbols = checks.count("key_dim", key_dim), checks.count("symbols", symbols, 2)
    learning = find_rule(rule)
    codes = np.eye(symbols)
    rows = []
    for n, rng in zip(pairs, stimuli.generators(seed, len(pairs)), strict=True):
        right = {question: [] for question in ("its own prompt", "another prompt")}
        for size in _batches(trials, n * (key_dim + symbols)):
            keys, names = stimuli.unit_vectors(rng, size, n, key_dim), rng.integers(symbols, size=(size, n))
            _, state = learning.scan_parallel(keys, codes[names], None)
            every, which = np.arange(size), rng.integers(n, size=size)
            for question, memory in zip(right, (state, np.roll(state, 1, axis=0)), strict=True):
                answer = (memory @ keys[every, which][..., None])[..., 0].argmax(-1)
                right[question].append(answer == names[every, which])
        for question, answers in right.items():
            rows.append((question, n, *mean_and_se(np.concatenate(answers).astype(float)), 1 / symbols))
    table = pd.DataFrame(rows, columns=["asked", "pairs", "accuracy", "accuracy_se", "chance"])
    return table.sort_values("asked", ascending=False, ignore_index=True, kind="stable")


def _batches(trials: int, numbers: int) -> list[int]:
    """Split the trials so that a batch stays small in memory, and holds at least two prompts to exchange."""
    size = max(4, BATCH // numbers)
    return [len(part) for part in np.array_split(np.arange(trials), -(-trials // size))]

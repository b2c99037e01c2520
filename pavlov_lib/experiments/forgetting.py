"""Forgetting: how far back a memory that lets go can see, how fast it should let go, and what it lets go of."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from ..rules import RULES
from .capacity import BATCH
from .common import mean_and_se
from .drift import DECAYED

MEMORIES = ("hebbian", DECAYED, "delta", "oja")
UPDATERS = ("hebbian", DECAYED, "delta")


def run_forgetting(
    memories=("hebbian", DECAYED, "delta"),
    decays=(0.99, 0.97, 0.9),
    ages=(0, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384),
    length: int = 512,
    key_dim: int = 64,
    trials: int = 100,
    seed: int = 0,
) -> pd.DataFrame:
    """Write a long context of random unit pairs at rate 1, and recall pairs of every age.

    All memories see the same stimuli, so their errors are correlated.

    Parameters
    ----------
    memories : sequence of {"hebbian", "hebbian+decay", "delta", "oja"}
    decays : sequence of float
        What "hebbian+decay" keeps per step, each in (0, 1).
    ages : sequence of int
        Pairs written since, below ``length``.
    length, key_dim, trials, seed : int
        Pairs in the context; key and value dimension; independent contexts.

    Returns
    -------
    pandas.DataFrame
        One row per (memory, decay, age): ``memory``, ``decay`` (1 where there is none), ``age``, ``fidelity`` (mean
        cosine of recall and value), ``error`` (mean squared), each with its standard error ``..._se``, and
        ``predicted_fidelity``, ``predicted_error`` from :func:`pavlov_lib.theory.expected_recall`.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_forgetting(["hebbian+decay"], [0.9], ages=[0, 30], length=64, trials=20)
    >>> bool(table.fidelity[0] > 0.9 and table.fidelity[1] < 0.5)
    True
    """
    memories = checks.some_of("memories", memories, MEMORIES)
    decays = tuple(_forgets(decay) for decay in checks.positive_numbers("decays", decays))
    ages, length = checks.counts("ages", ages, minimum=0), checks.count("length", length)
    if max(ages) >= length:
        raise ValueError(f"each of ages must be below length={length}; got {max(ages)}")
    d, trials = checks.count("key_dim", key_dim), checks.count("trials", trials)
    (rng,) = stimuli.generators(seed, 1)
    named = [(name, decay) for name in memories for decay in (decays if name == DECAYED else (1.0,))]
    rows = []
    for (name, decay), (signal, power) in zip(named, _recalls(rng, trials, length, d, named), strict=True):
        fidelity = np.divide(signal, np.sqrt(power), out=np.zeros_like(signal), where=power > 0)
        error = power - 2 * signal + 1
        rule = "hebbian" if name == DECAYED else name
        predicted_error, predicted = (x[::-1] for x in theory.expected_recall(rule, length, d, d, decay=decay))
        for age in ages:
            measured = (*mean_and_se(fidelity[:, age]), *mean_and_se(error[:, age]))
            rows.append((name, decay, age, *measured, predicted[age], predicted_error[age]))
    columns = ["memory", "decay", "age", "fidelity", "fidelity_se", "error", "error_se"]
    return pd.DataFrame(rows, columns=[*columns, "predicted_fidelity", "predicted_error"])


def forgetting_horizon(d_k: int, decay: float, tau: float) -> float:
    """Age up to which a memory that has run for ever recalls with fidelity ``tau``; 0 if not even the newest pair.

    With ``D = 1 + d_k (1/τ² − 1)``, the pairs a memory without decay may hold in all, it is
    ``log((1 − γ²) D) / log(1/γ²)``, at most about ``D/e``, near ``(1 − γ²) D = e``.

    Examples
    --------
    >>> round(forgetting_horizon(64, 0.98, 0.5**0.5), 1)
    23.4
    >>> forgetting_horizon(64, 0.999, 0.5**0.5)  # it forgets too slowly: too many old pairs are as strong as new ones
    0.0
    """
    decay, tau = _forgets(decay), checks.number("tau", tau, 0, 1, open_low=True)
    held = 1 + checks.count("d_k", d_k) * theory.capacity_slope(tau)
    return max(0.0, math.log((1 - decay**2) * held) / -math.log(decay**2))


def run_horizon(
    dims=(32, 64, 128),
    paces=(1.3, 1.6, 2.0, math.e, 4.0, 6.0, 10.0, 20.0),
    tau: float = 0.5**0.5,
    trials: int = 60,
    seed: int = 0,
) -> pd.DataFrame:
    """Measure the horizon of a memory with decay against the pace of its forgetting.

    The context is so long that the memory has settled: what is older weighs below one part in a thousand, in squares.

    Parameters
    ----------
    dims : sequence of int
        Key and value dimensions.
    paces : sequence of float
        ``(1 − γ²) D``, above 1, with D the pairs that a memory without decay holds at fidelity ``tau``; below D.
    tau : float
        Fidelity asked for, in (0, 1).
    trials, seed : int
        Independent contexts, at least 2.

    Returns
    -------
    pandas.DataFrame
        One row per (d_k, pace): ``d_k``, ``held`` (D), ``pace``, ``decay``, ``horizon`` (the age at which the mean
        fidelities near ``tau`` cross it), ``horizon_se``, ``predicted`` (:func:`forgetting_horizon`).

    Raises
    ------
    ValueError
        If an argument is out of range; before any work starts.

    Examples
    --------
    >>> row = run_horizon(dims=[64], paces=[2.0], trials=20).iloc[0]
    >>> bool(abs(row.horizon - row.predicted) < 5)
    True
    """
    dims, paces = checks.counts("dims", dims), checks.positive_numbers("paces", paces)
    trials, tau = checks.count("trials", trials, 2), checks.number("tau", tau, 0, 1, open_low=True)
    slope = theory.capacity_slope(tau)
    if not slope or min(paces) <= 1 or max(paces) >= 1 + min(dims) * slope:
        raise ValueError(
            f"paces must lie between 1 and D = {1 + min(dims) * slope:.4g}, the pairs held at fidelity tau={tau:g}; "
            f"got {paces}"
        )
    cells = [(d, pace) for d in dims for pace in paces]
    rows = []
    for rng, (d, pace) in zip(stimuli.generators(seed, len(cells)), cells, strict=True):
        held = 1 + d * slope
        decay = math.sqrt(1 - pace / held)
        predicted = forgetting_horizon(d, decay, tau)
        length = max(math.ceil(7 / -math.log(decay**2)), 8)
        ((signal, power),) = _recalls(rng, trials, length, d, [(DECAYED, decay)])
        fidelity = signal / np.sqrt(power)
        reach = max(2.0, predicted / 2)
        ages = np.arange(max(0, math.ceil(predicted - reach)), math.floor(predicted + reach) + 1)
        near = fidelity[:, ages]
        crossing = _crossing(ages, near.mean(0), tau)
        without = [_crossing(ages, (near.sum(0) - one) / (trials - 1), tau) for one in near]
        se = math.sqrt((trials - 1) * np.var(without))  # the jackknife: leave out one context at a time
        rows.append((d, held, pace, decay, crossing, se, predicted))
    return pd.DataFrame(rows, columns=["d_k", "held", "pace", "decay", "horizon", "horizon_se", "predicted"])


def _crossing(ages: np.ndarray, fidelity: np.ndarray, tau: float) -> float:
    """The age at which fidelity reaches ``tau``, by a straight line through ``log(f² / (1 − f²))``.

    That is the logarithm of signal over spill, in squares, which falls with age as a straight line.
    """
    square = np.clip(fidelity, 0.01, 0.9999) ** 2
    slope, start = np.polyfit(ages, np.log(square / (1 - square)), 1)
    return float((math.log(tau**2 / (1 - tau**2)) - start) / slope)


def use_by_age(mean_age: float, length: int) -> np.ndarray:
    """How often pairs of each age are asked for, if use falls geometrically with age: (length,), adds up to 1.

    Examples
    --------
    >>> print(use_by_age(1.0, 3).round(3))
    [0.571 0.286 0.143]
    """
    keep = checks.number("mean_age", mean_age, 0, open_low=True) / (1 + mean_age)
    use = keep ** np.arange(checks.count("length", length))
    return use / use.sum()


def best_weights(use: np.ndarray, d_k: int) -> np.ndarray:
    """The weights that a memory *should* give to pairs of each age: ``p / (p + (1 − p)/d_k)``; (n,) -> (n,).

    They minimise the squared error of recall ``Σ_a p_a ((1 − w_a)² + Σ_{b≠a} w_b²/d_k)`` over all weights.

    Examples
    --------
    >>> print(best_weights(np.array([0.5, 0.25, 0.25]), 1).round(3))
    [0.5  0.25 0.25]
    """
    use = np.asarray(use, dtype=float)
    if use.ndim != 1 or not use.size or use.min() < 0 or abs(use.sum() - 1) > 1e-9:
        raise ValueError(f"use must be a list of shares that add up to 1; got {use!r}")
    return use / (use + (1 - use) / checks.count("d_k", d_k))


def recall_error(weights: np.ndarray, use: np.ndarray, d_k: int) -> float:
    """Expected squared error of a memory that holds pairs of each age with ``weights``, asked according to ``use``.

    Examples
    --------
    >>> recall_error(np.ones(5), np.full(5, 0.2), 4)
    1.0
    """
    weights, use = np.asarray(weights, dtype=float), np.asarray(use, dtype=float)
    if weights.shape != use.shape:
        raise ValueError(f"weights and use must have one shape; got {weights.shape} and {use.shape}")
    others = ((weights**2).sum() - weights**2) / checks.count("d_k", d_k)
    return float((use * ((1 - weights) ** 2 + others)).sum())


def run_recency(
    mean_ages=(4.0, 16.0, 64.0),
    losses=(0.001, 0.002, 0.004, 0.008, 0.015, 0.03, 0.06, 0.12, 0.25, 0.5),
    length: int = 512,
    key_dim: int = 64,
    trials: int = 60,
    seed: int = 0,
) -> pd.DataFrame:
    """How fast to forget, when pairs are asked for less and less often as they grow old.

    Each decay writes at the rate that serves it best, so that none loses by scale alone.
    All decays see the same contexts, so their errors are correlated.

    Parameters
    ----------
    mean_ages : sequence of float
        Mean age of the pair that is asked for; use falls geometrically with age, and is cut at ``length``.
    losses : sequence of float
        What is lost per step, 1 − γ, each in [0, 1); 0 is no forgetting.
    length, key_dim, trials, seed : int
        As in :func:`run_forgetting`; at least 2 trials.

    Returns
    -------
    pandas.DataFrame
        One row per (mean_age, loss): ``mean_age``, ``loss``, ``rate``, ``error`` (mean squared error of recall,
        weighted by use), ``error_se``, ``predicted`` (exact), and ``possible``, the error with :func:`best_weights`.

    Raises
    ------
    ValueError
        If an argument is out of range; before any work starts.

    Examples
    --------
    >>> table = run_recency(mean_ages=[4], losses=[0.0, 0.06], trials=10)
    >>> bool(table.error[1] < table.error[0])
    True
    """
    mean_ages = checks.positive_numbers("mean_ages", mean_ages)
    losses = tuple(checks.number("each of losses", loss, 0, 1) for loss in losses)
    if not losses or max(losses) == 1:
        raise ValueError(f"losses must be a non-empty list of numbers in [0, 1); got {losses}")
    length, d = checks.count("length", length), checks.count("key_dim", key_dim)
    trials = checks.count("trials", trials, 2)
    (rng,) = stimuli.generators(seed, 1)
    recalls = _recalls(rng, trials, length, d, [(DECAYED, 1 - loss) for loss in losses])
    rows = []
    for mean_age in mean_ages:
        use = use_by_age(mean_age, length)
        possible = recall_error(best_weights(use, d), use, d)
        for loss, (signal, power) in zip(losses, recalls, strict=True):
            rate = best_rate(loss, use, d)
            error = (use * (rate**2 * power - 2 * rate * signal + 1)).sum(-1)
            predicted = recall_error(rate * (1 - loss) ** np.arange(length), use, d)
            rows.append((mean_age, loss, rate, *mean_and_se(error), predicted, possible))
    return pd.DataFrame(rows, columns=["mean_age", "loss", "rate", "error", "error_se", "predicted", "possible"])


def best_rate(loss: float, use: np.ndarray, d_k: int) -> float:
    """The learning rate at which a memory that loses ``loss`` per step has the least squared error.

    Examples
    --------
    >>> best_rate(0.0, np.array([1.0]), 8)  # one pair alone is written as it is
    1.0
    """
    trace = (1 - loss) ** np.arange(len(use))
    own, others = use @ trace**2, (use * ((trace**2).sum() - trace**2)).sum() / d_k
    return float(use @ trace / (own + others))


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
    decay = _forgets(decay)
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


def _forgets(decay) -> float:
    if not checks.number("decay", decay, 0, 1, open_low=True) < 1:
        raise ValueError(f"decay must be below 1 for a memory that forgets; got {decay}")
    return float(decay)


def _recalls(rng, trials: int, length: int, d: int, memories):
    """For each (name, decay): signal r·v and power ‖r‖² of every pair, newest first, both (trials, length)."""
    parts = [([], []) for _ in memories]
    most = max(1, BATCH // (2 * length * d))
    for start in range(0, trials, most):
        size = min(most, trials - start)
        keys, values = (stimuli.unit_vectors(rng, size, length, d) for _ in range(2))
        for (name, decay), (signals, powers) in zip(memories, parts, strict=True):
            rule, how = (RULES["hebbian"], {"decay": decay}) if name == DECAYED else (RULES[name], {})
            _, state = rule.scan_parallel(keys, values, keys, **how)
            recalled = (keys @ state.mT)[:, ::-1]
            signals.append((recalled * values[:, ::-1]).sum(-1))
            powers.append((recalled**2).sum(-1))
    return [(np.concatenate(signals), np.concatenate(powers)) for signals, powers in parts]

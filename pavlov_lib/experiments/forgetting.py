"""How far back a memory that lets go can see."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from .common import DECAYED, mean_and_se, recalls, retention

MEMORIES = ("hebbian", DECAYED, "delta", "oja")


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
    decays = tuple(retention(decay) for decay in checks.positive_numbers("decays", decays))
    ages, length = checks.counts("ages", ages, minimum=0), checks.count("length", length)
    if max(ages) >= length:
        raise ValueError(f"each of ages must be below length={length}; got {max(ages)}")
    d, trials = checks.count("key_dim", key_dim), checks.count("trials", trials)
    (rng,) = stimuli.generators(seed, 1)
    named = [(name, decay) for name in memories for decay in (decays if name == DECAYED else (1.0,))]
    rows = []
    for (name, decay), (signal, power) in zip(named, recalls(rng, trials, length, d, named), strict=True):
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
    decay, tau = retention(decay), checks.number("tau", tau, 0, 1, open_low=True)
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
        ((signal, power),) = recalls(rng, trials, length, d, [(DECAYED, decay)])
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

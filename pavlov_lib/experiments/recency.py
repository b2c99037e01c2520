"""How fast a memory should let go, when old pairs are asked for less and less often."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli
from .common import DECAYED, mean_and_se, recalls


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
    recalled = recalls(rng, trials, length, d, [(DECAYED, 1 - loss) for loss in losses])
    rows = []
    for mean_age in mean_ages:
        use = use_by_age(mean_age, length)
        possible = recall_error(best_weights(use, d), use, d)
        for loss, (signal, power) in zip(losses, recalled, strict=True):
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

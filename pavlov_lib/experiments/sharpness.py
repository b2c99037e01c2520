"""How the exponential sharpens: linear and softmax attention asked the same questions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from ..attention import linear_attention, softmax_attention
from .common import cosine, mean_and_se

ASKED = 64  # items of one memory that are asked for: enough to average over, few enough to be cheap in a large memory


def run_sharpness(
    betas=(2.0, 4.0, 8.0, 16.0),
    counts=(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048),
    key_dim: int = 16,
    value_dim: int = 64,
    similarity: float = 0.8,
    questions: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """Ask memories for an item with a query that resembles its key, and compare linear with softmax attention.

    All memories of one size see the same stimuli, so their errors are correlated.

    Parameters
    ----------
    betas : sequence of float
        Inverse temperatures β of softmax attention, on unit keys and queries.
    counts : sequence of int
        Numbers n of stored pairs, each at least 2.
    key_dim, value_dim : int
        At least 3 each.
    similarity : float
        Cosine of the query and the key that is meant, in (0, 1].
    questions : int
        At least so many per n, spread over independent memories; at least 128.
    seed : int

    Returns
    -------
    pandas.DataFrame
        One row per (memory, n): ``memory`` ("linear" or "softmax"), ``beta`` (0 for linear), ``n``, ``fidelity`` (mean
        cosine of the read and the value that is meant), ``fidelity_se``, ``predicted``, ``error_rate`` (how often the
        nearest of all n values is another one), ``error_se``.

    Raises
    ------
    ValueError
        If an argument is out of range; before any work starts.

    Notes
    -----
    Predicted is ``c / sqrt(c² + (n − 1)/d_k)`` for linear attention with similarity c, and
    ``1 / sqrt(1 + (n − 1) E e^{2βx} e^{−2βc})`` for softmax, with x the overlap of random unit vectors.
    The latter replaces a mean of quotients by the quotient of means, and is too low where a few neighbours decide.

    Examples
    --------
    >>> table = run_sharpness(betas=[8.0], counts=[128], questions=200).set_index("memory")
    >>> bool(table.fidelity["softmax"] > 0.9 > 0.4 > table.fidelity["linear"])
    True
    """
    betas, counts = checks.positive_numbers("betas", betas), checks.counts("counts", counts, minimum=2)
    d_k, d_v = checks.count("key_dim", key_dim, 3), checks.count("value_dim", value_dim, 3)
    c, questions = _similarity(similarity), checks.count("questions", questions, 2 * ASKED)
    readers = {("linear", 0.0): linear_attention} | {("softmax", beta): _softmax(beta) for beta in betas}
    rows = []
    for rng, n in zip(stimuli.generators(seed, len(counts)), counts, strict=True):
        answers = _ask(rng, n, d_k, d_v, c, questions, readers.values())
        for (memory, beta), (fidelity, wrong) in zip(readers, answers, strict=True):
            noise = (n - 1) * (theory.softmax_noise(beta, d_k, c) if beta else 1 / (d_k * c**2))
            rows.append((memory, beta, n, *mean_and_se(fidelity), 1 / math.sqrt(1 + noise), *mean_and_se(wrong)))
    columns = ["memory", "beta", "n", "fidelity", "fidelity_se", "predicted", "error_rate", "error_se"]
    order = {key: i for i, key in enumerate(readers)}
    table = pd.DataFrame(rows, columns=columns)
    place = [order[key] for key in zip(table.memory, table.beta, strict=True)]
    return table.iloc[np.argsort(place, kind="stable")].reset_index(drop=True)


def run_exponential(
    dims=(6, 8, 10, 12, 14, 16),
    betas=(8.0, 64.0),
    tolerance: float = 0.1,
    value_dim: int = 64,
    similarity: float = 0.8,
    questions: int = 2000,
    seed: int = 0,
    *,
    most: int = 8192,
) -> pd.DataFrame:
    """The largest number of pairs with an error rate of at most ``tolerance``, against the key dimension.

    Each memory is filled in steps of a factor √2 until it fails, at most up to ``most`` pairs.

    Parameters
    ----------
    dims : sequence of int
        Key dimensions, each at least 3.
    betas, value_dim, similarity, questions, seed
        As in :func:`run_sharpness`; similarity below 1.
    tolerance : float
        In (0, 0.5].
    most : int

    Returns
    -------
    pandas.DataFrame
        One row per (memory, d_k): ``memory``, ``beta``, ``d_k``, ``capacity``, ``capacity_se``, and ``nearest``, the
        closed form for a memory that names the item with the nearest key
        (:func:`pavlov_lib.theory.nearest_key_capacity`).

    Raises
    ------
    ValueError
        If an argument is out of range, or a memory has not failed at ``most`` pairs.

    Examples
    --------
    >>> table = run_exponential(dims=[6, 10], betas=[64.0], questions=500)
    >>> capacity = table.set_index(["memory", "d_k"]).capacity
    >>> bool(capacity["softmax", 10] / capacity["softmax", 6] > 3 > capacity["linear", 10] / capacity["linear", 6])
    True
    """
    dims, betas = checks.counts("dims", dims, minimum=3), checks.positive_numbers("betas", betas)
    tolerance = checks.number("tolerance", tolerance, 0, 0.5, open_low=True)
    d_v, most = checks.count("value_dim", value_dim, 3), checks.count("most", most, 4)
    c, questions = _similarity(similarity), checks.count("questions", questions, 2 * ASKED)
    if c == 1:
        raise ValueError("similarity must be below 1: an exact key is found by any sharp memory; got 1")
    readers = {("linear", 0.0): linear_attention} | {("softmax", beta): _softmax(beta) for beta in betas}
    counts = sorted({round(2 ** (i / 2)) for i in range(2, math.floor(2 * math.log2(most)) + 1)})
    rows = []
    for rng, d in zip(stimuli.generators(seed, len(dims)), dims, strict=True):
        running, before = dict(readers), {}
        for n in counts:
            answers = _ask(rng, n, d, d_v, c, questions, running.values())
            for key, (_, wrong) in zip(list(running), answers, strict=True):
                rate, se = mean_and_se(wrong)
                if rate > tolerance:
                    capacity, capacity_se = _between(before.get(key, (1, 0.0)), (n, rate), tolerance, se)
                    rows.append((*key, d, capacity, capacity_se, theory.nearest_key_capacity(d, c, tolerance)))
                    del running[key]
                before[key] = (n, rate)
            if not running:
                break
        if running:
            raise ValueError(f"most must be so large that every memory fails; got {most}, where {list(running)} hold")
    table = pd.DataFrame(rows, columns=["memory", "beta", "d_k", "capacity", "capacity_se", "nearest"])
    return table.sort_values(["beta", "d_k"], ignore_index=True)


def _between(before, after, tolerance, se):
    """Where the error rate crosses ``tolerance``: a straight line in log n, and its standard error."""
    (n0, rate0), (n1, rate1) = before, after
    per_log = (rate1 - rate0) / (math.log(n1) - math.log(n0))
    capacity = n0 * math.exp((tolerance - rate0) / per_log)
    return capacity, capacity * se / per_log


def _similarity(value) -> float:
    return checks.number("similarity", value, 0, 1, open_low=True)


def _softmax(beta: float):
    return lambda keys, values, queries, causal: softmax_attention(keys, values, queries, causal=causal, scale=beta)


def _ask(rng, n: int, d_k: int, d_v: int, similarity: float, questions: int, readers):
    """For each reader: fidelity and share of wrong answers, one entry per independent memory of n pairs."""
    asked = min(n, ASKED)
    trials, readers = -(-questions // asked), list(readers)
    parts = [([], []) for _ in readers]
    most = max(1, 2**20 // (n * (d_k + d_v)))
    for start in range(0, trials, most):
        size = min(most, trials - start)
        keys, values = stimuli.unit_vectors(rng, size, n, d_k), stimuli.unit_vectors(rng, size, n, d_v)
        meant, right = keys[:, :asked], values[:, :asked]
        aside = stimuli.unit_vectors(rng, size, asked, d_k)
        aside = aside - (aside * meant).sum(-1, keepdims=True) * meant
        aside /= np.linalg.norm(aside, axis=-1, keepdims=True)
        queries = similarity * meant + math.sqrt(1 - similarity**2) * aside
        for reader, (fidelity, wrong) in zip(readers, parts, strict=True):
            reads = reader(keys, values, queries, causal=False)
            fidelity.append(cosine(reads, right).mean(-1))
            wrong.append(((reads @ values.mT).argmax(-1) != np.arange(asked)).mean(-1))
    return [(np.concatenate(fidelity), np.concatenate(wrong)) for fidelity, wrong in parts]

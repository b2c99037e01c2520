"""How much one association matrix holds: fidelity against the number of stored pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from .common import cosine, drawer, find_rule, mean_and_se, to_numpy

# Numbers per batch of trials: large enough that Python costs nothing, small enough to stay in the cache.
# They decide which pair gets which random numbers, so another size is another experiment.
BATCH = {"numpy": 2**18, "torch": 2**19}


def run_capacity(
    dims=(16, 32, 64, 128),
    loads=(0.125, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0),
    trials: int = 100,
    seed: int = 0,
    rule: str = "hebbian",
    *,
    value_dim: int | None = None,
    rate: float = 1.0,
    overlap: float = 0.0,
    shared: bool = False,
    device: str | None = None,
    dtype: str = "float64",
    generator: str = "numpy",
) -> pd.DataFrame:
    """Store n random pairs, recall every one of them, and compare with the prediction.

    Parameters
    ----------
    dims : sequence of int
        Key dimensions d_k.
    loads : sequence of float
        Ratios n/d_k; n is rounded to a whole number of at least 1.
    trials : int
        Independent memories per (d_k, n), each with fresh keys and values.
    seed : int
    rule : {"hebbian", "delta", "oja"}
    value_dim : int, optional
        Value dimension d_v; d_k if not given.
    rate : float
        Learning rate.
    overlap : float
        Expected inner product of two keys, in [0, 1); the predictions hold for 0.
    shared : bool
        Let each memory grow through all loads instead of drawing new pairs for each: several times faster. The points
        of one d_k then rise and fall together, so no error of a slope or a difference may be made from their errors.
    device : str, optional
        A torch device; NumPy does the work if not given.
    dtype : {"float64", "float32"}
    generator : {"numpy", "torch"}
        What draws the pairs: NumPy, the same ones for every device, or torch on ``device``, which must then
        be given: faster, and other pairs on every kind of device. Overlapping keys are always NumPy's.

    Returns
    -------
    pandas.DataFrame
        One row per (d_k, n): ``d_k``, ``n``, ``fidelity`` (mean cosine of recall and value) and ``error`` (mean squared
        error of recall), each with its standard error over trials (``fidelity_se``, ``error_se``), and
        ``predicted_fidelity``, ``predicted_error`` from :func:`pavlov_lib.theory.expected_recall`.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Examples
    --------
    >>> table = run_capacity(dims=[32], loads=[1.0], trials=50)
    >>> bool(abs(table.error[0] - table.predicted_error[0]) < 4 * table.error_se[0])
    True
    """
    dims, loads = checks.counts("dims", dims), checks.positive_numbers("loads", loads)
    trials, learning = checks.count("trials", trials), find_rule(rule)
    checks.number("rate", rate, 0)
    if not checks.number("overlap", overlap, 0, 1) < 1:
        raise ValueError(f"overlap must be below 1, or all keys are one; got {overlap}")
    if value_dim is not None:
        checks.count("value_dim", value_dim)
    draw_keys, draw_values = drawer(generator, device, dtype, overlap), drawer(generator, device, dtype)
    # the lists of n that one memory lives through
    curves = [(d_k, [max(1, round(load * d_k)) for load in loads]) for d_k in dims]
    if not shared:
        curves = [(d_k, [n]) for d_k, sizes in curves for n in sizes]
    rows = []
    for rng, (d_k, sizes) in zip(stimuli.generators(seed, len(curves)), curves, strict=True):
        d_v = value_dim or d_k
        per_trial = {n: [] for n in sizes}
        for size in _batches(trials, max(sizes) * (d_k + d_v), BATCH[generator]):
            keys, values = draw_keys(rng, size, max(sizes), d_k), draw_values(rng, size, max(sizes), d_v)
            for n, recalled in _grow(learning, keys, values, sorted(per_trial), rate):
                fidelity = cosine(recalled, values[:, :n]).mean(-1)
                recalled -= values[:, :n]
                per_trial[n].append((fidelity, (recalled * recalled).sum(-1).mean(-1)))
        for n in sizes:
            fidelity, error = (np.concatenate([*map(to_numpy, x)]) for x in zip(*per_trial[n], strict=True))
            predicted_error, predicted_fidelity = theory.expected_recall(rule, n, d_k, d_v, rate=rate)
            predicted = predicted_fidelity.mean(), predicted_error.mean()
            rows.append((d_k, n, *mean_and_se(fidelity), *mean_and_se(error), *predicted))
    columns = ["d_k", "n", "fidelity", "fidelity_se", "error", "error_se", "predicted_fidelity", "predicted_error"]
    return pd.DataFrame(rows, columns=columns)


def _grow(rule, keys, values, sizes, rate: float):
    """Store pairs up to each of ``sizes``, rising, and ring all bells so far: yields n and recalled (trials, n, v)."""
    state, stored = None, 0
    for n in sizes:
        new = keys[:, stored:n]
        _, state = rule.scan_parallel(new, values[:, stored:n], None, state=state, rate=rate)
        stored = n
        yield n, keys[:, :n] @ state.mT


def capacity_at(table: pd.DataFrame, tau: float = 0.9) -> pd.DataFrame:
    """The largest n with mean fidelity ``tau``, by d_k, read off a capacity table by straight-line interpolation.

    Returns
    -------
    pandas.DataFrame
        One row per d_k: ``d_k``, ``capacity``, ``capacity_se`` (the standard error of the fidelity divided by the slope
        of the curve there), ``predicted`` (``1 + d_k (1/τ² − 1)``).

    Raises
    ------
    ValueError
        If some d_k's curve does not cross ``tau``.

    Examples
    --------
    >>> table = run_capacity(dims=[64], loads=[0.15, 0.2, 0.25, 0.3], trials=50)
    >>> round(float(capacity_at(table).predicted[0]), 1)
    16.0
    """
    slope = theory.capacity_slope(tau)
    rows = []
    for d_k, curve in table.groupby("d_k"):
        curve = curve.sort_values("n")
        below = np.flatnonzero(curve.fidelity.to_numpy() < tau)
        if not len(below) or below[0] == 0:
            raise ValueError(f"the curve of d_k={d_k} must cross tau={tau}; got fidelities {curve.fidelity.tolist()}")
        a, b = curve.iloc[below[0] - 1], curve.iloc[below[0]]
        per_item = (b.fidelity - a.fidelity) / (b.n - a.n)
        n = a.n + (tau - a.fidelity) / per_item
        rows.append((d_k, n, max(a.fidelity_se, b.fidelity_se) / abs(per_item), 1 + d_k * slope))
    return pd.DataFrame(rows, columns=["d_k", "capacity", "capacity_se", "predicted"])


def run_worst_case(
    dims=(16, 32, 64, 128, 256, 512, 1024), epsilon: float = 1.0, trials: int = 40, seed: int = 0
) -> pd.DataFrame:
    """The largest n for which every item survives values that all conspire against it.

    The interference at item j is then ``Σ_{i≠j} |k_i·k_j|``; the memory is error-free while this stays below
    ``epsilon`` for all items.

    Returns
    -------
    pandas.DataFrame
        One row per d_k: ``d_k``, ``capacity``, ``capacity_se`` over trials, and ``typical_item``, the closed form for
        an item of average luck (:func:`pavlov_lib.theory.worst_case_capacity`), an upper estimate.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> table = run_worst_case(dims=[64, 256], trials=10)
    >>> bool(1.5 < table.capacity[1] / table.capacity[0] < 2.5)  # four times the dimension, about twice the items
    True
    """
    dims, trials = checks.counts("dims", dims), checks.count("trials", trials)
    checks.number("epsilon", epsilon, 0, open_low=True)
    rows = []
    for rng, d_k in zip(stimuli.generators(seed, len(dims)), dims, strict=True):
        most = 2 + int(2 * theory.worst_case_capacity(d_k, epsilon))  # far past where the typical item fails
        keys = stimuli.unit_vectors(rng, trials, most, d_k)
        overlaps = np.abs(keys @ keys.mT) * (1 - np.eye(most))
        # interference[m, j]: at item j once items 0..m are stored; then the worst item of the first m + 1
        interference = np.tril(overlaps.cumsum(-2))
        survives = interference.max(-1) < epsilon
        capacity = np.where(survives.all(-1), most, survives.argmin(-1))
        rows.append((d_k, *mean_and_se(capacity), theory.worst_case_capacity(d_k, epsilon)))
    return pd.DataFrame(rows, columns=["d_k", "capacity", "capacity_se", "typical_item"])


def run_context(
    dims=(16, 64, 256), lengths=(1, 2, 4, 8, 16, 32, 64, 128, 256), trials: int = 60, seed: int = 0,
    rule: str = "hebbian", *, rate: float = 1.0, decay: float = 1.0,
) -> pd.DataFrame:  # fmt: skip
    """How well the *first* association of a context is recalled as the context grows.

    One scan per memory, with the first key as the test stimulus at every step.
    The rows of one d_k therefore share their memories, and their errors are correlated.

    Parameters
    ----------
    dims, trials, seed, rule, rate
        As in :func:`run_capacity`.
    lengths : sequence of int
        Context lengths at which to report.
    decay : float
        What is kept per step, in (0, 1]; below 1 for "hebbian" only.

    Returns
    -------
    pandas.DataFrame
        One row per (d_k, n): ``d_k``, ``n``, ``fidelity``, ``fidelity_se``, ``predicted_fidelity``.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown.

    Examples
    --------
    >>> table = run_context(dims=[16], lengths=[1, 64], trials=20)
    >>> bool(table.fidelity[1] < 0.6 < table.fidelity[0])
    True
    """
    dims, lengths = checks.counts("dims", dims), checks.counts("lengths", lengths)
    trials, learning = checks.count("trials", trials), find_rule(rule)
    theory.expected_recall(rule, 1, 1, 1, rate=rate, decay=decay)  # refuses settings that do not fit the rule
    settings = {"decay": decay} if decay != 1 else {}
    rows = []
    for rng, d_k in zip(stimuli.generators(seed, len(dims)), dims, strict=True):
        keys = stimuli.unit_vectors(rng, trials, max(lengths), d_k)
        values = stimuli.unit_vectors(rng, trials, max(lengths), d_k)
        first_bell = np.ascontiguousarray(np.broadcast_to(keys[:, :1], keys.shape))
        reads, _ = learning.scan_parallel(keys, values, first_bell, rate=rate, **settings)
        found = cosine(reads, np.broadcast_to(values[:, :1], values.shape))
        for n in lengths:
            predicted = theory.expected_recall(rule, n, d_k, d_k, rate=rate, **settings)[1][0]
            rows.append((d_k, n, *mean_and_se(found[:, n - 1]), predicted))
    return pd.DataFrame(rows, columns=["d_k", "n", "fidelity", "fidelity_se", "predicted_fidelity"])


def _batches(trials: int, numbers_per_trial: int, at_once: int):
    most = max(1, at_once // numbers_per_trial)
    return [min(most, trials - start) for start in range(0, trials, most)]

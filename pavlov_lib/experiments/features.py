"""What stands in for the exponential, and what a direction that all keys share does to each kind of attention."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import checks, stimuli, theory
from ..attention import elu_plus_one, identity, linear_attention, random_features, softmax_attention
from ..rules import RULES
from .common import cosine, mean_and_se

OVERLAPPED = ("linear", "linear, keys centred", "delta", "softmax", "softmax, sharper")


def run_feature_maps(
    betas=(1.0, 2.0, 3.0),
    features=(16, 64, 256, 1024, 4096),
    pairs: int = 64,
    key_dim: int = 16,
    trials: int = 40,
    seed: int = 0,
) -> pd.DataFrame:
    """Linear attention with several feature maps, beside the softmax attention that random features stand in for.

    Every stored key is asked for exactly. Values have as many dimensions as keys.

    Parameters
    ----------
    betas : sequence of float
        Inverse temperatures.
    features : sequence of int
        Numbers m of random features.
    pairs, key_dim, trials, seed : int
        Stored pairs; key dimension, at least 3; independent memories, each with features of its own.

    Returns
    -------
    pandas.DataFrame
        One row per map: ``feature_map`` ("identity", "elu + 1", "random features", "softmax"), ``beta``, ``features``
        (m; the key dimension for the first two, 0 for softmax), ``fidelity``, ``fidelity_se``, ``weight_error`` (root
        of the mean squared relative error of the weight of the pair that is asked for, against softmax's) and
        ``predicted_error``, both 0 where there is nothing to approximate.

    Raises
    ------
    ValueError
        If an argument is out of range; before any work starts.

    Notes
    -----
    One random feature estimates ``e^{β q·k}`` at q = k with relative variance ``e^{4β} − 1``; m of them divide it by m.

    Examples
    --------
    >>> table = run_feature_maps(betas=[1.0], features=[16, 4096], trials=5)
    >>> near = table[table.feature_map == "random features"].fidelity.tolist()
    >>> near[0] < near[1]
    True
    """
    betas, features = checks.positive_numbers("betas", betas), checks.counts("features", features)
    pairs, d, trials = (
        checks.count("pairs", pairs, 2),
        checks.count("key_dim", key_dim, 3),
        checks.count("trials", trials),
    )
    rng_stimuli, rng_maps = stimuli.generators(seed, 2)
    keys, values = (
        stimuli.unit_vectors(rng_stimuli, trials, pairs, d),
        stimuli.unit_vectors(rng_stimuli, trials, pairs, d),
    )

    def fidelity(reads):
        return mean_and_se(cosine(reads, values).mean(-1))

    rows = []
    for name, phi in (("identity", identity), ("elu + 1", elu_plus_one)):
        reads = linear_attention(keys, values, keys, causal=False, feature_map=phi)
        rows.append((name, 0.0, d, *fidelity(reads), 0.0, 0.0))
    for beta in betas:
        for m in features:
            reads, off = np.empty_like(values), []
            for i in range(trials):
                phi = random_features(d, m, rng_maps, scale=beta)
                reads[i] = linear_attention(keys[i], values[i], keys[i], causal=False, feature_map=phi)
                off.append(((phi(keys[i]) ** 2).sum(-1) / math.exp(beta) - 1) ** 2)
            error, predicted = math.sqrt(np.mean(off)), math.sqrt(math.expm1(4 * beta) / m)
            rows.append(("random features", beta, m, *fidelity(reads), error, predicted))
        exact = softmax_attention(keys, values, keys, causal=False, scale=beta)
        rows.append(("softmax", beta, 0, *fidelity(exact), 0.0, 0.0))
    columns = ["feature_map", "beta", "features", "fidelity", "fidelity_se", "weight_error", "predicted_error"]
    return pd.DataFrame(rows, columns=columns)


def run_overlap(
    memories=OVERLAPPED,
    overlaps=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    pairs: int = 64,
    key_dim: int = 64,
    beta: float = 8.0,
    trials: int = 20,
    seed: int = 0,
) -> pd.DataFrame:
    """Recall with keys that all share a direction.

    Parameters
    ----------
    memories : sequence of str
        ``"linear"``; ``"linear, keys centred"``, with the mean of all keys taken away from keys and queries;
        ``"delta"``, one pass at rate 1; ``"softmax"`` with β = ``beta``; ``"softmax, sharper"`` with
        β = ``beta`` / (1 − overlap).
    overlaps : sequence of float
        Expected cosine of two keys, in [0, 1).
    pairs, key_dim : int
        At least 2 pairs, and at least 4 key dimensions.
    beta : float
    trials, seed : int

    Returns
    -------
    pandas.DataFrame
        One row per (memory, overlap): ``memory``, ``overlap``, ``fidelity``, ``fidelity_se``, ``predicted`` (NaN for
        delta).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Notes
    -----
    Two keys with a shared direction have overlap ``ρ + (1 − ρ) x``, with x the overlap of random unit vectors in one
    dimension less. Linear attention sees its mean square, ``ρ² + (1 − ρ)²/(d_k − 1)``. In softmax the ρ is a factor
    that all weights share, so what is left is softmax at ``β (1 − ρ)``.

    Examples
    --------
    >>> table = run_overlap(overlaps=[0.8], trials=3).set_index("memory").fidelity
    >>> bool(table["softmax, sharper"] > 0.95 and table["linear"] < 0.3)
    True
    """
    memories = checks.some_of("memories", memories, OVERLAPPED)
    overlaps = tuple(checks.number("each of overlaps", rho, 0, 1) for rho in overlaps)
    if not overlaps or max(overlaps) == 1:
        raise ValueError(f"overlaps must be a non-empty list of numbers in [0, 1); got {overlaps}")
    n, d, trials = checks.count("pairs", pairs, 2), checks.count("key_dim", key_dim, 4), checks.count("trials", trials)
    beta = checks.number("beta", beta, 0, open_low=True)
    rows = []
    for rng, rho in zip(stimuli.generators(seed, len(overlaps)), overlaps, strict=True):
        keys = stimuli.correlated_unit_vectors(rng, trials, n, d, overlap=rho)
        values = stimuli.unit_vectors(rng, trials, n, d)
        for memory in memories:
            reads = _OVERLAPPED[memory](keys, values, beta, rho)
            spill = _SPILL[memory](d, beta, rho)
            rows.append((memory, rho, *mean_and_se(cosine(reads, values).mean(-1)), 1 / math.sqrt(1 + (n - 1) * spill)))
    table = pd.DataFrame(rows, columns=["memory", "overlap", "fidelity", "fidelity_se", "predicted"])
    return table.sort_values("memory", ignore_index=True, kind="stable", key=lambda names: names.map(OVERLAPPED.index))


def _centred(keys, values, *_):
    keys = keys - keys.mean(-2, keepdims=True)
    return linear_attention(keys, values, keys, causal=False)


def _by_delta(keys, values, *_):
    _, state = RULES["delta"].scan_parallel(keys, values, None)
    return keys @ state.mT


_OVERLAPPED = {
    "linear": lambda keys, values, *_: linear_attention(keys, values, keys, causal=False),
    "linear, keys centred": _centred,
    "delta": _by_delta,
    "softmax": lambda keys, values, beta, rho: softmax_attention(keys, values, keys, causal=False, scale=beta),
    "softmax, sharper": lambda keys, values, beta, rho: softmax_attention(
        keys, values, keys, causal=False, scale=beta / (1 - rho)
    ),
}
_SPILL = {
    "linear": lambda d, beta, rho: rho**2 + (1 - rho) ** 2 / (d - 1),
    "linear, keys centred": lambda d, beta, rho: 1 / (d - 1),
    "delta": lambda d, beta, rho: math.nan,
    "softmax": lambda d, beta, rho: theory.softmax_noise(beta * (1 - rho), d - 1),
    "softmax, sharper": lambda d, beta, rho: theory.softmax_noise(beta, d - 1),
}

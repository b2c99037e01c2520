"""Editing just one association, and what is harmed nearby."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import checks, stimuli
from ..rules import RULES
from .common import mean_and_se

EDITS = ("hebbian", "hebbian+decay", "delta", "delta, rehearsed", "protected")


def run_unlearning(
    edits=EDITS,
    overlaps=(0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    pairs: int = 24,
    key_dim: int = 64,
    trials: int = 50,
    seed: int = 0,
    *,
    fades: int = 30,
    decay: float = 0.9,
    passes: int = 20,
) -> pd.DataFrame:
    """Remove one association from a memory that recalls all of its pairs exactly, in several ways.

    The memory holds ``pairs`` associations with unit keys and orthonormal values. One is unwanted. One other, the
    neighbour, has a key whose cosine with the unwanted key is ``overlap``; all remaining keys are random.

    Parameters
    ----------
    edits : sequence of str
        ``"hebbian"``: the unwanted key is shown once more, with no outcome, to Hebb's rule.
        ``"hebbian+decay"``: nothing is shown, and the whole memory fades ``fades`` times by ``decay``.
        ``"delta"``: the unwanted key is shown once with no outcome, to the delta rule at rate 1.
        ``"delta, rehearsed"``: the same, then ``passes`` rounds of all other pairs and that one.
        ``"protected"``: one write like the delta rule's, along the part of the key that is orthogonal to all other
        stored keys. It needs to know those keys.
    overlaps : sequence of float
        Cosines of neighbour and unwanted key, in [0, 1).
    pairs, key_dim : int
        At least 3 pairs, at most ``key_dim``: beyond, no memory recalls all of them exactly.
    trials : int
    seed : int
    fades, passes : int
    decay : float
        In (0, 1).

    Returns
    -------
    pandas.DataFrame
        One row per (edit, overlap): ``edit``, ``overlap``, ``residual`` (share of the unwanted response that is left),
        ``neighbour``, ``others`` and ``fresh`` (squared change of the response to the neighbour, to the other stored
        keys on average, and to unit keys in random directions, never stored), each with its standard error ``..._se``,
        and ``predicted`` for the neighbour.

    Raises
    ------
    ValueError
        If an argument is out of range or unknown; before any work starts.

    Notes
    -----
    The delta rule changes the response to any query q by ``−η (S k*) (k*·q)``, whatever the memory holds. Where the
    unwanted response has length one, the neighbour's changes by overlap², a random stored key's by 1/d_k on average.
    The protected write uses ``u = k⊥ / ‖k⊥‖²`` in place of the key k*, with ``k⊥`` its part outside the span of the
    other keys: no stored response changes, and a random query's does by ``‖u‖²/d_k``.

    Examples
    --------
    >>> table = run_unlearning(edits=["delta"], overlaps=[0.5], trials=3)
    >>> print(table[["neighbour", "predicted"]].round(9).to_string(index=False))
     neighbour  predicted
          0.25       0.25
    """
    edits = checks.some_of("edits", edits, EDITS)
    overlaps = _overlaps(overlaps)
    pairs, key_dim = checks.count("pairs", pairs, 3), checks.count("key_dim", key_dim)
    if pairs > key_dim:
        raise ValueError(f"pairs must be at most key_dim={key_dim} for exact recall; got {pairs}")
    trials, fades, passes = (
        checks.count(name, x) for name, x in (("trials", trials), ("fades", fades), ("passes", passes))
    )
    if not checks.number("decay", decay, 0, 1, open_low=True) < 1:
        raise ValueError(f"decay must be below 1 for a memory that fades; got {decay}")
    rows = []
    for overlap, rng in zip(overlaps, stimuli.generators(seed, len(overlaps)), strict=True):
        keys, values = _stimuli(rng, trials, pairs, key_dim, overlap)
        before = values.mT @ np.linalg.solve(keys @ keys.mT, keys)  # the smallest memory that recalls all pairs
        for edit in edits:
            after = _EDIT[edit](before, keys, values, fades=fades, decay=decay, passes=passes)
            residual = ((after @ keys[:, 0, :, None])[..., 0] * values[:, 0]).sum(-1)
            change = ((keys @ (after - before).mT) ** 2).sum(-1)
            stray = ((after - before) ** 2).sum((-2, -1)) / key_dim  # the mean over all directions of a unit key
            measured = (_settled(residual, 1e-12), *(_settled(x, 1e-20) for x in (change[:, 1], change[:, 2:], stray)))
            predicted = {"delta": overlap**2, "hebbian+decay": (1 - decay**fades) ** 2}.get(edit, 0.0)
            rows.append(
                (edit, overlap, *(x for m in measured for x in mean_and_se(m.reshape(trials, -1).mean(-1))), predicted)
            )
    names = ("residual", "neighbour", "others", "fresh")
    columns = ["edit", "overlap", *(c for name in names for c in (name, f"{name}_se")), "predicted"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("edit", key=lambda c: c.map(EDITS.index), kind="stable", ignore_index=True)


def _overlaps(given) -> tuple[float, ...]:
    given = (given,) if isinstance(given, (int, float)) else tuple(given)
    if not given:
        raise ValueError("overlaps must be a non-empty list; got none")
    overlaps = tuple(checks.number("each overlap", c, 0, 1) for c in given)
    if max(overlaps) == 1:
        raise ValueError("each overlap must be below 1, or neighbour and unwanted key are one; got 1")
    return overlaps


def _stimuli(rng, trials: int, n: int, d: int, overlap: float):
    """Keys (trials, n, d), the first unwanted and the second its neighbour, and orthonormal values (trials, n, d)."""
    keys = stimuli.unit_vectors(rng, trials, n, d)
    unwanted = keys[:, 0]
    across = keys[:, 1] - (keys[:, 1] * unwanted).sum(-1, keepdims=True) * unwanted
    across /= np.linalg.norm(across, axis=-1, keepdims=True)
    keys[:, 1] = overlap * unwanted + np.sqrt(1 - overlap**2) * across
    values = np.linalg.qr(rng.standard_normal((trials, d, n)))[0].mT
    return keys, values


def _settled(x: np.ndarray, rounding: float) -> np.ndarray:
    """Zero for what is only rounding, since its digits differ from machine to machine."""
    return np.where(np.abs(x) < rounding, 0.0, x)


def _hebbian(state, keys, values, **_):
    return RULES["hebbian"].write(state, keys[:, 0], np.zeros_like(values[:, 0]))


def _fade(state, keys, values, *, fades, decay, **_):
    for _ in range(fades):
        state = RULES["hebbian"].write(state, np.zeros_like(keys[:, 0]), np.zeros_like(values[:, 0]), decay=decay)
    return state


def _delta(state, keys, values, **_):
    return RULES["delta"].write(state, keys[:, 0], np.zeros_like(values[:, 0]))


def _rehearsed(state, keys, values, *, passes, **_):
    lesson = values.copy()
    lesson[:, 0] = 0
    order = [0, *range(keys.shape[1] - 1, -1, -1)]  # the unwanted key last in each round, so that it ends erased
    for i in order[:1] + order[1:] * passes:
        state = RULES["delta"].write(state, keys[:, i], lesson[:, i])
    return state


def _protected(state, keys, values, **_):
    unwanted, rest = keys[:, 0], keys[:, 1:]
    inside = np.linalg.solve(rest @ rest.mT, rest @ unwanted[..., None])  # its coordinates in the span of the rest
    u = unwanted - (rest.mT @ inside)[..., 0]
    u /= (u * u).sum(-1, keepdims=True)  # so that u·k* = 1
    return state - (state @ unwanted[..., None]) * u[:, None, :]


_EDIT = {
    "hebbian": _hebbian,
    "hebbian+decay": _fade,
    "delta": _delta,
    "delta, rehearsed": _rehearsed,
    "protected": _protected,
}

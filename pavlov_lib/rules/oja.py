"""Oja's rule: a neuron that fires hard turns its own synapses down.

Each output neuron i learns by Hebb's rule and forgets in proportion to its own activity squared,
so its incoming weights cannot grow without bound: homeostasis.

This library uses the form with the *output clamped to the US*:
during a pairing the neuron's activity is the value it is given, ``v_i``, not its own prediction.
With the output left free (``v = S k``) the rule extracts principal components;
the *subspace* form ``S + η v (k − Sᵀ v)ᵀ`` is the delta rule of the transposed memory. Both are other rules.
"""

from __future__ import annotations

from .. import checks
from ..checks import Array
from .base import Rule, loop, once, outer, spread
from .chunks import carry, parallel

LIMIT = "the stability limit of the Oja rule is η v_i² ≤ 2, for every entry v_i; use a smaller rate or smaller values"


def write(state: Array, key: Array, value: Array, *, rate=1.0) -> Array:
    """Write one CS-US pair: ``S_i ← S_i + η v_i (k − v_i S_i)``.

    Parameters
    ----------
    state : array (..., v, k)
        The association matrix; it is not modified.
    key : array (..., k)
        The conditional stimulus.
    value : array (..., v)
        The unconditional stimulus.
    rate : float or array (...)
        Learning rate η, finite and not negative. Row i keeps (1 − η v_i²) of itself,
        so it is stable while η v_i² ≤ 2, and forgets without overshoot while η v_i² ≤ 1.

    Returns
    -------
    array (..., v, k)
        The new state, of the kind that came in.

    Raises
    ------
    ValueError
        If a shape, dtype, kind, device or setting does not fit, or an input is not finite.
    FloatingPointError
        If the new state outgrew the dtype.

    Notes
    -----
    Row i of the state becomes (1 − η v_i²) S_i + η v_i k.
    Source: [Oja1982]_.

    .. [Oja1982] E. Oja, A simplified neuron model as a principal component analyzer, J. Math. Biol. 15, 267-273, 1982.

    Examples
    --------
    >>> import numpy as np
    >>> bell, food = np.array([1.0, 0.0]), np.array([1.0])
    >>> S = write(np.zeros((1, 2)), bell, food, rate=0.5)
    >>> print(S, write(S, bell, food, rate=0.5))
    [[0.5 0. ]] [[0.75 0.  ]]
    """
    checks.pair(state, key, value)
    rate = checks.setting("rate", rate, key, tuple(state.shape[:-2]), "(...)")
    return once(step, state, key, value, LIMIT, rate)


def step(state: Array, key: Array, value: Array, rate) -> Array:
    """One write, unchecked."""
    drive = spread(rate, 1) * value
    # per output neuron: S_i + η v_i (k − v_i S_i) = (1 − η v_i²) S_i + η v_i k
    return (1 - drive * value)[..., None] * state + outer(drive, key)


def scan(keys: Array, values: Array, queries: Array | None, *, state: Array | None = None, rate=1.0):
    """A forward pass, one time step after another: write pair t, then read with query t.

    Parameters
    ----------
    keys : array (..., t, k)
    values : array (..., t, v)
    queries : array (..., t, k) or None
        None writes and never reads.
    state : array (..., v, k), optional
        Where to start; empty (zeros) if not given.
    rate : float or array (..., t)
        Learning rate, finite and not negative.

    Returns
    -------
    reads : array (..., t, v), or None without queries
    state : array (..., v, k)

    Raises
    ------
    ValueError
        If a shape, dtype, kind, device or setting does not fit, or an input is not finite.
    FloatingPointError
        If the state outgrew the dtype, as it does past the stability limit.

    Examples
    --------
    >>> import numpy as np
    >>> bell, food = np.ones((3, 1)), np.ones((3, 1))
    >>> print(scan(bell, food, bell, rate=0.5)[0].ravel())
    [0.5   0.75  0.875]
    """
    return loop(step, keys, values, queries, state, LIMIT, rate=rate)


def scan_parallel(
    keys: Array, values: Array, queries: Array | None, *, state: Array | None = None, rate=1.0, chunk: int = 64
):
    """The same numbers as :func:`scan`, computed chunk by chunk with matrix products.

    Two neighbouring blocks of time are joined into one: the reads of the later block gain what the earlier block wrote,
    ``p ∘ (Q₂ K₁ᵀ) W₁``, with ``W₁`` the earlier writes as they stand when that block ends,
    and ``p`` what each neuron has kept since. Joining starts from single steps and doubles up to a chunk.

    Parameters, returned values and errors are those of :func:`scan`;
    ``chunk`` is the number of time steps worked on at once, rounded down to a power of two.

    Notes
    -----
    What is kept, 1 − η v_i², may be zero or negative. So nothing here takes a logarithm or divides.

    Examples
    --------
    >>> import numpy as np
    >>> bell, food = np.ones((3, 1)), np.ones((3, 1))
    >>> print(scan_parallel(bell, food, bell, rate=0.5)[0].ravel())
    [0.5   0.75  0.875]
    """
    return parallel("oja", chunked, keys, values, queries, state, chunk, LIMIT, rate=rate)


def chunked(keys: Array, values: Array, queries: Array | None, state: Array, rate):
    """All chunks at once, unchecked: keys (..., n, c, k), values (..., n, c, v) -> reads like values or None, state."""
    xp = checks.namespace(keys=keys)
    c, v = values.shape[-2:]
    drive = spread(rate, 1) * values
    kept, writes = 1 - drive * values, drive  # kept since the block began; writes as they stand when it ends
    if queries is None:  # then blocks need no joining: each write only shrinks by all that is kept after it
        since = xp.flip(xp.cumprod(xp.flip(kept, (-2,)), -2), (-2,))
        writes = xp.concat([drive[..., :-1, :] * since[..., 1:, :], drive[..., -1:, :]], -2)
        return None, carry(xp, state, since[..., 0, :, None], writes.mT @ keys)[1]
    reads = drive * (queries * keys).sum(-1)[..., None]  # each step reads its own write; blocks of one step
    block = 1
    while block < c:
        _, late_queries = halves(queries, block)
        early_keys, _ = halves(keys, block)
        (early_reads, late_reads), (early_kept, late_kept) = halves(reads, block), halves(kept, block)
        early_writes, late_writes = halves(writes, block)
        late_reads = late_reads + late_kept * ((late_queries @ early_keys.mT) @ early_writes)
        early_writes = early_writes * late_kept[..., -1:, :]
        late_kept = late_kept * early_kept[..., -1:, :]
        reads, kept, writes = (
            xp.concat(pair, -2).reshape(*values.shape[:-2], c, v)
            for pair in ((early_reads, late_reads), (early_kept, late_kept), (early_writes, late_writes))
        )
        block *= 2
    starts, state = carry(xp, state, kept[..., -1, :, None], writes.mT @ keys)
    return reads + kept * (queries @ starts.mT), state


def halves(x: Array, block: int) -> tuple[Array, Array]:
    """The earlier and the later block of each pair: (..., c, d) -> two (..., c / 2 block, block, d)."""
    pairs = x.reshape(*x.shape[:-2], -1, 2, block, x.shape[-1])
    return pairs[..., 0, :, :], pairs[..., 1, :, :]


OJA = Rule("oja", "S_i + η v_i (k − v_i S_i)", write, scan, scan_parallel)

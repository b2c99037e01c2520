"""Hebb's rule: cells that fire together wire together.

The bell (key) and the food (value) come together, and the synapses between them grow by the product of both.
Nothing is ever taken back: what was learned once keeps answering, and the matrix keeps growing.
With linear activations this circuit *is* linear attention, number for number.
With a ``decay`` below one, old associations fade at a fixed rate: the forgetting of RetNet.
"""

from __future__ import annotations

from .. import checks
from ..checks import Array
from .base import Rule, loop, once, outer, spread
from .chunks import carry, parallel
from .fading import fading

LIMIT = "plain Hebbian writing adds without bound; use a decay below 1, a smaller rate, or the delta or Oja rule"


def write(state: Array, key: Array, value: Array, *, rate=1.0, decay=1.0) -> Array:
    """Write one CS-US pair: ``S ← decay·S + η v kᵀ``.

    Parameters
    ----------
    state : array (..., v, k)
        The association matrix; it is not modified.
    key : array (..., k)
        The conditional stimulus.
    value : array (..., v)
        The unconditional stimulus.
    rate : float or array (...)
        Learning rate η, finite and not negative.
    decay : float or array (...)
        What is kept of the old state, in (0, 1].

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
    Sources: [Hebb1949]_; as attention, [Katharopoulos2020]_; decay, [Sun2023]_.

    .. [Hebb1949] D. O. Hebb, The Organization of Behavior, Wiley, 1949.
    .. [Katharopoulos2020] A. Katharopoulos et al., Transformers are RNNs, ICML 2020.
    .. [Sun2023] Y. Sun et al., Retentive Network, arXiv:2307.08621, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> bell, food = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> once = write(np.zeros((2, 2)), bell, food)
    >>> print(write(once, bell, food, decay=0.5))
    [[0.  0. ]
     [1.5 0. ]]
    """
    checks.pair(state, key, value)
    lead = tuple(state.shape[:-2])
    rate = checks.setting("rate", rate, key, lead, "(...)")
    decay = checks.setting("decay", decay, key, lead, "(...)", decay=True)
    return once(step, state, key, value, LIMIT, rate, decay)


def step(state: Array, key: Array, value: Array, rate, decay) -> Array:
    """One write, unchecked."""
    # decay·S + η v kᵀ
    return spread(decay, 2) * state + outer(spread(rate, 1) * value, key)


def scan(keys: Array, values: Array, queries: Array | None, *, state: Array | None = None, rate=1.0, decay=1.0):
    """A forward pass, one time step after another: write pair t, then read with query t.

    Parameters
    ----------
    keys : array (..., t, k)
    values : array (..., t, v)
    queries : array (..., t, k) or None
        None writes and never reads.
    state : array (..., v, k), optional
        Where to start; empty (zeros) if not given.
    rate, decay : float or array (..., t)
        Learning rate, finite and not negative; what is kept per step, in (0, 1].

    Returns
    -------
    reads : array (..., t, v), or None without queries
    state : array (..., v, k)

    Raises
    ------
    ValueError
        If a shape, dtype, kind, device or setting does not fit, or an input is not finite.
    FloatingPointError
        If the state outgrew the dtype.

    Examples
    --------
    >>> import numpy as np
    >>> keys = np.eye(2)
    >>> values = np.array([[3.0], [4.0]])
    >>> reads, state = scan(keys, values, np.ones((2, 2)))
    >>> print(reads.ravel(), state)
    [3. 7.] [[3. 4.]]
    """
    return loop(step, keys, values, queries, state, LIMIT, rate=rate, decay=decay)


def scan_parallel(
    keys: Array,
    values: Array,
    queries: Array | None,
    *,
    state: Array | None = None,
    rate=1.0,
    decay=1.0,
    chunk: int = 64,
):
    """The same numbers as :func:`scan`, computed chunk by chunk with matrix products.

    Inside a chunk, with ``S`` the state before it, ``D[i, j]`` what is left at step i of what was written at step j,
    and ``p[i]`` what is left at step i of ``S``: ``reads = (D ∘ Q Kᵀ) (η V) + p ∘ (Q Sᵀ)``.

    Parameters, returned values and errors are those of :func:`scan`;
    ``chunk`` is the number of time steps worked on at once, rounded down to a power of two.

    Examples
    --------
    >>> import numpy as np
    >>> keys, values = np.eye(2), np.array([[3.0], [4.0]])
    >>> print(scan_parallel(keys, values, np.ones((2, 2)))[0].ravel())
    [3. 7.]
    """
    return parallel("hebbian", chunked, keys, values, queries, state, chunk, LIMIT, rate=rate, decay=decay)


def chunked(keys: Array, values: Array, queries: Array | None, state: Array, rate, decay):
    """All chunks at once, unchecked: keys (..., n, c, k), values (..., n, c, v) -> reads like values or None, state."""
    xp = checks.namespace(keys=keys)
    left = drive = spread(rate, 1) * values  # η V
    kept = before = 1.0
    if fades := not (isinstance(decay, float) and decay == 1):
        between, before = fading(xp, keys, decay)
        kept = before[..., -1, None, None]
        left = between[..., -1, :, None] * drive  # what is left of each write when its chunk ends
    starts, state = carry(xp, state, kept, left.mT @ keys)
    if queries is None:
        return None, state
    match = xp.tril(queries @ keys.mT)  # how much of the bell at step j is in the test stimulus at step i ≥ j
    if fades:
        match = between * match
    return match @ drive + spread(before, 1) * (queries @ starts.mT), state


HEBBIAN = Rule("hebbian", "decay · S + η v kᵀ", write, scan, scan_parallel)

"""The delta rule: learn from what was not expected.

The animal predicts the food from the bell, ``S k``, and learns only from the difference to the food that comes.
A stale note is erased in the same stroke that writes the new one.
The rule is Widrow and Hoff's least mean squares.
With one outcome that all stimuli share, it is Rescorla and Wagner's model of conditioning.
"""

from __future__ import annotations

from .. import checks
from ..checks import Array
from .base import Rule, along, apply, loop, once, outer, spread
from .chunks import parallel

LIMIT = "the stability limit of the delta rule is η‖k‖² < 2; use a smaller rate or shorter keys"


def write(state: Array, key: Array, value: Array, *, rate=1.0) -> Array:
    """Write one CS-US pair: ``S ← S + η (v − S k) kᵀ``.

    Parameters
    ----------
    state : array (..., v, k)
        The association matrix; it is not modified.
    key : array (..., k)
        The conditional stimulus.
    value : array (..., v)
        The unconditional stimulus.
    rate : float or array (...)
        Learning rate η, finite and not negative. The rule is stable while η‖k‖² < 2,
        and overwrites exactly at η‖k‖² = 1.

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
    Writing the same pair twice at η‖k‖² = 1 changes nothing the second time: there is no error left to learn from.
    Sources: [WidrowHoff1960]_, [RescorlaWagner1972]_; as attention, [Schlag2021]_.

    .. [WidrowHoff1960] B. Widrow, M. E. Hoff, Adaptive switching circuits, IRE WESCON Convention Record, 1960.
    .. [RescorlaWagner1972] R. A. Rescorla, A. R. Wagner, A theory of Pavlovian conditioning, 1972.
    .. [Schlag2021] I. Schlag, K. Irie, J. Schmidhuber, Linear transformers are secretly fast weight programmers,
       ICML 2021.

    Examples
    --------
    >>> import numpy as np
    >>> bell = np.array([1.0, 0.0])
    >>> S = write(np.zeros((1, 2)), bell, np.array([1.0]))
    >>> print(write(S, bell, np.array([0.0])))  # the food stops, and the note is erased
    [[0. 0.]]
    """
    checks.pair(state, key, value)
    rate = checks.setting("rate", rate, key, tuple(state.shape[:-2]), "(...)")
    return once(step, state, key, value, LIMIT, rate)


def step(state: Array, key: Array, value: Array, rate) -> Array:
    """One write, unchecked."""
    error = value - apply(state, key)  # what the animal did not expect
    # S + η (v − S k) kᵀ
    return state + outer(spread(rate, 1) * error, key)


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
    >>> bell = np.array([[1.0], [1.0], [1.0]])
    >>> food = np.array([[1.0], [1.0], [0.0]])
    >>> print(scan(bell, food, bell, rate=0.5)[0].ravel())
    [0.5   0.75  0.375]
    """
    return loop(step, keys, values, queries, state, LIMIT, rate=rate)


def scan_parallel(
    keys: Array, values: Array, queries: Array | None, *, state: Array | None = None, rate=1.0, chunk: int = 64
):
    """The same numbers as :func:`scan`, computed chunk by chunk with matrix products.

    Inside a chunk each error depends on the errors before it: ``e_i = v_i − S k_i − Σ_{j<i} η_j (k_i·k_j) e_j``,
    with ``S`` the state before the chunk. That is a triangular system, ``(I + A) E = V − K Sᵀ``,
    and with the errors known the rest is the Hebbian rule: ``reads = Q Sᵀ + tril(Q K̃ᵀ) E`` where ``k̃ = η k``.

    Parameters, returned values and errors are those of :func:`scan`;
    ``chunk`` is the number of time steps worked on at once, rounded down to a power of two.

    Notes
    -----
    Source: [Yang2024]_.

    .. [Yang2024] S. Yang et al., Parallelizing linear transformers with the delta rule over sequence length,
       NeurIPS 2024.

    Examples
    --------
    >>> import numpy as np
    >>> bell = np.array([[1.0], [1.0], [1.0]])
    >>> food = np.array([[1.0], [1.0], [0.0]])
    >>> print(scan_parallel(bell, food, bell, rate=0.5)[0].ravel())
    [0.5   0.75  0.375]
    """
    return parallel("delta", chunked, keys, values, queries, state, chunk, LIMIT, rate=rate)


def chunked(keys: Array, values: Array, queries: Array | None, state: Array, rate):
    """All chunks at once, unchecked: keys (..., n, c, k), values (..., n, c, v) -> reads like values or None, state."""
    xp = checks.namespace(keys=keys)
    n, c, v = keys.shape[-3], keys.shape[-2], values.shape[-1]
    writes = spread(rate, 1) * keys  # K̃ = η K
    system = xp.tril(keys @ writes.mT, -1) + xp.eye(c, dtype=keys.dtype, device=keys.device)
    solved = solve(xp, system, xp.concat([values, keys], -1))  # (I + A)⁻¹ [V, K]: the state can come later
    starts, errors = [], []
    for from_values, from_keys, write in zip(
        along(-3, n, solved[..., :v]), along(-3, n, solved[..., v:]), along(-3, n, writes), strict=True
    ):
        error = from_values - from_keys @ state.mT  # what the animal did not expect
        starts.append(state)
        errors.append(error)
        state = state + error.mT @ write
    if queries is None:
        return None, state
    starts, errors = xp.stack(starts, -3), xp.stack(errors, -3)
    return queries @ starts.mT + xp.tril(queries @ writes.mT) @ errors, state


def solve(xp, system: Array, right: Array) -> Array:
    """Forward substitution, ``system · x = right``; system (..., c, c) is lower triangular with a unit diagonal.

    Never by a power series of the system: repeated keys make that blow up.
    """
    if checks.is_tensor(system):
        return xp.linalg.solve_triangular(system, right, upper=False, unitriangular=True)
    c = system.shape[-1]
    if c == 1:
        return right
    half = c // 2  # solve the upper half, carry it into the lower half, solve that
    top = solve(xp, system[..., :half, :half], right[..., :half, :])
    rest = right[..., half:, :] - system[..., half:, :half] @ top
    return xp.concat([top, solve(xp, system[..., half:, half:], rest)], -2)


DELTA = Rule("delta", "S + η (v − S k) kᵀ", write, scan, scan_parallel)

"""The delta rule: learn from what was not expected.

The animal predicts the food from the bell, ``S k``, and learns only from the difference to the food that comes.
A stale note is erased in the same stroke that writes the new one.
The rule is Widrow and Hoff's least mean squares, and with one shared outcome it is Rescorla and Wagner's model of conditioning.
"""

from __future__ import annotations

from .. import checks
from ..checks import Array
from .base import Rule, apply, loop, outer, spread

LIMIT = "the delta rule is stable only while η‖k‖² < 2; use a smaller rate or shorter keys"


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
        If a shape, dtype, kind, device or setting does not fit.

    Notes
    -----
    Writing the same pair twice at η‖k‖² = 1 changes nothing the second time: there is no error left to learn from.
    Sources: [WidrowHoff1960]_, [RescorlaWagner1972]_; as attention, [Schlag2021]_.

    .. [WidrowHoff1960] B. Widrow, M. E. Hoff, Adaptive switching circuits, IRE WESCON Convention Record, 1960.
    .. [RescorlaWagner1972] R. A. Rescorla, A. R. Wagner, A theory of Pavlovian conditioning, 1972.
    .. [Schlag2021] I. Schlag, K. Irie, J. Schmidhuber, Linear transformers are secretly fast weight programmers, ICML 2021.

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
    return step(state, key, value, rate)


def step(state: Array, key: Array, value: Array, rate) -> Array:
    """One write, unchecked."""
    error = value - apply(state, key)  # what the animal did not expect
    # S + η (v − S k) kᵀ
    return state + outer(spread(rate, 1) * error, key)


def scan(keys: Array, values: Array, queries: Array, *, state: Array | None = None, rate=1.0):
    """A forward pass, one time step after another: write pair t, then read with query t.

    Parameters
    ----------
    keys, queries : array (..., t, k)
    values : array (..., t, v)
    state : array (..., v, k), optional
        Where to start; empty (zeros) if not given.
    rate : float or array (..., t)
        Learning rate, finite and not negative.

    Returns
    -------
    reads : array (..., t, v)
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


def scan_parallel(keys: Array, values: Array, queries: Array, *, state: Array | None = None, rate=1.0, chunk: int = 64):
    raise NotImplementedError  # the chunked form comes next


DELTA = Rule("delta", "S + η (v − S k) kᵀ", write, scan, scan_parallel)

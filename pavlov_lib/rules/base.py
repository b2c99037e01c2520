"""What the three rules share: recall, and the loop that defines a forward pass.

A forward pass is a conditioning session.
At each time step one CS-US pair (key, value) is written into the association matrix ``S``,
then one test stimulus (query) reads it: ``r = S q``.
The rules differ only in how they write.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import checks
from ..checks import Array


@dataclass(frozen=True)
class Rule:
    """A learning rule: a name and the same three functions.

    ``write(state, key, value, *, rate)`` writes one CS-US pair;
    ``scan(keys, values, queries, *, state, rate)`` is the loop over time, which defines the circuit;
    ``scan_parallel(..., chunk)`` gives the same numbers without a loop over time steps.
    Both return ``(reads, state)``; with ``queries=None`` they only write, and ``reads`` is None.

    Examples
    --------
    >>> from pavlov_lib import RULES
    >>> RULES["delta"].equation
    'S + η (v − S k) kᵀ'
    """

    name: str
    equation: str
    write: Callable[..., Array]
    scan: Callable[..., tuple[Array, Array]]
    scan_parallel: Callable[..., tuple[Array, Array]]


def read(state: Array, query: Array) -> Array:
    """Recall: present a test stimulus to the association matrix, ``r = S q``.

    Parameters
    ----------
    state : array (..., v, k)
    query : array (..., k)

    Returns
    -------
    array (..., v)

    Raises
    ------
    ValueError
        If the shapes, dtypes, kinds or devices do not fit together, or an input is not finite.
    FloatingPointError
        If the answer outgrew the dtype.

    Notes
    -----
    Source: the correlation matrix memory, [Kohonen1972]_.

    .. [Kohonen1972] T. Kohonen, Correlation matrix memories, IEEE Trans. Computers C-21, 353-359, 1972.

    Examples
    --------
    >>> import numpy as np
    >>> S = np.array([[0.0, 2.0], [1.0, 0.0]])
    >>> print(read(S, np.array([1.0, 0.0])))
    [0. 1.]
    """
    checks.namespace(state=state, query=query)
    checks.at_least("state", state, 2, "(..., v, k)")
    checks.not_empty("state", state)
    checks.shape("query", query, (*state.shape[:-2], state.shape[-1]), "(..., k)")
    with checks.arithmetic(query):
        recalled = apply(state, query)
    checks.finished(None, recalled, "use a smaller state or a shorter query", state=state, query=query)
    return recalled


def apply(state: Array, x: Array) -> Array:
    """``S x`` for every leading axis, unchecked: state (..., v, k), x (..., k) -> (..., v)."""
    return (state @ x[..., None])[..., 0]


def outer(value: Array, key: Array) -> Array:
    """``v kᵀ`` for every leading axis, unchecked: value (..., v), key (..., k) -> (..., v, k)."""
    return value[..., :, None] * key[..., None, :]


def spread(setting, axes: int):
    """Let a setting of shape (...) multiply an array with ``axes`` further axes; a number needs nothing."""
    return setting if isinstance(setting, float) else setting[(..., *[None] * axes)]


def along(axis: int, steps: int, x):
    """The ``steps`` slices of ``x`` along ``axis``; a number, or an axis of length 1, serves every step."""
    if isinstance(x, float):
        return [x] * steps
    # unbind makes views once: indexing x[..., t, :] in a loop costs backward a full-size array per step
    slices = x.unbind(axis) if checks.is_tensor(x) else [x.take(i, axis) for i in range(x.shape[axis])]
    return slices if len(slices) == steps else list(slices) * steps


def once(step, state: Array, key: Array, value: Array, hint: str, *settings) -> Array:
    """One checked write: what :func:`loop` does at every step, and the error if the numbers outgrow the dtype."""
    with checks.arithmetic(key):
        new = step(state, key, value, *settings)
    checks.finished(None, new, hint, state=state, key=key, value=value)
    return new


def loop(step, keys: Array, values: Array, queries: Array | None, state: Array | None, hint: str, **settings):
    """The definition of a scan: write, then read, one time step after another. Without queries nothing is read.

    ``step(state, key, value, *settings)`` writes one pair, unchecked.
    Each of ``settings`` is a number or an array ``(..., t)``, in the order in which ``step`` takes them.
    ``hint`` names the stability limit, for the error if the numbers outgrow the dtype.
    """
    xp, start = checks.sequence(keys, values, queries, state)
    settings = check_settings(keys, settings)
    steps = keys.shape[-2]
    state, reads = start, []
    with checks.arithmetic(keys):
        for key, value, query, *now in zip(
            along(-2, steps, keys),
            along(-2, steps, values),
            [None] * steps if queries is None else along(-2, steps, queries),
            *(along(-1, steps, x) for x in settings.values()),
            strict=True,
        ):
            state = step(state, key, value, *now)
            if query is not None:
                reads.append(apply(state, query))
        reads = xp.stack(reads, -2) if reads else None
    checks.finished(reads, state, hint, keys=keys, values=values, queries=queries, state=start, **settings)
    return reads, state


def check_settings(keys: Array, settings: dict) -> dict:
    """Check the learning rate (and decay) of a sequence: numbers, or arrays (..., t)."""
    axes = tuple(keys.shape[:-1])
    return {
        name: checks.setting(name, x, keys, axes, "(..., t)", decay=name == "decay") for name, x in settings.items()
    }

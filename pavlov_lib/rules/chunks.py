"""What the three fast forms share: time cut into chunks, and the state carried from one chunk to the next.

Inside a chunk everything is a matrix product, done for all chunks at once.
Only the state walks from chunk to chunk, so the one loop left is ``chunk`` times shorter than the loop over time.
"""

from __future__ import annotations

import functools

from .. import checks
from ..checks import Array
from .base import along, check_settings


def parallel(
    name, form, keys: Array, values: Array, queries: Array | None, state: Array | None, chunk: int, hint, **settings
):
    """Check, cut into chunks, apply ``form``, join: the frame of every ``scan_parallel``.

    ``form(keys, values, queries, state, *settings) -> (reads, state)`` gets keys and queries (..., n, c, k),
    values (..., n, c, v) and settings (..., n, c), where a setting may also be a number or have axes of length 1.
    It returns reads (..., n, c, v), or None without queries, and the state (..., v, k) after the last chunk.
    ``name`` is that of its tuned twin, which does the same work faster for torch on a CPU.
    """
    xp, start = checks.sequence(keys, values, queries, state)
    chunk = checks.count("chunk", chunk)
    settings = check_settings(keys, settings)
    # on a CPU, not while compiling; its twin always reads
    if queries is not None and checks.is_tensor(keys) and checks.values_are_readable(keys):
        from . import tuned  # only here, since it loads torch

        form = functools.partial(getattr(tuned, name), form)
    with checks.arithmetic(keys):
        reads, state = _pieces(form, xp, keys, values, queries, start, chunk, settings)
    checks.finished(reads, state, hint, keys=keys, values=values, queries=queries, state=start, **settings)
    return reads, state


def _pieces(form, xp, keys, values, queries, state, chunk, settings):
    cuts = lengths(keys.shape[-2], chunk)
    parts = []
    for (steps, size), *arrays in zip(
        cuts,
        *(_split(x, cuts, -2) for x in (keys, values, queries)),
        *(_split(x, cuts, -1) for x in settings.values()),
        strict=True,
    ):
        folded = [fold(x, size, -2) for x in arrays[:3]]
        now = [fold(x, size, -1) for x in arrays[3:]]
        reads, state = form(*folded, state, *now)
        if reads is not None:
            parts.append(reads.reshape(*reads.shape[:-3], steps, reads.shape[-1]))
    if not parts:
        return None, state
    return (parts[0] if len(parts) == 1 else xp.concat(parts, -2)), state


def lengths(steps: int, chunk: int) -> list[tuple[int, int]]:
    """Cut time into pieces of equal chunks: ``(time steps, chunk size)`` of each piece.

    As many whole chunks as fit, then the rest in powers of two, so that every chunk can be halved and halved again
    and nothing ever needs padding.

    Examples
    --------
    >>> lengths(150, 64)
    [(128, 64), (16, 16), (4, 4), (2, 2)]
    """
    pieces = []
    while steps:
        chunk = min(chunk, steps)
        size = 1 << (chunk.bit_length() - 1)  # the largest power of two that is no larger than a chunk
        pieces.append((steps - steps % size, size))
        steps %= size
    return pieces


def fold(x, size: int, axis: int):
    """Cut the time axis into chunks of ``size``: (..., t, ·) -> (..., n, c, ·). A setting of length 1 stays one."""
    if x is None or isinstance(x, float):
        return x
    if x.shape[axis] == 1:
        size = 1
    shape = tuple(x.shape)
    return x.reshape(*shape[:axis], -1, size, *shape[len(shape) + axis + 1 :])


def carry(xp, state: Array, kept, writes: Array) -> tuple[Array, Array]:
    """Walk the state over the chunks: ``S ← kept·S + writes``.

    state (..., v, k), writes (..., n, v, k), kept a number or broadcastable to writes
    -> the states before each chunk (..., n, v, k), and the state after the last.
    """
    n = writes.shape[-3]
    starts = []
    for keep, write in zip(along(-3, n, kept), along(-3, n, writes), strict=True):
        starts.append(state)
        state = keep * state + write
    return xp.stack(starts, -3), state


def _split(x, cuts, axis: int):
    """The part of ``x`` that belongs to each piece; None, a number, or an axis of length 1, serves all of them."""
    if len(cuts) == 1 or x is None or isinstance(x, float) or x.shape[axis] == 1:
        return [x] * len(cuts)
    sizes = [steps for steps, _ in cuts]
    if checks.is_tensor(x):
        return x.split(sizes, axis)
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes) - 1)]
    return checks.np.split(x, ends, axis)

"""Forgetting inside a chunk: what decay leaves of each write, and of the state before the chunk."""

from __future__ import annotations

from ..checks import Array


def fading(xp, keys: Array, decay) -> tuple[Array, Array]:
    """What decay leaves: ``between (..., n, c, c)`` of write j at step i ≥ j; ``before (..., n, c)`` of the old state.

    The logarithms between j and i are added up directly. A difference of two running sums would cancel:
    one decay of 1e-300 would wipe out the digits of all that follow.
    """
    c = keys.shape[-2]
    if isinstance(decay, float):
        decay = xp.full((1, 1), decay, dtype=keys.dtype, device=keys.device)
    log = xp.broadcast_to(xp.log(decay), (*decay.shape[:-1], c))
    steps = xp.tril(xp.broadcast_to(log[..., None], (*log.shape, c)), -1)  # [i, j]: log decay at i, where i > j
    return xp.tril(xp.exp(xp.cumsum(steps, -2))), xp.exp(xp.cumsum(log, -1))

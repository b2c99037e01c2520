"""Hebb's rule, tuned."""

from __future__ import annotations

import functools

import torch

from ...checks import Array
from ..fading import fading
from .shared import (
    after_each_chunk,
    before_each_chunk,
    by_hand,
    call,
    flat,
    remember,
    scaled,
    through_rate,
    triangle,
)


def hebbian(plain, keys: Array, values: Array, queries: Array, state: Array, rate, decay):
    """As :func:`pavlov_lib.rules.hebbian.chunked`, which itself serves where a gradient of the decay is wanted."""
    plain_at_decay = functools.partial(plain, decay=decay)
    if isinstance(decay, float) and decay == 1:
        return call(Hebbian, plain_at_decay, keys, values, queries, state, rate, None)
    if torch.is_tensor(decay) and decay.requires_grad:
        return plain(keys, values, queries, state, rate, decay)
    between, before = fading(torch, keys, decay)
    lead = keys.shape[:-3]
    fade = [x.expand(*lead, *x.shape[-n:]).reshape(-1, *x.shape[-n:]) for x, n in ((between, 3), (before, 2))]
    return call(Hebbian, plain_at_decay, keys, values, queries, state, rate, fade)


class Hebbian(torch.autograd.Function):
    """``reads = (D ∘ η Q Kᵀ) V + p ∘ (Q Sᵀ)``, where D is the lower triangle and p is one if nothing fades.

    ``fade`` holds D (b, n, c, c) and p (b, n, c), with one chunk for all where all chunks fade alike.
    """

    setup_context = staticmethod(remember)

    @staticmethod
    def forward(keys, values, queries, state, rate, plain, fade):
        K, Q = flat(keys), flat(queries)
        U, rate = scaled(values, rate)
        masked, before, left, kept = seen(keys, rate, fade)
        match = masked(torch.bmm(Q, K.mT))
        buffer = K.new_empty(len(K) + 1, *state.shape[1:])
        torch.baddbmm(buffer[1:], left(U).mT, K, beta=0, alpha=rate, out=buffer[1:])
        starts, final = before_each_chunk(buffer, state, kept)
        reads = torch.bmm(match, U).baddbmm_(before(Q), starts.mT)
        return reads.view(values.shape), final, match, starts

    @by_hand
    def backward(inputs, rate, left_over, reads_grad, state_grad, fade):
        keys, values, queries, *_ = inputs
        match, starts = left_over
        K, Q, G = flat(keys), flat(queries), flat(reads_grad)
        U, scale = scaled(values, rate)
        masked, before, left, kept = seen(keys, scale, fade)
        drive_grad = torch.bmm(match.mT, G)
        match_grad = masked(torch.bmm(G, U.mT))
        old_grad = before(G)
        queries_grad = torch.bmm(match_grad, K).baddbmm_(old_grad, starts)
        keys_grad = torch.bmm(match_grad.mT, Q)
        del match_grad
        buffer = K.new_empty(len(K) + 1, *starts.shape[1:])
        torch.bmm(old_grad.mT, Q, out=buffer[:-1])
        del old_grad
        after, first = after_each_chunk(buffer, state_grad, kept)
        drive_grad.baddbmm_(left(K), after.mT, alpha=scale)
        keys_grad.baddbmm_(left(U), after, alpha=scale)
        values_grad, rate_grad = through_rate(drive_grad, values, rate)
        return keys_grad, values_grad, queries_grad, first, rate_grad


def seen(keys, rate, fade):
    """Four things that decay does: to the matches (in place), to what is of the old state, to what is left at the end
    of a chunk, and what is kept of a state in each chunk.
    """
    b, n = keys.shape[:2]
    if fade is None:
        mask = triangle(keys, rate)
        return (lambda x: x.mul_(mask)), (lambda x: x), (lambda x: x), None
    between, before = fade
    mask, at_end = rate * between, between[..., -1, :, None]

    def by_head(x, factor):
        return flat(x.view(b, n, *x.shape[1:]) * factor)

    def masked(x):
        x.view(b, n, *x.shape[1:]).mul_(mask)
        return x

    kept = before[..., -1, None, None].expand(b, n, 1, 1)
    return masked, (lambda x: by_head(x, before[..., None])), (lambda x: by_head(x, at_end)), kept

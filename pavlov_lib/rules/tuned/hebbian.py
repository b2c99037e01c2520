"""Hebb's rule, tuned."""

from __future__ import annotations

import functools

import torch

from ...checks import Array
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
    """As :func:`pavlov_lib.rules.hebbian.chunked`, which itself serves where there is a decay."""
    if isinstance(decay, float) and decay == 1:
        return call(Hebbian, functools.partial(plain, decay=1.0), keys, values, queries, state, rate)
    return plain(keys, values, queries, state, rate, decay)


class Hebbian(torch.autograd.Function):
    """``reads = η tril(Q Kᵀ) V + Q Sᵀ``, without decay."""

    setup_context = staticmethod(remember)

    @staticmethod
    def forward(keys, values, queries, state, rate, plain):
        K, Q = flat(keys), flat(queries)
        U, rate = scaled(values, rate)
        match = torch.bmm(Q, K.mT).mul_(triangle(K, rate))
        buffer = K.new_empty(len(K) + 1, *state.shape[1:])
        torch.baddbmm(buffer[1:], U.mT, K, beta=0, alpha=rate, out=buffer[1:])
        starts, final = before_each_chunk(buffer, state)
        reads = torch.bmm(match, U).baddbmm_(Q, starts.mT)
        return reads.view(values.shape), final, match, starts

    @by_hand
    def backward(inputs, rate, left, reads_grad, state_grad):
        keys, values, queries, *_ = inputs
        match, starts = left
        K, Q, G = flat(keys), flat(queries), flat(reads_grad)
        U, scale = scaled(values, rate)
        drive_grad = torch.bmm(match.mT, G)
        match_grad = torch.bmm(G, U.mT).mul_(triangle(K, scale))
        queries_grad = torch.bmm(match_grad, K).baddbmm_(G, starts)
        keys_grad = torch.bmm(match_grad.mT, Q)
        del match_grad
        buffer = K.new_empty(len(K) + 1, *starts.shape[1:])
        torch.bmm(G.mT, Q, out=buffer[:-1])
        after, first = after_each_chunk(buffer, state_grad)
        drive_grad.baddbmm_(K, after.mT, alpha=scale)
        keys_grad.baddbmm_(U, after, alpha=scale)
        values_grad, rate_grad = through_rate(drive_grad, values, rate)
        return keys_grad, values_grad, queries_grad, first, rate_grad

"""The delta rule, tuned."""

from __future__ import annotations

import torch

from ...checks import Array
from .shared import by_chunk, by_hand, call, flat, remember, scaled, through_rate, triangle


def delta(plain, keys: Array, values: Array, queries: Array, state: Array, rate):
    """As :func:`pavlov_lib.rules.delta.chunked`."""
    return call(Delta, plain, keys, values, queries, state, rate)


class Delta(torch.autograd.Function):
    """``E = T (V − K Sᵀ)`` with ``T = (I + stril(K K̃ᵀ))⁻¹``, and ``reads = Q Sᵀ + tril(Q K̃ᵀ) E``, where K̃ = η K."""

    setup_context = staticmethod(remember)

    @staticmethod
    def forward(keys, values, queries, state, rate, plain):
        b, K, V, Q = len(keys), flat(keys), flat(values), flat(queries)
        W, rate = scaled(keys, rate)
        inverse = inverted(torch.bmm(K, W.mT).mul_(triangle(K, rate, -1)))
        from_keys, errors = torch.bmm(inverse, K), torch.bmm(inverse, V)
        starts = K.new_empty(len(K), *state.shape[1:])
        for start, error, from_key, write in by_chunk(b, starts, errors, from_keys, W):
            start.copy_(state)
            error.sub_(torch.bmm(from_key, state.mT))
            state = torch.baddbmm(state, error.mT, write, alpha=rate)
        match = torch.bmm(Q, W.mT).mul_(triangle(K, rate))
        reads = torch.bmm(match, errors).baddbmm_(Q, starts.mT)
        return reads.view(values.shape), state, inverse, from_keys, errors, match, starts

    @by_hand
    def backward(inputs, rate, left, reads_grad, state_grad):
        keys, _, queries, *_ = inputs
        inverse, from_keys, errors, match, starts = left
        b, K, Q, G = len(keys), flat(keys), flat(queries), flat(reads_grad)
        W, scale = scaled(keys, rate)
        errors_grad = torch.bmm(match.mT, G)
        after = torch.bmm(G.mT, Q)  # what a chunk's reads ask of the state before it; then, the gradient after it
        for step, error_grad, from_key, write in reversed(by_chunk(b, after, errors_grad, from_keys, W)):
            error_grad.add_(torch.bmm(write, state_grad.mT), alpha=scale)
            before = torch.baddbmm(state_grad, error_grad.mT, from_key, alpha=-1).add_(step)
            step.copy_(state_grad)
            state_grad = before
        values_grad = torch.bmm(inverse.mT, errors_grad)  # also the gradient of −K Sᵀ
        del errors_grad
        match_grad = torch.bmm(G, errors.mT).mul_(triangle(K, scale))
        queries_grad = torch.bmm(match_grad, W).baddbmm_(G, starts)
        writes_grad = torch.bmm(match_grad.mT, Q).baddbmm_(errors, after, alpha=scale)
        del after
        system_grad = torch.bmm(values_grad, errors.mT, out=match_grad).mul_(triangle(K, -scale, -1))
        writes_grad.baddbmm_(system_grad.mT, K)
        keys_grad, rate_grad = through_rate(writes_grad, keys, rate)
        keys_grad.baddbmm_(system_grad, W).baddbmm_(values_grad, starts, alpha=-1)
        return keys_grad, values_grad, queries_grad, state_grad, rate_grad


def inverted(below: Array) -> Array:
    """``(I + below)⁻¹`` for strictly lower triangular matrices (bn, c, c), c a power of two.

    Small blocks on the diagonal are solved, then joined two by two: [[A, 0], [B, D]]⁻¹ = [[A⁻¹, 0], [−D⁻¹ B A⁻¹, D⁻¹]].
    """
    c = below.shape[-1]
    size = min(16, c)
    blocks = blocks_of(below, size, 0, 0, size)
    unit = torch.eye(size, dtype=below.dtype).expand_as(blocks)
    inverse = torch.linalg.solve_triangular(blocks, unit, upper=False, unitriangular=True)
    while size < c:
        early, late = inverse.view(-1, 2, size, size).unbind(1)
        joined = below.new_zeros(len(early), 2 * size, 2 * size)
        joined[:, :size, :size] = early
        joined[:, size:, size:] = late
        corner = torch.bmm(blocks_of(below, 2 * size, size, 0, size), early)
        joined[:, size:, :size] = torch.bmm(late, corner).neg_()
        inverse, size = joined, 2 * size
    return inverse


def blocks_of(x: Array, every: int, row: int, column: int, size: int) -> Array:
    """The blocks (size, size) at (row, column) of each diagonal block of x (bn, c, c) -> (bn·c/every, size, size)."""
    bn, c, _ = x.shape
    diagonal = x.view(bn, c // every, every, c // every, every).diagonal(dim1=1, dim2=3)
    return diagonal[:, row : row + size, column : column + size].movedim(-1, 1).reshape(-1, size, size)

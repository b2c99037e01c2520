"""Oja's rule, tuned."""

from __future__ import annotations

import torch

from ...checks import Array
from .shared import after_each_chunk, before_each_chunk, by_hand, call, driven, flat, remember, through_rate


def oja(plain, keys: Array, values: Array, queries: Array, state: Array, rate):
    """As :func:`pavlov_lib.rules.oja.chunked`, by quotients where those are safe and by joins where they are not."""
    with torch.no_grad():
        step_kept = 1 - (rate if isinstance(rate, float) else rate[..., None]) * values**2
        kept = step_kept.cumprod(-2)
        # No single step may come near zero, where its quotient magnifies rounding, and what a chunk keeps may use up
        # half the dtype's exponents at most. A step keeps 1 at most, so the last row is the smallest.
        safe = step_kept.min() >= 1 / 16 and kept[..., -1, :].min() >= torch.finfo(kept.dtype).tiny ** 0.5
    if safe:
        kept_flat = (x.reshape(-1, *x.shape[-2:]) for x in (step_kept, kept))
        return call(ByQuotients, plain, keys, values, queries, state, rate, *kept_flat)
    return call(ByJoins, plain, keys, values, queries, state, rate)


class ByQuotients(torch.autograd.Function):
    """The Hebbian chunk with the output's forgetting taken out: with e what a neuron has kept since the chunk began,
    ``reads = e ∘ (Q Sᵀ + tril(Q Kᵀ) (U / e))``. Each quotient ``e_t / e_s`` is what was kept from s to t."""

    setup_context = staticmethod(remember)

    @staticmethod
    def forward(keys, values, queries, state, rate, plain, step_kept, kept):
        b, K, Q, W = len(keys), flat(keys), flat(queries), driven(values, rate).div_(kept)
        match = torch.bmm(Q, K.mT).tril_()
        buffer = K.new_empty(len(K) + 1, *state.shape[1:])
        last = kept[:, -1, :, None]
        torch.bmm(W.mT, K, out=buffer[1:]).mul_(last)
        starts, final = before_each_chunk(buffer, state, last.view(b, -1, *last.shape[1:]))
        inner = torch.bmm(Q, starts.mT).baddbmm_(match, W)
        return (kept * inner).view(values.shape), final, W, match, inner, starts

    @by_hand
    def backward(inputs, rate, left, reads_grad, state_grad, step_kept, kept):
        keys, values, queries, *_ = inputs
        W, match, inner, starts = left
        b, K, V, Q = len(keys), flat(keys), flat(values), flat(queries)
        last = kept[:, -1, :, None]
        inner_grad = flat(reads_grad) * kept
        buffer = K.new_empty(len(K) + 1, *starts.shape[1:])
        torch.bmm(inner_grad.mT, Q, out=buffer[:-1])
        after, first = after_each_chunk(buffer, state_grad, last.view(b, -1, *last.shape[1:]))
        after.mul_(last)  # as each write finds it, before the chunk's forgetting
        match_grad = torch.bmm(inner_grad, W.mT).tril_()
        queries_grad = torch.bmm(inner_grad, starts).baddbmm_(match_grad, K)
        keys_grad = torch.bmm(W, after).baddbmm_(match_grad.mT, Q)
        drive_grad = torch.bmm(K, after.mT)
        del match_grad
        # the gradient of log e, and from it, since e is a running product, that of what each step keeps
        log_grad = inner.mul(inner_grad)
        log_grad[:, -1] += (drive_grad * W).sum(1).add_((after * starts).sum(-1))
        drive_grad.baddbmm_(match.mT, inner_grad)
        del after, buffer, inner_grad
        log_grad.addcmul_(drive_grad, W, value=-1)
        kept_grad = log_grad.flip(1).cumsum(1).flip(1).div_(step_kept)
        drive_grad.div_(kept).addcmul_(kept_grad, V, value=-1)
        return keys_grad, *values_and_rate(drive_grad, kept_grad, values, rate, queries_grad, first)


def values_and_rate(drive_grad, kept_grad, values, rate, queries_grad, first):
    """The gradients after that of the keys, from those of η v and of 1 − η v²."""
    values_grad, rate_grad = through_rate(drive_grad, values, rate)
    values_grad.mul_(rate if isinstance(rate, float) else 1.0)
    values_grad.addcmul_(kept_grad, driven(values, rate), value=-1)
    return values_grad, queries_grad, first, rate_grad


class ByJoins(torch.autograd.Function):
    """Blocks of time joined two by two, as in the plain form.

    Joining makes many passes over its arrays, so it goes over a few chunks at a time, which stay in the cache,
    and backward joins again rather than keep what each pass left.
    """

    setup_context = staticmethod(remember)

    @staticmethod
    def forward(keys, values, queries, state, rate, plain):
        b, K, V, Q = len(keys), flat(keys), flat(values), flat(queries)
        U = driven(values, rate)
        reads, kept, writes = torch.empty_like(V), torch.empty_like(V), torch.empty_like(V)
        for few in tiles(V):
            join(K[few], V[few], U[few], Q[few], reads[few], kept[few], writes[few])
        buffer = K.new_empty(len(K) + 1, *state.shape[1:])
        torch.bmm(writes.mT, K, out=buffer[1:])
        starts, final = before_each_chunk(buffer, state, kept[:, -1].view(b, -1, V.shape[-1], 1))
        reads.addcmul_(kept, torch.bmm(Q, starts.mT))
        return reads.view(values.shape), final, kept, writes, starts

    @by_hand
    def backward(inputs, rate, left, reads_grad, state_grad):
        keys, values, queries, *_ = inputs
        kept, writes, starts = left
        b, K, V, Q, G = len(keys), flat(keys), flat(values), flat(queries), flat(reads_grad)
        U = driven(values, rate)
        from_state = G * kept
        queries_grad = torch.bmm(from_state, starts)
        buffer = K.new_empty(len(K) + 1, *starts.shape[1:])
        torch.bmm(from_state.mT, Q, out=buffer[:-1])
        after, first = after_each_chunk(buffer, state_grad, kept[:, -1].view(b, -1, V.shape[-1], 1))
        kept_grad = torch.bmm(Q, starts.mT, out=from_state).mul_(G)
        kept_grad[:, -1] += (after * starts).sum(-1)
        drive_grad, keys_grad = torch.bmm(K, after.mT), torch.bmm(writes, after)
        del after, buffer
        for few in tiles(V):
            part = [x[few] for x in (K, V, U, Q)]
            levels = []
            match = join(*part, *(torch.empty_like(part[1]) for _ in range(3)), levels)
            part_again(*part, match, levels, *(x[few] for x in (G, keys_grad, kept_grad, drive_grad, queries_grad)))
        return keys_grad, *values_and_rate(drive_grad, kept_grad, values, rate, queries_grad, first)


def tiles(x: Array) -> list[slice]:
    """Cut the first axis so that a part of x holds about 2¹⁷ numbers."""
    size = max(1, 2**17 // x[0].numel())
    return [slice(i, i + size) for i in range(0, len(x), size)]


def join(K, V, U, Q, reads, kept, writes, levels=None):
    """Join single steps to chunks, in place: reads (bn, c, v) within the chunk, what is kept of the state before it,
    and the writes as they stand when it ends. What backward needs of each level is appended to ``levels``.

    Returns ``Q Kᵀ``, (bn, c, c).
    """
    match = torch.bmm(Q, K.mT)
    torch.mul(U, V, out=kept)
    torch.sub(1, kept, out=kept)
    writes.copy_(U)
    torch.mul(U, match.diagonal(dim1=1, dim2=2)[..., None], out=reads)
    block, found = 1, None
    while block < K.shape[1]:
        (early_kept, late_kept), (early_writes, _) = halves(kept, block), halves(writes, block)
        if levels is not None or found is None:
            found = torch.empty(early_writes.shape, dtype=K.dtype)
        late_match = corners(match, block).reshape(-1, block, block)
        found = product(late_match, early_writes, found.view(early_writes.shape))
        if levels is not None:
            levels.append((late_match, late_kept.clone(), early_kept[:, -1:].clone(), early_writes.clone(), found))
        halves(reads, block)[1].addcmul_(late_kept, found)
        early_writes.mul_(late_kept[:, -1:])
        late_kept.mul_(early_kept[:, -1:])
        block *= 2
    return match


def part_again(K, V, U, Q, match, levels, G, keys_grad, kept_grad, writes_grad, queries_grad):
    """Backward through :func:`join`, in place: writes_grad becomes the gradient of the drive."""
    half = (V.shape[1] + 1) // 2
    scratch, other = (torch.empty_like(V[:, :half]) for _ in range(2))
    match_grad = torch.zeros_like(match)
    block = K.shape[1]
    for late_match, late_kept, early_kept_last, early_writes, found in reversed(levels):
        block //= 2
        temporary = scratch.view(late_kept.shape)
        late_reads_grad = halves(G, block)[1]
        early_kept_grad, late_kept_grad = halves(kept_grad, block)
        early_writes_grad, _ = halves(writes_grad, block)
        early_kept_grad[:, -1:] += torch.mul(late_kept_grad, late_kept, out=temporary).sum(1, keepdim=True)
        late_kept_grad.mul_(early_kept_last).addcmul_(late_reads_grad, found)
        late_kept_grad[:, -1:] += torch.mul(early_writes_grad, early_writes, out=temporary).sum(1, keepdim=True)
        found_grad = torch.mul(late_reads_grad, late_kept, out=temporary)
        corner = corners(match_grad, block)
        corner.copy_(torch.bmm(found_grad, early_writes.mT).view(corner.shape))
        through = product(late_match.mT, found_grad, other.view(late_kept.shape))
        torch.addcmul(through, early_writes_grad, late_kept[:, -1:], out=early_writes_grad)
    match_grad.diagonal(dim1=1, dim2=2).copy_((G * U).sum(-1))
    queries_grad.baddbmm_(match_grad, K)
    keys_grad.baddbmm_(match_grad.mT, Q)
    writes_grad.addcmul_(G, match.diagonal(dim1=1, dim2=2)[..., None]).addcmul_(kept_grad, V, value=-1)


def corners(x: Array, block: int) -> Array:
    """Later rows, earlier columns of each pair of diagonal blocks: (bn, c, c) -> view (bn, c/2 block, block, block)."""
    bn, c, _ = x.shape
    shape, strides = (bn, c // (2 * block), block, block), (c * c, 2 * block * (c + 1), c, 1)
    return x.as_strided(shape, strides, x.storage_offset() + block * c)


def halves(x: Array, block: int) -> tuple[Array, Array]:
    """The earlier and the later block of each pair, as views: (bn, c, d) -> two (bn·c/2 block, block, d)."""
    return x.view(-1, 2, block, x.shape[-1]).unbind(1)


def product(x: Array, y: Array, out: Array) -> Array:
    """``x @ y`` into ``out``, for x (m, i, j) and y (m, j, d), also where they are too small for a matrix product."""
    if x.shape[-1] > 2:
        return torch.bmm(x, y, out=out)
    torch.mul(x[..., :1], y[:, :1], out=out)
    for j in range(1, x.shape[-1]):
        out.addcmul_(x[..., j : j + 1], y[:, j : j + 1])
    return out

"""What the tuned forms share: how they are called, and the walk of the state over the chunks."""

from __future__ import annotations

import functools

import torch

from ...checks import Array


def call(function, plain, keys, values, queries, state, rate, *extra):
    """Make all leading axes one, and undo it: keys (..., n, c, k), state (..., v, k), rate a number or (..., n, c)."""
    arrays = [x.reshape(-1, *x.shape[-3:]).contiguous() for x in (keys, values, queries)]
    heads = state.reshape(-1, *state.shape[-2:]).contiguous()
    if not isinstance(rate, float):
        rate = rate.expand(keys.shape[:-1]).reshape(arrays[0].shape[:-1])
    reads, final, *_ = function.apply(*arrays, heads, rate, plain, *extra)
    return reads.reshape(values.shape), final.reshape(state.shape)


def remember(ctx, inputs, outputs) -> None:
    """Save the inputs and what forward left besides its two results, for which no gradient is ever made."""
    *arrays, rate, ctx.plain = inputs[:6]
    ctx.extra = inputs[6:]
    reads, state, *left = outputs
    ctx.rate = rate if isinstance(rate, float) else None
    ctx.arrays = [*arrays, rate] if ctx.rate is None else arrays
    ctx.save_for_backward(*ctx.arrays, *left)
    ctx.arrays = len(ctx.arrays)
    ctx.mark_non_differentiable(*left)
    ctx.set_materialize_grads(False)
    ctx.results = reads.shape, state.shape


def by_hand(backward):
    """What every backward needs around its algebra, ``backward(inputs, rate, left, reads_grad, state_grad, *extra)``.

    A gradient that nobody gave is zero. Gradients that are to be differentiated again are taken from the plain form.
    """

    @functools.wraps(backward)
    def either(ctx, reads_grad, state_grad, *unused):
        inputs, left = ctx.saved_tensors[: ctx.arrays], ctx.saved_tensors[ctx.arrays :]
        if reads_grad is None:
            reads_grad = inputs[0].new_zeros(ctx.results[0])
        if state_grad is None:
            state_grad = inputs[0].new_zeros(ctx.results[1])
        if torch.is_grad_enabled():
            inputs = [x.view_as(x) for x in inputs]  # a tensor that came in twice has a gradient for each place
        rate = inputs[4] if ctx.rate is None else ctx.rate
        if torch.is_grad_enabled():
            wanted = [x for x in inputs if x.requires_grad]
            results = ctx.plain(*inputs[:4], rate)
            found = torch.autograd.grad(results, wanted, (reads_grad, state_grad), create_graph=True, allow_unused=True)
            found = iter(found)
            grads = [next(found) if x.requires_grad else None for x in inputs]
        else:
            grads = backward(inputs, rate, left, reads_grad.contiguous(), state_grad.contiguous(), *ctx.extra)
            grads = [x if x is None or i == 3 else x.view(inputs[i].shape) for i, x in enumerate(grads)]
        return (*grads, *[None] * (6 + len(ctx.extra) - len(grads)))

    return staticmethod(either)


# --- the learning rate


def scaled(x: Array, rate) -> tuple[Array, float]:
    """Rate times x, flat, and the number still to be multiplied by: a number is left for later, where it is free."""
    return (flat(x), rate) if isinstance(rate, float) else (flat(rate[..., None] * x), 1.0)


def driven(values: Array, rate) -> Array:
    """η V, flat."""
    return flat((rate if isinstance(rate, float) else rate[..., None]) * values)


def through_rate(grad: Array, x: Array, rate) -> tuple[Array, Array | None]:
    """From the gradient of η x, flat, those of x and of η; a number needs neither."""
    if isinstance(rate, float):
        return grad, None
    rate_grad = (grad.view(x.shape) * x).sum(-1)
    return grad.mul_(flat(rate)[..., None]), rate_grad


def triangle(like: Array, rate: float, diagonal: int = 0) -> Array:
    """The lower triangle, (c, c), filled with ``rate``."""
    c = like.shape[-2]
    return like.new_full((c, c), rate).tril_(diagonal)


# --- chunks


def flat(x: Array) -> Array:
    """Heads and chunks as one axis: (b, n, ...) -> (bn, ...)."""
    return x.reshape(-1, *x.shape[2:])


def by_chunk(heads: int, *arrays: Array) -> list[tuple[Array, ...]]:
    """The chunks of all heads in order of time: (bn, ·, ·) each -> n tuples of views (b, ·, ·)."""
    return list(zip(*(x.view(heads, -1, *x.shape[1:]).unbind(1) for x in arrays), strict=True))


def before_each_chunk(writes: Array, state: Array, kept: Array | None = None) -> tuple[Array, Array]:
    """Walk forward, ``S ← kept·S + writes``, in a buffer (bn + 1, v, k) whose rows 1 to bn hold the writes.

    Returns the states before each chunk (bn, v, k), which overwrite the writes, and the state after the last (b, v, k).
    """
    heads = state.shape[0]
    steps = [step for (step,) in by_chunk(heads, writes[1:])]
    last = state
    for i, step in enumerate(steps):
        if kept is None:
            step.add_(last)
        else:
            step.addcmul_(kept[:, i], last)
        last = step
    final = last.clone()
    # row i + 1 holds the state after chunk i, so the rows from 0 hold the states before: except where a head begins
    steps[-1][:-1] = state[1:]
    writes[0] = state[0]
    return writes[:-1], final


def after_each_chunk(grads: Array, state_grad: Array, kept: Array | None = None) -> tuple[Array, Array]:
    """Walk backward, ``D ← kept·D + grads``, in a buffer (bn + 1, v, k) whose rows 0 to bn − 1 hold the gradients.

    Returns the gradients of the state after each chunk (bn, v, k), and that of the state before the first (b, v, k).
    """
    heads = state_grad.shape[0]
    steps = [step for (step,) in by_chunk(heads, grads[:-1])]
    last = state_grad
    for i in range(len(steps) - 1, -1, -1):
        if kept is None:
            steps[i].add_(last)
        else:
            steps[i].addcmul_(kept[:, i], last)
        last = steps[i]
    first = last.clone()
    steps[0][1:] = state_grad[:-1]
    grads[-1] = state_grad[-1]
    return grads[1:], first

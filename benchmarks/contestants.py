"""Who is timed: circuits in chunks, their loops, a beginner's loop, public implementations, softmax, bare products."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F

from pavlov_lib import RULES

from . import peers
from .timing import Contestant

# A rate at which the stimuli below leave each rule stable; for Oja, one at which no single step wipes out a neuron.
RATES = {"hebbian": 1.0, "hebbian+decay": 1.0, "delta": 1.0, "oja": 0.02}
DECAY = 0.99
CHUNK = 64
AGREE = 1e-3  # float32, and thousands of steps; a contestant that computes something else is not timed


def stimuli(shape: tuple[int, int, int, int], *, seed: int = 0) -> list[torch.Tensor]:
    """Unit keys, normal values, unit queries, a gradient of the reads; each (batch, heads, time, size) in float32."""
    generator = torch.Generator().manual_seed(seed)
    keys, values, queries, grad = (torch.randn(shape, generator=generator) for _ in range(4))
    return [F.normalize(keys, dim=-1), values, F.normalize(queries, dim=-1), grad]


def field(shape: tuple[int, int, int, int], *, loops: bool = True) -> list[Contestant]:
    """All contestants for one shape; the loops are left out where they would take minutes."""
    given = stimuli(shape)
    found = []
    for rule, rate in RATES.items():
        circuit = RULES[rule.removesuffix("+decay")]
        settings = {"rate": rate, **({"decay": DECAY} if rule.endswith("decay") else {})}
        chunks = partial(circuit.scan_parallel, **settings)
        expected = chunks(*given[:3])[0]
        add = partial(_add, found, rule, given, expected)
        add("this library, chunks", chunks)
        if loops:
            add("this library, loop", partial(circuit.scan, **settings))
            add("a beginner's loop", partial(BEGINNERS[rule], **settings))
        for name, call in _public(rule, shape, loops):
            add(name, call)
        if rule in PRODUCTS:
            found.append(bound(rule, shape))
    add = partial(_add, found, "softmax", given, None)
    add("torch, softmax attention", lambda k, v, q: (F.scaled_dot_product_attention(q, k, v, is_causal=True),))
    return found


HARD = ("this library, chunks, one-hot values", "this library, chunks, a rate that overshoots")


def hard_oja(shape: tuple[int, int, int, int]) -> list[Contestant]:
    """Oja's rule where a neuron's past is wiped out or turned over in one step, so that its chunks may not divide.

    One-hot values at rate 1, where all that a neuron held is gone whenever it fires; and normal values at rate 0.1,
    where about one in six hundred is so large that 1 − η v² is below zero.
    """
    keys, normal, queries, grad = stimuli(shape)
    fired = F.one_hot(torch.randint(shape[-1], shape[:-1], generator=torch.Generator().manual_seed(1)), shape[-1])
    found = []
    for name, values, rate in zip(HARD, (fired.float(), normal), (1.0, 0.1), strict=True):
        call = partial(RULES["oja"].scan_parallel, rate=rate)
        _add(found, "oja", [keys, values, queries, grad], None, name, call)
    return found


def _add(found, rule, given, expected, name, call: Callable) -> None:
    """Time ``call(keys, values, queries) -> (reads, ...)``, once without and once with gradients."""
    *plain, grad = given
    leaves = [x.clone().requires_grad_() for x in plain]
    if expected is not None:
        with torch.no_grad():
            off = (call(*plain)[0] - expected).abs().max() / expected.abs().max()
        if not off < AGREE:
            raise RuntimeError(f"{name} does not compute the {rule} circuit: it is off by {off:.1e}")

    def forward():
        with torch.no_grad():
            return call(*plain)

    def both():
        call(*leaves)[0].backward(grad)
        for leaf in leaves:
            leaf.grad = None

    found.append(Contestant(rule, name, forward, both))


# --- a beginner's loop: index the time axis, add, read, stack


def _beginner(write, keys, values, queries, **settings):
    state = torch.zeros(*keys.shape[:2], values.shape[-1], keys.shape[-1])
    reads = []
    for t in range(keys.shape[2]):
        state = write(state, keys[:, :, t], values[:, :, t], **settings)
        reads.append(torch.einsum("bhvk,bhk->bhv", state, queries[:, :, t]))
    return torch.stack(reads, 2), state


def _hebb(S, k, v, rate, decay=1.0):
    return decay * S + rate * torch.einsum("bhv,bhk->bhvk", v, k)


def _delta(S, k, v, rate):
    error = v - torch.einsum("bhvk,bhk->bhv", S, k)
    return S + rate * torch.einsum("bhv,bhk->bhvk", error, k)


def _oja(S, k, v, rate):
    return S + rate * (torch.einsum("bhv,bhk->bhvk", v, k) - (v**2)[..., None] * S)


BEGINNERS = {
    "hebbian": partial(_beginner, _hebb),
    "hebbian+decay": partial(_beginner, _hebb),
    "delta": partial(_beginner, _delta),
    "oja": partial(_beginner, _oja),
}


# --- public implementations. The naive forms of fla-core take (batch, time, head, size), except for the delta rule;
# --- a transposed view costs nothing, and the layout it stands for is what they would meet in their own models.


def by_time(x):
    """(batch, heads, time, size) to (batch, time, heads, size), and back."""
    return x.transpose(1, 2)


def _public(rule: str, shape, loops: bool):
    batch, heads, steps, size = shape
    if rule == "hebbian" and (module := peers.naive_module("linear_attn")):
        if loops:
            yield (
                "fla-core, loop",
                lambda k, v, q: (by_time(module.naive_recurrent_linear_attn(*map(by_time, (q, k, v)), scale=1.0)[0]),),
            )
        if steps % 64 == 0:
            yield (
                "fla-core, chunks",
                lambda k, v, q: (by_time(module.naive_chunk_linear_attn(*map(by_time, (q, k, v)), scale=1.0)),),
            )
    if rule == "hebbian" and (kernel := peers.causal_product()):
        yield "fast-transformers, C++ kernel", lambda k, v, q: (kernel(q, k, v),)
    if rule == "hebbian+decay" and (gla := peers.naive_module("simple_gla")):
        logs = torch.full((batch, steps, heads), DECAY).log()
        yield (
            "fla-core, chunks",
            lambda k, v, q: (by_time(gla.naive_chunk_simple_gla(*map(by_time, (q, k, v)), logs, scale=1.0)[0]),),
        )
    if rule == "delta" and (delta := peers.naive_module("delta_rule")):
        ones, root = torch.ones(batch, heads, steps), size**0.5  # it divides queries by √k
        if loops:
            yield "fla-core, loop", lambda k, v, q: delta.delta_rule_recurrence(q * root, k, v, ones)
        if steps % 32 == 0:
            yield "fla-core, chunks", lambda k, v, q: delta.delta_rule_chunkwise(q * root, k, v, ones)


# --- the bound: the bare matrix products of the chunked form, and nothing else

# How many products of (chunk × chunk × size) a forward pass needs, and how many a backward pass adds.
# Hebb: Q Kᵀ, times V, Q Sᵀ, Vᵀ K. Delta: also K Kᵀ, T K, T V, W Sᵀ, counting nothing for the inverse T.
# Oja is held against Hebb's bound.
PRODUCTS = {"hebbian": (4, 8), "delta": (8, 14), "oja": (4, 8)}


def bound(rule: str, shape: tuple[int, int, int, int]) -> Contestant:
    """Batched products of the right number and size, into arrays made beforehand.

    Each product reads and writes other arrays than the one before, as in the algorithm: repeating one product would
    find all it needs in the cache.
    """
    batch, heads, steps, size = shape
    c = min(CHUNK, steps)
    n = max(1, batch * heads * steps // c)
    inputs = [torch.randn(n, c, size) for _ in range(4)]
    outputs = [torch.empty(n, c, c) for _ in range(3)]

    def times(count: int):
        for i in range(count):
            torch.bmm(inputs[i % 4], inputs[(i + 1) % 4].mT, out=outputs[i % 3])

    forward, backward = PRODUCTS[rule]
    return Contestant(rule, "bound: bare products", lambda: times(forward), lambda: times(forward + backward))

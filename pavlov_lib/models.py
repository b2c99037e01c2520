"""Stacks of conditioning circuits, as torch modules that can be trained.

A memory layer is a row of associative memories, its heads, side by side.
From every token it forms a bell (key), a food (value) and a test stimulus (query) per head, and a learning rate:
how strongly this moment is to be remembered.
The heads write and read by one of the rules of :mod:`pavlov_lib.rules`; what they recall is put back into the stream.
A block adds a small network that works on each token alone, and a stack is blocks on blocks.

Axes: ``b`` sequences, ``t`` time, ``h`` heads, ``k`` key size, ``v`` value size, ``d`` width of the stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from . import checks
from .rules import RULES, read

DECAYED = "hebbian+decay"
STACK_RULES = (*RULES, DECAYED)

# Decay is sigmoid(x)^(1/16): the sixteenth root keeps ordinary activations near 1, where a memory of some length lives.
DECAY_ROOT = 16


@dataclass(frozen=True)
class StackConfig:
    """The shape of a stack.

    Parameters
    ----------
    layers : int
        Blocks on top of each other, L.
    heads : int
        Associative memories per layer, H.
    key_dim, value_dim : int
        Key and value size of each head.
    vocab : int
        Number of different tokens.
    width : int, optional
        Size d of the stream between the layers; ``heads · value_dim`` if not given.
    hidden : int, optional
        Hidden size of the network that works on each token alone; ``2 · width`` if not given.
    rule : {"delta", "hebbian", "oja", "hebbian+decay"}
    taps : int
        How many tokens, the present one included, a key, a value or a query is mixed from. See :class:`MemoryLayer`.
    chunk : int
        Time steps that ``scan_parallel`` works on at once.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1, or the rule is unknown.

    Examples
    --------
    >>> StackConfig(layers=2, heads=4, key_dim=8, value_dim=8).stream
    32
    """

    layers: int = 2
    heads: int = 4
    key_dim: int = 16
    value_dim: int = 16
    vocab: int = 64
    width: int | None = None
    hidden: int | None = None
    rule: str = "delta"
    taps: int = 2
    chunk: int = 64

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "rule":
                checks.one_of("rule", value, STACK_RULES)
            elif not (value is None and field.name in ("width", "hidden")):
                checks.count(field.name, value)

    @property
    def stream(self) -> int:
        """The width that is used: ``width``, or ``heads · value_dim``."""
        return self.heads * self.value_dim if self.width is None else self.width


class LayerState(NamedTuple):
    """All that a memory layer carries from one piece of a sequence to the next; its size never grows.

    ``memory (b, h, v, k)``: the association matrices. ``recent (b, taps - 1, channels)``: the last tokens, projected.
    """

    memory: torch.Tensor
    recent: torch.Tensor


class MemoryLayer(nn.Module):
    """Heads of associative memory over a stream of tokens: ``(b, t, d) -> (b, t, d)``.

    Keys, values, queries and rates are linear in the stream, mixed over the last ``taps`` tokens.
    Without this mixing a key and its value would come from the same token, so a circuit could never learn that one
    token *follows* another: the bell has to be remembered for a moment until the food comes.
    Keys therefore start from the token before, all else from the present one; training is free to change that.

    Keys and queries share one projection and differ in their mixing only: a bell that rings again is the same bell,
    and has to be recognised before anything was learned about it. With two separate projections that recognition must
    first be found by training, and following a chain takes at least twice as many steps to learn.

    Keys and queries have length 1 and rates lie in (0, 1), so η‖k‖² < 1: the delta rule can never run away.
    Oja's rule needs η v² < 1 as well, so there values pass through tanh.

    Parameters
    ----------
    config : StackConfig
    generator : torch.Generator, optional
        On the CPU. Draws the weights; torch's own is left alone. A fresh one with seed 0 if not given.

    Notes
    -----
    Sources: short convolutions and unit keys for delta-rule layers, [Yang2024]_; reads scaled per head, [Sun2023b]_.

    .. [Yang2024] S. Yang et al., Parallelizing linear transformers with the delta rule over sequence length,
       NeurIPS 2024.
    .. [Sun2023b] Y. Sun et al., Retentive Network, arXiv:2307.08621, 2023.

    Examples
    --------
    >>> layer = MemoryLayer(StackConfig(heads=2, key_dim=4, value_dim=8))
    >>> y, state = layer(torch.zeros(3, 5, 16))
    >>> tuple(y.shape), tuple(state.memory.shape)
    ((3, 5, 16), (3, 2, 8, 4))
    """

    def __init__(self, config: StackConfig, generator: torch.Generator | None = None):
        super().__init__()
        rng = _generator(generator)
        self.config = config
        h, k, v = config.heads, config.key_dim, config.value_dim
        self.decays = config.rule == DECAYED
        self.rule = RULES["hebbian" if self.decays else config.rule]
        self.sizes = [h * k, h * k, h * v, h, *([h] if self.decays else [])]  # keys, queries, values, rates (, decays)
        self.project = linear(config.stream, sum(self.sizes) - h * k, rng)
        mix = torch.zeros(
            config.taps, sum(self.sizes), device="cpu"
        )  # row 0 is the present token, row 1 the one before
        mix[0, h * k :] = 1
        mix[min(1, config.taps - 1), : h * k] = 1
        self.mix = nn.Parameter(mix)
        # Rates begin at 1/2: half of every error is corrected. Decays begin at about 1 - 0.001.
        self.gates = nn.Parameter(torch.tensor([[0.0] * h, *([[4.0] * h] if self.decays else [])], device="cpu"))
        self.scale = nn.Parameter(torch.ones(h, v, device="cpu"))
        self.merge = linear(h * v, config.stream, rng, gain=1 / math.sqrt(2 * config.layers))

    def forward(self, x: torch.Tensor, state: LayerState | None = None) -> tuple[torch.Tensor, LayerState]:
        """All tokens at once: x (b, t, d) -> (b, t, d), and the state after the last of them."""
        pieces, recent = self._mixed(x, state)
        memory = None if state is None else state.memory
        with checks.arithmetic(x):
            keys, queries, values, settings = self._stimuli(pieces)
            reads, memory = self.rule.scan_parallel(
                keys, values, queries, state=memory, chunk=self.config.chunk, **settings
            )
            reads = self._normed(reads)
        return self.merge(reads.to(x.dtype)), LayerState(memory, recent)

    def step(self, x: torch.Tensor, state: LayerState | None = None) -> tuple[torch.Tensor, LayerState]:
        """One token: x (b, d) -> (b, d). The same numbers as :meth:`forward`, by the rule's own ``write``."""
        pieces, recent = self._mixed(x[:, None], state)
        with checks.arithmetic(x):
            keys, queries, values, settings = self._stimuli(pieces)
            memory = keys.new_zeros(*values.shape[:2], values.shape[-1], keys.shape[-1])
            if state is not None:
                memory = state.memory
            now = {name: setting[..., 0] for name, setting in settings.items()}
            memory = self.rule.write(memory, keys[..., 0, :], values[..., 0, :], **now)
            reads = self._normed(read(memory, queries[..., 0, :])[..., None, :])
        return self.merge(reads.to(x.dtype))[:, 0], LayerState(memory, recent)

    def _mixed(self, x: torch.Tensor, state: LayerState | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Project, then mix each channel over the last tokens: (b, t, d) -> (b, t, channels), and what to keep."""
        taps, t = self.config.taps, x.shape[1]
        now = self.project(x)
        now = torch.cat([now[..., : self.sizes[0]], now], -1)  # keys and queries, from one projection
        before = now.new_zeros(x.shape[0], taps - 1, now.shape[-1]) if state is None else state.recent.to(now.dtype)
        padded = torch.cat([before, now], 1)
        mixed = sum(padded[:, taps - 1 - back : taps - 1 - back + t] * self.mix[back] for back in range(taps))
        return mixed, padded[:, t:]

    def _stimuli(self, pieces: torch.Tensor):
        """(b, t, channels) -> keys, queries (b, h, t, k), values (b, h, t, v), the settings of the rule (b, h, t)."""
        pieces = pieces if pieces.dtype in (torch.float32, torch.float64) else pieces.float()
        keys, queries, values, *gates = pieces.split(self.sizes, -1)
        keys, queries, values = (
            x.unflatten(-1, (self.config.heads, -1)).transpose(1, 2) for x in (keys, queries, values)
        )
        # unit keys: a rate of 1 overwrites exactly, and no smaller rate can overshoot
        keys, queries = F.normalize(keys, dim=-1), F.normalize(queries, dim=-1)
        if self.rule is RULES["oja"]:
            values = values.tanh()
        gates = [(gate + bias).transpose(1, 2) for gate, bias in zip(gates, self.gates, strict=True)]
        settings = {"rate": gates[0].sigmoid()}
        if self.decays:
            # e^-10 keeps nothing that matters, and stays above the zero that a decay may not be
            settings["decay"] = (F.logsigmoid(gates[1]) / DECAY_ROOT).clamp(min=-10).exp()
        return keys, queries, values, settings

    def _normed(self, reads: torch.Tensor) -> torch.Tensor:
        """(b, h, t, v) -> (b, t, h·v), each head scaled to a mean square of 1: Hebbian reads grow with the sequence."""
        return (F.rms_norm(reads.transpose(1, 2), reads.shape[-1:], eps=1e-5) * self.scale).flatten(-2)


class Block(nn.Module):
    """A memory layer and a network on each token alone, each on the normed stream and added to it.

    Examples
    --------
    >>> block = Block(StackConfig(heads=2, key_dim=4, value_dim=8))
    >>> tuple(block(torch.zeros(3, 5, 16))[0].shape)
    (3, 5, 16)
    """

    def __init__(self, config: StackConfig, generator: torch.Generator | None = None):
        super().__init__()
        rng = _generator(generator)
        hidden = 2 * config.stream if config.hidden is None else config.hidden
        self.memory = MemoryLayer(config, rng)
        self.before_memory = nn.RMSNorm(config.stream, eps=1e-5, device="cpu")
        self.before_network = nn.RMSNorm(config.stream, eps=1e-5, device="cpu")
        self.widen = linear(config.stream, hidden, rng)
        self.narrow = linear(hidden, config.stream, rng, gain=1 / math.sqrt(2 * config.layers))

    def forward(self, x: torch.Tensor, state: LayerState | None = None) -> tuple[torch.Tensor, LayerState]:
        """x (b, t, d) -> (b, t, d), and the state of its memory layer."""
        return self._run(self.memory.forward, x, state)

    def step(self, x: torch.Tensor, state: LayerState | None = None) -> tuple[torch.Tensor, LayerState]:
        """One token: x (b, d) -> (b, d)."""
        return self._run(self.memory.step, x, state)

    def _run(self, memory, x, state):
        recalled, state = memory(self.before_memory(x), state)
        x = x + recalled
        return x + self.narrow(F.gelu(self.widen(self.before_network(x)))), state


class Stack(nn.Module):
    """Tokens in, scores of the next answer out: embedding, blocks, norm, read-out.

    The read-out is the embedding turned around: what one layer recalls can be the next layer's test stimulus.

    Parameters
    ----------
    config : StackConfig
    seed : int
        Of the weights, which are drawn on the CPU: every device gets the same ones. Torch's own seed is left alone.
    device : str or torch.device, optional
        Torch's default device if not given.
    dtype : torch.dtype
        float32 or float64. For half precision use ``torch.autocast``: the rules themselves go on in float32.

    Raises
    ------
    ValueError
        If an argument is of the wrong kind, or torch cannot use the device.

    Examples
    --------
    >>> stack = Stack(StackConfig(layers=1, heads=2, key_dim=4, value_dim=8, vocab=10))
    >>> tokens = torch.tensor([[3, 1, 4, 1, 5]])
    >>> logits, state = stack(tokens)
    >>> tuple(logits.shape)
    (1, 5, 10)
    >>> first, state = stack(tokens[:, :3])  # the same sequence in two pieces
    >>> second, state = stack(tokens[:, 3:], state)
    >>> torch.allclose(torch.cat([first, second], 1), logits, atol=1e-5)
    True
    """

    def __init__(self, config: StackConfig, *, seed: int = 0, device=None, dtype: torch.dtype = torch.float32):
        super().__init__()
        if not isinstance(config, StackConfig):
            raise ValueError(f"config must be a StackConfig; got {type(config).__name__}")
        checks.one_of("dtype", dtype, (torch.float32, torch.float64))
        device = usable_device(torch.get_default_device() if device is None else device)
        rng = torch.Generator("cpu").manual_seed(checks.seed(seed))
        self.config = config
        self.embedding = nn.utils.skip_init(nn.Embedding, config.vocab, config.stream, device="cpu")
        nn.init.normal_(self.embedding.weight, generator=rng)
        self.blocks = nn.ModuleList(Block(config, rng) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.stream, eps=1e-5, device="cpu")
        self.to(device=device, dtype=dtype)

    def forward(
        self, tokens: torch.Tensor, state: tuple[LayerState, ...] | None = None
    ) -> tuple[torch.Tensor, tuple[LayerState, ...]]:
        """tokens (b, t) -> logits (b, t, vocab), and the state to go on from.

        Raises
        ------
        ValueError
            If the tokens are not whole numbers of shape (b, t) inside the vocabulary, or the state is not this stack's.
        """
        self._check(tokens, 2, "(b, t)", state)
        return self._run([block.forward for block in self.blocks], tokens, state)

    def step(
        self, token: torch.Tensor, state: tuple[LayerState, ...] | None = None
    ) -> tuple[torch.Tensor, tuple[LayerState, ...]]:
        """One token of each sequence: token (b,) -> logits (b, vocab), and the state, whose size never changes."""
        self._check(token, 1, "(b,)", state)
        return self._run([block.step for block in self.blocks], token, state)

    def _run(self, blocks, tokens, state):
        x, after = self.embedding(tokens), []
        for block, before in zip(blocks, state or [None] * len(blocks), strict=True):
            x, now = block(x, before)
            after.append(now)
        # The scores of a fresh stack have a variance of about 1: a norm of √d meets embeddings of variance 1.
        return F.linear(self.norm(x), self.embedding.weight) / math.sqrt(self.config.stream), tuple(after)

    def _check(self, tokens, axes: int, spelled: str, state) -> None:
        if not isinstance(tokens, torch.Tensor) or tokens.dtype not in (torch.int32, torch.int64):
            raise ValueError(f"tokens must be a torch tensor of int32 or int64; got {getattr(tokens, 'dtype', tokens)}")
        if tokens.ndim != axes or 0 in tokens.shape:
            raise ValueError(f"tokens must have shape {spelled}, no axis empty; got {tuple(tokens.shape)}")
        if checks.values_are_readable(tokens):
            low, high = int(tokens.min()), int(tokens.max())
            if low < 0 or high >= self.config.vocab:
                raise ValueError(f"tokens must lie in 0 to {self.config.vocab - 1}; got values from {low} to {high}")
        if state is not None:
            sizes = self.config.heads, self.config.value_dim, self.config.key_dim
            expected = [(tokens.shape[0], *sizes)] * self.config.layers
            got = [tuple(layer.memory.shape) for layer in state]
            if got != expected:
                raise ValueError(f"state must hold memories of shapes {expected}; got {got}")


def count_parameters(config: StackConfig) -> int:
    """How many numbers training may change in a stack of this shape.

    Examples
    --------
    >>> count_parameters(StackConfig(layers=1, heads=1, key_dim=2, value_dim=2, vocab=3, hidden=4))
    59
    """
    d = config.stream
    hidden = 2 * d if config.hidden is None else config.hidden
    gates = config.heads * (2 if config.rule == DECAYED else 1)  # a rate per head and, where there is one, a decay
    keys, values = config.heads * config.key_dim, config.heads * config.value_dim
    memory = d * (keys + values + gates) + config.taps * (2 * keys + values + gates) + gates + values + values * d
    return config.vocab * d + d + config.layers * (memory + 2 * d + 2 * d * hidden)


def usable_device(device) -> torch.device:
    """``"cpu"``, ``"cuda"``, ``"mps"`` or another device that torch can use here; ``"auto"`` is the fastest of these.

    Raises
    ------
    ValueError
        If there is no such device.

    Examples
    --------
    >>> usable_device("cpu")
    device(type='cpu')
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise ValueError(f"device must be auto or a device that torch can use here; got {device!r}") from error
    return place


def linear(inputs: int, outputs: int, generator: torch.Generator, *, gain: float = 1.0) -> nn.Linear:
    """A linear map without bias that keeps the scale of its input, drawn from ``generator`` and from nothing else."""
    layer = nn.utils.skip_init(nn.Linear, inputs, outputs, bias=False, device="cpu")
    nn.init.normal_(layer.weight, std=gain / math.sqrt(inputs), generator=generator)
    return layer


def _generator(generator: torch.Generator | None) -> torch.Generator:
    return torch.Generator("cpu").manual_seed(0) if generator is None else generator

"""What stacks are trained on: pairs in a context, bell and food, and then questions.

Only the answers are trained, since nothing in a random list of pairs can be foreseen.
Every batch is drawn afresh from (seed, stream, number) alone, in NumPy: the same on every device,
and a run that was killed needs no memory of what it had drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import checks

TRAINING, HELD_OUT = 0, 1  # streams of random numbers that never meet


class Batch(NamedTuple):
    """Sequences of a task.

    tokens ``(b, t)``, the places ``asked (q,)`` of the questions, answers and hops ``(b, q)``.
    """

    tokens: np.ndarray
    asked: np.ndarray
    answers: np.ndarray
    hops: np.ndarray


@dataclass(frozen=True)
class Recall:
    """Associative recall: pairs in any order, then questions: ``a 1 b 2 c 3 ? b -> 2``.

    Parameters
    ----------
    pairs : int
        Pairs to hold, n.
    symbols : int
        Half of them serve as bells, half as foods; at least 2 · ``pairs``.
    queries : int, optional
        Questions per sequence, each about another bell; all bells are asked for if not given.
    stale : int
        So many of the bells come once before, with another food. Only the later pairing counts.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> task = Recall(pairs=2, symbols=8)
    >>> batch = task.batch(np.random.default_rng(0), 1)
    >>> batch.tokens.tolist(), batch.answers.tolist()
    ([[0, 4, 2, 5, 8, 2, 8, 0]], [[5, 4]])
    """

    pairs: int = 4
    symbols: int = 32
    queries: int | None = None
    stale: int = 0

    def __post_init__(self):
        checks.count("pairs", self.pairs)
        if checks.count("symbols", self.symbols) < 2 * self.pairs or self.symbols < 4:
            raise ValueError(f"symbols must be at least 4 and twice pairs={self.pairs}; got {self.symbols}")
        _up_to("queries", self.asking, 1, self.pairs)
        _up_to("stale", self.stale, 0, self.pairs)

    @property
    def asking(self) -> int:
        """Questions per sequence."""
        return self.pairs if self.queries is None else self.queries

    @property
    def hops(self) -> int:
        """Links to follow: always one."""
        return 1

    @property
    def vocab(self) -> int:
        """Different tokens: the symbols, and one that announces a question."""
        return self.symbols + 1

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """``size`` sequences."""
        half = self.symbols // 2
        bells = _choose(rng, size, half, self.pairs)
        foods = half + rng.integers(self.symbols - half, size=bells.shape)
        wrong = half + (foods - half + rng.integers(1, self.symbols - half, size=bells.shape)) % (self.symbols - half)
        asked = _choose(rng, size, self.pairs, self.asking)
        context = _context(rng, bells, foods, wrong, self.stale)
        hops = np.ones(asked.shape, dtype=np.int64)
        starts, answers = (np.take_along_axis(x, asked, 1) for x in (bells, foods))
        return _ask(context, self.symbols, starts, answers, hops)


@dataclass(frozen=True)
class MultiHop:
    """Associative reasoning: follow a chain through pairs that lie anywhere in the context.

    The pairs are the links of disjoint chains, in any order: ``b c x y a b y z``.
    The question ``??a`` asks for two hops from a: the answer is c, which was never beside a.
    Each question draws its number of hops, up to ``hops``.

    Parameters
    ----------
    chains : int
        Chains of ``hops`` links each: ``chains · hops`` pairs.
    hops : int
        Links in a chain, and the largest number of hops that is asked for.
    queries : int, optional
        Questions per sequence, each about another chain; all chains are asked for if not given.
    symbols : int
        To draw the chains from, at least ``chains · (hops + 1)``.
    stale : int
        So many of the links come once before, leading elsewhere. Only the later pairing counts.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> task = MultiHop(chains=1, hops=2, symbols=5)
    >>> batch = task.batch(np.random.default_rng(1), 1)  # tokens 5 and 6 ask for one hop and for two
    >>> batch.tokens.tolist(), batch.answers.tolist()
    ([[0, 1, 4, 0, 5, 4]], [[0]])
    """

    chains: int = 3
    hops: int = 2
    symbols: int = 12
    queries: int | None = None
    stale: int = 0

    def __post_init__(self):
        needed = checks.count("chains", self.chains) * (checks.count("hops", self.hops) + 1)
        if checks.count("symbols", self.symbols) < needed:
            raise ValueError(f"symbols must be at least chains · (hops + 1) = {needed}; got {self.symbols}")
        _up_to("queries", self.asking, 1, self.chains)
        _up_to("stale", self.stale, 0, self.chains * self.hops)

    @property
    def asking(self) -> int:
        """Questions per sequence."""
        return self.chains if self.queries is None else self.queries

    @property
    def vocab(self) -> int:
        """Different tokens: the symbols, and for each number of hops one that announces a question."""
        return self.symbols + self.hops

    def batch(self, rng: np.random.Generator, size: int) -> Batch:
        """``size`` sequences."""
        items = _choose(rng, size, self.symbols, self.chains * (self.hops + 1))
        items = items.reshape(size, self.chains, self.hops + 1)
        bells, foods = items[:, :, :-1].reshape(size, -1), items[:, :, 1:].reshape(size, -1)
        wrong = (foods + rng.integers(1, self.symbols, size=foods.shape)) % self.symbols
        chain = _choose(rng, size, self.chains, self.asking)
        hops = rng.integers(1, self.hops + 1, size=chain.shape)
        row = np.arange(size)[:, None]
        context = _context(rng, bells, foods, wrong, self.stale)
        return _ask(context, self.symbols, items[row, chain, 0], items[row, chain, hops], hops)


def draw(task, seed: int, stream: int, number: int, size: int) -> Batch:
    """Batch ``number`` of a stream: a function of its arguments alone, so that a resumed run misses nothing."""
    return task.batch(np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(stream, number))), size)


def _up_to(name: str, value, low: int, high: int) -> None:
    if checks.count(name, value, low) > high:
        raise ValueError(f"{name} must be a whole number from {low} to {high}; got {value!r}")


def _choose(rng: np.random.Generator, size: int, n: int, some: int) -> np.ndarray:
    """``some`` different numbers below ``n`` in random order, for each of ``size`` sequences: (size, some)."""
    return rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)[:, :some]


def _context(rng: np.random.Generator, bells, foods, wrong, stale: int) -> np.ndarray:
    """Pairs in random order, ``stale`` of them before with a wrong food: (b, n) each -> (b, 2 (stale + n))."""
    size, n = bells.shape
    old, new = _choose(rng, size, n, stale), _choose(rng, size, n, n)
    first = np.concatenate([np.take_along_axis(bells, old, 1), np.take_along_axis(bells, new, 1)], 1)
    second = np.concatenate([np.take_along_axis(wrong, old, 1), np.take_along_axis(foods, new, 1)], 1)
    return np.stack([first, second], -1).reshape(size, -1)


def _ask(context: np.ndarray, symbols: int, starts, answers, hops) -> Batch:
    """Add the questions: a token that says how many hops, then the start."""
    questions = np.stack([symbols + hops - 1, starts], -1).reshape(len(context), -1)
    asked = context.shape[1] + 1 + 2 * np.arange(starts.shape[1])
    return Batch(np.concatenate([context, questions], 1), asked, answers, hops)

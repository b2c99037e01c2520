"""CS and US patterns, drawn from a NumPy generator that the caller hands in.

All randomness of the library starts here, in NumPy and in float64,
so that a seed gives the same stimuli on every device and in the browser.
"""

from __future__ import annotations

import numpy as np

from . import checks


def generators(seed: int, n: int) -> list[np.random.Generator]:
    """``n`` independent generators from one seed, through ``numpy.random.SeedSequence.spawn``.

    Examples
    --------
    >>> a, b = generators(0, 2)
    >>> bool(a.random() == b.random())
    False
    """
    children = np.random.SeedSequence(checks.seed(seed)).spawn(checks.count("n", n))
    return [np.random.default_rng(child) for child in children]


def unit_vectors(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Independent vectors, uniform on the unit sphere of the last axis: shape ``(..., size)``.

    Raises
    ------
    ValueError
        If a size is not a whole number of at least 1.

    Examples
    --------
    >>> keys = unit_vectors(np.random.default_rng(0), 5, 3)
    >>> print(keys.shape, np.linalg.norm(keys, axis=-1).round(12))
    (5, 3) [1. 1. 1. 1. 1.]
    """
    if not shape:
        raise ValueError("unit_vectors needs at least one size; got none")
    x = rng.standard_normal(tuple(checks.count("each size", size) for size in shape))
    x /= np.sqrt(np.vecdot(x, x))[..., None]  # in place: for large arrays a new one costs more than the division
    return x


def correlated_unit_vectors(rng: np.random.Generator, *shape: int, overlap: float) -> np.ndarray:
    """Unit vectors that share a common direction: any two have expected inner product ``overlap``.

    ``k_i = sqrt(overlap) c + sqrt(1 − overlap) u_i``, with unit vectors ``c`` and ``u_i``, ``u_i`` orthogonal to ``c``.
    One common direction is drawn per leading axis before the last two.

    Raises
    ------
    ValueError
        If ``overlap`` is outside [0, 1], or there are fewer than two sizes or fewer than two dimensions.

    Examples
    --------
    >>> keys = correlated_unit_vectors(np.random.default_rng(0), 400, 64, overlap=0.3)
    >>> inner = keys @ keys.T
    >>> round(float(inner[~np.eye(400, dtype=bool)].mean()), 2)
    0.3
    """
    overlap = checks.number("overlap", overlap, 0, 1)
    if len(shape) < 2 or checks.count("the last size", shape[-1]) < 2:
        raise ValueError(f"correlated vectors need a shape (..., n, size) with size of at least 2; got {shape}")
    common = unit_vectors(rng, *shape[:-2], 1, shape[-1])
    own = unit_vectors(rng, *shape)
    own = own - (own * common).sum(-1, keepdims=True) * common
    own = own / np.linalg.norm(own, axis=-1, keepdims=True)
    return np.sqrt(overlap) * common + np.sqrt(1 - overlap) * own


class RotatingTargets:
    """Unit targets that turn by a fixed angle per step, each in a random plane of its own.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        ``(..., n, v)``: n targets of size v of at least 2.
    angle : float
        Radians per step.

    Examples
    --------
    >>> targets = RotatingTargets(np.random.default_rng(0), (1, 4), angle=np.pi / 2)
    >>> bool(np.allclose(targets.at(2), -targets.at(0)))
    True
    """

    def __init__(self, rng: np.random.Generator, shape: tuple[int, ...], *, angle: float):
        if len(shape) < 2 or checks.count("the size of a target", shape[-1]) < 2:
            raise ValueError(f"rotating targets need a shape (..., n, v) with v of at least 2; got {shape}")
        self.angle = checks.number("angle", angle)
        self._start = unit_vectors(rng, *shape)
        other = unit_vectors(rng, *shape)
        other = other - (other * self._start).sum(-1, keepdims=True) * self._start
        self._across = other / np.linalg.norm(other, axis=-1, keepdims=True)

    def at(self, step: int) -> np.ndarray:
        """The targets after ``step`` steps, ``(..., n, v)``."""
        turned = self.angle * step
        return np.cos(turned) * self._start + np.sin(turned) * self._across


def hop_chains(rng: np.random.Generator, chains: int, hops: int) -> np.ndarray:
    """Disjoint chains of symbols to follow: ``(chains, hops + 1)``, every symbol used once.

    Row ``c`` says: symbol ``[c, 0]`` leads to ``[c, 1]``, which leads to ``[c, 2]``, and so on.

    Examples
    --------
    >>> chains = hop_chains(np.random.default_rng(0), 3, 2)
    >>> print(chains.shape, sorted(chains.ravel().tolist()) == list(range(9)))
    (3, 3) True
    """
    chains, hops = checks.count("chains", chains), checks.count("hops", hops)
    return rng.permutation(chains * (hops + 1)).reshape(chains, hops + 1)

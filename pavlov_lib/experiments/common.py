"""What the experiments share: uncertainty, and the way from NumPy stimuli to the device that does the work."""

from __future__ import annotations

import importlib.util
import math

import numpy as np

from .. import checks, stimuli
from ..rules import RULES, Rule

# Numbers per batch of contexts: large enough that Python costs nothing, small enough to stay in the cache.
CONTEXTS = 2**18
DECAYED = "hebbian+decay"  # the Hebbian rule with a decay below one, where an experiment compares both


def find_rule(name: str) -> Rule:
    """The rule of that name, or ``ValueError``."""
    return RULES[checks.one_of("rule", name, RULES)]


def mover(device: str | None, dtype: str):
    """Check ``device`` and ``dtype``; return the function that carries a NumPy array there.

    ``device=None`` stays in NumPy; any other name hands the work to torch.
    """
    checks.one_of("dtype", dtype, checks.FLOATS)
    if device is None:
        return lambda x: x.astype(dtype, copy=False)
    if importlib.util.find_spec("torch") is None:
        raise ValueError(f"device must be None where torch is not installed; got {device!r}")
    import torch

    try:
        place = torch.device(device)
        torch.empty(1, device=place)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        raise ValueError(f"device must be None or a device that torch can use here; got {device!r}") from error
    return lambda x: torch.from_numpy(np.ascontiguousarray(x, dtype=dtype)).to(place)


GENERATORS = ("numpy", "torch")


def drawer(generator: str, device: str | None, dtype: str, overlap: float = 0.0):
    """Check, and return the function that draws unit vectors, ``draw(rng, *shape)``, where the work will be done.

    "numpy" draws the same vectors for every device and carries them there.
    "torch" draws them there, from a seed taken from ``rng``: faster, and other vectors on every kind of device.
    Vectors that overlap are always NumPy's.
    """
    move = mover(device, dtype)
    if checks.one_of("generator", generator, GENERATORS) == "torch" and device is None:
        raise ValueError("generator 'torch' needs a device; got device=None")
    if overlap:
        return lambda rng, *shape: move(stimuli.correlated_unit_vectors(rng, *shape, overlap=overlap))
    if generator == "numpy":
        return lambda rng, *shape: move(stimuli.unit_vectors(rng, *shape))
    import torch

    def draw(rng, *shape):
        source = torch.Generator(device).manual_seed(int(rng.integers(2**63)))
        x = torch.randn(shape, generator=source, device=device, dtype=getattr(torch, dtype))
        return x.div_(torch.linalg.vector_norm(x, dim=-1, keepdim=True))

    return draw


def to_numpy(x) -> np.ndarray:
    """Back to a float64 NumPy array, from wherever the work was done."""
    return np.asarray(x.cpu() if checks.is_tensor(x) else x, dtype=np.float64)


def mean_and_se(samples: np.ndarray) -> tuple[float, float]:
    """Mean and standard error over the first axis, one independent trial per entry; no error from one trial alone."""
    n = len(samples)
    return float(np.mean(samples)), float(np.std(samples, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def cosine(a: checks.Array, b: checks.Array) -> checks.Array:
    """Cosine along the last axis; 0 where a vector is zero, for nothing was recalled."""
    xp = checks.namespace(a=a, b=b)
    dot = xp.linalg.vecdot
    length = xp.sqrt(dot(a, a) * dot(b, b))
    return dot(a, b) / xp.where(length > 0, length, math.inf)


def retention(decay) -> float:
    """A decay in (0, 1), or ``ValueError``: 1 is no forgetting."""
    if not checks.number("decay", decay, 0, 1, open_low=True) < 1:
        raise ValueError(f"decay must be below 1 for a memory that forgets; got {decay}")
    return float(decay)


def recalls(rng, trials: int, length: int, d: int, memories):
    """Write contexts of random unit pairs and recall every pair: for each (name, decay), signal r·v and power ‖r‖².

    Both are (trials, length), newest first. All memories see the same stimuli.
    """
    parts = [([], []) for _ in memories]
    most = max(1, CONTEXTS // (2 * length * d))
    for start in range(0, trials, most):
        size = min(most, trials - start)
        keys, values = (stimuli.unit_vectors(rng, size, length, d) for _ in range(2))
        for (name, decay), (signals, powers) in zip(memories, parts, strict=True):
            rule, how = (RULES["hebbian"], {"decay": decay}) if name == DECAYED else (RULES[name], {})
            _, state = rule.scan_parallel(keys, values, None, **how)
            recalled = (keys @ state.mT)[:, ::-1]
            signals.append((recalled * values[:, ::-1]).sum(-1))
            powers.append((recalled**2).sum(-1))
    return [(np.concatenate(signals), np.concatenate(powers)) for signals, powers in parts]

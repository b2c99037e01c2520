"""What the experiments share: uncertainty, and the way from NumPy stimuli to the device that does the work."""

from __future__ import annotations

import importlib.util

import numpy as np

from .. import checks
from ..rules import RULES, Rule

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


def to_numpy(x) -> np.ndarray:
    """Back to a float64 NumPy array, from wherever the work was done."""
    return np.asarray(x.cpu() if checks.is_tensor(x) else x, dtype=np.float64)


def mean_and_se(samples: np.ndarray) -> tuple[float, float]:
    """Mean and standard error over the first axis, one independent trial per entry; no error from one trial alone."""
    n = len(samples)
    return float(np.mean(samples)), float(np.std(samples, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosine along the last axis; 0 where a vector is zero, for nothing was recalled."""
    length = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
    return np.divide((a * b).sum(-1), length, out=np.zeros_like(length), where=length > 0)

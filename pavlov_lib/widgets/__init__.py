"""Explorers: small instruments to play with, each described once.

``explorer("capacity")`` shows itself in three places: on the website, where a script of the book's own computes it
without any kernel; in a live notebook, where sliders compute it with this library; and as plain text.
The script and the library are tested to show the same numbers.
"""

from __future__ import annotations

from .. import checks
from .base import Explorer
from .capacity import CAPACITY
from .conditioning import CONDITIONING

EXPLORERS = {e.name: e for e in (CONDITIONING, CAPACITY)}


def explorer(name: str) -> Explorer:
    """The explorer of that name.

    Parameters
    ----------
    name : str
        One of ``EXPLORERS``.

    Raises
    ------
    ValueError
        If there is no such explorer.

    Examples
    --------
    >>> explorer("capacity").look(n=8, d_k=64)["words"]
    '8 pairs in a memory with key dimension 64: the average pair is recalled with fidelity 0.93, predicted 0.95; the worst with 0.89.'
    """
    return EXPLORERS[checks.one_of("name", name, EXPLORERS)]


__all__ = ["EXPLORERS", "Explorer", "explorer"]

"""Explorers: small instruments to play with, each described once.

``explorer("capacity")`` shows itself in three places: on the website, where a script of the book's own computes it
without any kernel; in a live notebook, where sliders compute it with this library; and as plain text.
The script and the library are tested to show the same numbers.
"""

from __future__ import annotations

from .. import checks
from .attention import ATTENTION
from .base import Explorer
from .capacity import CAPACITY
from .conditioning import CONDITIONING
from .depth import DEPTH
from .drift import DRIFT
from .extinction import EXTINCTION
from .forgetting import FORGETTING

EXPLORERS = {e.name: e for e in (CONDITIONING, CAPACITY, DEPTH, DRIFT, ATTENTION, EXTINCTION, FORGETTING)}


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
    >>> explorer("conditioning").look(rule="delta", rate=1.0, trials=["bell+food", "bell+nothing"])["words"]
    'After 2 trials the bell alone makes the dog expect 0.00 of the food, the light alone 0.00, both together 0.00.'
    """
    return EXPLORERS[checks.one_of("name", name, EXPLORERS)]


__all__ = ["EXPLORERS", "Explorer", "explorer"]

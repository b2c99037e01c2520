"""Time contestants in turn."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


@dataclass
class Contestant:
    """What is timed: a name, the rule it computes, and what one forward, and one forward and backward, do."""

    rule: str
    name: str
    forward: Callable[[], object]
    both: Callable[[], object]
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"forward": [], "both": []})

    def median(self, which: str) -> float:
        """Median seconds of ``"forward"`` or ``"both"``."""
        return statistics.median(self.seconds[which])


def interleave(
    contestants: Iterable[Contestant], *, rounds: int, budget: float, tick: Callable[[str], None] = lambda name: None
) -> None:
    """Fill in ``seconds``: each round calls every contestant once, in turn.

    A first round, which is thrown away, warms up caches and allocators.
    A contestant takes part until it has used ``budget`` seconds, but in no fewer than three rounds and in no more
    than ``rounds``. ``tick`` hears the name of each contestant before its turn.
    """
    contestants = list(contestants)
    for turn in range(rounds + 1):
        gc.collect()  # between rounds, so that no contestant pays for what another left behind
        for contestant in contestants:
            spent = sum(map(sum, contestant.seconds.values()))
            if turn > 3 and spent > budget:
                continue
            tick(contestant.name)
            for which in ("forward", "both"):
                seconds = stopwatch(getattr(contestant, which))
                if turn:
                    contestant.seconds[which].append(seconds)


def stopwatch(call: Callable[[], object]) -> float:
    """Seconds that one call takes, with no garbage collection in between."""
    gc.disable()
    try:
        start = time.perf_counter()
        call()
        return time.perf_counter() - start
    finally:
        gc.enable()

"""Which animal is attention? The phenomena of conditioning, shown or not shown."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from .. import checks
from ..attention import softmax_attention
from ..protocols import (
    LIMITS,
    Schedule,
    acquisition,
    blocking,
    conditioned_inhibition,
    discrimination,
    extinction,
    generalisation,
    overexpectation,
    overshadowing,
    run_protocol,
)
from ..protocols.limits import VISIBLE
from ..rules import RULES

ANIMALS = ("linear attention", "delta rule", "softmax attention")


def run_scoreboard(animals=ANIMALS, rate: float = 0.2, beta: float = 8.0) -> pd.DataFrame:
    """Put attention through the conditioning laboratory: which phenomena does it show?

    Each phenomenon is one number, signed so that an animal's is above zero.

    Parameters
    ----------
    animals : sequence of {"linear attention", "delta rule", "softmax attention"}
        Linear attention is Hebb's rule; softmax attention weighs all trials so far by ``softmax(β q·k)``.
    rate : float
        Learning rate of the two rules, above zero.
    beta : float
        Inverse temperature of softmax.

    Returns
    -------
    pandas.DataFrame
        One row per (animal, phenomenon): ``animal``, ``phenomenon``, ``effect``, ``shown`` (whether it reaches one
        hundredth of the US).

    Raises
    ------
    ValueError
        If an argument is out of range or unknown.

    Examples
    --------
    >>> table = run_scoreboard().set_index(["animal", "phenomenon"]).shown
    >>> bool(table["delta rule", "blocking"]), bool(table["linear attention", "blocking"])
    (True, False)
    """
    animals = checks.some_of("animals", animals, ANIMALS)
    rate, beta = checks.number("rate", rate, 0, open_low=True), checks.number("beta", beta, 0, open_low=True)
    respond = {
        "linear attention": lambda schedule: run_protocol(schedule, rule=RULES["hebbian"], rate=rate),
        "delta rule": lambda schedule: run_protocol(schedule, rule=RULES["delta"], rate=rate),
        "softmax attention": lambda schedule: _softmax_responses(schedule, beta),
    }
    effects = PHENOMENA | {limit.name: limit.effect for limit in LIMITS}
    rows = [
        (animal, name, value := float(effect(respond[animal])), value > VISIBLE)
        for animal in animals
        for name, effect in effects.items()
    ]
    return pd.DataFrame(rows, columns=["animal", "phenomenon", "effect", "shown"])


def _softmax_responses(schedule: Schedule, beta: float) -> pd.DataFrame:
    """Responses of softmax attention to every probe after every trial, as :func:`run_protocol` tabulates them."""
    keys, values, queries = schedule.keys, schedule.values, schedule.queries
    rows = []
    for t, trial in enumerate(schedule.trials):
        reads = softmax_attention(keys[: t + 1], values[: t + 1], queries, causal=False, scale=beta)
        rows += [
            (t + 1, trial.phase, cue, us, reads[p, v])
            for p, (cue, _) in enumerate(schedule.probes)
            for v, us in enumerate(schedule.outcomes)
        ]
    return pd.DataFrame(rows, columns=["trial", "phase", "cue", "us", "response"])


def _after(table: pd.DataFrame, cue: str = "bell", trial: int | None = None) -> float:
    """The response to a probe after a trial, the last if none is named."""
    rows = table[(table.cue == cue) & (table.trial == (trial or table.trial.max()))]
    return float(rows.response.iloc[0])


def _extinction(respond) -> float:
    table = respond(extinction(acquisition=20, extinction=20))
    return _after(table, trial=20) - _after(table)


def _blocking(respond) -> float:
    return _after(respond(overshadowing(compound=20)), "light") - _after(respond(blocking()), "light")


def _overshadowing(respond) -> float:
    return _after(respond(acquisition(20))) - _after(respond(overshadowing(compound=20)))


def _overexpectation(respond) -> float:
    table = respond(overexpectation())
    return _after(table, trial=40) - _after(table)


def _generalisation(respond) -> float:
    table = respond(generalisation())
    trained, near, far = (_after(table, f"tone {d:+d}" if d else "tone 0") for d in (0, 1, 4))
    return min(trained - near, near - far) / trained


def _discrimination(respond) -> float:
    table = respond(discrimination())
    return 0.75 - _after(table, "low") / _after(table, "high")  # beyond what the cosine of the tones would give


# phenomenon: effect(respond), above zero in animals
PHENOMENA: dict[str, Callable[[Callable[[Schedule], pd.DataFrame]], float]] = {
    "acquisition": lambda respond: _after(respond(acquisition(20))),
    "generalisation": _generalisation,
    "extinction": _extinction,
    "discrimination": _discrimination,
    "overshadowing": _overshadowing,
    "blocking": _blocking,
    "overexpectation": _overexpectation,
    "conditioned inhibition": lambda respond: -_after(respond(conditioned_inhibition()), "light"),
}

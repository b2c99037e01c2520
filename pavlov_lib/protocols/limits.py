"""What animals do and these rules cannot: seven phenomena, each with a demonstration that runs.

Every demonstration computes one number, signed so that an animal's is above zero.
It is a fact about the rules that follows from what they are made of: a matrix without a clock, trials without inside,
one learning rate for every cue, and a recall that is linear in the cues.
Miller, Barnet and Grahame (1995) review such failures, and the successes, of the Rescorla-Wagner model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from .. import checks
from ..rules import RULES, Rule
from .run import run_protocol
from .schedules import acquisition, reacquisition
from .trials import Schedule, Trial

VISIBLE = 0.01  # an effect below one hundredth of the US would be called none in any animal laboratory
REST = Trial((), 0, "rest")


@dataclass(frozen=True)
class Limit:
    """A phenomenon of conditioning that a rule may fail to show.

    Parameters
    ----------
    name : str
    animals : str
        What animals do.
    measure : str
        The number that ``effect`` returns, above zero in animals.
    missing : str
        What the rules would need.
    source : str
        Key of the work in the book's bibliography.
    effect : callable
        ``effect(respond)``, where ``respond(schedule)`` is the table of :func:`run_protocol` -> float.
    """

    name: str
    animals: str
    measure: str
    missing: str
    source: str
    effect: Callable[[Callable[[Schedule], pd.DataFrame]], float]


def run_limits(*, rule: Rule = RULES["delta"], rate: float = 0.2, **settings) -> pd.DataFrame:
    """Try every limit on a rule.

    Parameters
    ----------
    rule : Rule
        One of ``RULES``, the object itself.
    rate : float
        Learning rate, above zero: a rule that never learns shows nothing.
    **settings
        Further settings of the rule.

    Returns
    -------
    pandas.DataFrame
        One row per phenomenon: ``phenomenon``, ``measure``, ``effect`` (above zero in animals),
        ``shown`` (whether the effect reaches one hundredth of the US), ``missing``.

    Raises
    ------
    ValueError
        If an argument does not fit.

    Examples
    --------
    >>> run_limits(rate=0.3)[["phenomenon", "shown"]]
                                 phenomenon  shown
    0                     latent inhibition  False
    1                  spontaneous recovery  False
    2             second-order conditioning  False
    3                                timing  False
    4                    rapid reacquisition  False
    5   partial reinforcement extinction effect  False
    6                    negative patterning  False
    """
    checks.number("rate", rate, 0, open_low=True)

    def respond(schedule: Schedule) -> pd.DataFrame:
        return run_protocol(schedule, rule=rule, rate=rate, **settings)

    rows = [(x.name, x.measure, effect := float(x.effect(respond)), effect > VISIBLE, x.missing) for x in LIMITS]
    return pd.DataFrame(rows, columns=["phenomenon", "measure", "effect", "shown", "missing"])


def _last(table: pd.DataFrame, cue: str = "bell") -> float:
    """The response to a probe after the last trial."""
    return table[table["cue"] == cue]["response"].iloc[-1]


def _latent_inhibition(respond) -> float:
    alone, fed = [Trial("bell", 0, "preexposure")] * 20, [Trial("bell", 1, "acquisition")] * 3
    return _last(respond(Schedule("novel", fed))) - _last(respond(Schedule("preexposed", alone + fed)))


def _spontaneous_recovery(respond) -> float:
    lesson = [Trial("bell", 1, "acquisition")] * 20 + [Trial("bell", 0, "extinction")] * 20
    return _last(respond(Schedule("rested", [*lesson, *[REST] * 50]))) - _last(respond(Schedule("at once", lesson)))


def _second_order(respond) -> float:
    first, second = [Trial("bell", 1, "first order")] * 20, [Trial(["bell", "light"], 0, "second order")] * 5
    return _last(respond(Schedule("second order", first + second)), "light")


def _timing(respond) -> float:
    # The food comes two steps after the bell: an animal bridges the gap and responds when the food is due.
    once = [Trial("bell", 0, "trace"), REST, Trial((), 1, "trace")]
    return _last(respond(Schedule("trace conditioning", once * 40)))


def _rapid_reacquisition(respond) -> float:
    # Gains, not levels: a rule that never extinguished would otherwise pass for one that relearns fast.
    response = respond(reacquisition(acquisition=20, extinction=100, reacquisition=3))["response"]
    first_gain = _last(respond(acquisition(3)))
    return (response.iloc[-1] - response.iloc[-4]) - first_gain


def _partial_reinforcement(respond) -> float:
    def kept(pattern):
        lesson = Schedule("lesson", [Trial("bell", us, "acquisition") for us in pattern])
        longer = Schedule("longer", [*lesson.trials, *[Trial("bell", 0, "extinction")] * 5])
        return _last(respond(longer)) / _last(respond(lesson))

    return kept([0, 1] * 20) - kept([1] * 40)


def _negative_patterning(respond) -> float:
    turn = [Trial("bell", 1), Trial("light", 1), Trial(["bell", "light"], 0)]
    probes = {"bell": "bell", "light": "light", "both": ["bell", "light"]}
    table = respond(Schedule("negative patterning", turn * 60, probes))
    # Responses below zero are silence in an animal: two inhibitors must not pass for two signals of food.
    return min(_last(table, "bell"), _last(table, "light")) - max(_last(table, "both"), 0.0)


LIMITS = (
    Limit(
        "latent inhibition",
        "A bell that was heard often without food is harder to learn about later.",
        "response after 3 pairings, novel minus preexposed bell",
        "attention to a cue that changes with experience",
        "lubow1959",
        _latent_inhibition,
    ),
    Limit(
        "spontaneous recovery",
        "An extinguished response comes back after a rest.",
        "response after a rest minus response at the end of extinction",
        "a clock, and a first memory that extinction covers but does not erase",
        "bouton2004",
        _spontaneous_recovery,
    ),
    Limit(
        "second-order conditioning",
        "A light that announces a trained bell, never food, is responded to as well.",
        "response to the light",
        "a value that a cue itself can pass on, as in temporal-difference learning",
        "rescorla1980",
        _second_order,
    ),
    Limit(
        "timing",
        "Food that comes a while after the bell is learned about, and expected at its time.",
        "response to a bell that ends two steps before the food",
        "a trace of the bell that outlasts it",
        "gallistel2000",
        _timing,
    ),
    Limit(
        "rapid reacquisition",
        "What was extinguished is relearned faster than it was learned.",
        "gain over 3 pairings, the second time minus the first",
        "a memory of having learned, such as a learning rate that is itself learned",
        "bouton2004",
        _rapid_reacquisition,
    ),
    Limit(
        "partial reinforcement extinction effect",
        "A response that was fed only now and then lasts longer when food stops.",
        "share of the response left after 5 extinction trials, partial minus continuous",
        "a memory of the order of trials",
        "humphreys1939",
        _partial_reinforcement,
    ),
    Limit(
        "negative patterning",
        "Bell alone and light alone mean food, both together mean none: animals learn it.",
        "smaller response to a single cue minus response to both",
        "a cue for the conjunction: keys that are no sum of their parts",
        "miller1995",
        _negative_patterning,
    ),
)

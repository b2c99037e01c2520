"""The classical protocols, one function each. Every function returns a schedule; none runs anything.

"+" below is a trial with food, "−" a trial without.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from .. import checks
from .trials import Schedule, Trial


def acquisition(trials: int = 10, *, salience: float = 1.0, magnitude: float = 1.0) -> Schedule:
    """Bell+: the bell comes to predict the food [Pavlov1927]_.

    .. [Pavlov1927] I. P. Pavlov, Conditioned Reflexes, Oxford University Press, 1927.

    Examples
    --------
    >>> from pavlov_lib.protocols import run_protocol
    >>> print(run_protocol(acquisition(3), rate=0.5)["response"].to_list())
    [0.5, 0.75, 0.875]
    """
    return Schedule("acquisition", _repeat(trials, {"bell": salience}, magnitude, "acquisition"))


def extinction(*, acquisition: int = 10, extinction: int = 10) -> Schedule:
    """Bell+, then bell−: the food stops coming."""
    phases = _repeat(acquisition, "bell", 1, "acquisition") + _repeat(extinction, "bell", 0, "extinction")
    return Schedule("extinction", phases)


def reacquisition(*, acquisition: int = 10, extinction: int = 10, reacquisition: int = 10) -> Schedule:
    """Bell+, bell−, then bell+ again.

    Animals learn faster the second time; none of the rules does: see :func:`~pavlov_lib.protocols.run_limits`.
    """
    again = _repeat(reacquisition, "bell", 1, "reacquisition")
    earlier = _repeat(acquisition, "bell", 1, "acquisition") + _repeat(extinction, "bell", 0, "extinction")
    return Schedule("reacquisition", earlier + again)


def counterconditioning(*, acquisition: int = 10, conversion: int = 10) -> Schedule:
    """Bell → food, then bell → shock: one association is erased while another is written."""
    phases = _repeat(acquisition, "bell", {"food": 1}, "acquisition")
    return Schedule("counterconditioning", phases + _repeat(conversion, "bell", {"shock": 1}, "conversion"))


def partial_reinforcement(
    *, rng: np.random.Generator, acquisition: int = 40, extinction: int = 20, probability: float = 0.5
) -> Schedule:
    """Food follows the bell on a random share of trials, then never.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws which trials have food.
    acquisition, extinction : int
        Number of trials in each phase.
    probability : float
        Probability of food on each acquisition trial, in [0, 1].
    """
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng must be a numpy.random.Generator; got {type(rng).__name__}")
    p = checks.number("probability", probability, 0, 1)
    fed = rng.random(checks.count("acquisition", acquisition)) < p
    phase = [Trial("bell", float(food), "acquisition") for food in fed]
    return Schedule("partial reinforcement", phase + _repeat(extinction, "bell", 0, "extinction"))


def blocking(*, pretraining: int = 20, compound: int = 20) -> Schedule:
    """Bell+, then bell and light+: the light adds no news, and nothing is learned about it [Kamin1969]_.

    The control group is :func:`overshadowing`: the same compound trials without the pretraining.

    .. [Kamin1969] L. J. Kamin, Predictability, surprise, attention, and conditioning, 1969.

    Examples
    --------
    >>> from pavlov_lib.protocols import overshadowing, run_protocol
    >>> def light(schedule):
    ...     table = run_protocol(schedule, rate=0.2)
    ...     return table[table["cue"] == "light"]["response"].iloc[-1]
    >>> print(light(blocking()).round(3), light(overshadowing(compound=20)).round(3))
    0.006 0.5
    """
    phases = _repeat(pretraining, "bell", 1, "pretraining") + _repeat(compound, ["bell", "light"], 1, "compound")
    return Schedule("blocking", phases)


def unblocking(*, pretraining: int = 20, compound: int = 20, magnitude: float = 2.0) -> Schedule:
    """Blocking, but the food grows when the light comes: the surplus is a surprise, and bell and light share it."""
    phases = _repeat(pretraining, "bell", 1, "pretraining")
    return Schedule("unblocking", phases + _repeat(compound, ["bell", "light"], magnitude, "compound"))


def overshadowing(*, compound: int = 20, bell: float = 1.0, light: float = 1.0) -> Schedule:
    """Bell and light+ from the start: they share what there is to predict, in proportion to their saliences."""
    return Schedule("overshadowing", _repeat(compound, {"bell": bell, "light": light}, 1, "compound"))


def overexpectation(*, separate: int = 20, compound: int = 20) -> Schedule:
    """Bell+ and light+ apart, then together: two predictions of one meal, so both weaken though food still comes."""
    apart = [Trial("bell", 1, "separate"), Trial("light", 1, "separate")]
    phases = apart * checks.count("separate", separate) + _repeat(compound, ["bell", "light"], 1, "compound")
    return Schedule("overexpectation", phases)


def conditioned_inhibition(*, trials: int = 60) -> Schedule:
    """Bell+, bell and light−, tone+, in turn: the light comes to predict that expected food will not come.

    Probes: each cue alone, and the summation test ``tone & light``, a pair that was never shown.
    """
    turn = [Trial("bell", 1), Trial(["bell", "light"], 0), Trial("tone", 1)]
    probes = {"bell": "bell", "light": "light", "tone": "tone", "tone & light": ["tone", "light"]}
    return Schedule("conditioned inhibition", turn * checks.count("trials", trials), probes)


def generalisation(*, trials: int = 10, width: int = 5, farthest: int = 6) -> Schedule:
    """One tone+, then tones at a distance are tested.

    Each tone excites ``width`` neighbouring elements of salience 1/width, and tones ``d`` steps apart share
    ``width − d`` of them: keys of length one with cosine max(0, 1 − d/width), as unit keys that resemble each other.

    Parameters
    ----------
    trials : int
        Number of trials with the trained tone.
    width : int
        Elements that one tone excites.
    farthest : int
        Largest distance tested, in both directions.
    """
    width, farthest = checks.count("width", width), checks.count("farthest", farthest)
    tones = {f"tone {d:+d}" if d else "tone 0": _elements(d, width) for d in range(-farthest, farthest + 1)}
    return Schedule("generalisation", _repeat(trials, _elements(0, width), 1, "training"), tones)


def discrimination(*, trials: int = 60, width: int = 4, distance: int = 1) -> Schedule:
    """High tone+ and low tone−, in turn, though the two share ``width − distance`` of their ``width`` elements."""
    width, distance = checks.count("width", width), checks.count("distance", distance)
    high, low = _elements(0, width), _elements(distance, width)
    turn = [Trial(high, 1), Trial(low, 0)]
    probes = {"high": list(high), "low": list(low)}
    return Schedule("discrimination", turn * checks.count("trials", trials), probes)


def contingency_drift(*, trials: int = 200) -> Schedule:
    """The bell means food at first and water at the end: on the way food fades as cos θ and water grows as sin θ."""
    trials = checks.count("trials", trials, 2)
    angles = [0.5 * math.pi * t / (trials - 1) for t in range(trials)]
    # At the last step cos(π/2) is 6e-17 and could come out negative elsewhere: magnitudes are never below zero.
    outcomes = [{"food": max(0.0, math.cos(a)), "water": max(0.0, math.sin(a))} for a in angles]
    return Schedule("contingency drift", [Trial("bell", us, "drift") for us in outcomes])


def _repeat(count, cues, us, phase: str) -> list[Trial]:
    return [Trial(cues, us, phase)] * checks.count(f"number of {phase} trials", count)


def _elements(position: int, width: int) -> Mapping[str, float]:
    return {f"element {position + i}": 1 / width for i in range(width)}

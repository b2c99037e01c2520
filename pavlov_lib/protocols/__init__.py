"""Classical conditioning, as the animal laboratory runs it: schedules of trials, run through any learning rule.

A :class:`Trial` says which cues come and how much food follows; a :class:`Schedule` is a list of trials with the
tests that are made after each one. :func:`run_protocol` runs a schedule through a rule and sets beside every response
what the Rescorla-Wagner model predicts for it. :mod:`~pavlov_lib.protocols.limits` holds what animals do and none of
the rules here can do.
"""

from .limits import LIMITS, Limit, run_limits
from .run import rescorla_wagner, run_protocol
from .schedules import (
    acquisition,
    blocking,
    conditioned_inhibition,
    contingency_drift,
    counterconditioning,
    discrimination,
    extinction,
    generalisation,
    overexpectation,
    overshadowing,
    partial_reinforcement,
    reacquisition,
    unblocking,
)
from .trials import Schedule, Trial

__all__ = [
    "LIMITS",
    "Limit",
    "Schedule",
    "Trial",
    "acquisition",
    "blocking",
    "conditioned_inhibition",
    "contingency_drift",
    "counterconditioning",
    "discrimination",
    "extinction",
    "generalisation",
    "overexpectation",
    "overshadowing",
    "partial_reinforcement",
    "reacquisition",
    "rescorla_wagner",
    "run_limits",
    "run_protocol",
    "unblocking",
]

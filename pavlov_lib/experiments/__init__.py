"""Experiments: settings in, a tidy table out. They never draw."""

from .capacity import capacity_at, run_capacity, run_context, run_worst_case
from .depth import at_budget, run_depth
from .drift import TRACKERS, run_drift

__all__ = [
    "TRACKERS",
    "at_budget",
    "capacity_at",
    "run_capacity",
    "run_context",
    "run_depth",
    "run_drift",
    "run_worst_case",
]

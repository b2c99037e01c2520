"""Experiments: settings in, a tidy table out. They never draw."""

from .capacity import capacity_at, run_capacity, run_context, run_worst_case
from .cost import FORMS, count_arithmetic, run_cost
from .depth import at_budget, run_depth
from .drift import TRACKERS, run_drift
from .growth import run_growth, run_prompts
from .homeostasis import CODES, FREE_FORMS, run_components, run_homeostasis
from .unlearning import EDITS, run_unlearning

__all__ = [
    "CODES",
    "EDITS",
    "FORMS",
    "FREE_FORMS",
    "TRACKERS",
    "at_budget",
    "capacity_at",
    "count_arithmetic",
    "run_capacity",
    "run_components",
    "run_context",
    "run_cost",
    "run_depth",
    "run_drift",
    "run_growth",
    "run_homeostasis",
    "run_prompts",
    "run_unlearning",
    "run_worst_case",
]

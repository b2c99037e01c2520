"""Experiments: settings in, a tidy table out. They never draw."""

from .capacity import capacity_at, run_capacity, run_context, run_worst_case
from .cost import FORMS, count_arithmetic, run_cost
from .depth import at_budget, run_depth
from .drift import TRACKERS, run_drift
from .forgetting import (
    MEMORIES,
    best_rate,
    best_weights,
    forgetting_horizon,
    recall_error,
    run_forgetting,
    run_horizon,
    run_recency,
    run_updates,
    use_by_age,
)
from .growth import run_growth, run_prompts
from .homeostasis import CODES, FREE_FORMS, run_components, run_homeostasis
from .unlearning import EDITS, run_unlearning

__all__ = [
    "CODES",
    "EDITS",
    "FORMS",
    "FREE_FORMS",
    "MEMORIES",
    "TRACKERS",
    "at_budget",
    "best_rate",
    "best_weights",
    "capacity_at",
    "count_arithmetic",
    "forgetting_horizon",
    "recall_error",
    "run_capacity",
    "run_components",
    "run_context",
    "run_cost",
    "run_depth",
    "run_drift",
    "run_forgetting",
    "run_growth",
    "run_homeostasis",
    "run_horizon",
    "run_prompts",
    "run_recency",
    "run_unlearning",
    "run_updates",
    "run_worst_case",
    "use_by_age",
]

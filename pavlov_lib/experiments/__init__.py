"""Experiments: settings in, a tidy table out. They never draw."""

from .capacity import capacity_at, run_capacity, run_context, run_worst_case
from .common import GENERATORS
from .cost import FORMS, count_arithmetic, run_cost
from .depth import at_budget, run_depth
from .drift import TRACKERS, run_drift
from .features import OVERLAPPED, run_feature_maps, run_overlap
from .forgetting import MEMORIES, forgetting_horizon, run_forgetting, run_horizon
from .growth import run_growth, run_prompts
from .homeostasis import CODES, FREE_FORMS, run_components, run_homeostasis
from .recency import best_rate, best_weights, recall_error, run_recency, use_by_age
from .scoreboard import ANIMALS, run_scoreboard
from .sharpness import run_exponential, run_sharpness
from .unlearning import EDITS, run_unlearning
from .updates import run_updates

__all__ = [
    "ANIMALS",
    "CODES",
    "EDITS",
    "FORMS",
    "FREE_FORMS",
    "GENERATORS",
    "MEMORIES",
    "OVERLAPPED",
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
    "run_exponential",
    "run_feature_maps",
    "run_forgetting",
    "run_growth",
    "run_homeostasis",
    "run_horizon",
    "run_overlap",
    "run_prompts",
    "run_recency",
    "run_scoreboard",
    "run_sharpness",
    "run_unlearning",
    "run_updates",
    "run_worst_case",
    "use_by_age",
]

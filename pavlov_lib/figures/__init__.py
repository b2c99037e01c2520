"""One drawing function per result. They take a table, draw it, and return the figure; they never compute a result."""

from .capacity import draw_capacity, draw_context, draw_threshold, draw_worst_case
from .circuits import draw_circuit
from .conditioning import draw_generalisation, draw_growth, draw_prompts, draw_protocol, draw_stability
from .cost import draw_cost, draw_matches
from .depth import draw_depth, draw_readouts
from .drift import draw_drift
from .export import plotted
from .forgetting import draw_forgetting, draw_horizon, draw_recency, draw_updates
from .homeostasis import draw_components, draw_homeostasis, draw_overshoot
from .limits import draw_exponential, draw_feature_maps, draw_overlap, draw_scoreboard, draw_sharpness
from .mapping import draw_gradient
from .stacks import draw_curves, draw_hops, draw_stacks, draw_streams
from .style import RULE_STYLE, finish, heat_map, new_figure
from .unlearning import draw_unlearning

__all__ = [
    "RULE_STYLE",
    "draw_capacity",
    "draw_circuit",
    "draw_components",
    "draw_context",
    "draw_cost",
    "draw_curves",
    "draw_depth",
    "draw_drift",
    "draw_exponential",
    "draw_feature_maps",
    "draw_forgetting",
    "draw_generalisation",
    "draw_gradient",
    "draw_growth",
    "draw_homeostasis",
    "draw_hops",
    "draw_horizon",
    "draw_matches",
    "draw_overlap",
    "draw_overshoot",
    "draw_prompts",
    "draw_protocol",
    "draw_readouts",
    "draw_recency",
    "draw_scoreboard",
    "draw_sharpness",
    "draw_stability",
    "draw_stacks",
    "draw_streams",
    "draw_threshold",
    "draw_unlearning",
    "draw_updates",
    "draw_worst_case",
    "finish",
    "heat_map",
    "new_figure",
    "plotted",
]

"""One drawing function per result. They take a table, draw it, and return the figure; they never compute a result."""

from .capacity import draw_capacity, draw_context, draw_threshold, draw_worst_case
from .circuits import draw_circuit
from .depth import draw_depth, draw_readouts
from .drift import draw_drift
from .style import RULE_STYLE, heat_map, new_figure

__all__ = [
    "RULE_STYLE",
    "draw_capacity",
    "draw_circuit",
    "draw_context",
    "draw_depth",
    "draw_drift",
    "draw_readouts",
    "draw_threshold",
    "draw_worst_case",
    "heat_map",
    "new_figure",
]

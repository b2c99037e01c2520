"""Pictures of tracking a world that changes."""

from __future__ import annotations

import pandas as pd

from .style import INK, RULE_STYLE, axes_for, finish

_AXES = {
    "norm": ("norm of the association matrix", "Who keeps growing?"),
    "error": ("squared tracking error", "Who follows?"),
    "cosine": ("cosine with the present outcome", "Who points the right way?"),
}


def draw_drift(table: pd.DataFrame, ax=None, *, show: str = "error", reversal: int | None = None):
    """``show`` ("norm", "error" or "cosine") against the step, one curve per rule, with bands of two standard errors.

    Takes the table of :func:`pavlov_lib.experiments.run_drift`; returns the figure.
    A ``reversal`` is marked by a vertical line.
    """
    if show not in _AXES:
        raise ValueError(f"show must be one of {', '.join(_AXES)}; got {show!r}")
    figure, ax = axes_for(ax)
    for rule, curve in table.groupby("rule", sort=False):
        style = RULE_STYLE[rule]
        every = max(1, len(curve) // 8)
        ax.plot(curve.step, curve[show], markevery=every, **style)
        low, high = (curve[show] + side * 2 * curve[f"{show}_se"] for side in (-1, 1))
        ax.fill_between(curve.step, low, high, color=style["color"], alpha=0.18, linewidth=0)
    if reversal is not None:
        ax.axvline(reversal, color=INK, linewidth=1, linestyle=":", label="reversal")
    label, title = _AXES[show]
    finish(ax, title, xlabel="step $t$", ylabel=label, yscale="linear" if show == "cosine" else "log")
    return figure

"""Pictures of what attention costs, and of who listens to whom."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .style import RULE_STYLE, axes_for, finish, heat_map, new_figure

_SHOWN = {
    "multiply_adds": ("multiply-adds of one forward pass", "The cost of a longer context"),
    "kept": ("numbers kept for the next query", "What must be remembered"),
}
# the three linear forms are one rule, so one colour; the markers tell them apart
_FORM_STYLE = {
    # drawn wide, since the curve of linear attention over all pairs lies upon it
    "softmax": RULE_STYLE["softmax"] | {"label": "softmax", "linewidth": 5, "markersize": 10, "alpha": 0.6},
    "linear, parallel": RULE_STYLE["hebbian"] | {"label": "linear, all pairs", "marker": "P"},
    "linear, loop": RULE_STYLE["hebbian"] | {"label": "linear, step by step", "markerfacecolor": "none"},
    "linear, chunks": RULE_STYLE["hebbian"] | {"label": "linear, in chunks", "marker": "X"},
}


def draw_cost(table: pd.DataFrame, ax=None, *, show: str = "multiply_adds"):
    """``show`` ("multiply_adds" or "kept") against the length of the context, one curve per form; logarithmic axes.

    Takes the table of :func:`pavlov_lib.experiments.run_cost`; returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown.

    Examples
    --------
    >>> from pavlov_lib.experiments import run_cost
    >>> print(draw_cost(run_cost(lengths=[64, 128, 256], forms=["linear, loop"])).digest().splitlines()[1])
      linear, step by step: 3 points, y = 7.86e+05, 1.58e+06, 3.16e+06 (first, middle, last)
    """
    if show not in _SHOWN:
        raise ValueError(f"show must be one of {', '.join(_SHOWN)}; got {show!r}")
    figure, ax = axes_for(ax)
    for form, curve in table.groupby("form", sort=False):
        ax.plot(curve.t, curve[show], **_FORM_STYLE[form])
    label, title = _SHOWN[show]
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(table.t.unique()), [f"{t}" for t in sorted(table.t.unique())])
    ax.minorticks_off()
    finish(ax, title, xlabel="length of the context, $t$", ylabel=label, yscale="log")
    return figure


def draw_matches(matches: np.ndarray, names, ax=None, *, title: str = "Who listens to whom"):
    """How strongly each query (row) meets each key (column), with the numbers written in; returns the figure.

    Parameters
    ----------
    matches : array (t, t)
        Such as a masked ``Q Kᵀ``.
    names : sequence of str
        One per time step.
    """
    figure, ax = (ax.figure, ax) if ax is not None else new_figure(height=3.6)
    heat_map(ax, matches, rows=[f"$q$: {name}" for name in names], columns=[f"$k$: {name}" for name in names])
    finish(ax, title)
    return figure

"""Pictures of trained stacks: wide and shallow against narrow and deep."""

from __future__ import annotations

import pandas as pd

from .style import RULE_STYLE, SERIES_MARKERS, axes_for, finish, series_colors


def draw_stacks(table: pd.DataFrame, ax=None, *, hops: int | None = None):
    """Share of wrong answers against layers; all stacks of a curve have the same number of parameters.

    Takes the table of :func:`pavlov_lib.training.run_stacks`; returns the figure.
    With one rule there is one curve per number of hops (or only that of ``hops``);
    with several, one per rule, at ``hops`` (the most hops if not given).
    Bars are two standard errors over trials.

    Raises
    ------
    ValueError
        If the table holds no answers after so many hops.
    """
    several = table.rule.nunique() > 1
    if several and hops is None:
        hops = table.hops.max()
    if hops is not None:
        if not (table.hops == hops).any():
            raise ValueError(f"hops must be one of {sorted(table.hops.unique().tolist())}; got {hops}")
        table = table[table.hops == hops]
    figure, ax = axes_for(ax)
    groups = list(table.groupby("rule" if several else "hops", sort=False))
    for (name, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        style = {"color": color, "marker": marker, "label": f"{name} hop{'' if name == 1 else 's'}"}
        if several:
            style = RULE_STYLE[name]
        curve = curve.sort_values("layers")
        ax.errorbar(curve.layers, curve.error_rate, yerr=2 * curve.error_se, capsize=2, **style)
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(table.layers.unique()), [f"{v:g}" for v in sorted(table.layers.unique())])
    ax.minorticks_off()
    budget = table.parameters.mean()
    after = f" after {hops} hop{'' if hops == 1 else 's'}" if several else ""
    finish(
        ax,
        "Wide and shallow, or narrow and deep?",
        ylim=(-0.03, 1.03),
        xlabel=f"layers L (about {budget:,.0f} parameters in all)",
        ylabel=f"share of wrong answers{after}",
    )
    return figure

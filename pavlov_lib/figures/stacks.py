"""Pictures of trained stacks: how they learn, wide against deep, and a context that goes on."""

from __future__ import annotations

import pandas as pd

from .style import INK, PREDICTION, RULE_STYLE, SERIES_MARKERS, axes_for, finish, new_figure, series_colors


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
    figure, ax = _axes_for(ax)
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


def draw_curves(table: pd.DataFrame, ax=None):
    """Learning curves: share of wrong answers on sequences never trained on, against steps of training.

    Takes the table of :func:`pavlov_lib.training.run_curves`; returns the figure.
    Lines are means over trials, bands reach from the lowest trial to the highest.
    """
    figure, ax = _axes_for(ax)
    groups = list(table.groupby("model", sort=False))
    for (name, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.fill_between(curve.step, curve.lowest, curve.highest, color=color, alpha=0.2, linewidth=0)
        ax.plot(curve.step, curve.error_rate, color=color, marker=marker, label=name)
    finish(
        ax,
        "Learning to remember",
        ylim=(-0.03, 1.03),
        xlabel="steps of training",
        ylabel="share of wrong answers",
    )
    return figure


def draw_streams(table: pd.DataFrame, tally: pd.DataFrame):
    """Error and norm while one context follows another, one curve per rule; dashed, what counting alone can do.

    Takes the tables of :func:`pavlov_lib.training.run_streams`, one row per (rule, context), and of
    :func:`pavlov_lib.training.run_tally`; returns the figure. Bars are two standard errors over trials.

    Raises
    ------
    ValueError
        If two rows stand for one point.
    """
    if table.duplicated(["rule", "context"]).any():
        raise ValueError("rows must differ in rule or context; got several rows for one point: choose layers first")
    figure, (above, below) = new_figure(2, 1)
    figure.digits = 0
    for rule, curve in table.groupby("rule", sort=False):
        style = RULE_STYLE[rule]
        above.errorbar(curve.context, curve.error_rate, yerr=2 * curve.error_se, capsize=2, **style)
        below.errorbar(curve.context, curve.norm, yerr=2 * curve.norm_se, capsize=2, **style)
    above.plot(tally.context, tally.error_rate, **PREDICTION, label="predicted for Hebb: a tally")
    for ax in (above, below):
        ax.set_xscale("log", base=2)
        ax.set_xticks(sorted(table.context.unique()), [f"{v:g}" for v in sorted(table.context.unique())])
        ax.minorticks_off()
    finish(
        above,
        "A context that goes on: what is answered",
        ylim=(-0.03, 1.03),
        xlabel="contexts read so far, without a fresh start",
        ylabel="share of wrong answers",
    )
    finish(
        below,
        "... and how large the memory grows",
        yscale="log",
        xlabel="contexts read so far, without a fresh start",
        ylabel="norm of a matrix $\\Vert S \\Vert$",
    )
    below.get_legend().remove()  # the same rules as above
    return figure


def draw_hops(table: pd.DataFrame, predicted: dict[int, float] | None = None, ax=None):
    """Share of wrong answers against hops, one bar per rule; dots are the lowest and the highest trial.

    Takes rows of :func:`pavlov_lib.training.run_stacks` that differ in rule and hops only; returns the figure.
    ``predicted`` gives, for each number of hops, what a perfect chain of tallies would get wrong.

    Raises
    ------
    ValueError
        If two rows stand for one bar.
    """
    if table.duplicated(["rule", "hops"]).any():
        raise ValueError("rows must differ in rule or hops; got several rows for one bar: choose layers first")
    figure, ax = _axes_for(ax)
    groups = list(table.groupby("rule", sort=False))
    width = 0.8 / len(groups)
    for i, (rule, bars) in enumerate(groups):
        style, at = RULE_STYLE[rule], bars.hops + (i - (len(groups) - 1) / 2) * width
        ax.bar(at, bars.error_rate, 0.9 * width, color=style["color"], label=style["label"], yerr=2 * bars.error_se,
               error_kw={"ecolor": INK, "capsize": 3})  # fmt: skip
        for rates in (bars.lowest, bars.highest):
            ax.plot(at, rates, color=INK, marker=style["marker"], linestyle="none", fillstyle="none")
    for hops, rate in (predicted or {}).items():
        ax.plot([hops - 0.45, hops + 0.45], [rate, rate], **{**PREDICTION, "zorder": 3})
    if predicted:
        ax.plot([], [], **PREDICTION, label="a chain of tallies")
    ax.set_xticks(sorted(table.hops.unique()))
    ax.grid(False, axis="x")
    finish(
        ax,
        "Links that were wrong before",
        columns=3,
        ylim=(-0.03, 1.03),
        xlabel="hops of the question",
        ylabel="share of wrong answers",
    )
    return figure


def _axes_for(ax):
    """As :func:`axes_for`; a new figure leaves the numbers that training found out of its text."""
    figure, axes = axes_for(ax)
    if ax is None:
        figure.digits = 0
    return figure, axes

"""Pictures of forgetting: fidelity by age, the horizon, the best pace, and what is overwritten."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .style import INK, PREDICTION, RULE_STYLE, SERIES_MARKERS, axes_for, finish, series_colors

_DECAY_MARKERS = "sPXd"


def draw_forgetting(table: pd.DataFrame, ax=None):
    """Fidelity against age, one curve per memory and decay, with predictions.

    Takes the table of :func:`pavlov_lib.experiments.run_forgetting`; returns the figure.

    Examples
    --------
    >>> from pavlov_lib.experiments import run_forgetting
    >>> print(draw_forgetting(run_forgetting(["delta"], ages=[0, 3], length=8, trials=3)).digest().splitlines()[0])
    Who is remembered? (fidelity against pairs ago, the newest being 1)
    """
    figure, ax = axes_for(ax)
    markers = iter(_DECAY_MARKERS)
    for i, ((memory, decay), curve) in enumerate(table.groupby(["memory", "decay"], sort=False)):
        style = RULE_STYLE[memory] | {"linestyle": "none"}
        if memory == "hebbian+decay":
            style |= {"marker": next(markers), "label": f"decay {decay:g}"}
        elif memory == "hebbian":
            style |= {"label": "Hebb, no decay"}
        ax.errorbar(curve.age + 1, curve.fidelity, yerr=2 * curve.fidelity_se, capsize=2, **style)
        ax.plot(curve.age + 1, curve.predicted_fidelity, label=None if i else "predicted", **PREDICTION)
    _powers_of_two(ax, table.age.max() + 1)
    finish(ax, "Who is remembered?", xlabel="pairs ago, the newest being 1", ylabel="fidelity", ylim=(-0.08, 1.05))
    return figure


def draw_horizon(table: pd.DataFrame, ax=None):
    """Horizon over D against the pace of forgetting, (1 − γ²) D, one series per key dimension.

    Takes the table of :func:`pavlov_lib.experiments.run_horizon`; returns the figure.
    """
    figure, ax = axes_for(ax)
    groups = list(table.groupby("d_k"))
    for (d_k, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.errorbar(
            curve.pace, curve.horizon / curve.held, yerr=2 * curve.horizon_se / curve.held, color=color, marker=marker,
            linestyle="none", capsize=2, label=f"measured, $d_k$ = {d_k}",
        )  # fmt: skip
    pace = np.geomspace(1, table.pace.max(), 200)
    ax.plot(pace, np.log(pace) / pace, label="predicted, $\\log(y)/y$", **PREDICTION)
    ax.axvline(math.e, color=INK, linewidth=1, linestyle=":", label="$y = e$")
    finish(
        ax,
        "How far back a forgetful memory can see",
        xlabel="pace of forgetting, $y = (1 - γ^2) D$",
        ylabel="horizon / $D$",
        xscale="log",
        ylim=(0, 0.45),
    )
    ax.set_xticks([1, 2, 4, 10, 20], ["1", "2", "4", "10", "20"])
    ax.minorticks_off()
    return figure


def draw_recency(table: pd.DataFrame, ax=None):
    """Squared error of recall against what is lost per step, one curve per mean age of what is asked for.

    Takes the table of :func:`pavlov_lib.experiments.run_recency`; returns the figure.
    """
    figure, ax = axes_for(ax)
    groups = list(table.groupby("mean_age"))
    for (mean_age, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.errorbar(
            curve.loss, curve.error, yerr=2 * curve.error_se, color=color, marker=marker, linestyle="none", capsize=2,
            label=f"measured, mean age {mean_age:g}",
        )  # fmt: skip
        ax.plot(curve.loss, curve.predicted, color=color, linewidth=1.2)
        ax.plot(curve.loss, curve.possible, color=color, linewidth=1.2, linestyle=":")
    ax.plot([], [], color=INK, linewidth=1.2, label="predicted")
    ax.plot([], [], color=INK, linewidth=1.2, linestyle=":", label="best possible weights")
    finish(
        ax,
        "How fast to forget",
        xlabel="lost per step, $1 - γ$",
        ylabel="squared error of recall",
        xscale="log",
        ylim=(0, 1.02),
    )
    return figure


def draw_updates(table: pd.DataFrame, ax=None):
    """Fidelity against the number of updates, for facts that change (filled) and facts left alone (hollow).

    Takes the table of :func:`pavlov_lib.experiments.run_updates`; returns the figure.
    """
    figure, ax = axes_for(ax)
    for (facts, memory), curve in table.groupby(["facts", "memory"], sort=False):
        style = RULE_STYLE[memory] | {"label": f"{RULE_STYLE[memory]['label']}, {facts}"}
        if facts == "quiet":
            style |= {"markerfacecolor": "none", "linestyle": "--"}
        ax.errorbar(curve.updates, curve.fidelity, yerr=2 * curve.fidelity_se, capsize=2, **style)
    ax.set_xscale("symlog", base=2, linthresh=16)
    shown = sorted(table.updates.unique())
    ax.set_xticks(shown, [f"{n}" for n in shown])
    ax.minorticks_off()
    finish(
        ax,
        "Facts that change, and facts left alone",
        xlabel="updates of the busy facts",
        ylabel="fidelity to what holds now",
        ylim=(-0.08, 1.05),
    )
    return figure


def _powers_of_two(ax, most: int) -> None:
    ticks = [2**i for i in range(int(math.log2(most)) + 1)]
    ax.set_xscale("log", base=2)
    ax.set_xticks(ticks, [f"{n}" for n in ticks])
    ax.minorticks_off()

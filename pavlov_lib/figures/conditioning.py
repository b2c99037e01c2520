"""Pictures of conditioning: responses trial by trial, and what follows from them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .style import FAINT, INK, PREDICTION, RULE_STYLE, SERIES_MARKERS, axes_for, finish, series_colors

_SHOWN = {"response": "response to the test", "surprise": "surprise: outcome minus expectation"}


def draw_protocol(table: pd.DataFrame, ax=None, *, title: str, show: str = "response"):
    """Response (or ``show="surprise"``) trial by trial, with the phases and the Rescorla-Wagner prediction.

    Takes the table of :func:`pavlov_lib.protocols.run_protocol`, which gives one curve per cue,
    or several such tables joined by a column ``rule`` and cut to one cue, which gives one curve per rule.
    Returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown, or a table of several rules holds several cues or outcomes.

    Examples
    --------
    >>> from pavlov_lib.protocols import blocking, run_protocol
    >>> print(draw_protocol(run_protocol(blocking()), title="Blocking").digest().splitlines()[1])
      bell: 40 points, y = 0.2, 0.991, 0.994 (first, middle, last)
    """
    if show not in _SHOWN:
        raise ValueError(f"show must be one of {', '.join(_SHOWN)}; got {show!r}")
    if "rule" in table and len(table[["cue", "us"]].drop_duplicates()) > 1:
        raise ValueError("a table of several rules must hold one cue and one outcome; got more")
    figure, ax = axes_for(ax)
    _mark_phases(ax, table)
    for curve, style in _curves(table):
        every = max(1, len(curve) // 8)
        ax.plot(curve.trial, curve[show], markevery=every, **style)
    if show == "response":
        for i, (_, curve) in enumerate(table.groupby(["cue", "us"], sort=False)):
            first = curve.drop_duplicates("trial")
            ax.plot(
                first.trial, first.predicted, label=None if i else "Rescorla-Wagner", **(PREDICTION | {"zorder": 4})
            )
    ax.axhline(0, color=INK, linewidth=0.8)
    if table.phase.nunique() > 1:  # room for the names of the phases
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.12 * (high - low))
    finish(ax, title, xlabel="trial", ylabel=_SHOWN[show])
    return figure


def _curves(table: pd.DataFrame):
    """(rows, line style) for every rule, or for every cue and outcome."""
    if "rule" in table:
        return [(rows, RULE_STYLE[rule]) for rule, rows in table.groupby("rule", sort=False)]
    groups = list(table.groupby(["cue", "us"], sort=False))
    several = table.us.nunique() > 1
    return [
        (rows, {"color": color, "marker": marker, "label": f"{cue} → {us}" if several else cue})
        for ((cue, us), rows), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False)
    ]


def _mark_phases(ax, table: pd.DataFrame) -> None:
    """A line where a phase begins, and its name above; nothing for a schedule of one phase."""
    trials = table.drop_duplicates("trial").sort_values("trial")
    begins = trials[trials.phase != trials.phase.shift()]
    if len(begins) < 2:
        return
    for _, trial in begins.iterrows():
        if trial.trial != trials.trial.iloc[0]:
            ax.axvline(trial.trial - 0.5, color=INK, linewidth=1, linestyle=":")
        ax.annotate(
            trial.phase, (trial.trial, 1), xycoords=("data", "axes fraction"), xytext=(2, -3),
            textcoords="offset points", va="top", fontsize=9, color=INK,
            bbox={"boxstyle": "square,pad=0.15", "facecolor": FAINT, "edgecolor": "none", "alpha": 0.7},
        )  # fmt: skip


def draw_generalisation(tables: dict[str, pd.DataFrame], ax=None, *, width: int):
    """Generalisation: response to tones around the trained one after the last trial, relative to the trained one.

    Takes, by rule, the tables that :func:`pavlov_lib.protocols.run_protocol` made of
    :func:`pavlov_lib.protocols.generalisation` with that ``width``; returns the figure.
    """
    figure, ax = axes_for(ax)
    for size, (rule, table) in zip((12, 8, 4), tables.items(), strict=False):  # points that coincide stay visible
        last = table[table.trial == table.trial.max()]
        distance = np.arange(len(last)) - len(last) // 2
        ax.plot(
            distance,
            last.response / last.response.max(),
            **(RULE_STYLE[rule] | {"linestyle": "none", "markersize": size}),
        )
    cosine = np.maximum(0, 1 - np.abs(distance) / width)
    ax.plot(distance, cosine, label="cosine of the keys", **PREDICTION)
    finish(
        ax,
        "A trained tone spreads to its neighbours",
        xlabel="distance from the trained tone",
        ylabel="response, relative to the trained tone",
    )
    return figure


def draw_stability(table: pd.DataFrame, ax=None, *, writes: int):
    """Error left after repeated writes against η‖k‖²: columns ``step_size``, ``error``, ``predicted``; logarithmic."""
    figure, ax = axes_for(ax)
    ax.plot(table.step_size, table.error, **(RULE_STYLE["delta"] | {"linestyle": "none", "label": "measured"}))
    ax.plot(table.step_size, table.predicted, label=f"predicted, |1 − η‖k‖²|^{writes}", **PREDICTION)
    ax.axvline(2, color=INK, linewidth=1, linestyle=":", label="stability limit")
    finish(
        ax,
        f"How much of the error is left after {writes} writes",
        xlabel="η‖k‖²",
        ylabel="error left, as a share",
        yscale="log",
    )
    return figure


def draw_growth(table: pd.DataFrame, ax=None):
    """Norm of the association matrix against the number of writes, one curve per rule and world; logarithmic axes.

    Takes the table of :func:`pavlov_lib.experiments.run_growth`; returns the figure.
    """
    figure, ax = axes_for(ax)
    for i, ((world, rule), curve) in enumerate(table.groupby(["world", "rule"], sort=False)):
        style = RULE_STYLE[rule] | {"linestyle": "none", "label": f"{RULE_STYLE[rule]['label']}, {world}"}
        if world == "new pairs":
            style |= {"markerfacecolor": "none"}
        ax.errorbar(curve.n, curve.norm, yerr=2 * curve.norm_se, capsize=2, **style)
        ax.plot(curve.n, curve.predicted, label=None if i else "predicted", **PREDICTION)
    finish(
        ax,
        "How large the matrix becomes",
        xlabel="writes, n",
        ylabel="norm of the association matrix",
        xscale="log",
        yscale="log",
    )
    return figure


def draw_prompts(table: pd.DataFrame, ax=None):
    """Accuracy against the length of a prompt, for its own memory and another's.

    Takes the table of :func:`pavlov_lib.experiments.run_prompts`; returns the figure.
    """
    figure, ax = axes_for(ax)
    for (asked, curve), marker, color in zip(
        table.groupby("asked", sort=False), "ov", ("#0072B2", "#CC79A7"), strict=True
    ):
        ax.errorbar(
            curve.pairs, curve.accuracy, yerr=2 * curve.accuracy_se, marker=marker, color=color, capsize=2,
            label=f"asked of {asked}",
        )  # fmt: skip
    ax.plot(curve.pairs, curve.chance, label="chance", **PREDICTION)
    finish(
        ax,
        "What a prompt teaches lasts as long as the prompt",
        xlabel="pairs in the prompt",
        ylabel="share of right answers",
        xscale="log",
        ylim=(-0.03, 1.05),
    )
    return figure

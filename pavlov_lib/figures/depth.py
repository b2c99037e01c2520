"""Pictures of the tower of cards: errors against layers and heads."""

from __future__ import annotations

import pandas as pd

from .style import INK, SERIES_MARKERS, axes_for, finish, series_colors

# A failure rate of zero cannot stand on a logarithmic axis: it is drawn hollow, at this floor.
FLOOR = 1e-4


def draw_depth(table: pd.DataFrame, ax=None, *, against: str = "layers", by: str = "heads"):
    """Failure of a stack against ``against`` ("layers", "heads" or "d_k"), one curve per value of ``by``.

    Takes rows of :func:`pavlov_lib.experiments.run_depth` that differ in these two columns only; returns the figure.
    Points are measured, with two standard errors; lines are predicted.

    Raises
    ------
    ValueError
        If two rows stand for one point.
    """
    if table.duplicated([against, by]).any():
        raise ValueError(
            f"rows must differ in {against} or {by}; got several rows for one point: choose a readout first"
        )
    figure, ax = axes_for(ax)
    groups = list(table.groupby(by))
    for (value, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        curve = curve.sort_values(against)
        _points(ax, curve, against, color=color, marker=marker, label=f"measured, {_say(by, value)}")
    ax.plot([], [], color=INK, linewidth=1.2, label="predicted (lines)")
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(table[against].unique()), [f"{v:g}" for v in sorted(table[against].unique())])
    ax.minorticks_off()
    finish(
        ax,
        _TITLE[against],
        yscale="log",
        ylim=(FLOOR / 1.5, 1.5),
        xlabel=_AXIS[against],
        ylabel="failure rate of the stack",
    )
    return figure


def _points(ax, curve, against: str, *, color, marker, label: str) -> None:
    seen = curve[curve.error_rate > 0]
    ax.errorbar(
        seen[against], seen.error_rate, yerr=2 * seen.error_se, color=color, marker=marker, linestyle="none", capsize=2,
        label=label,
    )  # fmt: skip
    none = curve[curve.error_rate == 0]
    ax.plot(none[against], FLOOR + 0 * none.error_rate, color=color, marker=marker, fillstyle="none", linestyle="none")
    ax.plot(curve[against], curve.predicted.clip(lower=FLOOR), color=color, linewidth=1.2)


_AXIS = {"layers": "layers $L$", "heads": "heads $H$", "d_k": "key dimension $d_k$"}
_TITLE = {
    "layers": "Every layer is one more card to fall",
    "heads": "Heads hold the tower together",
    "d_k": "Wider keys, steadier cards",
}


def _say(column: str, value) -> str:
    words = {"heads": "head", "layers": "layer"}
    if column in words:
        return f"{value} {words[column]}{'' if value == 1 else 's'}"
    return f"$d_k$ = {value}" if column == "d_k" else str(value)


READOUT_STYLE = {
    "any": {"color": "#0072B2", "marker": "o", "label": "any head right"},
    "majority": {"color": "#D55E00", "marker": "^", "label": "majority vote"},
    "average": {"color": "#009E73", "marker": "D", "label": "averaged read-out"},
}


_READOUT_TITLE = {
    "heads": "Three ways to listen to several heads",
    "layers": "The same matrices, stacked high or side by side",
}


def draw_readouts(table: pd.DataFrame, ax=None, *, against: str = "heads"):
    """Failure against ``against``, one curve per read-out, on a logarithmic axis; lines are predicted."""
    if against not in _READOUT_TITLE:
        raise ValueError(f"against must be one of {', '.join(_READOUT_TITLE)}; got {against!r}")
    if table.duplicated([against, "readout"]).any():
        raise ValueError(f"rows must differ in {against} or readout; got several rows for one point")
    figure, ax = axes_for(ax)
    for how, curve in table.groupby("readout", sort=False):
        curve, style = curve.sort_values(against), READOUT_STYLE[how]
        _points(ax, curve, against, **style)
    ax.plot([], [], color=INK, linewidth=1.2, label="predicted (lines)")
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(table[against].unique()), [f"{v:g}" for v in sorted(table[against].unique())])
    ax.minorticks_off()
    finish(
        ax,
        _READOUT_TITLE[against],
        yscale="log",
        ylim=(FLOOR / 1.5, 1.5),
        xlabel=_AXIS[against],
        ylabel="failure rate of the stack",
    )
    return figure

"""Pictures of editing one association."""

from __future__ import annotations

import pandas as pd

from .style import INK, PREDICTION, RULE_STYLE, axes_for, finish

# Several edits do no harm at all: their markers differ in size, so that all of them stay visible at zero.
_EDIT_STYLE = {
    "hebbian": RULE_STYLE["hebbian"] | {"label": "Hebb, shown without outcome", "markersize": 12},
    "hebbian+decay": RULE_STYLE["hebbian+decay"] | {"label": "fading of everything"},
    "delta": RULE_STYLE["delta"] | {"label": "delta, once"},
    "delta, rehearsed": RULE_STYLE["delta"]
    | {"label": "delta, others rehearsed", "markerfacecolor": "none", "markersize": 9},
    "protected": {"color": INK, "marker": "x", "label": "protected write"},
}
_HARM = {
    "neighbour": "What an edit does to the neighbour",
    "others": "What an edit does to other stored pairs",
    "fresh": "What an edit does where nothing was stored",
}


def draw_unlearning(table: pd.DataFrame, ax=None, *, show: str = "neighbour"):
    """Harm against the overlap of the keys, one curve per edit; ``show`` says to whom ("neighbour", "others", "fresh").

    Takes the table of :func:`pavlov_lib.experiments.run_unlearning`; returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown.
    """
    if show not in _HARM:
        raise ValueError(f"show must be one of {', '.join(_HARM)}; got {show!r}")
    figure, ax = axes_for(ax)
    for edit, curve in table.groupby("edit", sort=False):
        style = _EDIT_STYLE[edit] | {"linestyle": "none" if show == "neighbour" else "-"}
        ax.errorbar(curve.overlap, curve[show], yerr=2 * curve[f"{show}_se"], capsize=2, **style)
    if show == "neighbour":
        for i, (_, curve) in enumerate(table.groupby("edit", sort=False)):
            ax.plot(curve.overlap, curve.predicted, label=None if i else "predicted", **PREDICTION)
    finish(
        ax,
        _HARM[show],
        xlabel="overlap of neighbour and unwanted key, k·k*",
        ylabel="squared change of the response",
        yscale="log" if show == "fresh" else "linear",
    )
    return figure

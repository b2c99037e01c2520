"""Pictures of Oja's rule: what stays in bounds, where it is stable, and which components it finds."""

from __future__ import annotations

import pandas as pd

from .style import INK, PREDICTION, RULE_STYLE, axes_for, finish

_SHOWN = {
    "norm": ("norm of the association matrix", "Homeostasis: who keeps growing?"),
    "saturated": ("share of saturated synapses", "Synapses at their ceiling"),
    "newest": ("fidelity of the pair written last", "What was heard just now"),
}
_FORM_STYLE = {
    "neuron by neuron": RULE_STYLE["oja"] | {"label": "neuron by neuron"},
    "subspace": RULE_STYLE["delta"] | {"label": "subspace form (delta, transposed)"},
}
_FOUND = {
    "first": ("squared cosine with the first component", "How much each neuron looks at the first component"),
    "principal": ("share of weights in the principal subspace", "How much of the weights is where the variance is"),
    "components": ("effective number of directions", "How many different things the neurons see"),
}


def draw_homeostasis(table: pd.DataFrame, ax=None, *, show: str = "norm"):
    """``show`` ("norm", "saturated" or "newest") against the number of writes, one curve per rule and world.

    Takes the table of :func:`pavlov_lib.experiments.run_homeostasis`; returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown.

    Examples
    --------
    >>> from pavlov_lib.experiments import run_homeostasis
    >>> print(draw_homeostasis(run_homeostasis(steps=[1, 4], trials=3)).digest().splitlines()[0])
    Homeostasis: who keeps growing? (norm of the association matrix against writes, $n$)
    """
    if show not in _SHOWN:
        raise ValueError(f"show must be one of {', '.join(_SHOWN)}; got {show!r}")
    figure, ax = axes_for(ax)
    for i, ((world, rule), curve) in enumerate(table.groupby(["world", "rule"], sort=False)):
        style = RULE_STYLE[rule] | {"linestyle": "none", "label": f"{RULE_STYLE[rule]['label']}, {world}"}
        if world == "new pairs":
            style |= {"markerfacecolor": "none"}
        ax.errorbar(curve.n, curve[show], yerr=2 * curve[f"{show}_se"], capsize=2, **style)
        ax.plot(curve.n, curve[f"predicted_{show}"], label=None if i else "predicted", **PREDICTION)
    label, title = _SHOWN[show]
    scale = {"yscale": "log"} if show == "norm" else {"ylim": (-0.03, 1.05)}
    finish(ax, title, xlabel="writes, $n$", ylabel=label, xscale="log", **scale)
    return figure


def draw_overshoot(table: pd.DataFrame, ax=None, *, writes: int):
    """Distance from rest left after repeated writes against ηv²: columns ``step_size``, ``left``, ``predicted``."""
    figure, ax = axes_for(ax)
    ax.plot(table.step_size, table.left, **(RULE_STYLE["oja"] | {"linestyle": "none", "label": "measured"}))
    ax.plot(table.step_size, table.predicted, label=f"predicted, $|1 - ηv_i^2|^{{{writes}}}$", **PREDICTION)
    ax.axvline(2, color=INK, linewidth=1, linestyle=":", label="stability limit")
    finish(
        ax,
        f"How far a row is from rest after {writes} writes",
        xlabel="$ηv_i^2$",
        ylabel="distance from rest, as a share",
        yscale="log",
    )
    return figure


def draw_components(table: pd.DataFrame, ax=None, *, show: str = "components"):
    """``show`` ("first", "principal" or "components") against the number of inputs, one curve per form.

    Takes the table of :func:`pavlov_lib.experiments.run_components`; returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown.
    """
    if show not in _FOUND:
        raise ValueError(f"show must be one of {', '.join(_FOUND)}; got {show!r}")
    figure, ax = axes_for(ax)
    for form, curve in table.groupby("form", sort=False):
        ax.errorbar(curve.n, curve[show], yerr=2 * curve[f"{show}_se"], capsize=2, **_FORM_STYLE[form])
    label, title = _FOUND[show]
    finish(ax, title, xlabel="inputs shown, $n$", ylabel=label, xscale="log")
    return figure

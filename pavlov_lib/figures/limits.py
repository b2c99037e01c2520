"""Pictures of what the exponential changes: sharpness, capacity, feature maps, shared directions, behaviour."""

from __future__ import annotations

import matplotlib as mpl
import pandas as pd

from .style import INK, PREDICTION, RULE_STYLE, SERIES_MARKERS, axes_for, finish, new_figure, series_colors

_SHOWN = {
    "fidelity": ("fidelity, mean cosine", "The exponential sharpens"),
    "error_rate": ("share of wrong items", "How often another item comes up"),
}
_TRIANGLES = "v<>^"
_MEMORY_STYLE = {
    "linear": RULE_STYLE["hebbian"] | {"label": "linear"},
    "linear, keys centred": RULE_STYLE["hebbian"] | {"label": "linear, keys centred", "markerfacecolor": "none"},
    "delta": RULE_STYLE["delta"],
    "softmax": RULE_STYLE["softmax"],
    "softmax, sharper": RULE_STYLE["softmax"] | {"label": "softmax, sharper", "markerfacecolor": "none"},
}


def draw_sharpness(table: pd.DataFrame, ax=None, *, show: str = "fidelity"):
    """``show`` ("fidelity" or "error_rate") against the number of pairs, for linear attention and softmax at several β.

    Takes the table of :func:`pavlov_lib.experiments.run_sharpness`; returns the figure.

    Raises
    ------
    ValueError
        If ``show`` is unknown.
    """
    if show not in _SHOWN:
        raise ValueError(f"show must be one of {', '.join(_SHOWN)}; got {show!r}")
    figure, ax = axes_for(ax)
    se = {"fidelity": "fidelity_se", "error_rate": "error_se"}[show]
    line = "none" if show == "fidelity" else "-"
    for i, (style, curve) in enumerate(_by_sharpness(table)):
        ax.errorbar(curve.n, curve[show], yerr=2 * curve[se], capsize=2, **(style | {"linestyle": line}))
        if show == "fidelity":
            ax.plot(curve.n, curve.predicted, label=None if i else "predicted", **PREDICTION)
    label, title = _SHOWN[show]
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(table.n.unique()), [f"{n}" for n in sorted(table.n.unique())])
    ax.minorticks_off()
    finish(ax, title, xlabel="pairs stored, $n$", ylabel=label, ylim=(-0.03, 1.05))
    return figure


def _by_sharpness(table: pd.DataFrame):
    """(style, rows) for linear attention and for softmax at each β, the sharper the darker."""
    betas = sorted(table.beta[table.memory == "softmax"].unique())
    for (memory, beta), curve in table.groupby(["memory", "beta"], sort=False):
        style = RULE_STYLE["hebbian"] | {"label": "linear"}
        if memory == "softmax":
            i = betas.index(beta)
            style = RULE_STYLE["softmax"] | {"label": f"softmax, β = {beta:g}", "marker": _TRIANGLES[i % 4]}
            style |= {"color": _shade(style["color"], (i + 1) / len(betas))}
        yield style, curve


def _shade(color: str, share: float) -> tuple:
    """The colour itself at 1/2, lighter below, darker above."""
    towards = (0, 0, 0) if share > 0.5 else (1, 1, 1)
    amount = abs(share - 0.5)
    return tuple((1 - amount) * x + amount * y for x, y in zip(mpl.colors.to_rgb(color), towards, strict=True))


def draw_exponential(table: pd.DataFrame, ax=None):
    """Pairs held at an error rate against the key dimension, on a logarithmic axis, with the closed form.

    Takes the table of :func:`pavlov_lib.experiments.run_exponential`; returns the figure.
    """
    figure, ax = axes_for(ax)
    for style, curve in _by_sharpness(table):
        ax.errorbar(curve.d_k, curve.capacity, yerr=2 * curve.capacity_se, capsize=2, **(style | {"linestyle": "none"}))
    ax.plot(curve.d_k, curve.nearest, label="closed form, nearest key", **PREDICTION)
    finish(
        ax,
        "A straight line here is an exponential",
        xlabel="key dimension $d_k$",
        ylabel="pairs held",
        yscale="log",
    )
    return figure


def draw_feature_maps(table: pd.DataFrame, ax=None):
    """Fidelity against the number of random features, one series per β, with softmax and plain linear attention.

    Takes the table of :func:`pavlov_lib.experiments.run_feature_maps`; returns the figure.
    """
    figure, ax = axes_for(ax)
    random = table[table.feature_map == "random features"]
    groups = list(random.groupby("beta"))
    for (beta, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.errorbar(
            curve.features, curve.fidelity, yerr=2 * curve.fidelity_se, color=color, marker=marker, capsize=2,
            label=f"random features, β = {beta:g}",
        )  # fmt: skip
        exact = table[(table.feature_map == "softmax") & (table.beta == beta)].fidelity.iloc[0]
        ax.axhline(exact, color=color, linewidth=1.2, linestyle=":")
    ax.plot([], [], color=INK, linewidth=1.2, linestyle=":", label="softmax, same β")
    for name, marker, fill in (("identity", "o", "full"), ("elu + 1", "s", "none")):
        row = table[table.feature_map == name]
        style = RULE_STYLE["hebbian"] | {"marker": marker, "fillstyle": fill, "label": name, "linestyle": "none"}
        ax.errorbar(row.features, row.fidelity, yerr=2 * row.fidelity_se, capsize=2, **style)
    ax.set_xscale("log", base=2)
    ax.set_xticks(sorted(random.features.unique()), [f"{m}" for m in sorted(random.features.unique())])
    ax.minorticks_off()
    finish(
        ax,
        "How many features stand in for an exponential?",
        xlabel="features, $m$",
        ylabel="fidelity, mean cosine",
        ylim=(0, 1.0),
    )
    return figure


def draw_overlap(table: pd.DataFrame, ax=None):
    """Fidelity against the overlap of all keys, one curve per memory, with predictions.

    Takes the table of :func:`pavlov_lib.experiments.run_overlap`; returns the figure.
    """
    figure, ax = axes_for(ax)
    for i, (memory, curve) in enumerate(table.groupby("memory", sort=False)):
        line = "-" if memory == "delta" else "none"
        style = _MEMORY_STYLE[memory] | {"linestyle": line}
        ax.errorbar(curve.overlap, curve.fidelity, yerr=2 * curve.fidelity_se, capsize=2, **style)
        ax.plot(curve.overlap, curve.predicted, label=None if i else "predicted", **PREDICTION)
    finish(
        ax,
        "When all keys resemble each other",
        xlabel="overlap of two keys, ρ",
        ylabel="fidelity, mean cosine",
        ylim=(0, 1.05),
    )
    return figure


def draw_scoreboard(table: pd.DataFrame):
    """Which phenomena of conditioning each kind of attention shows: a filled mark for yes, a hollow one for no.

    Takes the table of :func:`pavlov_lib.experiments.run_scoreboard`; returns the figure.
    """
    animals, phenomena = list(table.animal.unique()), list(table.phenomenon.unique())
    figure, ax = new_figure(height=0.9 + 0.3 * len(phenomena))
    for shown, fill, label in ((True, "full", "shown"), (False, "none", "not shown")):
        rows = table[table.shown == shown]
        ax.plot(
            rows.animal.map(animals.index), rows.phenomenon.map(phenomena.index), color=INK, marker="o", markersize=9,
            fillstyle=fill, linestyle="none", label=label,
        )  # fmt: skip
    ax.set_xticks(range(len(animals)), [animal.replace(" ", "\n", 1) for animal in animals])
    ax.set_yticks(range(len(phenomena)), [name.removesuffix(" extinction effect") for name in phenomena])
    ax.set_xlim(-0.5, len(animals) - 0.5)
    ax.invert_yaxis()
    finish(ax, "Attention in the laboratory", columns=1)
    ax.get_legend().set_bbox_to_anchor((0, -0.11))
    return figure

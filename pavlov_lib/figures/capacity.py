"""Pictures of memory capacity."""

from __future__ import annotations

import numpy as np
import pandas as pd

from .. import theory
from .style import PREDICTION, SERIES_MARKERS, axes_for, finish, series_colors


def draw_capacity(table: pd.DataFrame, ax=None, *, show: str = "fidelity"):
    """Fidelity (or ``show="error"``) against load n/d_k, one curve per key dimension, with the prediction.

    Takes the table of :func:`pavlov_lib.experiments.run_capacity`; returns the figure.

    Examples
    --------
    >>> from pavlov_lib.experiments import run_capacity
    >>> print(draw_capacity(run_capacity(dims=[16], loads=[1.0, 2.0], trials=5)).digest().splitlines()[0])
    A bucket fills: how well an average pair is recalled (retrieval fidelity, mean cosine against load $n/d_k$)
    """
    figure, ax = axes_for(ax)
    groups = list(table.groupby("d_k"))
    for (d_k, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.errorbar(
            curve.n / d_k, curve[show], yerr=2 * curve[f"{show}_se"], color=color, marker=marker, linestyle="none",
            capsize=2, label=f"measured, $d_k$ = {d_k}",
        )  # fmt: skip
        ax.plot(curve.n / d_k, curve[f"predicted_{show}"], color=color, linewidth=1.2, alpha=0.7)
    _, widest = groups[-1]
    ax.plot(widest.n / widest.d_k, widest[f"predicted_{show}"], label="predicted", **PREDICTION)
    names = {"fidelity": "retrieval fidelity, mean cosine", "error": "mean squared error of recall"}
    finish(ax, "A bucket fills: how well an average pair is recalled", xlabel="load $n/d_k$", ylabel=names[show])
    return figure


def draw_threshold(thresholds: pd.DataFrame, ax=None, *, tau: float = 0.9):
    """Pairs held at mean fidelity ``tau`` against key dimension, with the predicted straight line."""
    figure, ax = axes_for(ax)
    ax.errorbar(
        thresholds.d_k, thresholds.capacity, yerr=2 * thresholds.capacity_se, color="#0072B2", marker="o",
        linestyle="none", capsize=2, label="measured",
    )  # fmt: skip
    d = np.linspace(0, thresholds.d_k.max() * 1.05, 50)
    slope = theory.capacity_slope(tau)
    ax.plot(d, 1 + slope * d, label=f"predicted, 1 + {slope:.4f} $d_k$", **PREDICTION)
    finish(
        ax,
        "Average case: capacity is a straight line",
        xlabel="key dimension $d_k$",
        ylabel=f"pairs held at fidelity {tau:g}",
    )
    return figure


def draw_worst_case(table: pd.DataFrame, ax=None):
    """Pairs that survive conspiring values against key dimension, on logarithmic axes, with the fitted power."""
    figure, ax = axes_for(ax)
    ax.errorbar(
        table.d_k, table.capacity, yerr=2 * table.capacity_se, color="#D55E00", marker="^", linestyle="none", capsize=2,
        label="measured: every item survives",
    )  # fmt: skip
    ax.plot(table.d_k, table.typical_item, label="closed form: the typical item survives", **PREDICTION)
    ax.plot(
        table.d_k, 1 + theory.capacity_slope(0.9) * table.d_k, color="#0072B2", linewidth=1.2,
        label="average case at fidelity 0.9",
    )  # fmt: skip
    finish(
        ax,
        "Worst case: capacity grows as a square root",
        columns=1,
        xscale="log",
        yscale="log",
        xlabel="key dimension $d_k$",
        ylabel="pairs",
    )
    return figure


def draw_context(table: pd.DataFrame, ax=None):
    """Fidelity of the first association against the length of the context, one curve per key dimension."""
    figure, ax = axes_for(ax)
    groups = list(table.groupby("d_k"))
    for (d_k, curve), color, marker in zip(groups, series_colors(len(groups)), SERIES_MARKERS, strict=False):
        ax.errorbar(
            curve.n, curve.fidelity, yerr=2 * curve.fidelity_se, color=color, marker=marker, linestyle="none",
            capsize=2, label=f"measured, $d_k$ = {d_k}",
        )  # fmt: skip
        ax.plot(curve.n, curve.predicted_fidelity, color=color, linewidth=1.2, alpha=0.7)
    ax.plot([], [], label="predicted (thin lines)", color=PREDICTION["color"], linewidth=1.2)
    finish(
        ax,
        "Newer pairs bury the first one",
        xscale="log",
        xlabel="pairs in the context, $n$",
        ylabel="fidelity of the first pair",
        ylim=(0, 1.05),
    )
    return figure

"""Pictures of single memories."""

from __future__ import annotations

import pandas as pd

from .style import PREDICTION, RULE_STYLE, axes_for, finish


def draw_gradient(table: pd.DataFrame, ax=None):
    """Response against the similarity of test stimulus and bell, with the predicted line; returns the figure.

    The table has the columns similarity, response, response_se and predicted.
    """
    figure, ax = axes_for(ax)
    style = RULE_STYLE["hebbian"] | {"label": "measured"}
    ax.errorbar(table.similarity, table.response, yerr=2 * table.response_se, linestyle="none", capsize=2, **style)
    ax.plot(table.similarity, table.predicted, label="predicted", **PREDICTION)
    finish(
        ax,
        "The closer the tone, the stronger the response",
        xlabel="similarity of test and bell, q·k",
        ylabel="response along the food",
    )
    return figure

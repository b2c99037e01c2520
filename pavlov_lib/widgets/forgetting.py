"""The horizon of forgetting: a memory that lets go of old pairs can hold the new ones."""

from __future__ import annotations

import numpy as np

from .. import theory
from ..rules import RULES
from .base import Explorer, counted, generator, packed_normal, series, unit_rows, unpacked
from .controls import Slider
from .svg import fixed

CONTEXT, WIDEST = 96, 64


def data() -> dict:
    """Keys and values of a long context; smaller dimensions use the first columns."""
    rng = generator(13)
    return {"keys": packed_normal(rng, CONTEXT, WIDEST), "values": packed_normal(rng, CONTEXT, WIDEST)}


def view(data: dict, *, decay: float, d_k: int) -> dict:
    """Fidelity by age, and how far back a pair's own trace outweighs the noise of all others."""
    keys, values = (unit_rows(unpacked(data[name])[:, :d_k]) for name in ("keys", "values"))
    _, S = RULES["hebbian"].scan(keys, values, keys, decay=decay)
    reads = keys @ S.T
    measured = ((reads * values).sum(-1) / np.sqrt((reads * reads).sum(-1)))[::-1]
    predicted = theory.expected_recall("hebbian", CONTEXT, d_k, d_k, decay=decay)[1][::-1]
    without = theory.expected_recall("hebbian", CONTEXT, d_k, d_k)[1][::-1]
    ages = range(CONTEXT)
    trace = decay ** np.arange(CONTEXT)
    noise = np.sqrt(((trace * trace).sum() - trace * trace) / d_k)
    horizon = int((trace > noise).sum())
    time = {"label": "age: pairs written since", "low": 0, "high": CONTEXT, "whole": True}
    marks = [{"x": horizon, "label": "horizon"}] if 0 < horizon < CONTEXT else []
    return {
        "panels": [
            {
                "kind": "lines",
                "title": "How well each pair is recalled",
                "x": time,
                "y": {"label": "fidelity (cosine)", "low": min(0.0, float(measured.min())), "high": 1},
                "marks": marks,
                "series": [
                    series("measured", "hebbian+decay", ages, measured, points=True),
                    series("predicted", "ink", ages, predicted, line=True, dash=True),
                    series("without decay", "hebbian", ages, without, line=True),
                ],
            },
            {
                "kind": "lines",
                "title": "Own trace, and noise of all other pairs",
                "x": time,
                "y": {"label": "strength", "low": 0, "high": max(1.0, float(noise.max())) * 1.05},
                "marks": marks,
                "series": [
                    series("own trace", "first", ages, trace, line=True),
                    series("noise", "second", ages, noise, line=True, dash=True),
                ],
            },
        ],
        "words": (
            f"Of {CONTEXT} pairs, the newest pair is recalled with fidelity {fixed(float(measured[0]), 2)}, the oldest "
            f"with {fixed(float(measured[-1]), 2)}. The trace of the newest {counted(horizon, 'pair')} is stronger "
            "than the noise."
        ),
    }


FORGETTING = Explorer(
    "forgetting",
    "The horizon",
    "Begin without forgetting, at 1.00. Let go of a little more at each step: what is won, and what is lost?",
    (
        Slider("decay", "Kept per step γ", 0.8, 1.0, 0.01, 0.95, 2),
        Slider("d_k", "Key dimension", 8, WIDEST, 8, 32),
    ),
    data,
    view,
)

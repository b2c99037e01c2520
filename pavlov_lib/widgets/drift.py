"""A world that turns: how each rule follows outcomes that change all the time, or all at once."""

from __future__ import annotations

import numpy as np

from ..rules import RULES
from .base import Explorer, generator, packed_normal, series, unit_rows, unpacked
from .controls import Choice, Slider, Switch
from .svg import fixed

CUES, SIZE, STEPS = 8, 16, 200
TRACKERS = {"hebbian": "Hebb", "hebbian+decay": "Hebb with decay", "delta": "delta", "oja": "Oja"}


def data() -> dict:
    """Bells, two directions for the outcome of each, and the order in which the bells come."""
    rng = generator(11)
    tables = {name: packed_normal(rng, CUES, SIZE) for name in ("keys", "start", "across")}
    order = [int(cue) for _ in range(STEPS // CUES) for cue in rng.permutation(CUES)]
    return {**tables, "order": order, "trackers": TRACKERS}


def turning(data: dict):
    """Bells and the two unit directions between which each outcome turns."""
    keys, start, across = (unit_rows(unpacked(data[name])) for name in ("keys", "start", "across"))
    return keys, start, unit_rows(across - (across * start).sum(-1, keepdims=True) * start)


def track(data: dict, name: str, angle: float, reversal: bool, rate: float, decay: float):
    """Norm of the association matrix and squared error of recall after each step, for one rule."""
    keys, start, across = turning(data)
    # the decayed rule's rate is scaled so that the sum of its fading pairings is the rate itself
    settings = {"rate": rate * (1 - decay**CUES), "decay": decay} if name == "hebbian+decay" else {"rate": rate}
    rule = RULES[name.split("+")[0]]
    S, norms, errors = np.zeros((SIZE, SIZE)), [], []
    for step, cue in enumerate(data["order"], 1):
        sign = -1.0 if reversal and step >= STEPS // 2 else 1.0
        outcomes = sign * (np.cos(angle * step) * start + np.sin(angle * step) * across)
        S = rule.write(S, keys[cue], outcomes[cue], **settings)
        norms.append(float(np.sqrt((S * S).sum())))
        errors.append(float(((keys @ S.T - outcomes) ** 2).sum(-1).mean()))
    return norms, errors


def view(data: dict, *, show: str, angle: float, reversal: bool, rate: float, decay: float) -> dict:
    """Error and norm of the chosen rules against time."""
    names = list(TRACKERS) if show == "all" else [show]
    tracks = {name: track(data, name, angle, reversal, rate, decay) for name in names}
    steps = range(1, STEPS + 1)
    time = {"label": "step", "low": 0, "high": STEPS, "whole": True}
    marks = [{"x": STEPS // 2, "label": "reversal"}] if reversal else []
    highest = max(max(norms) for norms, _ in tracks.values())
    parts = [f"{TRACKERS[x]} error {fixed(tracks[x][1][-1], 3)}, norm {fixed(tracks[x][0][-1], 1)}" for x in names]
    return {
        "panels": [
            {
                "kind": "lines",
                "title": "Squared error of recall",
                "x": time,
                "y": {"label": "squared error, in powers of ten", "low": 0.0001, "high": 1000,
                      "log": True},
                "marks": marks,
                "series": [series(TRACKERS[x], x, steps, tracks[x][1], line=True, points=25) for x in names],
            },
            {
                "kind": "lines",
                "title": "Size of the association matrix",
                "x": time,
                "y": {"label": "norm", "low": 0, "high": highest * 1.05},
                "marks": marks,
                "series": [series(TRACKERS[x], x, steps, tracks[x][0], line=True, points=25) for x in names],
            },
        ],
        "words": f"At step {STEPS}: {'; '.join(parts)}.",
    }  # fmt: skip


DRIFT = Explorer(
    "drift",
    "A world that changes",
    "Let the outcomes turn faster and see who follows. Then turn reversal on: all outcomes flip at half time.",
    (
        Choice("show", "Show", (("all", "all rules"), *TRACKERS.items()), "all"),
        Slider("angle", "Turn per step (radians)", 0.0, 0.05, 0.002, 0.01, 3),
        Switch("reversal", "All outcomes flip at half time", False),
        Slider("rate", "Learning rate η", 0.1, 1.0, 0.1, 1.0, 1),
        Slider("decay", "Kept per step, with decay", 0.8, 0.99, 0.01, 0.95, 2),
    ),
    data,
    view,
)

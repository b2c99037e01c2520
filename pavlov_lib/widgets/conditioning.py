"""The dog, the bell and the light: write trial by trial, and watch the association matrix."""

from __future__ import annotations

import numpy as np

from ..rules import RULES, read
from .base import Explorer, counted, plain, series
from .controls import RULE_OPTIONS, Choice, Slider, Trials
from .svg import fixed

CUES = {"bell": (1.0, 0.0), "light": (0.0, 1.0), "both": (1.0, 1.0)}
OUTCOMES = {"food": (1.0, 0.0), "shock": (0.0, 1.0), "nothing": (0.0, 0.0)}
SPOKEN = {"bell": "bell", "light": "light", "both": "bell and light"}


def view(data: dict, *, rule: str, rate: float, trials: tuple[str, ...]) -> dict:
    """Replay the trials under a rule; what the dog has learned, does, and did."""
    S, log = np.zeros((2, 2)), []
    past = {"bell": [0.0], "light": [0.0]}
    for number, trial in enumerate(trials, 1):
        cue, outcome = trial.split("+")
        key, value = np.array(CUES[cue]), np.array(OUTCOMES[outcome])
        expected = float(read(S, key)[0])
        S = RULES[rule].write(S, key, value, rate=rate)
        for name in past:
            past[name].append(float(read(S, np.array(CUES[name]))[0]))
        after = float(read(S, key)[0])
        log.append(
            f"Trial {number}: {SPOKEN[cue]}, then {outcome}. Food expected before: {fixed(expected, 2)}, "
            f"after: {fixed(after, 2)}."
        )
    reads = {cue: read(S, np.array(key)) for cue, key in CUES.items()}
    size = max(1.0, float(np.abs(S).max()))
    highest = max(1.0, *(float(r.max()) for r in reads.values()), *past["bell"], *past["light"])
    lowest = min(0.0, *(float(r.min()) for r in reads.values()), *past["bell"], *past["light"])
    count = len(trials)
    return {
        "panels": [
            {
                "kind": "heat",
                "title": "Association matrix S",
                "rows": ["food", "shock"],
                "columns": ["bell", "light"],
                "values": plain(S),
                "limit": size,
            },
            {
                "kind": "bars",
                "title": "What the dog expects now",
                "x": {"label": "expected amount", "low": lowest, "high": highest * 1.05},
                "bars": [
                    {"label": f"{cue} → {outcome}", "value": float(reads[cue][i]), "style": style}
                    for i, (outcome, style) in enumerate((("food", "first"), ("shock", "second")))
                    for cue in CUES
                ],
            },
            {
                "kind": "lines",
                "title": "Food expected, trial after trial",
                "x": {"label": "trial", "low": 0, "high": max(10, count), "whole": True},
                "y": {"label": "expected food", "low": lowest, "high": highest * 1.05},
                "series": [
                    series(f"{cue} alone", style, range(count + 1), past[cue], line=True, points=count <= 30)
                    for cue, style in (("bell", "first"), ("light", "second"))
                ],
            },
        ],
        "words": (
            f"After {counted(count, 'trial')} the bell alone makes the dog expect "
            f"{fixed(past['bell'][-1], 2)} of the food, the light alone {fixed(past['light'][-1], 2)}, "
            f"both together {fixed(float(reads['both'][0]), 2)}."
        ),
        "log": log[::-1][:6],
    }


CONDITIONING = Explorer(
    "conditioning",
    "Train the dog",
    "Pair the bell with food a few times. Then present the bell with nothing, and change the rule: the same trials are "
    "replayed under it.",
    (
        Choice("rule", "Learning rule", RULE_OPTIONS, "delta"),
        Slider("rate", "Learning rate η", 0.05, 1.0, 0.05, 0.3, 2),
        Trials(
            "trials",
            "Next trial",
            (("bell", "Bell"), ("light", "Light"), ("both", "Both")),
            (("food", "Food"), ("shock", "Shock"), ("nothing", "Nothing")),
            ("bell+food",) * 4,
            200,
        ),
    ),
    lambda: {"cues": CUES, "outcomes": OUTCOMES, "spoken": SPOKEN},
    view,
)

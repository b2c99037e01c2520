"""Classical protocols under each rule: extinction, reacquisition, blocking and their controls."""

from __future__ import annotations

from ..protocols import blocking, extinction, overexpectation, overshadowing, reacquisition, run_protocol
from ..rules import RULES
from .base import Explorer, plain, series
from .controls import RULE_OPTIONS, Choice, Slider
from .svg import fixed

SCHEDULES = {
    "extinction": extinction(acquisition=12, extinction=12),
    "reacquisition": reacquisition(acquisition=10, extinction=10, reacquisition=10),
    "blocking": blocking(pretraining=15, compound=15),
    "overshadowing": overshadowing(compound=20),
    "overexpectation": overexpectation(separate=15, compound=15),
}
STYLES = ("first", "second", "third")


def data() -> dict:
    """Every schedule as keys, outcomes, probes and phases."""
    return {
        name: {
            "keys": plain(schedule.keys),
            "food": [float(dict(trial.us).get("food", 0)) for trial in schedule.trials],
            "probes": [[probe, plain(query)] for (probe, _), query in
                       zip(schedule.probes, schedule.queries, strict=True)],
            "phases": [trial.phase for trial in schedule.trials],
        }
        for name, schedule in SCHEDULES.items()
    }  # fmt: skip


def view(data: dict, *, protocol: str, rule: str, rate: float) -> dict:
    """Responses to the bell and the light, and the surprise, trial after trial."""
    table = run_protocol(SCHEDULES[protocol], rule=RULES[rule], rate=rate)
    probes = list(dict.fromkeys(table["cue"]))
    responses = {probe: plain(table[table["cue"] == probe]["response"]) for probe in probes}
    surprise = plain(table[table["cue"] == probes[0]]["surprise"])
    trials = range(1, len(surprise) + 1)
    phases = data[protocol]["phases"]
    marks = [{"x": i + 1, "label": phase} for i, phase in enumerate(phases) if i == 0 or phase != phases[i - 1]]
    time = {"label": "trial", "low": 0, "high": len(surprise), "whole": True}

    def scale(numbers):
        return {"low": min(0.0, *numbers), "high": max(1.0, *numbers) * 1.05}

    ends = ", ".join(f"{probe} {fixed(responses[probe][-1], 2)}" for probe in probes)
    return {
        "panels": [
            {
                "kind": "lines",
                "title": "Response",
                "x": time,
                "y": {"label": "expected food", **scale([x for y in responses.values() for x in y])},
                "marks": marks,
                "series": [
                    series(probe, style, trials, responses[probe], line=True, points=True)
                    for probe, style in zip(probes, STYLES, strict=False)
                ],
            },
            {
                "kind": "lines",
                "title": "Surprise",
                "x": time,
                "y": {"label": "food that came minus food expected", **scale(surprise)},
                "marks": marks,
                "series": [series("surprise", "ink", trials, surprise, line=True, points=True)],
            },
        ],
        "words": f"Responses at the end of {protocol}: {ends}. The last surprise was {fixed(surprise[-1], 2)}.",
    }


EXTINCTION = Explorer(
    "extinction",
    "The laboratory",
    "Watch the delta rule extinguish, then choose Hebb. In blocking, look at the light: was there any surprise left to "
    "learn from?",
    (
        Choice("protocol", "Protocol", tuple((name, name) for name in SCHEDULES), "extinction"),
        Choice("rule", "Learning rule", RULE_OPTIONS, "delta"),
        Slider("rate", "Learning rate η", 0.05, 0.9, 0.05, 0.3, 2),
    ),
    data,
    view,
)

"""The tower of cards: where errors enter a stack of memories, and how they are carried up."""

from __future__ import annotations

import math

import numpy as np

from .. import theory
from .base import Explorer, counted, generator, series
from .controls import Choice, Slider
from .svg import fixed

HIGHEST, CHAINS = 24, 30
READOUT_OPTIONS = (("any", "any head right"), ("majority", "majority vote"), ("average", "averaged"))


def data() -> dict:
    """The luck of every chain at every layer, and the quadrature of :func:`pavlov_lib.theory.head_failure`."""
    # ten digits: enough for the page, and the same on every machine that solves for the nodes
    tables = {"hermite": np.polynomial.hermite_e.hermegauss(40), "legendre": np.polynomial.legendre.leggauss(100)}
    nodes = {name: [[float(f"{x:.10g}") for x in part] for part in table] for name, table in tables.items()}
    return {"luck": generator(3).integers(0, 10_000, (HIGHEST, CHAINS)).tolist(), **nodes}


def chance(p: float) -> str:
    """A probability in words: per cent, or one in so many, with two leading digits."""
    if p >= 0.001:
        return f"{fixed(100 * p, 1)} %"
    if p < 1e-12:
        return "less than 1 in 1,000,000,000,000"
    scale = 1
    while 1 / p / scale >= 100:
        scale *= 10
    return f"1 in {math.floor(1 / p / scale + 0.5) * scale:,}"


def climb(luck, layer_failure: float, layers: int) -> list[list[int]]:
    """The fate of every chain on every floor: 0 right, 1 the error enters here, 2 it was carried up."""
    fates, fallen = [], [False] * CHAINS
    for floor in luck[:layers]:
        enters = [not was and (u + 0.5) / 10_000 < layer_failure for u, was in zip(floor, fallen, strict=True)]
        fates.append([2 if was else int(new) for was, new in zip(fallen, enters, strict=True)])
        fallen = [was or new for was, new in zip(fallen, enters, strict=True)]
    return fates


def view(data: dict, *, layers: int, heads: int, n: int, d_k: int, readout: str) -> dict:
    """Failure of the stack after each layer, and thirty chains that climb it."""
    q = theory.stack_prediction(readout, 1, heads, n, d_k, d_k)
    single = theory.head_failure(n, d_k, d_k)
    floors = climb(data["luck"], q, layers)
    steps = range(1, layers + 1)
    failure = [1 - (1 - q) ** layer for layer in steps]
    return {
        "panels": [
            {"kind": "tower", "title": f"{CHAINS} chains through {counted(layers, 'layer')}", "floors": floors},
            {
                "kind": "lines",
                "title": "Probability that a chain is wrong",
                "x": {"label": "after layer", "low": 0, "high": max(layers, 4), "whole": True},
                "y": {"label": "probability", "low": 0, "high": 1},
                "series": [
                    series("predicted", "first", steps, failure, line=True, points=layers <= 12),
                    series("if errors just add up", "ink", steps, [min(layer * q, 1) for layer in steps],
                           line=True, dash=True),
                    series("with a single head", "second", steps, [1 - (1 - single) ** layer for layer in steps],
                           line=True),
                    series("these chains", "third", steps, [sum(f > 0 for f in floor) / CHAINS for floor in floors],
                           points=True),
                ],
            },
        ],
        "words": (
            f"One head fails with probability {chance(single)}, a layer of {counted(heads, 'head')} with {chance(q)}, "
            f"and a stack of {counted(layers, 'layer')} with {chance(failure[-1])}."
        ),
    }  # fmt: skip


DEPTH = Explorer(
    "depth",
    "Build the tower",
    "Start with one head and add layers until most chains fall. Then steady every floor with more heads.",
    (
        Slider("layers", "Layers L", 1, HIGHEST, 1, 8),
        Slider("heads", "Heads per layer H", 1, 8, 1, 1),
        Slider("n", "Pairs per head n", 2, 256, 2, 64),
        Slider("d_k", "Key dimension", 8, 64, 8, 32),
        Choice("readout", "Heads combine by", READOUT_OPTIONS, "any"),
    ),
    data,
    view,
)

"""How many pairs fit: fill one association matrix, ring every bell, and compare with the prediction."""

from __future__ import annotations

import numpy as np

from .. import theory
from ..rules import RULES
from .base import Explorer, counted, generator, packed_normal, series, unit_rows, unpacked
from .controls import RULE_OPTIONS, Choice, Slider
from .svg import fixed

MOST, WIDEST = 96, 64
COUNTS = (1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 80, 96)


def data() -> dict:
    """Keys and values of the largest memory; smaller ones use the first rows and columns."""
    rng = generator(7)
    return {
        "keys": packed_normal(rng, MOST, WIDEST),
        "values": packed_normal(rng, MOST, WIDEST),
        "counts": list(COUNTS),
    }


def recalled(keys: np.ndarray, values: np.ndarray, rule: str) -> np.ndarray:
    """Cosine between what each bell recalls and the food it was paired with, oldest pair first."""
    _, S = RULES[rule].scan(keys, values, keys)
    reads = keys @ S.T
    length = np.sqrt((reads * reads).sum(-1))
    return (reads * values).sum(-1) / np.where(length > 0, length, 1)


def view(data: dict, *, n: int, d_k: int, rule: str) -> dict:
    """Fidelity of every pair at n, and of the average pair against n."""
    # the first coordinates of a normal vector are normal too: cut to size, then to length 1
    keys, values = (unit_rows(unpacked(data[name])[:, :d_k]) for name in ("keys", "values"))
    each = recalled(keys[:n], values[:n], rule)
    predicted_each = theory.expected_recall(rule, n, d_k, d_k)[1]
    average = [float(recalled(keys[:m], values[:m], rule).mean()) for m in data["counts"]]
    predicted = [float(theory.expected_recall(rule, m, d_k, d_k)[1].mean()) for m in range(1, MOST + 1)]
    worst = float(each.min())
    items, counts = range(1, n + 1), range(1, MOST + 1)
    return {
        "panels": [
            {
                "kind": "lines",
                "title": f"Every pair in a memory of {n}",
                "x": {"label": "pair, oldest first", "low": 0, "high": max(n, 5), "whole": True},
                "y": {"label": "fidelity (cosine)", "low": min(0.0, worst), "high": 1},
                "series": [
                    series("measured", rule, items, each, points=True),
                    series("predicted", "ink", items, predicted_each, line=True, points=n == 1, dash=True),
                ],
            },
            {
                "kind": "lines",
                "title": "The average pair, as the memory fills",
                "x": {"label": "number of pairs n", "low": 0, "high": MOST, "whole": True},
                "y": {"label": "mean fidelity", "low": 0, "high": 1},
                "marks": [{"x": n, "label": f"n = {n}"}],
                "series": [
                    series("measured", rule, data["counts"], average, points=True),
                    series("predicted", "ink", counts, predicted, line=True, dash=True),
                ],
            },
        ],
        "words": (
            f"{counted(n, 'pair')} in a memory with key dimension {d_k}: the average pair is recalled with fidelity "
            f"{fixed(float(each.mean()), 2)}, predicted {fixed(float(predicted_each.mean()), 2)}; "
            f"the worst with {fixed(worst, 2)}."
        ),
    }


CAPACITY = Explorer(
    "capacity",
    "Fill the bucket",
    "Add pairs until the average fidelity is 0.9. Then double the key dimension and find the place again.",
    (
        Slider("n", "Stored pairs n", 1, MOST, 1, 16),
        Slider("d_k", "Key dimension", 8, WIDEST, 8, 32),
        Choice("rule", "Learning rule", RULE_OPTIONS, "hebbian"),
    ),
    data,
    view,
)

"""One computation seen three ways: a dog that learns step by step, a table of matches, a sum of notes."""

from __future__ import annotations

import numpy as np

from ..attention import linear_attention
from ..rules import RULES
from .base import Explorer, counted, generator, packed_normal, plain, unpacked
from .controls import Slider
from .svg import fixed

TOKENS, KEY, VALUE = 6, 3, 2


def data() -> dict:
    """Keys, values and queries of a short prompt."""
    rng = generator(5)
    sizes = {"keys": KEY, "values": VALUE, "queries": KEY}
    return {name: packed_normal(rng, TOKENS, size) for name, size in sizes.items()}


def view(data: dict, *, t: int) -> dict:
    """The read-out at time t by the loop, by the table and by the sum, and what each of them looks at."""
    keys, values, queries = (unpacked(data[name]) for name in ("keys", "values", "queries"))
    _, S = RULES["hebbian"].scan(keys[:t], values[:t], queries[:t])
    by_loop = S @ queries[t - 1]
    by_table = linear_attention(keys, values, queries)[t - 1]
    matches = keys[:t] @ queries[t - 1]
    by_notes = sum(match * value for match, value in zip(matches, values[:t], strict=True))
    ways = (("loop", by_loop, "first"), ("table", by_table, "second"), ("notes", by_notes, "third"))
    table = queries @ keys.T
    cells = [[float(table[i, j]) if j <= i < t else None for j in range(TOKENS)] for i in range(TOKENS)]
    numbers = np.concatenate([reads for _, reads, _ in ways])
    apart = float(np.ptp([reads for _, reads, _ in ways], axis=0).max())
    return {
        "panels": [
            {
                "kind": "heat",
                "title": f"Loop: the matrix S after {counted(t, 'write')}",
                "rows": [f"v{i + 1}" for i in range(VALUE)],
                "columns": [f"k{j + 1}" for j in range(KEY)],
                "values": plain(S),
                "limit": max(1.0, float(np.abs(S).max())),
            },
            {
                "kind": "heat",
                "title": "Table: match of query (row) and key (column)",
                "rows": [f"q{i + 1}" for i in range(TOKENS)],
                "columns": [f"k{j + 1}" for j in range(TOKENS)],
                "values": cells,
                "limit": float(np.abs(table).max()),
            },
            {
                "kind": "heat",
                "title": f"Notes: match with q{t}, times the value",
                "rows": [f"note {j + 1}" for j in range(t)],
                "columns": ["match", "v1", "v2"],
                "values": [[float(m), *plain(v)] for m, v in zip(matches, values[:t], strict=True)],
                "limit": float(max(np.abs(matches).max(), np.abs(values).max())),
            },
            {
                "kind": "bars",
                "title": f"Read-out for query {t}, three ways",
                "x": {
                    "label": "read-out",
                    "low": min(0.0, float(numbers.min())) - 0.1,
                    "high": max(0.0, float(numbers.max())) + 0.1,
                },
                "bars": [
                    {"label": f"r{i + 1} by {way}", "value": float(reads[i]), "style": style}
                    for i in range(VALUE)
                    for way, reads, style in ways
                ],
            },
        ],
        "words": (
            f"At time {t} the loop, the table and the notes give the same answer, {fixed(float(by_loop[0]), 3)} and "
            f"{fixed(float(by_loop[1]), 3)}; they differ by "
            + ("less than 0.000001." if apart < 1e-6 else f"{fixed(apart, 6)}.")
        ),
    }


ATTENTION = Explorer(
    "attention",
    "One answer, three ways",
    "Move through the prompt. The loop keeps one small matrix, the table keeps every match, the notes keep every pair.",
    (Slider("t", "Time t", 1, TOKENS, 1, 4),),
    data,
    view,
)

"""Drawn circuits, one per chapter, in one visual language.

Blue boxes are stimuli, the amber box is the association matrix, round boxes are operations, green boxes are responses.
Solid arrows carry activity, dashed arrows carry what is learned.
"""

from __future__ import annotations

from .style import INK, new_figure

_FILL = {"stimulus": "#cfe3f2", "memory": "#fbe0a6", "operation": "#fffdf7", "response": "#cdeadd", "error": "#f6d3c0"}

# name: (title, {node: (x, y, text, kind)}, [(from, to, text, "flow" | "learn")])
CIRCUITS = {
    "mapping": (
        "The conditioning circuit",
        {
            "key": (0, 1, "bell\nkey k (CS)", "stimulus"),
            "value": (0, 2, "food\nvalue v (US)", "stimulus"),
            "query": (0, 0, "test\nquery q", "stimulus"),
            "write": (1.3, 1.5, "together?\nη v kᵀ", "operation"),
            "S": (2.6, 1, "association\nmatrix S", "memory"),
            "read": (3.9, 0, "response\nS q", "response"),
        },
        [
            ("key", "write", "", "flow"),
            ("value", "write", "", "flow"),
            ("write", "S", "write", "learn"),
            ("query", "S", "read", "flow"),
            ("S", "read", "", "flow"),
        ],
    ),
    "hebbian": (
        "Fire together, wire together",
        {
            "key": (0, 1, "bell fires\nkey k", "stimulus"),
            "value": (0, 2, "food fires\nvalue v", "stimulus"),
            "both": (1.4, 1.5, "product\nv kᵀ", "operation"),
            "S": (2.9, 1, "add to S\nnever take away", "memory"),
            "test": (1.4, 0, "the bell alone", "stimulus"),
            "read": (4.4, 1, "response\nS k", "response"),
        },
        [
            ("key", "both", "", "flow"),
            ("value", "both", "", "flow"),
            ("both", "S", "", "learn"),
            ("test", "S", "", "flow"),
            ("S", "read", "", "flow"),
        ],
    ),
    "delta": (
        "Learn from what was not expected",
        {
            "key": (0, 0, "bell\nkey k", "stimulus"),
            "value": (0, 2, "food\nvalue v", "stimulus"),
            "S": (1.5, 0, "association\nmatrix S", "memory"),
            "guess": (3, 0, "expectation\nS k", "response"),
            "error": (3, 2, "surprise\nv − S k", "error"),
            "write": (1.5, 1, "product\nη (v − S k) kᵀ", "operation"),
        },
        [
            ("key", "S", "", "flow"),
            ("S", "guess", "", "flow"),
            ("guess", "error", "", "flow"),
            ("value", "error", "", "flow"),
            ("error", "write", "", "flow"),
            ("key", "write", "", "flow"),
            ("write", "S", "", "learn"),
        ],
    ),
    "unlearning": (
        "Erase one note; who feels it?",
        {
            "bad": (0, 2, "unwanted key k*\nno outcome", "stimulus"),
            "S": (1.7, 2, "S − (S k*) k*ᵀ", "memory"),
            "near": (0, 1, "a key nearby\nk·k* = c", "stimulus"),
            "far": (0, 0, "a key at right\nangles", "stimulus"),
            "gone": (3.6, 2, "k*: silent", "response"),
            "harm": (3.6, 1, "nearby: off by\nc · S k*", "error"),
            "safe": (3.6, 0, "right angles:\nas before", "response"),
        },
        [
            ("bad", "S", "erase", "learn"),
            ("near", "S", "", "flow"),
            ("far", "S", "", "flow"),
            ("S", "gone", "", "flow"),
            ("S", "harm", "", "flow"),
            ("S", "safe", "", "flow"),
        ],
    ),
    "linear_attention": (
        "One context, two routes, the same numbers",
        {
            "x": (0, 1, "tokens X", "stimulus"),
            "k": (1.15, 2, "keys K", "stimulus"),
            "v": (1.15, 1, "values V", "stimulus"),
            "q": (1.15, 0, "queries Q", "stimulus"),
            "S": (2.7, 2, "step by step:\nS + v kᵀ, then S q", "memory"),
            "M": (2.7, 0, "all at once:\nQ Kᵀ masked, times V", "operation"),
            "out": (4.2, 1, "the same\nresponses", "response"),
        },
        [
            ("x", "k", "", "flow"),
            ("x", "v", "", "flow"),
            ("x", "q", "", "flow"),
            ("k", "S", "", "learn"),
            ("v", "S", "", "learn"),
            ("q", "S", "", "flow"),
            ("k", "M", "", "flow"),
            ("v", "M", "", "flow"),
            ("q", "M", "", "flow"),
            ("S", "out", "", "flow"),
            ("M", "out", "", "flow"),
        ],
    ),
    "capacity": (
        "Many pairs, one matrix",
        {
            "p1": (0, 2, "pair 1", "stimulus"),
            "p2": (0, 1, "pair 2 ...", "stimulus"),
            "pn": (0, 0, "pair n", "stimulus"),
            "S": (1.6, 1, "S = Σ vᵢ kᵢᵀ\nd_v × d_k numbers", "memory"),
            "q": (1.6, 0, "query kⱼ", "stimulus"),
            "good": (3.5, 1.5, "signal vⱼ", "response"),
            "bad": (3.5, 0.5, "interference\nΣ vᵢ (kᵢ·kⱼ)", "error"),
        },
        [
            ("p1", "S", "", "learn"),
            ("p2", "S", "", "learn"),
            ("pn", "S", "", "learn"),
            ("q", "S", "", "flow"),
            ("S", "good", "", "flow"),
            ("S", "bad", "", "flow"),
        ],
    ),
    "depth": (
        "A tower of memories",
        {
            "q": (0, 1, "item", "stimulus"),
            "h1": (1.1, 2, "head 1", "memory"),
            "h2": (1.1, 1, "head 2 ...", "memory"),
            "h3": (1.1, 0, "head H", "memory"),
            "d1": (2.3, 1, "decode:\nwhich item?", "operation"),
            "l2": (3.4, 1, "layer 2\n(same again)", "memory"),
            "out": (4.5, 1, "item after\nL hops", "response"),
        },
        [
            ("q", "h1", "", "flow"),
            ("q", "h2", "", "flow"),
            ("q", "h3", "", "flow"),
            ("h1", "d1", "", "flow"),
            ("h2", "d1", "", "flow"),
            ("h3", "d1", "", "flow"),
            ("d1", "l2", "", "flow"),
            ("l2", "out", "", "flow"),
        ],
    ),
    "oja": (
        "A neuron that turns itself down",
        {
            "key": (0, 0, "bell\nkey k", "stimulus"),
            "value": (0, 2, "food\nvalue v", "stimulus"),
            "write": (1.5, 0.67, "product η vᵢ k\nis added", "operation"),
            "own": (1.5, 2, "own activity η vᵢ²\nscales down", "operation"),
            "S": (3.1, 1.33, "row Sᵢ of\nthe matrix", "memory"),
            "read": (4.5, 1.33, "response\nSᵢ q", "response"),
        },
        [
            ("key", "write", "", "flow"),
            ("value", "write", "", "flow"),
            ("value", "own", "", "flow"),
            ("write", "S", "", "learn"),
            ("own", "S", "", "learn"),
            ("S", "read", "", "flow"),
        ],
    ),
    "forgetting": (
        "Notes that fade",
        {
            "new": (0, 2, "newest pair\nweight 1", "stimulus"),
            "last": (0, 1, "one step old\nweight γ", "stimulus"),
            "old": (0, 0, "a steps old\nweight γᵃ", "stimulus"),
            "S": (1.8, 1, "fade, then write:\nS ← γ S + v kᵀ", "memory"),
            "q": (1.8, 0, "key of the pair\na steps old", "stimulus"),
            "good": (3.7, 1.5, "signal\nγᵃ v", "response"),
            "bad": (3.7, 0.5, "spill of all others,\nno more than\n1 / ((1 − γ²) d_k)", "error"),
        },
        [
            ("new", "S", "", "learn"),
            ("last", "S", "", "learn"),
            ("old", "S", "", "learn"),
            ("q", "S", "", "flow"),
            ("S", "good", "", "flow"),
            ("S", "bad", "", "flow"),
        ],
    ),
    "limits": (
        "A library with a sharpened index",
        {
            "q": (0, 1, "query q", "stimulus"),
            "keys": (0, 2, "all keys,\none by one", "memory"),
            "values": (3.05, 0, "all values,\none by one", "memory"),
            "match": (1.15, 1.5, "match\nβ q·kᵢ", "operation"),
            "exp": (2.1, 1.5, "sharpen\nexp", "operation"),
            "share": (3.05, 1.5, "share out\nsum is one", "operation"),
            "out": (4.3, 0.75, "response\nΣ wᵢ vᵢ", "response"),
        },
        [
            ("q", "match", "", "flow"),
            ("keys", "match", "", "flow"),
            ("match", "exp", "", "flow"),
            ("exp", "share", "", "flow"),
            ("share", "out", "", "flow"),
            ("values", "out", "", "flow"),
        ],
    ),
    "stacks": (
        "A layer that decides what to remember",
        {
            "x": (0, 1.5, "tokens x", "stimulus"),
            "before": (1.2, 2.75, "the token\nbefore", "operation"),
            "key": (2.4, 3, "bell\nkey k", "stimulus"),
            "value": (2.4, 2, "food\nvalue v", "stimulus"),
            "rate": (2.4, 1, "rate η:\nworth noting?", "operation"),
            "query": (2.4, 0, "test\nquery q", "stimulus"),
            "S": (3.75, 1.5, "heads:\nmatrices S", "memory"),
            "out": (4.95, 1.5, "responses,\nto layer 2", "response"),
        },
        [
            ("x", "before", "", "flow"),
            ("before", "key", "", "flow"),
            ("x", "value", "", "flow"),
            ("x", "rate", "", "flow"),
            ("x", "query", "", "flow"),
            ("key", "S", "", "learn"),
            ("value", "S", "", "learn"),
            ("rate", "S", "", "learn"),
            ("query", "S", "", "flow"),
            ("S", "out", "", "flow"),
        ],
    ),
    "drift": (
        "Four memories in one changing world",
        {
            "world": (0, 1, "a world\nthat turns", "stimulus"),
            "hebb": (1.5, 2, "Hebb\nadds", "memory"),
            "decay": (1.5, 1.33, "decay\nfades", "memory"),
            "delta": (1.5, 0.67, "delta\ncorrects", "memory"),
            "oja": (1.5, 0, "Oja\nrescales", "memory"),
            "test": (3, 1, "ring every bell:\nS k against v(t)", "operation"),
            "out": (4.4, 1, "norm, error,\ncosine", "response"),
        },
        [
            ("world", "hebb", "", "learn"),
            ("world", "decay", "", "learn"),
            ("world", "delta", "", "learn"),
            ("world", "oja", "", "learn"),
            ("hebb", "test", "", "flow"),
            ("decay", "test", "", "flow"),
            ("delta", "test", "", "flow"),
            ("oja", "test", "", "flow"),
            ("test", "out", "", "flow"),
        ],
    ),
}


def draw_circuit(name: str):
    """The circuit of a chapter as a diagram; returns the figure.

    Raises
    ------
    ValueError
        If there is no circuit of that name.

    Examples
    --------
    >>> print(draw_circuit("mapping").digest().splitlines()[0])
    The conditioning circuit
    """
    if name not in CIRCUITS:
        raise ValueError(f"circuit must be one of {', '.join(CIRCUITS)}; got {name!r}")
    title, nodes, arrows = CIRCUITS[name]
    rows = max(y for _, y, _, _ in nodes.values()) - min(y for _, y, _, _ in nodes.values())
    figure, ax = new_figure(height=1.1 + 0.85 * rows)
    boxes = {key: _box(ax, *node) for key, node in nodes.items()}
    for start, end, text, kind in arrows:
        _arrow(ax, boxes[start], boxes[end], nodes[start], nodes[end], text, kind)
    xs, ys = [x for x, *_ in nodes.values()], [y for _, y, *_ in nodes.values()]
    ax.set(xlim=(min(xs) - 0.55, max(xs) + 0.6), ylim=(min(ys) - 0.45, max(ys) + 0.45))
    ax.set_title(title, loc="left", fontsize=11.5)
    ax.axis("off")
    return figure


def _box(ax, x: float, y: float, text: str, kind: str):
    label = ax.text(x, y, text, ha="center", va="center", fontsize=9.5, linespacing=1.3, zorder=3)
    style = "round,pad=0.45,rounding_size=0.9" if kind == "operation" else "round,pad=0.45,rounding_size=0.25"
    label.set_bbox({"boxstyle": style, "facecolor": _FILL[kind], "edgecolor": INK, "linewidth": 1})
    return label


def _arrow(ax, start, end, start_node, end_node, text: str, kind: str) -> None:
    ax.annotate(
        "", xy=end_node[:2], xytext=start_node[:2], zorder=2,
        arrowprops={
            "arrowstyle": "-|>", "color": INK, "linewidth": 1.2, "linestyle": "--" if kind == "learn" else "-",
            "patchA": start.get_bbox_patch(), "patchB": end.get_bbox_patch(), "shrinkA": 2, "shrinkB": 2,
        },
    )  # fmt: skip
    if text:
        x, y = (start_node[0] + end_node[0]) / 2, (start_node[1] + end_node[1]) / 2
        ax.text(x, y + 0.12, text, fontsize=9, ha="center", style="italic")

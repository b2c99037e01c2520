"""Panels to pictures: one small drawing function per kind of panel, from plain data to SVG.

``book/_static/explorers.js`` holds the same functions for the page; a test compares what both draw.
Colours are variables of the page with a fallback, so that a picture fits dark and light pages,
and keeps its paper where there is no page around it.
"""

from __future__ import annotations

import math
from html import escape

WIDTH = 360
STYLES = {  # the colours and markers of pavlov_lib.figures.style, one per rule throughout
    "hebbian": ("#0072B2", "circle"),
    "hebbian+decay": ("#56B4E9", "square"),
    "delta": ("#D55E00", "triangle"),
    "oja": ("#009E73", "diamond"),
    "softmax": ("#CC79A7", "down"),
    "first": ("#0072B2", "circle"),
    "second": ("#D55E00", "triangle"),
    "third": ("#009E73", "diamond"),
    "ink": ("#22303c", "circle"),
}
STEPS = (
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000,
)  # fmt: skip
DIGITS = (4, 3, 3, 3, 2, 2, 2, 1, 1, 1, *[0] * 12)


def fixed(x: float, digits: int) -> str:
    """A number with ``digits`` decimals, halves away from zero: JavaScript and Python then write the same."""
    if not math.isfinite(x):
        return "–"
    scaled = math.floor(abs(x) * 10**digits + 0.5)
    whole = str(scaled).rjust(digits + 1, "0")
    text = whole[:-digits] + "." + whole[-digits:] if digits else whole
    return "−" + text if x < 0 and scaled else text


def at(x: float) -> str:
    """A coordinate."""
    return fixed(x, 1).replace("−", "-")


def color(style: str) -> str:
    """The page's colour of a style, or the one on paper."""
    return f"var(--ex-{style.replace('+', '-')},{STYLES[style][0]})"


INK, FAINT, PAPER = "var(--ex-ink,#22303c)", "var(--ex-faint,#d9d4c7)", "var(--ex-paper,#fffdf7)"


def draw(panel: dict) -> str:
    """One panel as an SVG picture with its title and its content in words."""
    body, height = KINDS[panel["kind"]](panel)
    words = escape(described(panel))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {at(height)}" role="img" aria-label="{words}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{INK}">'
        f'<rect width="{WIDTH}" height="{at(height)}" fill="{PAPER}"/>'
        + text(8, 17, panel["title"], size=13, weight="600")
        + body
        + "</svg>"
    )


def text(x: float, y: float, words: str, *, anchor: str = "start", size: float = 12, weight: str = "400") -> str:
    """Words at a place."""
    return (
        f'<text x="{at(x)}" y="{at(y)}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )


def line(x0: float, y0: float, x1: float, y1: float, stroke: str, width: float = 1, dash: str = "") -> str:
    """A straight line."""
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{at(x0)}" y1="{at(y0)}" x2="{at(x1)}" y2="{at(y1)}" stroke="{stroke}" stroke-width="{width}"'
        f"{dashes}/>"
    )


def marker(shape: str, x: float, y: float, fill: str) -> str:
    """A marker of a series, so that colour is not needed to tell series apart."""
    if shape == "circle":
        return f'<circle cx="{at(x)}" cy="{at(y)}" r="3.5" fill="{fill}"/>'
    corners = {
        "square": ((-3.2, -3.2), (3.2, -3.2), (3.2, 3.2), (-3.2, 3.2)),
        "triangle": ((0, -4.2), (4, 3.2), (-4, 3.2)),
        "down": ((0, 4.2), (-4, -3.2), (4, -3.2)),
        "diamond": ((0, -4.6), (4.2, 0), (0, 4.6), (-4.2, 0)),
    }[shape]
    points = " ".join(f"{at(x + dx)},{at(y + dy)}" for dx, dy in corners)
    return f'<polygon points="{points}" fill="{fill}"/>'


# --- scales ----------------------------------------------------------------------------------------------------------


def ticks(axis: dict) -> list[tuple[float, str]]:
    """Round numbers along an axis, with the text of each."""
    low, high = axis["low"], axis["high"]
    if axis.get("log"):
        decades = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
        return [(10.0**d, fixed(10.0**d, max(-d, 0))) for d in decades]
    wanted = (high - low) / 5.5
    i = next((i for i, step in enumerate(STEPS) if step >= wanted), len(STEPS) - 1)
    if axis.get("whole"):
        i = max(i, STEPS.index(1))
    first, last = math.ceil(low / STEPS[i] - 1e-9), math.floor(high / STEPS[i] + 1e-9)
    return [(k * STEPS[i], fixed(k * STEPS[i], DIGITS[i])) for k in range(first, last + 1)]


def place(axis: dict, x: float, start: float, end: float) -> float:
    """Where a number lies on an axis drawn from ``start`` to ``end``; what is outside is moved to its edge."""
    low, high = axis["low"], axis["high"]
    x = min(max(x, low), high)
    if axis.get("log"):
        low, high, x = math.log10(low), math.log10(high), math.log10(x)
    return start + (x - low) / (high - low) * (end - start)


# --- kinds of panels -------------------------------------------------------------------------------------------------


def draw_lines(panel: dict) -> tuple[str, float]:
    """Series against a common axis: ``x``, ``y`` axes and ``series``, each with a label, a style, x and y."""
    left, right, top, bottom = 52, WIDTH - 12, 44, 196
    x_axis, y_axis = panel["x"], panel["y"]
    out = [text(8, 35, y_axis["label"], size=11)]
    for value, words in ticks(y_axis):
        y = place(y_axis, value, bottom, top)
        out += [line(left, y, right, y, FAINT), text(left - 5, y + 4, words, anchor="end", size=11)]
    for value, words in ticks(x_axis):
        x = place(x_axis, value, left, right)
        out += [line(x, bottom, x, bottom + 4, INK), text(x, bottom + 16, words, anchor="middle", size=11)]
    out += [line(left, bottom, right, bottom, INK), text(right, bottom + 31, x_axis["label"], anchor="end", size=11)]
    for mark in panel.get("marks", []):
        x = place(x_axis, mark["x"], left, right)
        beside, anchor = (x + 4, "start") if x < 260 else (x - 4, "end")
        out += [line(x, top, x, bottom, INK, 1, "2 3"), text(beside, top + 10, mark["label"], anchor=anchor, size=11)]
    for series in panel["series"]:
        xs = [place(x_axis, x, left, right) for x in series["x"]]
        ys = [place(y_axis, y, bottom, top) for y in series["y"]]
        fill, shape = color(series["style"]), STYLES[series["style"]][1]
        if series["line"] and len(xs) > 1:
            points = " ".join(f"{at(x)},{at(y)}" for x, y in zip(xs, ys, strict=True))
            dash = ' stroke-dasharray="5 4"' if series["dash"] else ""
            out.append(f'<polyline points="{points}" fill="none" stroke="{fill}" stroke-width="2"{dash}/>')
        if series["points"]:
            every = slice(None, None, series["points"])
            out += [marker(shape, x, y, fill) for x, y in zip(xs[every], ys[every], strict=True)]
    for i, series in enumerate(panel["series"]):
        x, y = 12 + 174 * (i % 2), bottom + 50 + 18 * (i // 2)
        fill, shape = color(series["style"]), STYLES[series["style"]][1]
        if series["line"]:
            out.append(line(x, y - 4, x + 22, y - 4, fill, 2, "5 4" if series["dash"] else ""))
        if series["points"]:
            out.append(marker(shape, x + 11, y - 4, fill))
        out.append(text(x + 28, y, series["label"], size=11))
    return "".join(out), bottom + 44 + 18 * math.ceil(len(panel["series"]) / 2)


def draw_bars(panel: dict) -> tuple[str, float]:
    """Lying bars: ``bars``, each with a label, a value and a style, on an axis ``x`` that holds zero."""
    left, right, top, step = 104, WIDTH - 48, 30, 24
    axis, bars = panel["x"], panel["bars"]
    bottom = top + step * len(bars)
    out = []
    for value, words in ticks(axis):
        x = place(axis, value, left, right)
        out += [line(x, top, x, bottom, FAINT), text(x, bottom + 15, words, anchor="middle", size=11)]
    zero = place(axis, 0, left, right)
    for i, bar in enumerate(bars):
        y = top + step * i
        x = place(axis, bar["value"], left, right)
        out += [
            text(left - 8, y + 16, bar["label"], anchor="end"),
            f'<rect x="{at(min(x, zero))}" y="{at(y + 4)}" width="{at(abs(x - zero))}" height="{step - 8}" '
            f'fill="{color(bar["style"])}"/>',
            text(max(x, zero) + 5, y + 16, fixed(bar["value"], 2), weight="600"),
        ]
    out += [line(zero, top, zero, bottom, INK), text(right, bottom + 31, axis["label"], anchor="end", size=11)]
    return "".join(out), bottom + 38


def draw_heat(panel: dict) -> tuple[str, float]:
    """A matrix: ``rows`` and ``columns`` named, ``values``; blue above zero, orange below, strength by size."""
    rows, columns, values = panel["rows"], panel["columns"], panel["values"]
    left, top = 20 + 7 * max(len(row) for row in rows), 44
    width, height = min((WIDTH - 10 - left) / len(columns), 72), 34 if len(rows) < 8 else 24
    limit, size = panel["limit"], 12 if width > 40 else 10
    out = []
    for j, name in enumerate(columns):
        out.append(text(left + width * (j + 0.5), top - 7, name, anchor="middle", size=11))
    for i, name in enumerate(rows):
        y = top + height * i
        out.append(text(left - 8, y + height / 2 + 4, name, anchor="end", size=11))
        for j in range(len(columns)):
            value = values[i][j]
            if value is None:
                continue  # a cell that does not exist, such as the future in a causal table
            x = left + width * j
            strength = fixed(min(abs(value) / limit, 1) * 0.68, 2)
            fill = "var(--ex-plus,#0072B2)" if value >= 0 else "var(--ex-minus,#D55E00)"
            out += [
                f'<rect x="{at(x + 1)}" y="{at(y + 1)}" width="{at(width - 2)}" height="{at(height - 2)}" '
                f'fill="{fill}" fill-opacity="{strength}" stroke="{FAINT}"/>',
                text(x + width / 2, y + height / 2 + 4, fixed(value, 2), anchor="middle", size=size),
            ]
    return "".join(out), top + height * len(rows) + 10


def draw_tower(panel: dict) -> tuple[str, float]:
    """Chains that climb a tower, one per column: ``floors[l][c]`` is 0 while right, 1 where it fails, 2 after that."""
    floors = panel["floors"]
    left, right, top = 44, WIDTH - 12, 34
    height = min(200 / len(floors), 26)
    width = (right - left) / len(floors[0])
    bottom = top + height * len(floors)
    every = 1 if len(floors) <= 8 else 4
    out = [text(8, bottom + 16, "chains, one in each column; they enter at the bottom", size=11)]
    cells: list[list[tuple[float, float, float, float]]] = [[], [], []]
    for layer, chains in enumerate(floors):
        y = bottom - height * (layer + 1)
        if (layer + 1) % every == 0 or layer == 0:
            out.append(text(left - 6, y + height / 2 + 4, fixed(layer + 1, 0), anchor="end", size=11))
        for c, fate in enumerate(chains):
            cells[fate].append((left + width * c + 0.7, y + 0.7, width - 1.4, height - 1.4))
    y = bottom + 36
    for fate, words in enumerate(("right", "error enters", "error carried on")):
        x = 12 + 108 * fate
        cells[fate].append((x, y - 11, 14, 14))
        out += [cards(fate, cells[fate]), text(x + 20, y, words, size=11)]
    return "".join(out), y + 10


def cards(fate: int, cells) -> str:
    """All cards of one fate; those that fall are crossed out, so that colour is not needed to see them."""
    fill, opacity = ((color("first"), "0.30"), (color("second"), "1.00"), (color("second"), "0.35"))[fate]
    boxes = "".join(f"M{at(x)} {at(y)}h{at(w)}v{at(h)}h{at(-w)}z" for x, y, w, h in cells)
    out = f'<path d="{boxes}" fill="{fill}" fill-opacity="{opacity}"/>'
    if fate != 1:
        return out
    crosses = "".join(f"M{at(x)} {at(y)}l{at(w)} {at(h)}m{at(-w)} 0l{at(w)} {at(-h)}" for x, y, w, h in cells)
    return out + f'<path d="{crosses}" fill="none" stroke="{PAPER}" stroke-width="1.5"/>'


KINDS = {"lines": draw_lines, "bars": draw_bars, "heat": draw_heat, "tower": draw_tower}


# --- pictures in words -----------------------------------------------------------------------------------------------


def described(panel: dict) -> str:
    """A panel in words, for readers who do not see it."""
    return f"{panel['title']}. " + WORDS[panel["kind"]](panel)


def _lines_in_words(panel: dict) -> str:
    parts = []
    for series in panel["series"]:
        y = series["y"]
        if not y:
            parts.append(f"{series['label']}: nothing yet")
        elif len(y) == 1:
            parts.append(f"{series['label']}: {fixed(y[0], 2)}")
        else:
            parts.append(f"{series['label']}: from {fixed(y[0], 2)} to {fixed(y[-1], 2)}")
    return f"{panel['y']['label']} against {panel['x']['label']}. {'; '.join(parts)}."


def _bars_in_words(panel: dict) -> str:
    return "; ".join(f"{bar['label']}: {fixed(bar['value'], 2)}" for bar in panel["bars"]) + "."


def _heat_in_words(panel: dict) -> str:
    rows = []
    for name, values in zip(panel["rows"], panel["values"], strict=True):
        cells = [f"{c} {fixed(v, 2)}" for c, v in zip(panel["columns"], values, strict=True) if v is not None]
        if cells:
            rows.append(f"{name}: {', '.join(cells)}")
    return "; ".join(rows) + "."


def _tower_in_words(panel: dict) -> str:
    floors = panel["floors"]
    standing = sum(fate == 0 for fate in floors[-1])
    return f"{standing} of {len(floors[-1])} chains reach the top of {len(floors)} layers without an error."


WORDS = {"lines": _lines_in_words, "bars": _bars_in_words, "heat": _heat_in_words, "tower": _tower_in_words}

"""What an explorer is: one description that a web page, a live notebook and a reader of plain text all use."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from .. import checks, stimuli
from . import svg
from .controls import Control, described


@dataclass(frozen=True)
class Explorer:
    """A question with controls, and a view of the answer that is computed anew at every setting.

    Parameters
    ----------
    name : str
    title : str
    hint : str
        What to try first.
    controls : tuple of Control
    data : callable
        ``data() -> dict``: what both languages compute from, as plain JSON.
    view : callable
        ``view(data, **settings) -> dict`` with ``panels`` (what to draw), ``words`` (the finding, in one or two
        sentences) and, where there is a history, ``log`` (its last lines, newest first).

    Examples
    --------
    >>> from pavlov_lib.widgets import explorer
    >>> explorer("conditioning").look(trials=["bell+food"], rule="delta", rate=0.5)["panels"][0]["values"]
    [[0.5, 0.0], [0.0, 0.0]]
    """

    name: str
    title: str
    hint: str
    controls: tuple[Control, ...]
    data: Callable[[], dict]
    view: Callable[..., dict]
    _cache: dict = field(default_factory=dict, repr=False, compare=False)

    def settings(self, **changes) -> dict[str, Any]:
        """Every control's value, with ``changes`` checked and put in; ``ValueError`` if a name or value is wrong."""
        for name in changes:
            checks.one_of("a setting", name, [c.name for c in self.controls])
        return {c.name: c.checked(changes.get(c.name, c.value)) for c in self.controls}

    def look(self, **changes) -> dict:
        """What the reader sees at these settings, as plain data; the settings not given keep their first values."""
        return self.view(self._data(), **self.settings(**changes))

    def _data(self) -> dict:
        if "data" not in self._cache:
            self._cache["data"] = self.data()
        return self._cache["data"]

    # --- on a page ---------------------------------------------------------------------------------------------------

    def html(self) -> str:
        """For a web page: the first view as pictures, and the description from which the page's script takes over.

        The pictures are embedded as images, since a notebook that is not trusted shows no other kind.
        """
        seen = self.look()
        pictures = "".join(_image(panel) for panel in seen["panels"])
        about = {
            "name": self.name,
            "title": self.title,
            "controls": [described(c) for c in self.controls],
            "data": self._data(),
        }
        source = json.dumps(about, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        return (
            f'<div class="pavlov-explorer" data-explorer="{self.name}">'
            f'<p class="explorer-title"><strong>{escape(self.title)}</strong></p>'
            f'<p class="explorer-hint">{escape(self.hint)}</p>'
            f'<div class="explorer-panels">{pictures}</div>'
            f'<p class="explorer-words">{escape(seen["words"])}</p>'
            f'<script type="application/json" class="explorer-source">{source}</script>'
            "</div>"
        )

    def text(self) -> str:
        """For a reader of plain text: the first view in words."""
        seen = self.look()
        return "\n".join([self.title, *(svg.described(panel) for panel in seen["panels"]), seen["words"]])

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, Any]:
        bundle = {"text/html": self.html(), "text/plain": self.text()}
        try:
            from .live import widget
        except ImportError:  # without ipywidgets the page's own explorer is still there
            return bundle
        view = widget(self)._repr_mimebundle_() or {}
        kind = "application/vnd.jupyter.widget-view+json"
        return bundle | ({kind: view[kind]} if kind in view else {})


def _image(panel: dict) -> str:
    picture = base64.b64encode(svg.draw(panel).encode()).decode()
    return (
        f'<img class="explorer-panel" src="data:image/svg+xml;base64,{picture}" alt="{escape(svg.described(panel))}"/>'
    )


# --- what views are made of ------------------------------------------------------------------------------------------


def series(label: str, style: str, x, y, *, line: bool = False, points: int = 0, dash: bool = False) -> dict:
    """One series of a panel of lines; ``points`` of k marks every k-th point, 0 marks none."""
    every = int(points)
    return {"label": label, "style": style, "x": plain(x), "y": plain(y), "line": line, "points": every, "dash": dash}


def plain(x) -> Any:
    """An array as nested lists of plain numbers."""
    return np.asarray(x, dtype=float).tolist()


def counted(n: int, thing: str) -> str:
    """``1 pair``, ``2 pairs``."""
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


# --- stimuli that travel in a page -----------------------------------------------------------------------------------


def packed_normal(rng: np.random.Generator, rows: int, columns: int) -> dict:
    """Standard normal numbers in steps of 1/32, one byte each: small enough for a page, the same in both languages.

    Examples
    --------
    >>> import numpy as np
    >>> unpacked(packed_normal(np.random.default_rng(0), 1, 3))
    array([[ 0.125, -0.125,  0.625]])
    """
    x = np.clip(np.round(rng.standard_normal((rows, columns)) * 32), -127, 127).astype(np.int8)
    return {"shape": [rows, columns], "bytes": base64.b64encode(x.tobytes()).decode()}


def unpacked(table: dict) -> np.ndarray:
    """The numbers of :func:`packed_normal`."""
    x = np.frombuffer(base64.b64decode(table["bytes"]), dtype=np.int8)
    return x.reshape(table["shape"]) / 32


def unit_rows(x: np.ndarray) -> np.ndarray:
    """Every row divided by its length."""
    return x / np.sqrt((x * x).sum(-1, keepdims=True))


def generator(seed: int) -> np.random.Generator:
    """The generator of an explorer's stimuli."""
    return stimuli.generators(seed, 1)[0]

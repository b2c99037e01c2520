"""A figure as files to take away: a vector picture, a raster picture, and the numbers that were drawn."""

from __future__ import annotations

import io
import re
from pathlib import Path
from xml.sax.saxutils import escape

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.ticker import FixedFormatter, FuncFormatter

from ..reference import write_whole

AUTHOR = "the Pavlov book contributors"
RIGHTS = "CC BY 4.0, https://creativecommons.org/licenses/by/4.0/"
COLUMNS = ("axes", "kind", "series", "color", "x", "x_name", "y", "y_name", "low", "high", "value")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def save(figure, folder, name: str, *, title: str = "", description: str = "", dpi: int = 300) -> list[Path]:
    """Write ``name.svg``, ``name.png`` and ``name.csv``; see :meth:`pavlov_lib.figures.style.BookFigure.save`."""
    if not NAME.fullmatch(str(name)):
        raise ValueError(f"name must be letters, digits, - and _, without folder or ending; got {name!r}")
    if not 20 <= dpi <= 1200:
        raise ValueError(f"dpi must be from 20 to 1200; got {dpi}")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"folder must be a folder, or not exist yet; got the file {str(folder)!r}")
    title = title or heading(figure)
    files = {
        f"{name}.svg": svg(figure, title, description),
        f"{name}.png": png(figure, title, description, dpi),
        f"{name}.csv": plotted(figure).to_csv(index=False, lineterminator="\n").encode("utf-8"),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        write_whole(folder / file, content)
    return [folder / file for file in files]


def heading(figure) -> str:
    """The titles of the axes, as one line."""
    titles = [ax.get_title(loc="left") or ax.get_title() for ax in data_axes(figure)]
    return "; ".join(filter(None, titles)) or "Figure"


def data_axes(figure) -> list:
    return [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]


# --- pictures --------------------------------------------------------------------------------------------------------


def svg(figure, title: str, description: str) -> bytes:
    """The figure as SVG with a title and a description that screen readers find. The same figure, the same bytes."""
    buffer = io.BytesIO()
    about = {"Title": title, "Creator": AUTHOR, "Rights": RIGHTS, "Language": "en", "Date": None}
    with mpl.rc_context({"svg.hashsalt": "pavlov", "svg.fonttype": "path"}):  # outlines look the same everywhere
        figure.savefig(buffer, format="svg", metadata=about | ({"Description": description} if description else {}))
    text = buffer.getvalue().decode("utf-8")
    spoken = "title desc" if description else "title"
    text = text.replace("<svg ", f'<svg role="img" aria-labelledby="{spoken}" ', 1)
    below = f'<title id="title">{escape(title)}</title>'
    below += f'\n <desc id="desc">{escape(description)}</desc>' if description else ""
    text, found = re.subn(r"<title>.*?</title>", lambda _: below, text, count=1, flags=re.S)
    assert found, "matplotlib writes the title that it was given"
    return text.encode("utf-8")


def png(figure, title: str, description: str, dpi: int) -> bytes:
    buffer = io.BytesIO()
    about = {"Software": None, "Title": title, "Author": AUTHOR, "Copyright": RIGHTS}
    figure.savefig(
        buffer, format="png", dpi=dpi, metadata=about | ({"Description": description} if description else {})
    )
    return buffer.getvalue()


# --- numbers ---------------------------------------------------------------------------------------------------------


def plotted(figure) -> pd.DataFrame:
    """Everything drawn, in long form: a row for each point, step of a band, bar, cell of a heat map, word of a diagram.

    Parameters
    ----------
    figure : matplotlib.figure.Figure

    Returns
    -------
    pandas.DataFrame
        Columns ``axes`` (title of the axes), ``kind`` ("line", "band", "bar", "level", "cell", "word"), ``series``
        (label in the legend, or "unnamed 1" and so on), ``color``, ``x`` and ``y`` with the words that the axis shows
        there, if it shows words, ``low`` and ``high`` (ends of the whiskers or of the band), ``value`` (of a cell).
        A "level" is a straight line across the axes: only one of its coordinates is given.

    Examples
    --------
    >>> from pavlov_lib.figures import new_figure
    >>> figure, ax = new_figure()
    >>> _ = ax.errorbar([1, 2], [0.5, 0.25], yerr=0.125, label="measured", color="k")
    >>> print(plotted(figure)[["kind", "series", "x", "y", "low", "high"]].to_string(index=False))
    kind   series   x    y  low  high
    line measured 1.0 0.50 0.375 0.625
    line measured 2.0 0.25 0.125 0.375
    """
    rows = []
    for number, ax in enumerate(data_axes(figure), 1):
        name = ax.get_title(loc="left") or ax.get_title() or f"axes {number}"
        names = tick_names(ax.xaxis), tick_names(ax.yaxis)
        for row in of_axes(ax):
            words = {c + "_name": known.get(row.get(c), "") for c, known in zip("xy", names, strict=True)}
            rows.append({"axes": name} | words | row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def of_axes(ax) -> list[dict]:
    """Rows of one pair of axes, without the name of the axes."""
    bars = [c for c in ax.containers if isinstance(c, BarContainer)]
    whiskers = [c for c in ax.containers if isinstance(c, ErrorbarContainer) and c.lines[0] is not None]
    parts = {id(part) for c in whiskers for part in (c.lines[0], *c.lines[1])}
    parts |= {id(cap) for c in bars if c.errorbar is not None for cap in c.errorbar.lines[1]}
    lines = [line for line in ax.get_lines() if id(line) not in parts and len(line.get_xdata())]
    bands = [c for c in ax.collections if isinstance(c, PolyCollection)]
    named = Names()
    rows = []
    for container in whiskers:
        rows += of_errorbar(container, named(container.get_label()))
    for line in lines:
        rows += of_line(ax, line, named(line.get_label()))
    for band in bands:
        rows += of_band(band, named(band.get_label()))
    for container in bars:
        rows += of_bars(container, named(container.get_label()))
    for image in ax.get_images():
        cells = np.ma.filled(image.get_array().astype(float), np.nan)
        rows += [{"kind": "cell", "x": float(j), "y": float(i), "value": v} for (i, j), v in np.ndenumerate(cells)]
    if not rows:  # a diagram: its words are all that it says
        for word in filter(lambda text: text.get_text(), ax.texts):  # an arrow is a text without words
            x, y = word.get_position()
            rows.append({"kind": "word", "series": word.get_text().replace("\n", " "), "x": float(x), "y": float(y)})
    return rows


class Names:
    """The label of each series; matplotlib's own labels of what has no name give way to a running number."""

    def __init__(self):
        self.unnamed = 0

    def __call__(self, label) -> str:
        if label and not str(label).startswith("_"):
            return str(label)
        self.unnamed += 1
        return f"unnamed {self.unnamed}"


def of_line(ax, line, series: str) -> list[dict]:
    x, y = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
    common = {"series": series, "color": to_hex(line.get_color())}
    if line.get_transform() == ax.get_xaxis_transform(which="grid"):
        return [common | {"kind": "level", "x": x[0]}]
    if line.get_transform() == ax.get_yaxis_transform(which="grid"):
        return [common | {"kind": "level", "y": y[0]}]
    return [common | {"kind": "line", "x": a, "y": b} for a, b in zip(x, y, strict=True)]


def of_errorbar(container, series: str) -> list[dict]:
    line, _, whiskers = container.lines
    x, y = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
    low, high = ends(whiskers, len(x))
    color = to_hex(line.get_color())
    return [
        {"kind": "line", "series": series, "color": color, "x": a, "y": b, "low": c, "high": d}
        for a, b, c, d in zip(x, y, low, high, strict=True)
    ]


def of_bars(container, series: str) -> list[dict]:
    """Bars stand at the middle of their feet."""
    x = [bar.get_x() + bar.get_width() / 2 for bar in container.patches]
    low, high = ends(container.errorbar.lines[2] if container.errorbar else (), len(x))
    color = to_hex(container.patches[0].get_facecolor())
    heights = np.asarray(container.datavalues, dtype=float)
    return [
        {"kind": "bar", "series": series, "color": color, "x": a, "y": b, "low": c, "high": d}
        for a, b, c, d in zip(x, heights, low, high, strict=True)
    ]


def ends(whiskers, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends of ``n`` upright whiskers; not a number where there are none."""
    if not whiskers:
        return np.full(n, np.nan), np.full(n, np.nan)
    segments = [np.asarray(s, dtype=float) for s in whiskers[0].get_segments()]
    # a point that is not drawn leaves an empty segment
    pairs = np.array([s[:, 1] if len(s) == 2 else (np.nan, np.nan) for s in segments])
    return pairs[:, 0], pairs[:, 1]


def of_band(band, series: str) -> list[dict]:
    color = to_hex(band.get_facecolor()[0])
    rows = []
    for path in band.get_paths():
        x, y = path.vertices.T
        for a in np.unique(x):
            here = y[x == a]
            rows.append(
                {"kind": "band", "series": series, "color": color, "x": a, "low": here.min(), "high": here.max()}
            )
    return rows


def tick_names(axis) -> dict[float, str]:
    """The words that an axis shows at its ticks; numbers are no words."""
    formatter, places = axis.get_major_formatter(), axis.get_majorticklocs()
    if not isinstance(formatter, FixedFormatter | FuncFormatter):  # only labels that were set by hand
        return {}
    pairs = zip(places, formatter.format_ticks(places), strict=True)
    return {float(place): " ".join(word.split()) for place, word in pairs if not is_number(word)}


def is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True

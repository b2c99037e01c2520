"""The one visual language: paper, ink, one colour and one marker per rule, and a figure that can be read as text."""

from __future__ import annotations

import base64
import io

import matplotlib as mpl
import numpy as np
from matplotlib.container import BarContainer, ErrorbarContainer
from matplotlib.figure import Figure

from .export import save

PAPER, INK, FAINT = "#fffdf7", "#22303c", "#d9d4c7"

# Okabe and Ito's palette, told apart by all common forms of colour vision; the markers tell the rules apart in print.
RULE_STYLE = {
    "hebbian": {"color": "#0072B2", "marker": "o", "label": "Hebb"},
    "hebbian+decay": {"color": "#56B4E9", "marker": "s", "label": "Hebb with decay"},
    "delta": {"color": "#D55E00", "marker": "^", "label": "delta"},
    "oja": {"color": "#009E73", "marker": "D", "label": "Oja"},
    "softmax": {"color": "#CC79A7", "marker": "v", "label": "softmax"},
}
PREDICTION = {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.4, "zorder": 1}
SERIES_MARKERS = "osD^vP*X"
HEAT = "RdBu"  # diverging, so that zero is paper-white and the sign is seen; blue is positive
SERIES_MAP = "viridis"  # ordered series, such as key dimensions

_RC = {
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "font.family": "DejaVu Sans",  # ships with matplotlib, so that every machine draws the same
    "font.size": 11,
    "axes.titlesize": 11.5,
    "legend.frameon": False,
    "legend.fontsize": 9.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5.5,
}


class BookFigure(Figure):
    """A matplotlib figure that shows itself as a PNG and, beside it, as text.

    The text names every axis and gives the ends of every curve, so that a changed curve changes the text:
    pictures cannot be compared by the notebook checks, this can. It serves readers without pictures too.

    ``digits`` is how many significant digits the text gives, three unless a drawing function sets another number.
    What training finds differs a little from one kind of CPU to another, so figures of trained stacks set 0:
    their text names the curves and counts their points, and the numbers are left to ``check_figure``, which has a
    tolerance.
    """

    dots_per_inch = 160
    digits = 3

    def _repr_mimebundle_(self, include=None, exclude=None):
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=self.dots_per_inch, metadata={"Software": None})
        return {"image/png": base64.b64encode(buffer.getvalue()).decode(), "text/plain": self.digest()}

    def save(self, folder, name: str, *, title: str = "", description: str = "", dpi: int = 300):
        """Write the figure as ``name.svg``, ``name.png`` and ``name.csv`` into a folder, each file whole or not at all.

        The same figure gives the same bytes: no date and no version is written.

        Parameters
        ----------
        folder : path
            Made if it does not exist.
        name : str
            Letters, digits, ``-`` and ``_``.
        title, description : str
            For readers who do not see the picture: title and description of the SVG, metadata of the PNG.
            The title is that of the axes unless given.
        dpi : int
            Dots per inch of the PNG.

        Returns
        -------
        list of pathlib.Path
            The three files. The CSV holds what :func:`pavlov_lib.figures.plotted` returns.

        Raises
        ------
        ValueError
            If the name, the folder or the resolution cannot be used; nothing is written then.

        Examples
        --------
        >>> import tempfile
        >>> figure, ax = new_figure()
        >>> _ = ax.plot([1, 2], [3, 4], label="a line")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print([path.name for path in figure.save(folder, "line", description="A line that rises.")])
        ['line.svg', 'line.png', 'line.csv']
        """
        return save(self, folder, name, title=title, description=description, dpi=dpi)

    def digest(self) -> str:
        """The figure in words and rounded numbers."""
        lines = []
        for ax in self.axes:
            if ax.get_label() == "<colorbar>":
                continue
            name = ax.get_title(loc="left") or ax.get_title() or "Figure"
            axes = f" ({ax.get_ylabel()} against {ax.get_xlabel()})" if ax.get_xlabel() else ""
            lines.append(f"{name}{axes}")
            for line in ax.get_lines():
                y = np.asarray(line.get_ydata(), dtype=float)
                if not str(line.get_label()).startswith("_") and len(y):
                    lines.append(f"  {line.get_label()}: {_ends(y, self.digits)}")
            for image in ax.get_images():
                a = np.ma.filled(image.get_array().astype(float), np.nan)
                shape = " × ".join(map(str, a.shape))
                low, high, total = (_number(v, self.digits) for v in (np.nanmin(a), np.nanmax(a), np.nansum(a)))
                lines.append(f"  {shape} values" + (f" from {low} to {high}, sum {total}" if self.digits else ""))
            for group in ax.containers:
                label = "bars" if group.get_label().startswith("_") else group.get_label()
                if isinstance(group, BarContainer):
                    heights = ", ".join(_number(v, self.digits) for v in group.datavalues)
                    lines.append(f"  {label}: " + (heights if self.digits else f"{len(group.datavalues)} bars"))
                if isinstance(group, ErrorbarContainer) and group.lines[0] is not None:  # bars' own whiskers have none
                    lines.append(
                        f"  {label}: {_ends(np.asarray(group.lines[0].get_ydata(), dtype=float), self.digits)}"
                    )
        return "\n".join(lines)


def _number(v: float, digits: int) -> str:
    return f"{v:.{digits}g}" if digits else ""


def _ends(y: np.ndarray, digits: int) -> str:
    if not len(y):
        return "no points"
    if not digits:
        return f"{len(y)} points"
    ends = ", ".join(_number(v, digits) for v in (y[0], y[len(y) // 2], y[-1]))
    return f"{len(y)} points, y = {ends} (first, middle, last)"


def new_figure(rows: int = 1, columns: int = 1, *, width: float = 5.8, height: float = 4.0, **settings):
    """A figure in the book's style and its axes, narrow enough for a phone; ``height`` is that of one row, in inches.

    Not made through pyplot: nothing global is touched, and a cell shows a figure only if it ends in it.
    """
    with mpl.rc_context(_RC):
        figure = BookFigure(figsize=(width, height * rows), layout="constrained")
        axes = figure.subplots(rows, columns, **settings)
    return figure, axes


def axes_for(ax):
    """``(figure, ax)`` for a drawing function: a new figure if the caller gave no axes."""
    if ax is not None:
        return ax.figure, ax
    return new_figure()


def series_colors(n: int) -> list:
    """``n`` colours for an ordered series, dark to light, none too light for paper."""
    return [mpl.colormaps[SERIES_MAP](x) for x in np.linspace(0.0, 0.7, n)]


def finish(ax, title: str, *, columns: int = 2, **axes) -> None:
    """Title, axis names and scales, and the legend below the axes, where it covers no data."""
    ax.set(**axes)
    with mpl.rc_context(_RC):  # rc settings are read when a title or legend is made
        ax.set_title(title, loc="left")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="upper left", bbox_to_anchor=(0, -0.17), ncols=columns, borderaxespad=0)


def heat_map(ax, matrix, *, rows, columns, limit: float | None = None, numbers: bool = True):
    """A small matrix as a heat map with its numbers written in; rows and columns are named."""
    matrix = np.asarray(matrix, dtype=float)
    limit = limit or max(np.abs(matrix).max(), 1e-9)
    image = ax.imshow(matrix, cmap=HEAT, vmin=-limit, vmax=limit, aspect="auto")
    ax.grid(False)
    ax.set_xticks(range(matrix.shape[1]), columns)
    ax.set_yticks(range(matrix.shape[0]), rows)
    if numbers:
        for (i, j), x in np.ndenumerate(matrix):
            ink = PAPER if abs(x) > 0.6 * limit else INK
            ax.text(j, i, f"{x:.2g}", ha="center", va="center", color=ink, fontsize=9.5)
    return image

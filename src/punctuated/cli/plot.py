"""One look for all pictures: 800 pixels wide, one colour per algorithm, a light grid, the legend clear of the lines.

Figures are built as objects on the Agg canvas; nothing global is touched, so plotting is safe in tests and servers.
Matplotlib is imported here and only when something is drawn: running an experiment does not need it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which readers with any colour vision can tell apart.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#666666"
COLOURS = {"PWJoin": BLUE, "WJoin": VERMILLION, "PJoin": GREEN}
LINES = {"PWJoin": "-", "WJoin": "--", "PJoin": "-."}  # shape as well as colour, for print
_INK = "#333333"
_FEW_POINTS = 60


@contextmanager
def picture(
    path: Path, title: str, panels: int = 1, share_y: bool = False, height: float = 4.5, width: float = 8
) -> "Iterator[list[Axes]]":
    """Axes side by side under one title; the picture is written as a PNG when the block ends."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=13, color=_INK)
    axes = figure.subplots(1, panels, squeeze=False, sharey=share_y)[0].tolist()
    for each in axes:
        _dress(each)
    yield axes
    figure.savefig(path, format="png")


def label(axes: "Axes", x: str, y: str, title: str | None = None) -> None:
    """Name the axes, with their units, and the panel."""
    axes.set_xlabel(x, color=_INK)
    axes.set_ylabel(y, color=_INK)
    if title is not None:
        axes.set_title(title, fontsize=11, color=_INK)
    axes.set_xlim(left=0)


def bars(axes: "Axes", names: Sequence[str], groups: Mapping[str, Sequence[float]]) -> None:
    """Draw a group of bars at each name, side by side."""
    width = 0.8 / len(groups)
    for i, ((name, values), colour) in enumerate(zip(groups.items(), (BLUE, ORANGE, GREEN, PURPLE), strict=False)):
        centres = [at + (i - (len(groups) - 1) / 2) * width for at in range(len(names))]
        axes.bar(centres, list(values), width=0.95 * width, label=name, color=colour)
    axes.set_xticks(range(len(names)), names)


def headroom(axes: "Axes", share: float = 0.08) -> None:
    """Start at zero and leave this share of the height free above the lines."""
    top = max((float(np.max(np.asarray(line.get_ydata()))) for line in axes.get_lines()), default=1.0)
    axes.set_ylim(0, max(top, 1e-9) * (1 + share))


def legend(axes: "Axes", where: Literal["upper left", "upper right"]) -> None:
    """Draw a legend on a white ground."""
    axes.legend(loc=where, frameon=True, framealpha=0.9, edgecolor="none", fontsize=10)


def legend_below(axes: Sequence["Axes"], columns: int) -> None:
    """Draw one legend for all panels, below them."""
    figure = axes[0].figure
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=10)


def _dress(axes: "Axes") -> None:
    from matplotlib.ticker import StrMethodFormatter

    axes.grid(color="#E5E5E5", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#999999")
    axes.tick_params(colors=_INK, labelsize=10)
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.10g}"))


def titled(title: str, result: Mapping[str, Any]) -> str:
    """A title that names the engine if it is not the usual one.

    >>> titled("Tuples in state", {"engine": "spark"}), titled("Tuples in state", {"engine": "tables"})
    ('Spark: Tuples in state', 'Tuples in state')
    """
    return f"Spark: {title}" if result.get("engine") == "spark" else title


def look(algorithm: str) -> dict[str, Any]:
    """The colour and the style of an algorithm's line."""
    return {"color": COLOURS[algorithm], "linestyle": LINES[algorithm]}


def curve(
    axes: "Axes", series: Mapping[str, Sequence[float]], column: str, name: str, unit: float = 1, **style: Any
) -> None:
    """Draw one column of a series over its seconds, in multiples of `unit`; a short series has dots."""
    values = [value / unit for value in series[column]]
    dots = {"marker": "."} if len(values) <= _FEW_POINTS else {}
    axes.plot(series["seconds"], values, label=name, **({"linewidth": 1.8} | dots | style))


def draw_race(axes: "Axes", joins: Mapping[str, Mapping[str, Any]], unit: float = 1e6) -> None:
    """Draw results over wall-clock time, one line per algorithm, in multiples of `unit`."""
    for name, measured in joins.items():
        curve(axes, measured["curve"], "results", name, unit, **look(name))


def draw_counts(path: Path, title: str, result: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    """Draw a picture of the output punctuations so far, one line per algorithm, with a note on each."""
    with picture(path, titled(title, result)) as (axes,):
        for name, note in notes.items():
            curve(axes, result["runs"][name], "punctuations_out", f"{name}, {note}", linewidth=2.2, **look(name))
        label(axes, "time (s)", "punctuations so far")
        headroom(axes)
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # a line at zero is seen
        legend(axes, "upper left")

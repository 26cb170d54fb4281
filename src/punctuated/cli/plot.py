"""One look for all pictures: 800 pixels wide, one colour per algorithm, a light grid, the legend clear of the lines.

Figures are built as objects on the Agg canvas; nothing global is touched, so plotting is safe in tests and servers.
Matplotlib is imported here and only when something is drawn: running a query does not need it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which readers with any colour vision can tell apart.
BLUE, VERMILLION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
ORANGE, SKY, GREY = "#E69F00", "#56B4E9", "#666666"
COLOURS = {"PWJoin": BLUE, "WJoin": VERMILLION, "PJoin": GREEN}
LINES = {"PWJoin": "-", "WJoin": "--", "PJoin": "-."}  # shape as well as colour, for print
_INK = "#333333"


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


def headroom(axes: "Axes", share: float = 0.08) -> None:
    """Start at zero and leave this share of the height free above the lines."""
    top = max((float(np.max(np.asarray(line.get_ydata()))) for line in axes.get_lines()), default=1.0)
    axes.set_ylim(0, max(top, 1e-9) * (1 + share))


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

"""How the pictures of Kang, Naughton and Viglas are drawn: a colour per pair of structures, splits of the input."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.lab import plot
from punctuated.plan.cost import SHOWN_PAIRS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A pair and its mirror image have one colour, and two kinds of lines.
_COLOURS = {"HH": plot.BLUE, "TT": plot.VERMILLION, "HT": plot.GREEN, "HN": plot.PURPLE, "TN": plot.ORANGE}
_SPLITS = ((1, 999), (1, 99), (1, 9), (1, 1), (9, 1), (99, 1), (999, 1))


def look(pair: str) -> dict[str, Any]:
    """How a pair's line is drawn."""
    mirrored = pair not in _COLOURS
    return {"color": _COLOURS[pair[::-1] if mirrored else pair], "linestyle": "--" if mirrored else "-"}


def split_axis(axes: "Axes", shares: Sequence[float]) -> None:
    """The share of the left stream, stretched at both ends, with the ratio as its label."""
    axes.set_xscale("logit")
    axes.set_xlim(min(shares), max(shares))
    axes.set_xticks([a / (a + b) for a, b in _SPLITS], [f"{a}:{b}" for a, b in _SPLITS])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("$\\lambda_a:\\lambda_b$")


def cost_axis(axes: "Axes", low: float, high: float) -> None:
    """Costs on a logarithmic scale, in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_yscale("log")
    axes.set_ylim(low, high)
    steps = (1, 2, 3, 5, 7) if high < 30 * low else (1,)
    axes.yaxis.set_major_locator(LogLocator(subs=steps))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def winners(axes: "Axes", shares: Sequence[float], crossovers: Sequence[Mapping[str, Any]]) -> None:
    """A background in the winner's colour between two crossovers, and its name above."""
    ends = [min(shares), *(each["share"] for each in crossovers), max(shares)]
    names = [crossovers[0]["before"], *(each["after"] for each in crossovers)] if crossovers else []
    for name, low, high in zip(names, ends, ends[1:], strict=False):
        axes.axvspan(low, high, color=look(name)["color"], alpha=0.09, linewidth=0)
        middle = 1 / (1 + np.exp(-(_logit(low) + _logit(high)) / 2))
        style = {"ha": "center", "va": "bottom", "fontsize": 10, "color": look(name)["color"]}
        axes.text(middle, 1.01, name, transform=axes.get_xaxis_transform(), **style)


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))


def legend_below(axes: Sequence["Axes"], columns: int) -> None:
    """One legend for the pairs that any of the panels shows, outside them."""
    shown: dict[str, Any] = {}
    for each in axes:
        handles, names = each.get_legend_handles_labels()
        shown |= dict(zip(names, handles, strict=True))
    names, figure = [pair for pair in SHOWN_PAIRS if pair in shown], axes[0].figure
    handles = [shown[pair] for pair in names]
    figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=10)

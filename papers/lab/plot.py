"""How pictures of experiments are drawn: the look of the product's pictures, a colour and a line for each algorithm.

Matplotlib is imported only when something is drawn: running an experiment does not need it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from punctuated.cli.plot import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    LINES,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    headroom,
    label,
    legend_below,
    picture,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "BLUE",
    "GREEN",
    "GREY",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "bars",
    "curve",
    "draw_counts",
    "draw_race",
    "headroom",
    "label",
    "legend",
    "legend_below",
    "look",
    "picture",
    "titled",
]
_FEW_POINTS = 60


def titled(title: str, result: Mapping[str, Any]) -> str:
    """A title that names the engine if it is not the usual one.

    >>> titled("Tuples in state", {"engine": "spark"}), titled("Tuples in state", {"engine": "tables"})
    ('Spark: Tuples in state', 'Tuples in state')
    """
    return f"Spark: {title}" if result.get("engine") == "spark" else title


def look(algorithm: str) -> dict[str, Any]:
    """How an algorithm's line is drawn."""
    return {"color": COLOURS[algorithm], "linestyle": LINES[algorithm]}


def legend(axes: "Axes", where: Literal["upper left", "upper right"]) -> None:
    """A legend on a white ground."""
    axes.legend(loc=where, frameon=True, framealpha=0.9, edgecolor="none", fontsize=10)


def bars(axes: "Axes", names: Sequence[str], groups: Mapping[str, Sequence[float]]) -> None:
    """A group of bars at each name, side by side."""
    width = 0.8 / len(groups)
    for i, ((name, values), colour) in enumerate(zip(groups.items(), (BLUE, ORANGE, GREEN, PURPLE), strict=False)):
        centres = [at + (i - (len(groups) - 1) / 2) * width for at in range(len(names))]
        axes.bar(centres, list(values), width=0.95 * width, label=name, color=colour)
    axes.set_xticks(range(len(names)), names)


def curve(
    axes: "Axes", series: Mapping[str, Sequence[float]], column: str, name: str, unit: float = 1, **style: Any
) -> None:
    """One column of a series over its seconds, in units of so many; dots where there are few."""
    values = [value / unit for value in series[column]]
    dots = {"marker": "."} if len(values) <= _FEW_POINTS else {}
    axes.plot(series["seconds"], values, label=name, **({"linewidth": 1.8} | dots | style))


def draw_race(axes: "Axes", joins: Mapping[str, Mapping[str, Any]], unit: float = 1e6) -> None:
    """Results over wall-clock time, one line per algorithm, in units of so many results."""
    for name, measured in joins.items():
        curve(axes, measured["curve"], "results", name, unit, **look(name))


def draw_counts(path: Path, title: str, result: Mapping[str, Any], notes: Mapping[str, str]) -> None:
    """A picture of the punctuations put out so far, one line per algorithm, with a note on each."""
    with picture(path, titled(title, result)) as (axes,):
        for name, note in notes.items():
            curve(axes, result["runs"][name], "punctuations_out", f"{name}, {note}", linewidth=2.2, **look(name))
        label(axes, "time (s)", "punctuations so far")
        headroom(axes)
        axes.set_ylim(bottom=-0.02 * axes.get_ylim()[1])  # a line at zero is seen
        legend(axes, "upper left")

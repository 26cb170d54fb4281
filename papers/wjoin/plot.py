"""How the pictures of the W-join report are drawn: a colour per algorithm, service times over input tuples."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.lab import plot
from papers.wjoin.claims import TITLES, Case, Cases, service

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SERVICE = "service time per tuple (µs)"
_COLOURS = {
    "nlw": plot.VERMILLION,
    "mw": plot.BLUE,
    "hw": plot.GREEN,
    "gca": plot.ORANGE,
    "lca": plot.PURPLE,
    "ripple": plot.GREY,
    "xjoin": plot.GREY,
}
_MARKERS = {"nlw": "s", "mw": "o", "hw": "^"}
_WIDE = {"linewidth": 4.0, "alpha": 0.5}  # of NLW-join, on whose line that of MW-join often lies


def look(algorithm: str) -> dict[str, Any]:
    """How an algorithm's line is drawn."""
    width = _WIDE if algorithm == "nlw" else {"linewidth": 1.4}
    return {"color": _COLOURS[algorithm], "label": TITLES[algorithm], **width}


def draw_over_tuples(path: Path, title: str, panels: Mapping[str, Case], *, log: bool, share_y: bool) -> None:
    """A panel per case: service times over the tuples so far, a line per algorithm."""
    with plot.picture(path, title, panels=len(panels), share_y=share_y, width=9) as axes:
        for each, (name, case) in zip(axes, panels.items(), strict=True):
            thousands = [n / 1000 for n in case["tuples"]]
            for algorithm, run in case["runs"].items():
                each.plot(thousands, run["service_us"], **look(algorithm))
            plot.label(each, "input tuples (thousands)", "", name)
        for group in [axes] if share_y else [[each] for each in axes]:
            fit(group, log=log)
        axes[0].set_ylabel(SERVICE)
        plot.legend_below(axes, columns=4)


def draw_over_streams(path: Path, title: str, cases: Cases) -> None:
    """Typical service times over the number of streams, which names the cases."""
    with plot.picture(path, title) as (axes,):
        numbers = [int(name) for name in cases]
        for algorithm in next(iter(cases.values()))["runs"]:
            typical = [service(case, algorithm) for case in cases.values()]
            axes.plot(numbers, typical, marker=_MARKERS[algorithm], **look(algorithm))
        axes.set(xlabel="number of streams", ylabel=SERVICE)
        axes.set_xticks(numbers)
        fit([axes], log=True)
        plot.legend(axes, "upper left")


def fit(axes: Sequence["Axes"], *, log: bool) -> None:
    """One scale for the lines of these panels: from zero, or logarithmic in plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    shown = np.concatenate([np.asarray(line.get_ydata(), float) for each in axes for line in each.get_lines()])
    for each in axes:
        if not log:
            each.set_ylim(0, 1.08 * shown.max())
            continue
        each.set_yscale("log")
        each.set_ylim(shown.min() / 1.4, shown.max() * 1.4)
        each.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        each.yaxis.set_minor_locator(NullLocator())
        each.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))

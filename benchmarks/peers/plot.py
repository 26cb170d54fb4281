"""Draws what `run.py` wrote: one picture of all workloads, rates beside times per trigger and tuples in state.

    python -m benchmarks.peers.plot benchmarks/results/*.json --out benchmarks/results/bench.png

from the root of the repository. Files that are absent or of another kind, systems that did not run to a correct end and
figures that a system does not give are left out.
"""

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.peers.outcome import Batch, Outcome

from punctuated.cli import plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FAMILIES = {  # by the beginning of a system's name
    "punctuated": ("punctuated", plot.BLUE),
    "spark": ("Spark's own join", plot.VERMILLION),
    "flink": ("Flink SQL", plot.GREEN),
    "pathway": ("Pathway", plot.PURPLE),
    "datafusion": ("DataFusion", plot.ORANGE),
}
NAMES = {
    "punctuated": "punctuated",
    "punctuated-disk": "punctuated, on disk",
    "punctuated-floor": "(empty step)",
    "punctuated-lane": "punctuated, from files",
    "punctuated-lane-disk": "punctuated, from files, on disk",
    "punctuated-lane-floor": "(empty step, from files)",
    "punctuated-files": "punctuated, into files",
    "punctuated-lane-files": "punctuated, files to files",
    "punctuated-lane-delta": "punctuated, files to Delta",
    "punctuated-spark-files": "punctuated, into files by Spark",
    "spark-default": "Spark, default store",
    "spark-files": "Spark, into files",
    "spark-rocksdb": "Spark, RocksDB",
    "flink": "Flink",
    "flink-reuse": "Flink, object reuse",
    "flink-files": "Flink, object reuse, into files",
    "flink-files-checkpoints": "the same with checkpoints",
    "pathway": "Pathway",
    "punctuated-tables": "punctuated, no engine",
    "datafusion": "DataFusion, no engine",
}
PALE = dict.fromkeys(("punctuated-floor", "punctuated-lane-floor"), "#A9CCE3")  # no joins
GAP = 1.4  # between workloads, in bars


@dataclass(frozen=True)
class Bars:
    """The systems of one workload."""

    title: str
    rows: int
    cores: int | None
    outcomes: list[Outcome]

    @property
    def best_spark(self) -> float | None:
        """Rows per second of Spark's own join, where it is fastest."""
        rates = [one.rows_per_s for one in self.outcomes if one.system.startswith("spark-") and one.rows_per_s]
        return max(rates, default=None)


def load(paths: Iterable[Path]) -> list[Bars]:
    """The workloads among these files, without what failed."""
    found = []
    for path in paths:
        said = json.loads(path.read_text()) if path.exists() else None
        if isinstance(said, dict) and "inputs" in said and "outcomes" in said:
            found.append(_bars(said))
    return [bars for bars in found if bars.outcomes]


def _bars(said: dict[str, Any]) -> Bars:
    inputs = said["inputs"]
    outcomes = [Outcome(**{**one, "batches": [Batch(**each) for each in one["batches"]]}) for one in said["outcomes"]]
    rows = sum(map(sum, inputs["batches"]))
    title = f"{inputs['workload'].upper()}\n{_short(rows)} rows\n{_short(inputs['results'])} results"
    return Bars(title, rows, said.get("cores"), [one for one in outcomes if one.status == "ok" and one.rows_per_s])


# Figures of a system, if it gives them


def rate(outcome: Outcome) -> float | None:
    """Thousands of rows per second."""
    return outcome.rows_per_s / 1000 if outcome.rows_per_s else None


def trigger(outcome: Outcome) -> float | None:
    """Seconds of a micro-batch with rows after the first one, the median."""
    later = [batch.seconds for batch in outcome.batches if batch.rows][1:]
    return median(later) if later else None


def state(outcome: Outcome) -> float | None:
    """The most tuples in state after a micro-batch."""
    return max((batch.state_rows for batch in outcome.batches if batch.state_rows), default=None)


# Drawing


def draw(workloads: list[Bars], path: Path) -> None:
    """One row per system, grouped by workload; three panels."""
    n_bars = sum(len(bars.outcomes) for bars in workloads) + GAP * (len(workloads) - 1)
    title = f"Stream joins side by side, {' and '.join(sorted({str(bars.cores or '?') for bars in workloads}))} cores"
    with plot.picture(path, title, 3, share_y=True, height=1.9 + 0.27 * n_bars, width=13.5) as panels:
        _panel(panels[0], workloads, rate, "thousand rows per second", _rate_label)
        _panel(panels[1], workloads, trigger, "seconds per trigger (median)", lambda _, __, value: f"{value:,.2f}")
        _panel(panels[2], workloads, state, "most tuples in state", lambda _, __, value: _short(value))
        panels[2].set_xscale("symlog", linthresh=1)
        panels[2].set_xlim(0, panels[2].get_xlim()[1] * 15)  # room for the figures
        _name_rows(panels[0], workloads)
        _legend(panels, workloads)


def _panel(
    axes: "Axes",
    workloads: list[Bars],
    figure: Callable[[Outcome], float | None],
    unit: str,
    text: Callable[[Bars, Outcome, float], str],
) -> None:
    largest = 0.0
    for place, bars, outcome in _placed(workloads):
        value = figure(outcome)
        if value is None:
            continue
        largest = max(largest, value)
        axes.barh(place, value, height=0.8, color=PALE.get(outcome.system, _family(outcome.system)[1]))
        axes.annotate(
            text(bars, outcome, value), (value, place), (4, 0), textcoords="offset points", va="center", fontsize=9
        )
    plot.label(axes, unit, "")
    axes.set_xlim(0, (largest or 1.0) * 1.35)
    axes.grid(visible=False, axis="y")


def _rate_label(bars: Bars, outcome: Outcome, value: float) -> str:
    """The rate, and how many times Spark's best on the same rows."""
    if bars.best_spark is None or outcome.rows != bars.rows:
        return f"{value:,.0f}"
    times = value * 1000 / bars.best_spark
    return f"{value:,.0f} ({times:.{1 if times >= 1 else 2}f} x)"


def _placed(workloads: list[Bars]) -> list[tuple[float, Bars, Outcome]]:
    """Every bar with its height in the picture."""
    placed, place = [], 0.0
    for bars in workloads:
        for outcome in bars.outcomes:
            placed.append((place, bars, outcome))
            place += 1
        place += GAP
    return placed


def _name_rows(axes: "Axes", workloads: list[Bars]) -> None:
    placed = _placed(workloads)
    axes.set_yticks([place for place, _, _ in placed], [_name(one.system) for _, _, one in placed])
    axes.set_ylim(placed[-1][0] + 0.7, -0.7)
    beside = axes.get_yaxis_transform()  # x in widths of the panel, y in bars
    for bars in workloads:
        places = [place for place, owner, _ in placed if owner is bars]
        axes.text(-0.7, (places[0] + places[-1]) / 2, bars.title, transform=beside, va="center", ha="center")


def _name(system: str) -> str:
    """A system for people.

    >>> _name("spark-files-groups"), _name("pathway")
    ('Spark, into files; groups', 'Pathway')
    """
    plain = system.removesuffix("-groups")
    return NAMES.get(plain, plain) + ("; groups" if plain != system else "")


def _legend(panels: list["Axes"], workloads: list[Bars]) -> None:
    from matplotlib.patches import Patch

    used = dict(_family(one.system) for bars in workloads for one in bars.outcomes)
    patches = [Patch(color=colour, label=name) for name, colour in used.items()]
    note = Patch(color="none", label="x: times Spark's own join at its best; no bar: the system does not say")
    panels[0].figure.legend(handles=[*patches, note], loc="outside lower center", ncols=len(used) + 1, frameon=False)


def _family(system: str) -> tuple[str, str]:
    return FAMILIES.get(system.partition("-")[0], (system, plot.GREY))


def _short(value: float) -> str:
    """A number for people.

    >>> _short(720), _short(20_000), _short(4_000_000)
    ('720', '20 k', '4 M')
    """
    for unit, name in ((1e6, " M"), (1e3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="files that run.py wrote")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/bench.png"))
    options = parser.parse_args()
    workloads = load(options.results)
    if not workloads:
        parser.error("none of these files has results")
    draw(workloads, options.out)
    print(options.out)


if __name__ == "__main__":
    main()

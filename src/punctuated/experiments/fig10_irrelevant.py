"""Figure 10: results over wall-clock time when every punctuation is irrelevant, and when there is none (PW-61, PW-62).

The paper: looking in vain for something to purge costs PWJoin next to nothing, and without punctuations it costs the
same as WJoin. The second holds here; of the first, a bound is checked. The paper gives no window; 5 seconds here.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.experiment import Experiment, Progress, Result, check, scaled
from punctuated.experiments.run import SECOND_US, Prepared, cut, declare, prepare, race, ratio

PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
TUPLES = 300_000  # per stream
WINDOW_S = 5
BATCH_S = 100
REPEATS = 25
MOST_TIMES_LONGER, MOST_WITHOUT = 2.0, 1.15
NONE = "PWJoin, no punctuations"


def run(scale: float = 1.0, progress: Progress | None = None) -> Result:
    """Race PWJoin with irrelevant punctuations, PWJoin without any, and WJoin."""
    n = scaled(TUPLES, scale)
    with_rows = [
        pt.streams.generate(pattern, n, seed=seed, punctuations="irrelevant")
        for seed, pattern in enumerate(PATTERNS, 1)
    ]
    tuples = [table.filter(table["pattern"].is_null()).drop_columns(["pattern"]) for table in with_rows]
    joins = {
        "PWJoin": _prepare(with_rows, "pwjoin", punctuated=True),
        NONE: _prepare(tuples, "pwjoin", punctuated=False),
        "WJoin": _prepare(tuples, "wjoin", punctuated=False),
    }
    runs = race(joins, REPEATS, progress)
    n_punctuations = sum(len(table) - n for table in with_rows)
    return {
        "tuples": n,
        "punctuations": n_punctuations,
        "window_s": WINDOW_S,
        "batch_s": BATCH_S,
        "runs": runs,
        "checks": _checks(runs, n_punctuations),
    }


def _prepare(tables: list[pa.Table], algorithm: str, punctuated: bool) -> Prepared:
    source = pt.rows_with("pattern") if punctuated else None
    left, right = (
        declare(name, cut(table, BATCH_S * SECOND_US), WINDOW_S, source)
        for name, table in zip("AB", tables, strict=True)
    )
    return prepare(left, right, algorithm)


def _checks(runs: dict[str, dict[str, Any]], n_punctuations: int) -> list[dict[str, Any]]:
    irrelevant, without = (ratio(runs[name], runs["WJoin"]) for name in ("PWJoin", NONE))
    extra_us = (runs["PWJoin"]["median_s"] - runs["WJoin"]["median_s"]) * SECOND_US / max(1, n_punctuations)
    counts = {each["results"] for each in runs.values()}
    return [
        check(
            "All give the same number of results",
            len(counts) == 1 and counts != {0},
            ", ".join(f"{count:,}" for count in sorted(counts)),
        ),
        check(
            f"With irrelevant punctuations PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            irrelevant <= MOST_TIMES_LONGER,
            f"{irrelevant:.2f} times as long ({runs['PWJoin']['median_s']:.3f} s and "
            f"{runs['WJoin']['median_s']:.3f} s); {extra_us:.1f} µs per punctuation",
        ),
        check(
            f"Without punctuations PWJoin costs what WJoin costs: at most {MOST_WITHOUT:g} times as long",
            without <= MOST_WITHOUT,
            f"{without:.2f} times as long ({runs[NONE]['median_s']:.3f} s)",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Three lines in one panel."""
    with plot.picture(path, f"Results over time, irrelevant punctuations\n{' and '.join(PATTERNS)}") as (axes,):
        plot.draw_race(axes, {name: result["runs"][name] for name in ("PWJoin", "WJoin")}, unit=1_000)
        curve = result["runs"][NONE]["curve"]
        thousands = [results / 1_000 for results in curve["results"]]
        axes.plot(curve["seconds"], thousands, ":", color=plot.SKY, linewidth=2.2, label=NONE)
        plot.label(axes, "wall-clock time (s)", "results (thousands)")
        plot.headroom(axes)
        plot.legend(axes, "upper left")


EXPERIMENT = Experiment("fig10_irrelevant", "Irrelevant punctuations, PWJoin vs. WJoin", "PWJoin figure 10", run, draw)

"""Figure 9: results over wall-clock time, windows of 5 and 15 seconds, input that never runs dry (PW-57, PW-60).

The paper: with the small window WJoin is slightly ahead, with the large one PWJoin is clearly ahead, because probing a
smaller state is cheaper. Here a probe visits matching tuples only, so its cost does not depend on the size of the
state; what can be checked is that PWJoin's extra work stays small, and does not grow with the window.
"""

from pathlib import Path
from typing import Any

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.experiment import Experiment, Progress, Result, check, scaled
from punctuated.experiments.run import SECOND_US, cut, declare, prepare, race, ratio, times_us

PATTERN = "punct-asc-100-40"
TUPLES = 300_000  # per stream: 3,000 s at 100 tuples/s
WINDOWS_S = (5, 15)
BATCH_S = 30
REPEATS = 15
MOST_TIMES_LONGER, MOST_GROWTH, LEAST_SPEED = 1.4, 0.1, 100


def run(scale: float = 1.0, progress: Progress | None = None) -> Result:
    """Race PWJoin against WJoin with each window."""
    n = scaled(TUPLES, scale)
    left, right = (pt.streams.generate(PATTERN, n, seed=seed) for seed in (1, 2))
    batches = [cut(table, BATCH_S * SECOND_US) for table in (left, right)]
    runs: dict[str, dict[str, Any]] = {}
    for i, window in enumerate(WINDOWS_S):
        flags = pt.when("last")
        joins = {
            "PWJoin": prepare(
                declare("A", batches[0], window, flags), declare("B", batches[1], window, flags), "pwjoin"
            ),
            "WJoin": prepare(declare("A", batches[0], window), declare("B", batches[1], window), "wjoin"),
        }
        share = None if progress is None else _part_of(progress, i)
        runs[str(window)] = race(joins, REPEATS, share)
    seconds = float(times_us(left)[-1]) / SECOND_US
    return {"tuples": n, "batch_s": BATCH_S, "stream_s": seconds, "runs": runs, "checks": _checks(runs, seconds)}


def _part_of(progress: Progress, i: int) -> Progress:
    return lambda done: progress((i + done) / len(WINDOWS_S))


def _checks(runs: dict[str, dict[str, Any]], stream_s: float) -> list[dict[str, Any]]:
    longer = {window: ratio(each["PWJoin"], each["WJoin"]) for window, each in runs.items()}
    small, large = longer.values()
    slowest = max(join["median_s"] for each in runs.values() for join in each.values())
    medians = {
        window: f"{each['PWJoin']['median_s']:.3f} s and {each['WJoin']['median_s']:.3f} s"
        for window, each in runs.items()
    }
    return [
        check(
            "Both give the same number of results",
            all(each["PWJoin"]["results"] == each["WJoin"]["results"] > 0 for each in runs.values()),
            ", ".join(f"{each['PWJoin']['results']:,} with {window} s" for window, each in runs.items()),
        ),
        check(
            f"With the small window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            small <= MOST_TIMES_LONGER,
            f"{small:.2f} times as long ({medians['5']})",
        ),
        check(
            f"With the large window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            large <= MOST_TIMES_LONGER,
            f"{large:.2f} times as long ({medians['15']})",
        ),
        check(
            "The larger window does not turn the comparison against PWJoin",
            large <= small + MOST_GROWTH,
            f"{small:.2f} times as long with 5 s, {large:.2f} with 15 s",
        ),
        check(
            f"On slow streams the work hides in the gaps: joining is {LEAST_SPEED} times faster than arriving, or more",
            stream_s >= LEAST_SPEED * slowest,
            f"{stream_s:,.0f} s of input joined in at most {slowest:.3f} s",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per window."""
    with plot.picture(path, f"Results over time at full speed, {PATTERN} on both streams", panels=2) as axes:
        for each, (window, joins) in zip(axes, result["runs"].items(), strict=True):
            plot.draw_race(each, joins)
            plot.label(each, "wall-clock time (s)", "results (millions)", f"{window} s windows")
            plot.headroom(each)
        plot.legend_below(axes, columns=2)


EXPERIMENT = Experiment("fig09_throughput", "Tuple output rate, PWJoin vs. WJoin", "PWJoin figure 9", run, draw)

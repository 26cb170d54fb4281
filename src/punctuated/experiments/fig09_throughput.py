"""Figure 9: results over wall-clock time, windows of 5 and 15 seconds, input that never runs dry (PW-57, PW-60).

The paper: with the small window WJoin is slightly ahead, with the large one PWJoin is clearly ahead, because probing a
smaller state is cheaper. Here a probe visits matching tuples only, so its cost does not depend on the size of the
state; what can be checked is that PWJoin's extra work stays small, and does not grow with the window.
"""

from pathlib import Path
from typing import Any

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result, check, part, scaled
from punctuated.experiments.race import compared, ratio
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import SECOND_US, times_us, with_and_without

PATTERN = "punct-asc-100-40"
TUPLES = 300_000  # per stream: 3,000 s at 100 tuples/s
WINDOWS_S = (5, 15)
BATCH_S = 30
REPEATS = 15
MOST_TIMES_LONGER, LEAST_SPEED = 1.4, 100
MOST_GROWTH = {"tables": 0.1, "spark": 0.25}  # times of micro-batches scatter more


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Race PWJoin against WJoin with each window."""
    n = scaled(TUPLES, scale)
    left, right = (pt.streams.generate(PATTERN, n, seed=seed) for seed in (1, 2))
    runs: dict[str, dict[str, Any]] = {}
    for i, window in enumerate(WINDOWS_S):
        trials, share = with_and_without((left, right), window), part(progress, i, len(WINDOWS_S))
        runs[str(window)] = engine.race(trials, BATCH_S * SECOND_US, REPEATS, share)
    seconds = float(times_us(left)[-1]) / SECOND_US
    checks = _checks(runs, seconds, MOST_GROWTH[engine.name])
    return {"engine": engine.name, "tuples": n, "stream_s": seconds, "runs": runs, "checks": checks}


def _checks(runs: dict[str, dict[str, Any]], stream_s: float, most_growth: float) -> list[dict[str, Any]]:
    longer = {window: ratio(each["PWJoin"], each["WJoin"]) for window, each in runs.items()}
    small, large = longer.values()
    slowest = max((join for each in runs.values() for join in each.values()), key=lambda join: join["median_s"])
    joined_s = stream_s * slowest["timed_share"]
    in_words = [compared(each["PWJoin"], each["WJoin"]) for each in runs.values()]
    return [
        check(
            "Both give the same number of results",
            all(each["PWJoin"]["results"] == each["WJoin"]["results"] > 0 for each in runs.values()),
            ", ".join(f"{each['PWJoin']['results']:,} with {window} s" for window, each in runs.items()),
        ),
        check(
            f"With the small window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            small <= MOST_TIMES_LONGER,
            in_words[0],
        ),
        check(
            f"With the large window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            large <= MOST_TIMES_LONGER,
            in_words[1],
        ),
        check(
            f"The larger window does not turn the comparison against PWJoin: by {most_growth:g} at most",
            large <= small + most_growth,
            f"{small:.2f} times as long with 5 s, {large:.2f} with 15 s",
        ),
        check(
            f"On slow streams the work hides in the gaps: joining is {LEAST_SPEED} times faster than arriving, or more",
            joined_s >= LEAST_SPEED * slowest["median_s"],
            f"{joined_s:,.0f} s of input joined in at most {slowest['median_s']:.3f} s",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per window."""
    title = plot.titled(f"Results over time at full speed, {PATTERN} on both streams", result)
    with plot.picture(path, title, panels=2) as axes:
        for each, (window, joins) in zip(axes, result["runs"].items(), strict=True):
            plot.draw_race(each, joins)
            plot.label(each, "wall-clock time (s)", "results (millions)", f"{window} s windows")
            plot.headroom(each)
        plot.legend_below(axes, columns=2)


EXPERIMENT = Experiment("fig09_throughput", "Tuple output rate, PWJoin vs. WJoin", "PWJoin figure 9", run, draw)

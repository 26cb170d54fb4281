"""Figure 9: results over wall-clock time, windows of 5 and 15 seconds, input that never runs dry (PW-57, PW-60).

The paper: with the small window WJoin is slightly ahead, with the large one PWJoin is clearly ahead, because probing a
smaller state is cheaper. Here a probe visits matching tuples only, so its cost does not depend on the size of the
state; what can be checked is that PWJoin's extra work stays small, and does not grow with the window.
"""

from pathlib import Path

from punctuated.cli import plot
from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Check, Experiment, Result, check, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.race import compared, ratio
from punctuated.experiments.trial import SECOND_US, for_each_window, generated, times_us

PATTERN = "punct-asc-100-40"
TUPLES = 300_000  # per stream: 3,000 s at 100 tuples/s
WINDOWS_S = (5, 15)
BATCH_S = 30
REPEATS = 15
MOST_TIMES_LONGER, LEAST_SPEED = 1.4, 100
MOST_GROWTH = {"tables": 0.1, "spark": 0.25}  # times of micro-batches scatter more


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Race PWJoin against WJoin with each window."""
    n = scaled(TUPLES, scale)
    tables = generated((PATTERN, PATTERN), n)
    runs = for_each_window(
        WINDOWS_S, tables, lambda trials, share: engine.race(trials, BATCH_S * SECOND_US, REPEATS, share), progress
    )
    return {"tuples": n, "stream_s": float(times_us(tables[0])[-1]) / SECOND_US, "runs": runs}


def checks(result: Result) -> list[Check]:
    """Bounds on what PWJoin takes beyond WJoin."""
    runs, most_growth = result["runs"], MOST_GROWTH[result["engine"]]
    longer = {window: ratio(each["PWJoin"], each["WJoin"]) for window, each in runs.items()}
    small, large = longer.values()
    slowest = max((join for each in runs.values() for join in each.values()), key=lambda join: join["median_s"])
    joined_s = result["stream_s"] * slowest["timed_share"]
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


EXPERIMENT = Experiment(
    "fig09_throughput", "Tuple output rate, PWJoin vs. WJoin", "PWJoin figure 9", measure, checks, draw
)

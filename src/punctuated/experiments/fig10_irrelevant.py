"""Figure 10: results over wall-clock time when every punctuation is irrelevant, and when there is none (PW-61, PW-62).

The paper: looking in vain for something to purge costs PWJoin next to nothing, and without punctuations it costs the
same as WJoin. The second holds here; of the first, a bound is checked. The paper gives no window; 5 seconds here.
"""

from pathlib import Path

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Check, Experiment, Result, check, listed, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.race import compared, ratio
from punctuated.experiments.trial import SECOND_US, alike, generated

PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
TUPLES = 300_000  # per stream
WINDOW_S = 5
BATCH_S = 100
REPEATS = 25
MOST_TIMES_LONGER, MOST_WITHOUT = 2.0, 1.15
NONE = "PWJoin, no punctuations"


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Race PWJoin with irrelevant punctuations, PWJoin without any, and WJoin."""
    n = scaled(TUPLES, scale)
    with_rows = generated(PATTERNS, n, punctuations="irrelevant")
    tuples = [table.filter(table["pattern"].is_null()).drop_columns(["pattern"]) for table in with_rows]
    trials = {
        "PWJoin": alike("pwjoin", with_rows, WINDOW_S, pt.rows_with("pattern")),
        NONE: alike("pwjoin", tuples, WINDOW_S),
        "WJoin": alike("wjoin", tuples, WINDOW_S),
    }
    runs = engine.race(trials, BATCH_S * SECOND_US, REPEATS, progress)
    n_punctuations = sum(len(table) - n for table in with_rows)
    return {"tuples": n, "punctuations": n_punctuations, "window_s": WINDOW_S, "runs": runs}


def checks(result: Result) -> list[Check]:
    """Bounds on what irrelevant punctuations, and none at all, cost PWJoin beyond WJoin."""
    runs, n_punctuations = result["runs"], result["punctuations"]
    irrelevant, without = (ratio(runs[name], runs["WJoin"]) for name in ("PWJoin", NONE))
    extra_us = (runs["PWJoin"]["median_s"] - runs["WJoin"]["median_s"]) * SECOND_US / max(1, n_punctuations)
    each_costs = f"; {extra_us:.1f} µs per punctuation" if runs["PWJoin"]["timed_share"] == 1 else ""
    counts = {each["results"] for each in runs.values()}
    return [
        check(
            "All give the same number of results",
            len(counts) == 1 and counts != {0},
            listed(sorted(counts)),
        ),
        check(
            f"With irrelevant punctuations PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
            irrelevant <= MOST_TIMES_LONGER,
            compared(runs["PWJoin"], runs["WJoin"]) + each_costs,
        ),
        check(
            f"Without punctuations PWJoin costs what WJoin costs: at most {MOST_WITHOUT:g} times as long",
            without <= MOST_WITHOUT,
            compared(runs[NONE], runs["WJoin"]),
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Three lines in one panel."""
    title = plot.titled(f"Results over time, irrelevant punctuations\n{' and '.join(PATTERNS)}", result)
    with plot.picture(path, title) as (axes,):
        plot.draw_race(axes, {name: result["runs"][name] for name in ("PWJoin", "WJoin")}, unit=1_000)
        none = {"color": plot.SKY, "linestyle": ":", "linewidth": 2.2}
        plot.curve(axes, result["runs"][NONE]["curve"], "results", NONE, 1_000, **none)
        plot.label(axes, "wall-clock time (s)", "results (thousands)")
        plot.headroom(axes)
        plot.legend(axes, "upper left")


EXPERIMENT = Experiment(
    "fig10_irrelevant", "Irrelevant punctuations, PWJoin vs. WJoin", "PWJoin figure 10", measure, checks, draw
)

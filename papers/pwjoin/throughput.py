"""Figures 9 and 10 of the PWJoin paper: results over wall-clock time, input that never runs dry (PW-57, PW-60 … PW-62).

Figure 9 has windows of 5 and 15 s. In the paper PWJoin overtakes with the larger one, because probing a smaller state
is cheaper. Here a probe visits matching tuples only, so its cost does not depend on the size of the state; what can be
claimed is that PWJoin's extra work stays small, and does not grow with the window.

Figure 10 has punctuations that end nothing, and none at all; the paper names no window, here it is 5 s.
"""

from pathlib import Path

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, all_same
from papers.lab.experiment import Experiment, Run
from papers.lab.race import compared, ratio
from papers.lab.trial import SECOND_US, alike, generated, times_us, with_and_without

# Figure 9

PATTERN = "punct-asc-100-40"
TUPLES = 300_000  # per stream: 3,000 s at 100 tuples/s
SMALL_S, LARGE_S = 5, 15
MOST_TIMES_LONGER, LEAST_SPEED = 1.4, 100
MOST_GROWTH = {"tables": 0.1, "spark": 0.25}  # times of micro-batches scatter more


def race_windows(run: Run) -> Result:
    """Race PWJoin against WJoin with each window."""
    n = run.tuples(TUPLES)
    tables = generated((PATTERN, PATTERN), n)
    runs = {
        str(window): share.race(with_and_without(tables, window), batch_s=30, repeats=15)
        for window, share in run.each((SMALL_S, LARGE_S))
    }
    return {"tuples": n, "stream_s": float(times_us(tables[0])[-1]) / SECOND_US, "runs": runs}


def _times_longer(result: Result, window_s: int) -> float:
    joins = result["runs"][str(window_s)]
    return ratio(joins["PWJoin"], joins["WJoin"])


def _most_growth(result: Result) -> float:
    return MOST_GROWTH[result["engine"]]


def _is_little_slower(which: str, window_s: int, report: str) -> Claim:
    """PWJoin's bound with one of the windows."""
    return Claim(
        f"With the {which} window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin",
        report,
        lambda m: (m["runs"][str(window_s)]["PWJoin"], m["runs"][str(window_s)]["WJoin"]),
        lambda pwjoin, wjoin: ratio(pwjoin, wjoin) <= MOST_TIMES_LONGER,
        compared,
    )


def _speed(result: Result) -> tuple[float, float]:
    """Seconds of input, and the seconds in which the slowest join takes them."""
    joins = [join for joins in result["runs"].values() for join in joins.values()]
    slowest = max(joins, key=lambda join: join["median_s"])
    return result["stream_s"] * slowest["timed_share"], slowest["median_s"]


WINDOW_CLAIMS = (
    Claim(
        "Both give the same number of results",
        NOT_REPORTED,
        lambda m: tuple([join["results"] for join in m["runs"][str(window)].values()] for window in (SMALL_S, LARGE_S)),
        lambda small, large: all_same(small) and all_same(large),
        f"{{0[0]:,}} with {SMALL_S} s, {{1[0]:,}} with {LARGE_S} s",
    ),
    _is_little_slower("small", SMALL_S, "WJoin is slightly ahead"),
    _is_little_slower("large", LARGE_S, "PWJoin is clearly ahead, because it probes a smaller state"),
    Claim(
        lambda m: f"The larger window does not turn the comparison against PWJoin: by {_most_growth(m):g} at most",
        "with the larger window PWJoin overtakes",
        lambda m: (_times_longer(m, SMALL_S), _times_longer(m, LARGE_S), _most_growth(m)),
        lambda small, large, most: large <= small + most,
        f"{{:.2f}} times as long with {SMALL_S} s, {{:.2f}} with {LARGE_S} s",
    ),
    Claim(
        f"On slow streams the work hides in the gaps: joining is {LEAST_SPEED} times faster than arriving, or more",
        "on slow streams the work hides in the gaps",
        _speed,
        lambda arriving_s, joining_s: arriving_s >= LEAST_SPEED * joining_s,
        "{:,.0f} s of input joined in at most {:.3f} s",
    ),
)


def draw_windows(result: Result, path: Path) -> None:
    """Figure 9: a panel for each window."""
    title = plot.titled(f"Results over time at full speed, {PATTERN} on both streams", result)
    with plot.picture(path, title, panels=2) as axes:
        for each, (window, joins) in zip(axes, result["runs"].items(), strict=True):
            plot.draw_race(each, joins)
            plot.label(each, "wall-clock time (s)", "results (millions)", f"{window} s windows")
            plot.headroom(each)
        plot.legend_below(axes, columns=2)


# Figure 10

IRRELEVANT_PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
WINDOW_S = 5
MOST_IRRELEVANT, MOST_WITHOUT = 2.0, 1.15
NONE = "PWJoin, no punctuations"


def race_irrelevant(run: Run) -> Result:
    """Race PWJoin with irrelevant punctuations, PWJoin without any, and WJoin."""
    n = run.tuples(TUPLES)
    with_rows = generated(IRRELEVANT_PATTERNS, n, punctuations="irrelevant")
    tuples = [table.filter(table["pattern"].is_null()).drop_columns(["pattern"]) for table in with_rows]
    trials = {
        "PWJoin": alike("pwjoin", with_rows, WINDOW_S, pt.rows_with("pattern")),
        NONE: alike("pwjoin", tuples, WINDOW_S),
        "WJoin": alike("wjoin", tuples, WINDOW_S),
    }
    n_punctuations = sum(len(table) - n for table in with_rows)
    runs = run.race(trials, batch_s=100, repeats=25)
    return {"tuples": n, "punctuations": n_punctuations, "window_s": WINDOW_S, "runs": runs}


def _compared_in_vain(pwjoin: Result, wjoin: Result, n_punctuations: int) -> str:
    if pwjoin["timed_share"] < 1:
        return compared(pwjoin, wjoin)
    extra_us = (pwjoin["median_s"] - wjoin["median_s"]) * SECOND_US / max(1, n_punctuations)
    return f"{compared(pwjoin, wjoin)}; {extra_us:.1f} µs per punctuation"


IRRELEVANT_CLAIMS = (
    Claim(
        "All give the same number of results",
        NOT_REPORTED,
        lambda m: [join["results"] for join in m["runs"].values()],
        all_same,
        "{:,}",
    ),
    Claim(
        f"With irrelevant punctuations PWJoin takes at most {MOST_IRRELEVANT:g} times as long as WJoin",
        "looking in vain for something to purge costs next to nothing",
        lambda m: (m["runs"]["PWJoin"], m["runs"]["WJoin"], m["punctuations"]),
        lambda pwjoin, wjoin, _: ratio(pwjoin, wjoin) <= MOST_IRRELEVANT,
        _compared_in_vain,
    ),
    Claim(
        f"Without punctuations PWJoin costs what WJoin costs: at most {MOST_WITHOUT:g} times as long",
        "without punctuations PWJoin costs the same as WJoin",
        lambda m: (m["runs"][NONE], m["runs"]["WJoin"]),
        lambda without, wjoin: ratio(without, wjoin) <= MOST_WITHOUT,
        compared,
    ),
)


def draw_irrelevant(result: Result, path: Path) -> None:
    """Figure 10: three lines."""
    title = plot.titled(f"Results over time, irrelevant punctuations\n{' and '.join(IRRELEVANT_PATTERNS)}", result)
    with plot.picture(path, title) as (axes,):
        plot.draw_race(axes, {name: result["runs"][name] for name in ("PWJoin", "WJoin")}, unit=1_000)
        none = {"color": plot.SKY, "linestyle": ":", "linewidth": 2.2}
        plot.curve(axes, result["runs"][NONE]["curve"], "results", NONE, 1_000, **none)
        plot.label(axes, "wall-clock time (s)", "results (thousands)")
        plot.headroom(axes)
        plot.legend(axes, "upper left")


EXPERIMENTS = (
    Experiment(
        "fig09_throughput",
        "Tuple output rate, PWJoin vs. WJoin",
        "PWJoin figure 9",
        race_windows,
        WINDOW_CLAIMS,
        draw_windows,
    ),
    Experiment(
        "fig10_irrelevant",
        "Irrelevant punctuations, PWJoin vs. WJoin",
        "PWJoin figure 10",
        race_irrelevant,
        IRRELEVANT_CLAIMS,
        draw_irrelevant,
    ),
)

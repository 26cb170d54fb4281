"""Figures 9 and 10 of the PWJoin paper: results over wall-clock time, input that never runs dry (PW-57, PW-60 … PW-62).

Figure 9 has windows of 5 and 15 s. In the paper PWJoin overtakes with the larger one, because probing a smaller state
is cheaper. Here a probe visits matching tuples only, so its cost does not depend on the size of the state; what can be
claimed is that PWJoin's extra work stays small, and does not grow with the window.

Figure 10 has punctuations that end nothing, and none at all; the paper names no window, here it is 5 s.
"""

from pathlib import Path

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, Verdict, all_same, listed
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


def _is_little_slower(window_s: int) -> Claim:
    """PWJoin's bound with this window, which the paper reports to be the other way round with the larger one."""

    def judge(result: Result) -> Verdict:
        joins = result["runs"][str(window_s)]
        return _times_longer(result, window_s) <= MOST_TIMES_LONGER, compared(joins["PWJoin"], joins["WJoin"])

    which, report = (
        ("small", "WJoin is slightly ahead") if window_s == SMALL_S else ("large", "PWJoin is clearly ahead")
    )
    claim = f"With the {which} window PWJoin takes at most {MOST_TIMES_LONGER:g} times as long as WJoin"
    return Claim(claim, f"with {window_s} s {report}", judge)


def _same_with_each_window(result: Result) -> Verdict:
    runs = result["runs"]
    return (
        all(all_same([join["results"] for join in joins.values()]) for joins in runs.values()),
        ", ".join(f"{joins['PWJoin']['results']:,} with {window} s" for window, joins in runs.items()),
    )


def _stays_as_close(result: Result) -> Verdict:
    small, large = (_times_longer(result, window) for window in (SMALL_S, LARGE_S))
    found = f"{small:.2f} times as long with {SMALL_S} s, {large:.2f} with {LARGE_S} s"
    return large <= small + MOST_GROWTH[result["engine"]], found


def _hides_in_gaps(result: Result) -> Verdict:
    slowest = max(
        (join for joins in result["runs"].values() for join in joins.values()), key=lambda join: join["median_s"]
    )
    joined_s = result["stream_s"] * slowest["timed_share"]
    return (
        joined_s >= LEAST_SPEED * slowest["median_s"],
        f"{joined_s:,.0f} s of input joined in at most {slowest['median_s']:.3f} s",
    )


WINDOW_CLAIMS = (
    Claim("Both give the same number of results", NOT_REPORTED, _same_with_each_window),
    _is_little_slower(SMALL_S),
    _is_little_slower(LARGE_S),
    Claim(
        lambda result: (
            "The larger window does not turn the comparison against PWJoin: "
            f"by {MOST_GROWTH[result['engine']]:g} at most"
        ),
        "with the larger window PWJoin overtakes",
        _stays_as_close,
    ),
    Claim(
        f"On slow streams the work hides in the gaps: joining is {LEAST_SPEED} times faster than arriving, or more",
        "on slow streams the work hides in the gaps",
        _hides_in_gaps,
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


def _looks_in_vain(result: Result) -> Verdict:
    pwjoin, wjoin = (result["runs"][name] for name in ("PWJoin", "WJoin"))
    found = compared(pwjoin, wjoin)
    if pwjoin["timed_share"] == 1:
        extra_us = (pwjoin["median_s"] - wjoin["median_s"]) * SECOND_US / max(1, result["punctuations"])
        found += f"; {extra_us:.1f} µs per punctuation"
    return ratio(pwjoin, wjoin) <= MOST_IRRELEVANT, found


def _costs_nothing(result: Result) -> Verdict:
    without, wjoin = (result["runs"][name] for name in (NONE, "WJoin"))
    return ratio(without, wjoin) <= MOST_WITHOUT, compared(without, wjoin)


def _same_in_all(result: Result) -> Verdict:
    counts = [join["results"] for join in result["runs"].values()]
    return all_same(counts), listed(sorted(set(counts)))


IRRELEVANT_CLAIMS = (
    Claim("All give the same number of results", NOT_REPORTED, _same_in_all),
    Claim(
        f"With irrelevant punctuations PWJoin takes at most {MOST_IRRELEVANT:g} times as long as WJoin",
        "looking in vain for something to purge costs next to nothing",
        _looks_in_vain,
    ),
    Claim(
        f"Without punctuations PWJoin costs what WJoin costs: at most {MOST_WITHOUT:g} times as long",
        "without punctuations PWJoin costs the same as WJoin",
        _costs_nothing,
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

"""Figures 9a and 9c of the W-join report: streams of different rates, and one that slows down (WJ-39, WJ-41).

The report names no window and no number of values. In figure 9a rates lie evenly between 100 and 1,000 tuples per
second. NLW-join takes as long as MW-join here: the slowest stream has a tuple every 10 ms, so nothing waits for it for
longer than that, and NLW-join scans hardly more than the window.

In figure 9c D changes between 10 and 1,000 tuples per second every 100 tuples. We read these as D's own, so that it is
slow most of the time. All three algorithms profit here: an index of values says at once whether D has a partner at all,
and if it has none, no algorithm begins to look.
"""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import punctuated as pt
from papers.lab.claim import NOT_REPORTED, Claim, Result
from papers.lab.experiment import Run, tables_experiment
from papers.lab.trial import SECOND_US, times_us
from papers.wjoin import plot
from papers.wjoin.claims import SAME_RESULTS, TITLES, are_alike, is_faster, lies_in_window, service
from papers.wjoin.service_time import ManyJoin, measure_cases, uniform_streams
from punctuated.streams.generator import TIMESTAMP

ALGORITHMS = ("nlw", "mw", "hw")
REPEATS = 3

# Figure 9a

NUMBERS = (2, 3, 4, 5, 6)
FASTEST, SLOWEST = 1000, 100
MANY_VALUES, LONG_WINDOW, SHORT_S = 200, "1 second", 10
MOST_APART, MOST_IN_VAIN = 1.33, 1.1


def measure_numbers(run: Run) -> Result:
    """Join streams whose rates lie evenly between the fastest and the slowest."""
    joins = {}
    for n in NUMBERS:
        streams = uniform_streams(np.linspace(FASTEST, SLOWEST, n).tolist(), SHORT_S * run.scale, MANY_VALUES)
        joins[str(n)] = ManyJoin(streams, partial(pt.join, within=LONG_WINDOW))
    return measure_cases(joins, ALGORITHMS, REPEATS, run.progress)


NUMBER_CLAIMS = (
    SAME_RESULTS,
    are_alike(
        f"MW-join and NLW-join take the same, within a factor of {MOST_APART:g}, for every number of streams",
        "NLW-join takes more than ten times as long as MW-join, however many streams there are",
        "nlw",
        "mw",
        MOST_APART,
    ),
    lies_in_window("nlw", MOST_IN_VAIN),
    is_faster("HW-join is faster than MW-join", NOT_REPORTED, "hw", "mw"),
)


def draw_numbers(result: Result, path: Path) -> None:
    """Typical times over the number of streams."""
    title = f"Streams of {SLOWEST} to {FASTEST:,} tuples/s, windows of {LONG_WINDOW}"
    plot.draw_over_streams(path, title, result["cases"])


# Figure 9c

FAST, SLOW, SPELL = 1000, 10, 100
VALUES, WINDOW, SECONDS = 20, "100 ms", 20
STEADY, CHANGING = "D steady", "D changing"
LEAST_GAIN = 2.0


def changing(table: pa.Table) -> pa.Table:
    """The tuples of a stream at other times, fast and slow by turns, as many of them as come while it lasted."""
    rng, end = np.random.default_rng(len(table)), times_us(table)[-1]
    is_slow = np.arange(len(table)) // SPELL % 2 == 1
    ts = np.cumsum(rng.exponential(SECOND_US / np.where(is_slow, SLOW, FAST))).astype(np.int64)
    at = table.schema.get_field_index("ts")
    return table.set_column(at, "ts", pa.array(ts).cast(TIMESTAMP)).slice(0, int(np.sum(ts <= end)))


def measure_changing(run: Run) -> Result:
    """Join the streams twice, with D as fast as the others and with D slow now and then."""
    a, b, c, d = uniform_streams([FAST] * 4, SECONDS * run.scale, VALUES)
    streams = {STEADY: (a, b, c, d), CHANGING: (a, b, c, changing(d))}
    joins = {name: ManyJoin(tables, partial(pt.join, within=WINDOW)) for name, tables in streams.items()}
    return measure_cases(joins, ALGORITHMS, REPEATS, run.progress)


def _times(result: Result, algorithm: str) -> tuple[float, float]:
    """Service times with D steady and with D changing."""
    steady, changed = (service(result["cases"][name], algorithm) for name in (STEADY, CHANGING))
    return steady, changed


def _in_words(algorithm: str, steady: float, changed: float) -> str:
    times = f"{steady:.2f} µs with D steady, {changed:.2f} µs with D changing"
    return f"{TITLES[algorithm]}: {times}, {steady / changed:.1f} times as fast"


def _soon(result: Result) -> float:
    """MW-join's service time when D has just become slow, amid the first slice."""
    times: list[float] = result["cases"][CHANGING]["runs"]["mw"]["service_us"][1:2]
    return times[0] if times else math.inf


CHANGING_CLAIMS = (
    SAME_RESULTS,
    Claim(
        f"When D is slow, MW-join is faster at once, by a factor of {LEAST_GAIN:g} or more",
        "MW-join profits greatly",
        lambda m: (*_times(m, "mw"), _soon(m)),
        lambda steady, changed, soon: steady >= LEAST_GAIN * max(changed, soon),
        lambda steady, changed, soon: (
            f"{_in_words('mw', steady, changed)}, {steady / soon:.1f} times when D has just become slow"
        ),
    ),
    Claim(
        f"So is NLW-join, by a factor of {LEAST_GAIN:g} or more",
        "NLW-join hardly changes",
        lambda m: _times(m, "nlw"),
        lambda steady, changed: steady >= LEAST_GAIN * changed,
        partial(_in_words, "nlw"),
    ),
    Claim(
        "And so is HW-join",
        "HW-join hardly changes",
        lambda m: _times(m, "hw"),
        lambda steady, changed: steady > changed,
        partial(_in_words, "hw"),
    ),
)


def draw_changing(result: Result, path: Path) -> None:
    """D steady in the left panel, changing in the right one."""
    titles = {STEADY: f"D at {FAST:,} tuples/s", CHANGING: f"D at {SLOW} and {FAST:,} tuples/s by turns"}
    panels = {titles[name]: case for name, case in result["cases"].items()}
    title = f"Four streams, A to C at {FAST:,} tuples/s, windows of {WINDOW}"
    plot.draw_over_tuples(path, title, panels, log=True, share_y=True)


EXPERIMENTS = (
    tables_experiment(
        "wj_fig09a",
        "Two to six streams of different rates",
        "W-join report, figure 9a",
        measure_numbers,
        NUMBER_CLAIMS,
        draw_numbers,
    ),
    tables_experiment(
        "wj_fig09c",
        "Four streams, one of which slows down",
        "W-join report, figure 9c",
        measure_changing,
        CHANGING_CLAIMS,
        draw_changing,
    ),
)

"""Figure 9c of the W-join report: four streams, the last of which slows down again and again (WJ-41).

The report: D changes between 10 and 1,000 tuples per second every 100 tuples; MW-join profits greatly, NLW-join and
HW-join hardly change. We read *every 100 tuples* as D's own, so that it is slow most of the time. The report names no
window and no number of values. Here all three profit: an index of values says at once whether D has a partner at all,
and if it has none, no algorithm begins to look.
"""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import TITLES, same_results, service
from punctuated.experiments.service_time import ManyJoin, measure_cases
from punctuated.experiments.synthetic_streams import uniform_streams
from punctuated.experiments.trial import SECOND_US, times_us
from punctuated.streams.generator import TIMESTAMP

FAST, SLOW, SPELL = 1000, 10, 100
VALUES, WINDOW, SECONDS = 20, "100 ms", 20
ALGORITHMS = ("nlw", "mw", "hw")
REPEATS = 3
STEADY, CHANGING = "D steady", "D changing"
LEAST_GAIN = 2.0


def changing(table: pa.Table) -> pa.Table:
    """The tuples of a stream at other times, fast and slow by turns, as many of them as come while it lasted."""
    rng, end = np.random.default_rng(len(table)), times_us(table)[-1]
    is_slow = np.arange(len(table)) // SPELL % 2 == 1
    ts = np.cumsum(rng.exponential(SECOND_US / np.where(is_slow, SLOW, FAST))).astype(np.int64)
    at = table.schema.get_field_index("ts")
    return table.set_column(at, "ts", pa.array(ts).cast(TIMESTAMP)).slice(0, int(np.sum(ts <= end)))


def measure(scale: float, progress: Progress | None) -> Result:
    """Join the streams twice, with D as fast as the others and with D slow now and then."""
    a, b, c, d = uniform_streams([FAST] * 4, SECONDS * scale, VALUES)
    streams = {STEADY: (a, b, c, d), CHANGING: (a, b, c, changing(d))}
    within = partial(pt.join, within=WINDOW)
    joins = {name: ManyJoin(tables, within) for name, tables in streams.items()}
    return measure_cases(joins, ALGORITHMS, REPEATS, progress)


def checks(result: Result) -> list[Check]:
    """What each of them gains."""
    cases = result["cases"]
    gains = {each: service(cases[STEADY], each) / service(cases[CHANGING], each) for each in ALGORITHMS}
    in_words = {
        each: f"{TITLES[each]}: {service(cases[STEADY], each):.2f} µs with D steady, "
        f"{service(cases[CHANGING], each):.2f} µs with D changing, {gains[each]:.1f} times as fast"
        for each in ALGORITHMS
    }
    soon = cases[CHANGING]["runs"]["mw"]["service_us"][1:2]  # D has become slow amid the first slice
    at_once = service(cases[STEADY], "mw") / soon[0] if soon else 0.0
    return [
        same_results(cases),
        check(
            f"When D is slow, MW-join is faster at once, by a factor of {LEAST_GAIN:g} or more",
            min(gains["mw"], at_once) >= LEAST_GAIN,
            f"{in_words['mw']}, {at_once:.1f} times when D has just become slow",
        ),
        check(
            f"So is NLW-join, by a factor of {LEAST_GAIN:g} or more (not so in the report: it hardly changes)",
            gains["nlw"] >= LEAST_GAIN,
            in_words["nlw"],
        ),
        check(
            "And so is HW-join (not so in the report: it hardly changes)",
            gains["hw"] > 1,
            in_words["hw"],
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Steady left, changing right."""
    titles = {STEADY: f"D at {FAST:,} tuples/s", CHANGING: f"D at {SLOW} and {FAST:,} tuples/s by turns"}
    panels = {titles[name]: case for name, case in result["cases"].items()}
    title = f"Four streams, A to C at {FAST:,} tuples/s, windows of {WINDOW}"
    wjoin_plot.draw_over_tuples(path, title, panels, log=True, share_y=True)


EXPERIMENT = tables_experiment(
    "wj_fig09c", "Four streams, one of which slows down", "W-join report, figure 9c", measure, checks, draw
)

"""Figure 13 of the W-join report: one pair of four streams has a wider window than all others, GCA and LCA (WJ-42).

The report: LCA is faster than GCA, even where windows hardly differ. Here windows are tightened by shortest ways first
(WJ-28, XD-21): with 0.1 s between all others, A and B are at most 0.2 s apart, whatever their own window says, and GCA
works with 0.2 s in the place of 1 s. So that case is measured twice, with windows as they are written, too.
"""

from functools import partial
from pathlib import Path

import punctuated as pt
from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import in_words, is_faster, same_results, service, times_as_long
from punctuated.experiments.service_time import NAMES, ManyJoin, measure_cases
from punctuated.experiments.synthetic_streams import uniform_streams
from punctuated.experiments.trial import SECOND_US
from punctuated.model.reach import Reach

N = 4
RATE, VALUES, SECONDS = 1000, 100, 5
WIDE_US = SECOND_US  # of A and B
NARROW, NARROW_WRITTEN, HARDLY = "0.1 s", "0.1 s, not tightened", "0.8 s"
REPEATS = 3
LEAST_GAIN = 2.0


def measure(scale: float, progress: Progress | None) -> Result:
    """Join the same streams by both, with each of the windows."""
    tables = uniform_streams([RATE] * N, SECONDS * scale, VALUES)
    joins = {
        HARDLY: ManyJoin(tables, partial(pt.join, within=windows(800_000))),
        NARROW_WRITTEN: ManyJoin(tables, partial(pt.join, within=windows(100_000)), reach=as_written(100_000)),
        NARROW: ManyJoin(tables, partial(pt.join, within=windows(100_000))),
    }
    return measure_cases(joins, ("gca", "lca"), REPEATS, progress)


def windows(others_us: int) -> dict[tuple[str, str], int]:
    """The window of every pair: that of A and B is wide."""
    written = as_written(others_us)
    return {(NAMES[i], NAMES[j]): written[i][j] for j in range(N) for i in range(j)}


def as_written(others_us: int) -> Reach:
    """The same as a matrix that no shortest way has tightened."""
    return tuple(tuple(0 if i == j else WIDE_US if {i, j} == {0, 1} else others_us for j in range(N)) for i in range(N))


def checks(result: Result) -> list[Check]:
    """LCA against GCA, and what tightening does for GCA."""
    cases = result["cases"]
    tightened, written = (service(cases[name], "gca") for name in (NARROW, NARROW_WRITTEN))
    return [
        same_results(cases),
        is_faster("LCA is faster than GCA where other windows are 0.8 s", {HARDLY: cases[HARDLY]}, "lca", "gca"),
        is_faster(
            f"LCA is faster than GCA where other windows are 0.1 s and not tightened, {LEAST_GAIN:g} times or more",
            {NARROW_WRITTEN: cases[NARROW_WRITTEN]},
            "lca",
            "gca",
            LEAST_GAIN,
        ),
        is_faster("LCA is faster than GCA where windows are tightened, too", {NARROW: cases[NARROW]}, "lca", "gca"),
        check(
            f"Tightened windows make GCA faster, {LEAST_GAIN:g} times or more",
            written >= LEAST_GAIN * tightened,
            f"{written:.2f} µs as written, {tightened:.2f} µs tightened",
        ),
        check(
            "LCA gains more over GCA from windows that differ much, as they are written, than from ones that differ "
            "little",
            times_as_long(cases[NARROW_WRITTEN], "gca", "lca") > times_as_long(cases[HARDLY], "gca", "lca"),
            in_words({name: cases[name] for name in (HARDLY, NARROW_WRITTEN)}, "gca", "lca"),
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per case."""
    panels = {f"other windows {name}": case for name, case in result["cases"].items()}
    title = f"Four streams at {RATE:,} tuples/s, A and B within 1 s"
    wjoin_plot.draw_over_tuples(path, title, panels, log=False, share_y=False)


EXPERIMENT = tables_experiment(
    "wj_fig13", "One window wider than the others", "W-join report, figure 13", measure, checks, draw
)

"""Figures 13 and 14 of the W-join report: four streams with windows of their own for each pair (WJ-42, WJ-43).

In figure 13 one pair has a wider window than all others. Windows are tightened by shortest paths first here (WJ-28,
XD-21): with 0.1 s between all others, A and B are at most 0.2 s apart, whatever their own window says, and GCA works
with 0.2 s instead of 1 s. So that case is measured twice, also with windows as they are written.

Figure 14 is a path in both directions; the report names no rates and no windows. Members of a directed path narrow the
periods on both ends, LCA's wide ones let far more combinations through to the second look, so NLW-join is ahead in both
cases here. What LCA has from MW-join, seeking in time, MW-join itself has with narrow periods, and it is measured too.
"""

from functools import partial
from pathlib import Path

import punctuated as pt
from papers.lab.claim import NOT_REPORTED, Claim, Result
from papers.lab.experiment import Run, tables_experiment
from papers.lab.trial import SECOND_US
from papers.wjoin import plot
from papers.wjoin.claims import SAME_RESULTS, is_faster, is_more_ahead, service
from papers.wjoin.service_time import NAMES, ManyJoin, measure_cases, uniform_streams
from punctuated.model.reach import Reach

REPEATS = 3

# Figure 13

N = 4
RATE, VALUES, SECONDS = 1000, 100, 5
WIDE_US = SECOND_US  # of A and B
NARROW, NARROW_WRITTEN, HARDLY = "0.1 s", "0.1 s, not tightened", "0.8 s"
LEAST_GAIN = 2.0


def measure_windows(run: Run) -> Result:
    """Join the same streams by GCA and LCA, with each of the windows."""
    tables = uniform_streams([RATE] * N, SECONDS * run.scale, VALUES)
    hardly, narrow = (partial(pt.join, within=pair_windows(others_us)) for others_us in (800_000, 100_000))
    joins = {
        HARDLY: ManyJoin(tables, hardly),
        NARROW_WRITTEN: ManyJoin(tables, narrow, reach=as_written(100_000)),
        NARROW: ManyJoin(tables, narrow),
    }
    return measure_cases(joins, ("gca", "lca"), REPEATS, run.progress)


def pair_windows(others_us: int) -> dict[tuple[str, str], int]:
    """The window of every pair: that of A and B is wide."""
    written = as_written(others_us)
    return {(NAMES[i], NAMES[j]): written[i][j] for j in range(N) for i in range(j)}


def as_written(others_us: int) -> Reach:
    """The windows of all pairs as a matrix, not tightened by shortest paths."""
    return tuple(tuple(0 if i == j else WIDE_US if {i, j} == {0, 1} else others_us for j in range(N)) for i in range(N))


_LCA_IS_FASTER = "LCA is faster than GCA, even where windows hardly differ"
WINDOW_CLAIMS = (
    SAME_RESULTS,
    is_faster("LCA is faster than GCA where other windows are 0.8 s", _LCA_IS_FASTER, "lca", "gca", (HARDLY,)),
    is_faster(
        f"LCA is faster than GCA where other windows are 0.1 s and not tightened, {LEAST_GAIN:g} times or more",
        _LCA_IS_FASTER,
        "lca",
        "gca",
        (NARROW_WRITTEN,),
        LEAST_GAIN,
    ),
    is_faster("LCA is faster than GCA where windows are tightened, too", NOT_REPORTED, "lca", "gca", (NARROW,)),
    Claim(
        f"Tightened windows make GCA faster, {LEAST_GAIN:g} times or more",
        NOT_REPORTED,
        lambda m: tuple(service(m["cases"][name], "gca") for name in (NARROW_WRITTEN, NARROW)),
        lambda written, tightened: written >= LEAST_GAIN * tightened,
        "{:.2f} µs as written, {:.2f} µs tightened",
    ),
    is_more_ahead(
        "LCA gains more over GCA from windows that differ much, as they are written, than from ones that differ little",
        _LCA_IS_FASTER,
        "lca",
        "gca",
        much=NARROW_WRITTEN,
        little=HARDLY,
    ),
)


def draw_windows(result: Result, path: Path) -> None:
    """A panel for each case."""
    panels = {f"other windows {name}": case for name, case in result["cases"].items()}
    title = f"Four streams at {RATE:,} tuples/s, A and B within 1 s"
    plot.draw_over_tuples(path, title, panels, log=False, share_y=False)


# Figure 14

LITTLE, MUCH = "little", "much"
RATES = {LITTLE: (1000, 900, 800, 700), MUCH: (1000, 100, 1000, 100)}
PATH_VALUES, STEP, PATH_SECONDS = 100, "300 ms", 6


def measure_paths(run: Run) -> Result:
    """Find the path among streams of similar rates and of very different ones."""
    path = partial(pt.path, within=STEP, both_directions=True)
    joins = {
        name: ManyJoin(uniform_streams(rates, PATH_SECONDS * run.scale, PATH_VALUES), path)
        for name, rates in RATES.items()
    }
    return measure_cases(joins, ("nlw", "lca", "mw"), REPEATS, run.progress)


PATH_CLAIMS = (
    SAME_RESULTS,
    is_faster(
        "Where rates differ little, NLW-join is faster than LCA",
        "where rates hardly differ, NLW-join is faster than LCA",
        "nlw",
        "lca",
        (LITTLE,),
    ),
    is_faster(
        "Where rates differ much, NLW-join is faster than LCA, too",
        "where rates differ much, LCA is the fastest",
        "nlw",
        "lca",
        (MUCH,),
    ),
    is_more_ahead(
        "There LCA is less far behind than where rates differ little",
        "where rates differ much, LCA is the fastest",
        "nlw",
        "lca",
        much=LITTLE,
        little=MUCH,
    ),
    is_faster("MW-join with the periods of the path is faster than NLW-join", NOT_REPORTED, "mw", "nlw"),
)


def draw_paths(result: Result, path: Path) -> None:
    """A panel for each spread of rates."""
    panels = {
        f"rates differ {name}: {', '.join(f'{rate:,}' for rate in RATES[name])} tuples/s": case
        for name, case in result["cases"].items()
    }
    title = f"A path of four streams in both directions, steps of {STEP}"
    plot.draw_over_tuples(path, title, panels, log=True, share_y=False)


EXPERIMENTS = (
    tables_experiment(
        "wj_fig13",
        "One window wider than the others",
        "W-join report, figure 13",
        measure_windows,
        WINDOW_CLAIMS,
        draw_windows,
    ),
    tables_experiment(
        "wj_fig14",
        "A path of four streams in both directions",
        "W-join report, figure 14",
        measure_paths,
        PATH_CLAIMS,
        draw_paths,
    ),
)

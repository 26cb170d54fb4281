"""Figure 14 of the W-join report: a path of four streams in both directions, NLW-join and LCA (WJ-43).

The report: where rates hardly differ, NLW-join is faster than LCA; where they differ much, LCA is the fastest. It names
no rates and no windows. Here NLW-join is ahead in both: members of a directed path narrow the periods on both ends,
LCA's wide ones let far more combinations through to the second look. What LCA has from MW-join, seeking in time,
MW-join itself has with narrow periods, and it is measured as well.
"""

from functools import partial
from pathlib import Path

import punctuated as pt
from punctuated.experiments import wjoin_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress
from punctuated.experiments.service_checks import in_words, is_faster, same_results, times_as_long
from punctuated.experiments.service_time import ManyJoin, measure_cases
from punctuated.experiments.synthetic_streams import uniform_streams

RATES = {"little": (1000, 900, 800, 700), "much": (1000, 100, 1000, 100)}
VALUES, WINDOW, SECONDS = 100, "300 ms", 6
REPEATS = 3


def measure(scale: float, progress: Progress | None) -> Result:
    """Find the path among streams of similar rates and of very different ones."""
    path = partial(pt.path, within=WINDOW, both_directions=True)
    joins = {name: ManyJoin(uniform_streams(rates, SECONDS * scale, VALUES), path) for name, rates in RATES.items()}
    return measure_cases(joins, ("nlw", "lca", "mw"), REPEATS, progress)


def checks(result: Result) -> list[Check]:
    """Who is ahead."""
    cases = result["cases"]
    little, much = ({name: cases[name]} for name in RATES)
    return [
        same_results(cases),
        is_faster("Where rates differ little, NLW-join is faster than LCA", little, "nlw", "lca"),
        is_faster(
            "Where rates differ much, NLW-join is faster than LCA, too (not so in the report: LCA is the fastest)",
            much,
            "nlw",
            "lca",
        ),
        check(
            "There LCA is less far behind than where rates differ little",
            times_as_long(cases["much"], "lca", "nlw") < times_as_long(cases["little"], "lca", "nlw"),
            in_words(cases, "lca", "nlw"),
        ),
        is_faster("MW-join with the periods of the path is faster than NLW-join", cases, "mw", "nlw"),
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per spread of rates."""
    panels = {
        f"rates differ {name}: {', '.join(f'{rate:,}' for rate in RATES[name])} tuples/s": case
        for name, case in result["cases"].items()
    }
    title = f"A path of four streams in both directions, steps of {WINDOW}"
    wjoin_plot.draw_over_tuples(path, title, panels, log=True, share_y=False)


EXPERIMENT = tables_experiment(
    "wj_fig14", "A path of four streams in both directions", "W-join report, figure 14", measure, checks, draw
)

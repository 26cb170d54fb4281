"""Figure 8: tuples in both states of PWJoin and of WJoin, with windows of 1, 5 and 15 seconds (PW-59).

The paper: the larger the window, the more memory punctuations save.
"""

from itertools import pairwise
from pathlib import Path

from punctuated.cli import plot
from punctuated.experiments.engine import Engine, sample_each
from punctuated.experiments.experiment import Check, Experiment, Result, check, listed, scaled
from punctuated.experiments.progress import Progress
from punctuated.experiments.series import Series, mean_after
from punctuated.experiments.trial import SECOND_US, for_each_window, generated, rate

PATTERN = "punct-asc-100-40"
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOWS_S = (1, 5, 15)
STEP_S = 2


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Sample both joins with each window."""
    n = scaled(TUPLES, scale)
    tables = generated((PATTERN, PATTERN), n)
    step_us, columns = STEP_S * SECOND_US, ("state", "results")
    runs = for_each_window(
        WINDOWS_S, tables, lambda trials, share: sample_each(engine, trials, step_us, columns, share), progress
    )
    return {
        "tuples": n,
        "tuples_per_s": sum(rate(table) for table in tables),
        "state_name": engine.state_name,
        "runs": runs,
    }


def summary(result: Result) -> dict[str, dict[str, float]]:
    """What each window holds and saves: means once it has filled."""
    return {window: _saved(runs, float(window), result["tuples_per_s"]) for window, runs in result["runs"].items()}


def _saved(runs: dict[str, Series], window_s: float, tuples_per_s: float) -> dict[str, float]:
    pwjoin, wjoin = (mean_after(runs[name], "state", window_s) for name in ("PWJoin", "WJoin"))
    return {
        "expected_wjoin": tuples_per_s * window_s,
        "wjoin": wjoin,
        "pwjoin": pwjoin,
        "saved": wjoin - pwjoin,
        "saved_share": (wjoin - pwjoin) / wjoin if wjoin else 0.0,
    }


def checks(result: Result) -> list[Check]:
    """The paper's claim, and what must hold of any two joins over the same streams."""
    runs, means = result["runs"], summary(result)
    saved = [each["saved"] for each in means.values()]
    shares = [each["saved_share"] for each in means.values()]
    plateaus = [(each["wjoin"], each["expected_wjoin"]) for each in means.values()]
    pairs = [
        (ours, theirs)
        for each in runs.values()
        for ours, theirs in zip(each["PWJoin"]["state"], each["WJoin"]["state"], strict=True)
    ]
    same = all(each["PWJoin"]["results"] == each["WJoin"]["results"] != [] for each in runs.values())
    return [
        check(
            "The larger the window, the more tuples PWJoin saves",
            all(small < large for small, large in pairwise(saved)),
            f"saved tuples at 1, 5, 15 s: {listed(saved)}",
        ),
        check(
            "The larger the window, the larger the share that PWJoin saves",
            all(small < large for small, large in pairwise(shares)),
            f"saved share at 1, 5, 15 s: {listed(shares, '.0%')}",
        ),
        check(
            "WJoin holds what its windows hold: the rate times the window of both streams, within 10 %",
            all(abs(measured - expected) <= 0.1 * expected for measured, expected in plateaus),
            "; ".join(f"{measured:,.0f} of {expected:,.0f} expected" for measured, expected in plateaus),
        ),
        check(
            "PWJoin never holds more than WJoin",
            bool(pairs) and all(ours <= theirs for ours, theirs in pairs),
            f"{sum(ours > theirs for ours, theirs in pairs)} of {len(pairs)} samples above",
        ),
        check(
            "Both have given the same number of results at every sample",
            same,
            f"results with 1, 5, 15 s: {listed(sum(each['PWJoin']['results'][-1:]) for each in runs.values())}",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """Six lines: the algorithm by its colour, the window by its shade."""
    title = plot.titled(f"Tuples in state, {PATTERN} on both streams", result)
    with plot.picture(path, title, height=4.8) as (axes,):
        for (window, series), shade in zip(result["runs"].items(), (0.4, 0.7, 1.0), strict=True):
            for name in ("WJoin", "PWJoin"):
                shown = f"{name}, {window} s window"
                plot.curve(axes, series[name], "state", shown, alpha=shade, **plot.look(name))
        plot.label(axes, "time (s)", f"{result['state_name']}, both streams")
        plot.headroom(axes)
        plot.legend_below([axes], columns=3)


EXPERIMENT = Experiment("fig08_memory", "Memory, PWJoin vs. WJoin", "PWJoin figure 8", measure, checks, draw)

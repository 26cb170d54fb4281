"""Equation (1): the predicted against the measured state over time (PW-49 … PW-51).

Two settings. `clustered in time` are figure 8's streams: most tuples of a value come close to its punctuation. `spread
evenly` meets the assumption behind the equation, that a stored tuple is as likely to carry one value as any other
seen so far: B's values are uniform, and A punctuates them one after the other, at two rates.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.experiments import fig08_memory, plot
from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result, check, listed, part, scaled
from punctuated.experiments.series import Series
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import SECOND_US, Input, Trial, rate, times_us
from punctuated.plan.cost import pwjoin_state, window_state

TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 15
STEP_S = 2
SEGMENTS = (30, 60)  # tuples per punctuation of A: two punctuation rates
MOST_ERROR, FIFTHS = 0.05, 5


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Measure PWJoin and predict its state from the rates of the same streams."""
    n = scaled(TUPLES, scale)
    similar = [pt.streams.generate(fig08_memory.PATTERN, n, seed=seed) for seed in (1, 2)]
    uniform = pt.streams.generate(f"uniform-{max(1, n // SEGMENTS[0])}", n, seed=2)
    shares = [part(progress, i, 1 + len(SEGMENTS)) for i in range(1 + len(SEGMENTS))]
    clustered = _measure(engine, similar[0], similar[1], shares[0])
    spread = {}
    for segment, share in zip(SEGMENTS, shares[1:], strict=True):
        left = pt.streams.generate(f"punct-asc-{segment}-40", n, seed=1)
        spread[str(segment)] = _measure(engine, left, uniform, share)["B"]
    bound = window_state(rate(uniform), WINDOW_S)
    return {
        "engine": engine.name,
        "tuples": n,
        "window_s": WINDOW_S,
        "clustered": clustered,
        "spread": spread,
        "summary": {side: _summary(clustered[side]) for side in "AB"},
        "checks": _checks(clustered, spread, bound),
    }


def _measure(engine: Engine, left: pa.Table, right: pa.Table, progress: Progress | None) -> dict[str, Series]:
    """The state of each side over time, measured and predicted; a stream without flags is declared unpunctuated."""
    inputs = [
        Input(table, WINDOW_S, pt.when("last") if table["last"].to_numpy().any() else None) for table in (left, right)
    ]
    trial = Trial("pwjoin", inputs[0], inputs[1])
    series = engine.sample(trial, STEP_S * SECOND_US, progress)
    start, _ = trial.span_us()
    return {
        name: {
            "seconds": series["seconds"],
            "measured": series[state],
            "predicted": [_predict(ours, other, start, at) for at in series["seconds"]],
        }
        for name, state, ours, other in (("A", "state_left", left, right), ("B", "state_right", right, left))
    }


def _predict(ours: pa.Table, other: pa.Table, start: int, seconds: float) -> float:
    """Eq. (1) with what the streams have brought so far; until the window is full, it is as long as the run."""
    now = start + round(seconds * SECOND_US)
    n_ours, n_other = (int(np.searchsorted(times_us(table), now)) for table in (ours, other))
    return pwjoin_state(
        rate=n_ours / seconds,
        window_s=min(WINDOW_S, seconds),
        punctuation_rate=int(np.count_nonzero(other["last"].to_numpy()[:n_other])) / seconds,
        elapsed_s=seconds,
        distinct_values=np.unique(ours["key"].to_numpy()[:n_ours]).size,
    )


def _summary(series: Series) -> dict[str, float]:
    """Means over the second half of the run."""
    half = len(series["seconds"]) // 2
    return {name: float(np.mean(series[name][half:])) for name in ("measured", "predicted")}


def _checks(clustered: dict[str, Series], spread: dict[str, Series], bound: float) -> list[dict[str, Any]]:
    errors = [
        float(np.mean(np.abs(np.subtract(each["measured"], each["predicted"])))) / bound for each in spread.values()
    ]
    often, seldom = ([value for at, value in _full(each)] for each in spread.values())
    fifths = [float(np.mean(part)) if len(part) else 0.0 for part in np.array_split(often, FIFTHS)]
    means = [float(np.mean(each)) if each else 0.0 for each in (often, seldom)]
    measured = [float(np.mean(clustered[side]["measured"])) for side in "AB"]
    return [
        check(
            "Eq. (1) predicts the state where values are spread evenly: on average within 5 % of what the window holds",
            all(error <= MOST_ERROR for error in errors),
            "mean error " + " and ".join(f"{error:.1%}" for error in errors) + f" of {bound:,.0f} tuples",
        ),
        check(
            "There the state falls as time goes on",
            all(later < earlier for earlier, later in pairwise(fifths)),
            f"mean of each fifth of the run: {listed(fifths)}",
        ),
        check(
            "The more punctuations, the smaller the state",
            means[0] < means[1],
            f"{means[0]:,.0f} tuples with one in {SEGMENTS[0]} tuples, {means[1]:,.0f} with one in {SEGMENTS[1]}",
        ),
        check(
            "On figure 8's streams punctuations keep both states below what the window holds",
            all(each < bound for each in measured),
            f"A {measured[0]:,.0f}, B {measured[1]:,.0f}, window {bound:,.0f}",
        ),
    ]


def _full(series: Series) -> list[tuple[float, float]]:
    """Measured samples once the window is full."""
    return [(at, value) for at, value in zip(series["seconds"], series["measured"], strict=True) if at >= WINDOW_S]


def draw(result: Result, path: Path) -> None:
    """Measured as lines, predicted as dashes of the same colour."""
    title = plot.titled(f"Eq. (1) and the measured state, {result['window_s']} s windows", result)
    with plot.picture(path, title, 2, share_y=True) as axes:
        for side, colour in (("A", plot.BLUE), ("B", plot.VERMILLION)):
            _draw_pair(axes[0], result["clustered"][side], colour, f"state of {side}")
        plot.label(axes[0], "time (s)", "tuples in state", f"{fig08_memory.PATTERN} on both")
        for (segment, series), colour in zip(result["spread"].items(), (plot.GREEN, plot.PURPLE), strict=True):
            _draw_pair(axes[1], series, colour, f"B, A: punct-asc-{segment}-40")
        plot.label(axes[1], "time (s)", "", "B's values spread evenly")
        plot.headroom(axes[1], share=0.45)
        for each in axes:
            plot.legend(each, "upper right")


def _draw_pair(axes: Any, series: Series, colour: str, name: str) -> None:
    for column, shown, line in (("measured", "measured", "-"), ("predicted", "Eq. (1)", "--")):
        plot.curve(axes, series, column, f"{name}, {shown}", color=colour, linestyle=line)


EXPERIMENT = Experiment("eq01_state", "Predicted and measured state", "PWJoin equation (1)", run, draw)

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
from punctuated.cli import plot
from punctuated.experiments import fig08_memory
from punctuated.experiments.engine import Engine
from punctuated.experiments.equation_one import predicted_states
from punctuated.experiments.experiment import Check, Experiment, Result, check, listed, scaled
from punctuated.experiments.progress import Progress, part
from punctuated.experiments.series import Series
from punctuated.experiments.trial import SECOND_US, Input, Trial, generated, rate

TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 15
STEP_S = 2
SEGMENTS = (30, 60)  # tuples per punctuation of A: two punctuation rates
MOST_ERROR, FIFTHS = 0.05, 5


def measure(scale: float, progress: Progress | None, engine: Engine) -> Result:
    """Measure PWJoin and predict its state from the rates of the same streams."""
    n = scaled(TUPLES, scale)
    similar = generated((fig08_memory.PATTERN, fig08_memory.PATTERN), n)
    uniform = pt.streams.generate(f"uniform-{max(1, n // SEGMENTS[0])}", n, seed=2)
    shares = [part(progress, i, 1 + len(SEGMENTS)) for i in range(1 + len(SEGMENTS))]
    clustered = _states(engine, similar[0], similar[1], shares[0])
    spread = {}
    for segment, share in zip(SEGMENTS, shares[1:], strict=True):
        left = pt.streams.generate(f"punct-asc-{segment}-40", n, seed=1)
        spread[str(segment)] = _states(engine, left, uniform, share)["B"]
    return {
        "tuples": n,
        "window_s": WINDOW_S,
        "window_tuples": pt.cost.window_state(rate(uniform), WINDOW_S),
        "state_name": engine.state_name,
        "clustered": clustered,
        "spread": spread,
        "summary": {side: _summary(clustered[side]) for side in "AB"},
    }


def _states(engine: Engine, left: pa.Table, right: pa.Table, progress: Progress | None) -> dict[str, Series]:
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
            "predicted": predicted_states(ours, other, start, series["seconds"], WINDOW_S),
        }
        for name, state, ours, other in (("A", "state_left", left, right), ("B", "state_right", right, left))
    }


def _summary(series: Series) -> dict[str, float]:
    """Means over the second half of the run."""
    half = len(series["seconds"]) // 2
    return {name: float(np.mean(series[name][half:])) for name in ("measured", "predicted")}


def checks(result: Result) -> list[Check]:
    """What the equation says, where its assumption holds, and that punctuations save state where it does not."""
    clustered, spread, bound = (result[name] for name in ("clustered", "spread", "window_tuples"))
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
            all(0 < each < bound for each in measured),
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
        plot.label(axes[0], "time (s)", result["state_name"], f"{fig08_memory.PATTERN} on both")
        for (segment, series), colour in zip(result["spread"].items(), (plot.GREEN, plot.PURPLE), strict=True):
            _draw_pair(axes[1], series, colour, f"B, A: punct-asc-{segment}-40")
        plot.label(axes[1], "time (s)", "", "B's values spread evenly")
        plot.headroom(axes[1], share=0.45)
        for each in axes:
            plot.legend(each, "upper right")


def _draw_pair(axes: Any, series: Series, colour: str, name: str) -> None:
    for column, shown, line in (("measured", "measured", "-"), ("predicted", "Eq. (1)", "--")):
        plot.curve(axes, series, column, f"{name}, {shown}", color=colour, linestyle=line)


EXPERIMENT = Experiment("eq01_state", "Predicted and measured state", "PWJoin equation (1)", measure, checks, draw)

"""Equation (1) of the PWJoin paper: the predicted against the measured state over time (PW-49 … PW-51).

Two settings. `clustered` are figure 8's streams: most tuples of a value come close to its punctuation. `spread` meets
the assumption behind the equation, that a stored tuple is as likely to carry one value as any other seen so far: B's
values are uniform, and A punctuates them one after the other, at two rates.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, falling
from papers.lab.experiment import Experiment, Run
from papers.lab.trial import SECOND_US, Input, Series, Trial, generated, rate
from papers.pwjoin.memory import PATTERN
from papers.pwjoin.state_equation import predicted_states

TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOW_S = 15
STEP_S = 2
SEGMENTS = (30, 60)  # tuples per punctuation of A: two punctuation rates
MOST_ERROR, FIFTHS = 0.05, 5


def measure(run: Run) -> Result:
    """Measure PWJoin's states, and predict them from the rates of the same streams."""
    n = run.tuples(TUPLES)
    uniform = pt.streams.generate(f"uniform-{max(1, n // SEGMENTS[0])}", n, seed=2)
    inputs = {"clustered": tuple(generated((PATTERN, PATTERN), n))}
    inputs |= {str(each): (pt.streams.generate(f"punct-asc-{each}-40", n, seed=1), uniform) for each in SEGMENTS}
    states = {name: _states(share, *tables) for (name, tables), share in run.each(inputs.items())}
    clustered = states.pop("clustered")
    return {
        "tuples": n,
        "window_s": WINDOW_S,
        "window_tuples": pt.cost.window_state(rate(uniform), WINDOW_S),
        "state_name": run.engine.state_name,
        "clustered": clustered,
        "spread": {segment: each["B"] for segment, each in states.items()},
        "summary": {side: _summary(clustered[side]) for side in "AB"},
    }


def _states(run: Run, left: pa.Table, right: pa.Table) -> dict[str, Series]:
    """The state of each side over time, measured and predicted; a stream without flags is declared unpunctuated."""
    inputs = [
        Input(table, WINDOW_S, pt.when("last") if table["last"].to_numpy().any() else None) for table in (left, right)
    ]
    trial = Trial("pwjoin", inputs[0], inputs[1])
    series = run.sample(trial, STEP_S * SECOND_US)
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


# Claims


def _mean_errors(result: Result) -> list[float]:
    """Mean errors of the prediction where values are spread evenly, as shares of what the window holds."""
    spread, bound = result["spread"].values(), result["window_tuples"]
    return [float(np.mean(np.abs(np.subtract(each["measured"], each["predicted"])))) / bound for each in spread]


def _full(result: Result, segment: int) -> list[float]:
    """Measured states once the window is full, where values are spread evenly."""
    series = result["spread"][str(segment)]
    return [value for at, value in zip(series["seconds"], series["measured"], strict=True) if at >= WINDOW_S]


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


CLAIMS = (
    Claim(
        "Eq. (1) predicts the state where values are spread evenly: on average within 5 % of what the window holds",
        "Eq. (1) predicts the state",
        lambda m: (_mean_errors(m), m["window_tuples"]),
        lambda errors, _: max(errors) <= MOST_ERROR,
        "mean errors {:.1%} of {:,.0f} tuples",
    ),
    Claim(
        "There the state falls as time goes on",
        "the state falls with the time that has passed",
        lambda m: [_mean(fifth.tolist()) for fifth in np.array_split(_full(m, SEGMENTS[0]), FIFTHS)],
        falling,
        "mean of each fifth of the run: {:,.0f}",
    ),
    Claim(
        "The more punctuations, the smaller the state",
        "the state falls with the rate of punctuations",
        lambda m: tuple(_mean(_full(m, segment)) for segment in SEGMENTS),
        lambda often, seldom: often < seldom,
        f"{{:,.0f}} tuples with one in {SEGMENTS[0]} tuples, {{:,.0f}} with one in {SEGMENTS[1]}",
    ),
    Claim(
        "On figure 8's streams punctuations keep both states below what the window holds",
        NOT_REPORTED,
        lambda m: (*(_mean(m["clustered"][side]["measured"]) for side in "AB"), m["window_tuples"]),
        lambda a, b, bound: 0 < a < bound and 0 < b < bound,
        "A {:,.0f}, B {:,.0f}, window {:,.0f}",
    ),
)


# Picture


def draw(result: Result, path: Path) -> None:
    """Measured as lines, predicted as dashes of the same colour."""
    title = plot.titled(f"Eq. (1) and the measured state, {result['window_s']} s windows", result)
    with plot.picture(path, title, 2, share_y=True) as axes:
        for side, colour in (("A", plot.BLUE), ("B", plot.VERMILLION)):
            _draw_pair(axes[0], result["clustered"][side], colour, f"state of {side}")
        plot.label(axes[0], "time (s)", result["state_name"], f"{PATTERN} on both")
        for (segment, series), colour in zip(result["spread"].items(), (plot.GREEN, plot.PURPLE), strict=True):
            _draw_pair(axes[1], series, colour, f"B, A: punct-asc-{segment}-40")
        plot.label(axes[1], "time (s)", "", "B's values spread evenly")
        plot.headroom(axes[1], share=0.45)
        for each in axes:
            plot.legend(each, "upper right")


def _draw_pair(axes: Any, series: Series, colour: str, name: str) -> None:
    for column, shown, line in (("measured", "measured", "-"), ("predicted", "Eq. (1)", "--")):
        plot.curve(axes, series, column, f"{name}, {shown}", color=colour, linestyle=line)


EXPERIMENTS = (Experiment("eq01_state", "Predicted and measured state", "PWJoin equation (1)", measure, CLAIMS, draw),)

"""Figure 8 of the PWJoin paper: tuples in both states of PWJoin and of WJoin, with three windows (PW-59)."""

from pathlib import Path

from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, listed, rising
from papers.lab.experiment import Experiment, Run
from papers.lab.trial import generated, mean_after, rate, with_and_without

PATTERN = "punct-asc-100-40"
TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
WINDOWS_S = (1, 5, 15)
STEP_S = 2
MOST_DEVIATION = 0.1


def measure(run: Run) -> Result:
    """Sample both joins with each window."""
    tables = generated((PATTERN, PATTERN), run.tuples(TUPLES))
    return {
        "tuples": len(tables[0]),
        "tuples_per_s": sum(rate(table) for table in tables),
        "state_name": run.engine.state_name,
        "runs": {
            str(window): share.sample_each(with_and_without(tables, window), STEP_S, ("state", "results"))
            for window, share in run.each(WINDOWS_S)
        },
    }


def _plateaus(result: Result) -> list[tuple[float, float]]:
    """The mean states of WJoin and of PWJoin with each window, once that has filled."""
    runs = result["runs"].items()
    wjoin, pwjoin = (
        [mean_after(joins[name], "state", float(window)) for window, joins in runs] for name in ("WJoin", "PWJoin")
    )
    return list(zip(wjoin, pwjoin, strict=True))


def _pairs(result: Result) -> list[tuple[float, float]]:
    """Both states at each sample."""
    joined = (zip(runs["PWJoin"]["state"], runs["WJoin"]["state"], strict=True) for runs in result["runs"].values())
    return [pair for pairs in joined for pair in pairs]


CLAIMS = (
    Claim(
        "The larger the window, the more tuples PWJoin saves",
        "the larger the window, the more memory punctuations save",
        lambda m: [wjoin - pwjoin for wjoin, pwjoin in _plateaus(m)],
        rising,
        "saved tuples at 1, 5, 15 s: {:,.0f}",
    ),
    Claim(
        "The larger the window, the larger the share that PWJoin saves",
        NOT_REPORTED,
        lambda m: [1 - pwjoin / wjoin if wjoin else 0.0 for wjoin, pwjoin in _plateaus(m)],
        rising,
        "saved share at 1, 5, 15 s: {:.0%}",
    ),
    Claim(
        f"WJoin holds what its windows hold: the rate times the window of both streams, within {MOST_DEVIATION:.0%}",
        NOT_REPORTED,
        lambda m: ([wjoin for wjoin, _ in _plateaus(m)], [m["tuples_per_s"] * float(window) for window in m["runs"]]),
        lambda held, due: all(abs(one - two) <= MOST_DEVIATION * two for one, two in zip(held, due, strict=True)),
        "{:,.0f} of {:,.0f} expected",
    ),
    Claim(
        "PWJoin never holds more than WJoin",
        NOT_REPORTED,
        lambda m: (sum(pwjoin > wjoin for pwjoin, wjoin in _pairs(m)), len(_pairs(m))),
        lambda above, samples: above == 0 < samples,
        "{} of {} samples above",
    ),
    Claim(
        "Both have given the same number of results at every sample",
        NOT_REPORTED,
        lambda m: tuple([runs[name]["results"] for runs in m["runs"].values()] for name in ("PWJoin", "WJoin")),
        lambda pwjoin, wjoin: pwjoin == wjoin and all(pwjoin),
        lambda pwjoin, _: f"results with 1, 5, 15 s: {listed((sum(each[-1:]) for each in pwjoin), ',.0f')}",
    ),
)


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


EXPERIMENTS = (Experiment("fig08_memory", "Memory, PWJoin vs. WJoin", "PWJoin figure 8", measure, CLAIMS, draw),)

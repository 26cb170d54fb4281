"""Figure 8 of the PWJoin paper: tuples in both states of PWJoin and of WJoin, with three windows (PW-59)."""

from pathlib import Path

from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result, Verdict, listed, rising
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


def _plateaus(result: Result, join: str) -> list[float]:
    """The mean state of a join with each window, once that has filled."""
    return [mean_after(runs[join], "state", float(window)) for window, runs in result["runs"].items()]


def _saved(result: Result) -> list[float]:
    return [
        wjoin - pwjoin for wjoin, pwjoin in zip(*(_plateaus(result, name) for name in ("WJoin", "PWJoin")), strict=True)
    ]


def _saved_shares(result: Result) -> list[float]:
    held = _plateaus(result, "WJoin")
    return [saved / wjoin if wjoin else 0.0 for saved, wjoin in zip(_saved(result), held, strict=True)]


def _fills_its_windows(result: Result) -> Verdict:
    expected = [result["tuples_per_s"] * float(window) for window in result["runs"]]
    pairs = list(zip(_plateaus(result, "WJoin"), expected, strict=True))
    return (
        all(abs(held - window) <= MOST_DEVIATION * window for held, window in pairs),
        "; ".join(f"{held:,.0f} of {window:,.0f} expected" for held, window in pairs),
    )


def _never_holds_more(result: Result) -> Verdict:
    pairs = [
        pair
        for runs in result["runs"].values()
        for pair in zip(runs["PWJoin"]["state"], runs["WJoin"]["state"], strict=True)
    ]
    above = sum(pwjoin > wjoin for pwjoin, wjoin in pairs)
    return bool(pairs) and above == 0, f"{above} of {len(pairs)} samples above"


def _same_results(result: Result) -> Verdict:
    runs = result["runs"].values()
    return (
        all(each["PWJoin"]["results"] == each["WJoin"]["results"] != [] for each in runs),
        f"results with 1, 5, 15 s: {listed(sum(each['PWJoin']['results'][-1:]) for each in runs)}",
    )


CLAIMS = (
    Claim(
        "The larger the window, the more tuples PWJoin saves",
        "the larger the window, the more memory punctuations save",
        lambda result: rising(_saved(result), "saved tuples at 1, 5, 15 s"),
    ),
    Claim(
        "The larger the window, the larger the share that PWJoin saves",
        NOT_REPORTED,
        lambda result: rising(_saved_shares(result), "saved share at 1, 5, 15 s", ".0%"),
    ),
    Claim(
        f"WJoin holds what its windows hold: the rate times the window of both streams, within {MOST_DEVIATION:.0%}",
        NOT_REPORTED,
        _fills_its_windows,
    ),
    Claim("PWJoin never holds more than WJoin", NOT_REPORTED, _never_holds_more),
    Claim("Both have given the same number of results at every sample", NOT_REPORTED, _same_results),
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

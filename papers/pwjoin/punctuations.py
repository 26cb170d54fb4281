"""Figures 11 and 12 of the PWJoin paper: punctuations given out so far, by PWJoin and by PJoin (PW-63, PW-64).

PWJoin has windows, PJoin has none. In figure 11 both joins end at the same number, because both streams end every
value sooner or later; what differs is when the values are known to be over. In figure 12 only B has punctuations.
PWJoin gives one out when B's last tuple of the value leaves the window; PJoin waits for the punctuation of the other
stream (PW-08). The window is on B, as the caption says (XD-14).
"""

from itertools import pairwise
from pathlib import Path

import numpy as np

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import Claim, Result, Verdict, listed
from papers.lab.experiment import Experiment, Run
from papers.lab.trial import Input, Series, Trial, alike, generated

TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
STEP_S = 1

# Figure 11

BOTH_PATTERNS = ("punct-asc-30-40", "punct-random-30-40")
SHORT_WINDOW_S = 1
TIMES_AHEAD = 2


def count_of_both(run: Run) -> Result:
    """Count the punctuations of both joins on the same streams."""
    n = run.tuples(TUPLES)
    tables = generated(BOTH_PATTERNS, n)
    trials = {
        "PWJoin": alike("pwjoin", tables, SHORT_WINDOW_S, pt.when("last")),
        "PJoin": alike("pjoin", tables, None, pt.when("last")),
    }
    runs = run.sample_each(trials, STEP_S, ("punctuations_out", "state"))
    return {"tuples": n, "window_s": SHORT_WINDOW_S, "state_name": run.engine.state_name, "runs": runs}


def _counts(result: Result) -> tuple[list[int], list[int]]:
    """PWJoin's and PJoin's punctuations at each sample."""
    return result["runs"]["PWJoin"]["punctuations_out"], result["runs"]["PJoin"]["punctuations_out"]


def _never_behind(result: Result) -> Verdict:
    pwjoin, pjoin = _counts(result)
    behind = sum(ours < theirs for ours, theirs in zip(pwjoin, pjoin, strict=True))
    return behind == 0, f"behind at {behind} of {len(pwjoin)} samples"


def _ahead_half_way(result: Result) -> Verdict:
    pwjoin, pjoin = (counts[len(counts) // 2] for counts in _counts(result))
    return pwjoin >= TIMES_AHEAD * pjoin and pwjoin > 0, f"{pwjoin:,} and {pjoin:,}"


def _ahead_overall(result: Result) -> Verdict:
    goal = _counts(result)[1][-1] / 2
    pwjoin_s, pjoin_s = (_seconds_to(goal, result["runs"][name]) for name in ("PWJoin", "PJoin"))
    return (
        goal > 0 and TIMES_AHEAD * pwjoin_s <= pjoin_s,
        f"{goal:,.0f} after {pwjoin_s:,.0f} s and after {pjoin_s:,.0f} s",
    )


def _seconds_to(goal: float, series: Series) -> float:
    """When so many punctuations were out; never, if the run ended before."""
    out = series["punctuations_out"]
    return float(np.interp(goal, out, series["seconds"])) if goal <= out[-1] else np.inf


_EARLIER = "early propagation puts punctuations out sooner: PWJoin's output rate is higher overall"
CLAIMS_OF_BOTH = (
    Claim("PWJoin has given out at least as many punctuations at every sample", _EARLIER, _never_behind),
    Claim(f"Half-way through it has given out at least {TIMES_AHEAD} times as many", _EARLIER, _ahead_half_way),
    Claim(
        f"Its output rate is higher overall: half of what PJoin comes to is out in 1/{TIMES_AHEAD} of the time",
        _EARLIER,
        _ahead_overall,
    ),
)


def draw_both(result: Result, path: Path) -> None:
    """Figure 11: two lines."""
    title = f"Punctuations given out\nA: {BOTH_PATTERNS[0]}, B: {BOTH_PATTERNS[1]}"
    plot.draw_counts(path, title, result, {"PWJoin": f"{result['window_s']} s windows", "PJoin": "no window"})


# Figure 12

ONE_SIDED_PATTERNS = ("uniform-15000", "punct-asc-30-40")
WINDOW_S = 5
TENTHS, MOST_DEVIATION = 10, 0.35


def count_of_one(run: Run) -> Result:
    """Count the punctuations of both joins on the same streams, of which only B has any."""
    n = run.tuples(TUPLES)
    left, right = generated(ONE_SIDED_PATTERNS, n)
    trials = {
        name: Trial(name.lower(), Input(left), Input(right, window, pt.when("last")))
        for name, window in (("PWJoin", WINDOW_S), ("PJoin", None))
    }
    runs = run.sample_each(trials, STEP_S, ("punctuations_out", "punctuations_right"))
    return {"tuples": n, "window_s": WINDOW_S, "runs": runs}


def _tenths(result: Result) -> tuple[list[float], list[float]]:
    """PWJoin's punctuations in each tenth of the run, and its seconds, from when a tuple can first leave the window."""
    seconds, out = (result["runs"]["PWJoin"][name] for name in ("seconds", "punctuations_out"))
    first = min(int(np.searchsorted(seconds, WINDOW_S)), len(out) - 1)
    edges = np.linspace(first, len(out) - 1, TENTHS + 1).astype(int).tolist()
    gains, spans = ([values[stop] - values[start] for start, stop in pairwise(edges)] for values in (out, seconds))
    return gains, spans


def _gives_none(result: Result) -> Verdict:
    pjoin = result["runs"]["PJoin"]
    out, received = max(pjoin["punctuations_out"]), pjoin["punctuations_right"][-1]
    return out == 0 and received > 0, f"{out:,} of the {received:,} it received"


def _gives_some_in_each_tenth(result: Result) -> Verdict:
    gains, _ = _tenths(result)
    return all(gain > 0 for gain in gains), f"per tenth: {listed(gains)}"


def _is_steady(result: Result) -> Verdict:
    gains, spans = _tenths(result)
    rates = [gain / span if span else 0.0 for gain, span in zip(gains, spans, strict=True)]
    mean = sum(gains) / sum(spans) if sum(spans) else 0.0
    return (
        mean > 0 and all(abs(rate - mean) <= MOST_DEVIATION * mean for rate in rates),
        f"{mean:.2f} per second on average, {min(rates):.2f} to {max(rates):.2f} in the tenths",
    )


CLAIMS_OF_ONE = (
    Claim("PJoin gives out no punctuation", "PJoin gives out none", _gives_none),
    Claim(
        "PWJoin gives out punctuations in every tenth of the run",
        "PWJoin gives out punctuations steadily",
        _gives_some_in_each_tenth,
    ),
    Claim(
        f"PWJoin's rate is steady: no tenth differs from the mean by more than {MOST_DEVIATION:.0%}",
        "PWJoin gives out punctuations steadily",
        _is_steady,
    ),
)


def draw_one(result: Result, path: Path) -> None:
    """Figure 12: two lines, one of them at zero."""
    title = f"Punctuations given out, only B has any\nA: {ONE_SIDED_PATTERNS[0]}, B: {ONE_SIDED_PATTERNS[1]}"
    plot.draw_counts(path, title, result, {"PWJoin": f"{result['window_s']} s window on B", "PJoin": "no window"})


EXPERIMENTS = (
    Experiment(
        "fig11_punctuations",
        "Punctuation output rate, PWJoin vs. PJoin",
        "PWJoin figure 11",
        count_of_both,
        CLAIMS_OF_BOTH,
        draw_both,
    ),
    Experiment(
        "fig12_one_sided",
        "Punctuations from one stream only",
        "PWJoin figure 12",
        count_of_one,
        CLAIMS_OF_ONE,
        draw_one,
    ),
)

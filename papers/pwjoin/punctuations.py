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
from papers.lab.claim import Claim, Result
from papers.lab.experiment import Experiment, Run
from papers.lab.trial import Input, Trial, alike, generated

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


def _seconds_to_half(result: Result) -> tuple[float, float, float]:
    """Half of what PJoin comes to, and when it was out: of PWJoin and of PJoin, never if the run ended before."""
    goal = _counts(result)[1][-1] / 2
    runs = [result["runs"][name] for name in ("PWJoin", "PJoin")]
    counted = [(run["punctuations_out"], run["seconds"]) for run in runs]
    pwjoin_s, pjoin_s = (float(np.interp(goal, out, at)) if goal <= out[-1] else np.inf for out, at in counted)
    return goal, pwjoin_s, pjoin_s


_EARLIER = "early propagation puts punctuations out sooner: PWJoin's output rate is higher overall"
CLAIMS_OF_BOTH = (
    Claim(
        "PWJoin has given out at least as many punctuations at every sample",
        _EARLIER,
        lambda m: (sum(ours < other for ours, other in zip(*_counts(m), strict=True)), len(_counts(m)[0])),
        lambda behind, _: behind == 0,
        "behind at {} of {} samples",
    ),
    Claim(
        f"Half-way through it has given out at least {TIMES_AHEAD} times as many",
        _EARLIER,
        lambda m: tuple(counts[len(counts) // 2] for counts in _counts(m)),
        lambda pwjoin, pjoin: pwjoin >= TIMES_AHEAD * pjoin and pwjoin > 0,
        "{:,} and {:,}",
    ),
    Claim(
        f"Its output rate is higher overall: half of what PJoin comes to is out in 1/{TIMES_AHEAD} of the time",
        _EARLIER,
        _seconds_to_half,
        lambda goal, pwjoin_s, pjoin_s: goal > 0 and TIMES_AHEAD * pwjoin_s <= pjoin_s,
        "{:,.0f} after {:,.0f} s and after {:,.0f} s",
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


def _rates(result: Result) -> tuple[float, list[float]]:
    """PWJoin's punctuations per second: the mean, and that of each tenth."""
    gains, spans = _tenths(result)
    mean = sum(gains) / sum(spans) if sum(spans) else 0.0
    return mean, [gain / span if span else 0.0 for gain, span in zip(gains, spans, strict=True)]


CLAIMS_OF_ONE = (
    Claim(
        "PJoin gives out no punctuation",
        "PJoin gives out none",
        lambda m: tuple(max(m["runs"]["PJoin"][name]) for name in ("punctuations_out", "punctuations_right")),
        lambda out, received: out == 0 < received,
        "{:,} of the {:,} it received",
    ),
    Claim(
        "PWJoin gives out punctuations in every tenth of the run",
        "PWJoin gives out punctuations steadily",
        lambda m: _tenths(m)[0],
        lambda gains: all(gain > 0 for gain in gains),
        "per tenth: {:,.0f}",
    ),
    Claim(
        f"PWJoin's rate is steady: no tenth differs from the mean by more than {MOST_DEVIATION:.0%}",
        "PWJoin gives out punctuations steadily",
        _rates,
        lambda mean, rates: mean > 0 and all(abs(rate - mean) <= MOST_DEVIATION * mean for rate in rates),
        "{:.2f} per second on average, in the tenths {:.2f}",
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

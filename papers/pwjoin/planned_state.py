"""The state that a plan expects against the state that is measured, for streams of several kinds.

Three predictions. `waits`: what `explain` says of tables, by how long tuples wait for the other stream to end their
values. `counts`: what `punctuated cost plan` says if it is given no lifetimes, by values and punctuations counted over
the whole run. `eq1`: Eq. (1) of the PWJoin paper, from the same counts.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result
from papers.lab.experiment import Experiment, Run
from papers.lab.tables_engine import prepare
from papers.lab.trial import Input, Series, Trial, mean_after
from papers.pwjoin.state_equation import pwjoin_state
from punctuated.model.spec import Side
from punctuated.plan.cost import window_state
from punctuated.plan.cost.cardinality import Lifetime
from punctuated.plan.statistics import StreamStatistics, expected_state, table_statistics

TUPLES = 30_000  # per stream: 300 s at 100 tuples/s
AUCTIONS = 20_000  # opened in 2,000 s
SEGMENTS, WINDOWS_S, AUCTION_WINDOWS_S = (30, 100, 300), (5, 15, 60), (60, 600)
SAMPLES = 150
LEAST, MOST = 0.85, 1.6  # of the measured state, between which a plan is a good one
MANY = 10  # tuples; smaller states are all alike

COME_AND_GO, ONE_SIDED, BIDS = "values come and go", "one stream punctuated", "auctions and bids"

Point = dict[str, Any]


def measure(run: Run) -> Result:
    """Predict and measure the state of both sides in every workload."""
    trials = _trials(run.tuples(TUPLES), run.tuples(AUCTIONS))
    points: list[Point] = []
    for ((family, name), trial), share in run.each(trials.items()):
        start, end = trial.span_us()
        series = share.sample(trial, max(1, (end - start) // SAMPLES))
        points += [{"family": family, "name": name, "side": "AB"[side]} | _point(trial, side, series) for side in Side]
    return {"points": points}


def _trials(n: int, n_auctions: int) -> dict[tuple[str, str], Trial]:
    """The trials of all workloads, by family and name."""
    flagged = pt.when("last")
    found = {}
    for segment in SEGMENTS:
        left, right = (pt.streams.generate(f"punct-asc-{segment}-40", n, seed=seed) for seed in (1, 2))
        for window in WINDOWS_S:
            inputs = [Input(table, window, flagged) for table in (left, right)]
            found[COME_AND_GO, f"punct-asc-{segment}-40, {window} s"] = Trial("pwjoin", *inputs)
    left, right = pt.streams.generate("punct-asc-30-40", n, seed=1), pt.streams.generate("uniform-1000", n, seed=2)
    for window in WINDOWS_S:
        both = Input(left, window, flagged), Input(right, window)
        found[ONE_SIDED, f"uniform values on B, {window} s"] = Trial("pwjoin", *both)
    opened, offered = pt.streams.auctions(n_auctions, seed=1)
    for window in AUCTION_WINDOWS_S:
        both = Input(_plain(opened), window, pt.unique()), Input(_plain(offered), None, pt.when("closed"))
        found[BIDS, f"auctions, {window} s"] = Trial("pwjoin", *both)
    return found


def _plain(table: pa.Table) -> pa.Table:
    """The table with the column names of a trial."""
    names = {"item_id": "key", "opened_at": "ts", "bid_at": "ts"}
    return table.rename_columns([names.get(name, name) for name in table.column_names])


def _point(trial: Trial, side: Side, series: Series) -> Point:
    """What is predicted of one side, and its mean state while both streams go on and its window is full."""
    join = prepare(*trial.streams(*([table] for table in trial.tables)), trial.algorithm)
    statistics = table_statistics(join.bound.spec, join.batches, join.bound.key_types)
    ours, window_s = statistics[side], (trial.left, trial.right)[side].window_s
    span_s = ours.seconds if window_s is None else min(window_s, ours.seconds)
    measured = mean_after(series, ("state_left", "state_right")[side], 0 if window_s is None else span_s)
    return {
        "measured": measured,
        "bound": window_state(ours.rate, span_s),
        "waits": expected_state(join.bound.spec, side, statistics),
        **_by_counts(ours, statistics[side.other], span_s),
    }


def _by_counts(ours: StreamStatistics, other: StreamStatistics, span_s: float) -> dict[str, float]:
    elapsed_s = max(ours.seconds, other.seconds)
    ended_per_s = other.punctuations / elapsed_s if elapsed_s else 0.0
    counted = Lifetime.from_counts(ours.distinct_values, ended_per_s, elapsed_s)
    return {
        "counts": counted.state(ours.rate, span_s),
        "eq1": pwjoin_state(ours.rate, span_s, ended_per_s, elapsed_s, ours.distinct_values),
    }


# Claims


def _ratios(points: Sequence[Point], how: str) -> list[float]:
    return [point[how] / point["measured"] for point in points]


def _span(ratios: Sequence[float]) -> str:
    """The range of predicted over measured states, in words."""
    if not ratios:
        return "nothing was stored"
    return f"between {min(ratios):.0%} and {max(ratios):.0%} of the measured state, median {median(ratios):.0%}"


def _n_low(ratios: Sequence[float]) -> int:
    return sum(ratio < LEAST for ratio in ratios)


def _stored(result: Result) -> list[Point]:
    return [point for point in result["points"] if point["measured"] >= MANY]


def _stored_ratios(result: Result, how: str, family: str | None = None) -> list[float]:
    return _ratios([each for each in _stored(result) if family in (None, each["family"])], how)


def _of_bids(result: Result) -> tuple[float, ...]:
    """The largest states of bids, measured and planned."""
    bids = [point for point in result["points"] if point["family"] == BIDS and point["side"] == "B"]
    return tuple(max(point[what] for point in bids) for what in ("measured", "waits"))


CLAIMS = (
    Claim(
        f"By waits, a plan lies between {LEAST:.0%} and {MOST:.0%} of the state",
        NOT_REPORTED,
        lambda m: _stored_ratios(m, "waits"),
        lambda ratios: bool(ratios) and min(ratios) >= LEAST and max(ratios) <= MOST,
        _span,
    ),
    Claim(
        "By counts alone, a plan is on the safe side, and nearer to the state than what the window holds",
        NOT_REPORTED,
        lambda m: (_stored_ratios(m, "counts"), _stored_ratios(m, "bound")),
        lambda counts, bounds: bool(counts) and min(counts) >= LEAST and median(counts) < median(bounds),
        lambda counts, bounds: f"{_span(counts)}; the window's {_span(bounds)}",
    ),
    Claim(
        f"Eq. (1) is no plan where values come and go: mostly below {LEAST:.0%} of the state",
        "Eq. (1) predicts the state",
        lambda m: _stored_ratios(m, "eq1", COME_AND_GO),
        lambda ratios: 2 * _n_low(ratios) > len(ratios),
        lambda ratios: f"in {_n_low(ratios)} of {len(ratios)} cases; {_span(ratios)}",
    ),
    Claim(
        "Bids on auctions that open once are never stored, and none are planned",
        NOT_REPORTED,
        _of_bids,
        lambda measured, planned: measured == planned == 0,
        "measured {:,.0f}, planned {:,.0f}",
    ),
)


# Picture

_PANELS = {"waits": "by waits", "counts": "by counts alone", "eq1": "by Eq. (1)"}
_LOOKS: Mapping[str, tuple[str, str]] = {
    COME_AND_GO: (plot.BLUE, "o"),
    ONE_SIDED: (plot.VERMILLION, "s"),
    BIDS: (plot.GREEN, "^"),
}


def draw(result: Result, path: Path) -> None:
    """Predicted over measured, a panel for each prediction; on the line they are equal, at the lower edge it is 0."""
    shown = [point for point in result["points"] if point["measured"] >= 1]
    measured = [point["measured"] for point in shown] or [1.0]
    first, last = min(10.0, *measured), 2 * max(measured)
    with plot.picture(path, plot.titled("Planned and measured state", result), 3, share_y=True) as axes:
        for panel, (how, title) in zip(axes, _PANELS.items(), strict=True):
            panel.plot((first, last), (first, last), color=plot.GREY, linewidth=1)
            for family, (colour, marker) in _LOOKS.items():
                ours = [point for point in shown if point["family"] == family]
                panel.plot(
                    [point["measured"] for point in ours],
                    [max(first, point[how]) for point in ours],
                    marker,
                    color=colour,
                    markersize=5,
                    label=family,
                )
            plot.label(panel, "measured tuples", "predicted tuples" if how == "waits" else "", title)
            panel.set_xscale("log")
            panel.set_yscale("log")
            panel.set_xlim(min(measured) / 2, last)
            panel.set_ylim(first, last)
        plot.legend_below(axes, 3)


EXPERIMENTS = (Experiment("planned_state", "Planned and measured state", "what plans go by", measure, CLAIMS, draw),)

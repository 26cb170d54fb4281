"""Figure 7 of the PWJoin paper: the best case. Each cluster of B follows A's punctuation of its value (PW-52).

    A   0 0 0 <0>               1 1 <1>             2 2 2 2 <2>
    B             0 0 0 0 <0>           1 1 1 <1>               2 ...

Of the paper's two bounds on A's state, its largest cluster and what its window holds, the second needs a B that goes on
meanwhile, since A's window moves with B; here B is silent, and it cannot act.

Objects come at a fixed gap, so that a sample after each gap sees the state after every single object. On Spark it is
seen after each micro-batch, of many objects. Eq. (1) gives nothing for B's state, since every value that B has
brought is one that A has ended.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result
from papers.lab.experiment import Experiment, Run
from papers.lab.trial import SECOND_US, alike, generated
from papers.pwjoin.state_equation import predicted_states
from punctuated.streams.generator import TIMESTAMP

TUPLES = 6_000  # per stream, about
GAP_US = 5_000  # between two objects of either stream: 100 tuples/s per stream on average
WINDOW_S = 15
CASES = {"clusters": "cluster-asc-20", "unique": "unique-asc"}
_SHOWN_S = 2.0
_NAMES = {"left": "A", "right": "B"}


def synchronized(pattern: str, n: int) -> tuple[pa.Table, pa.Table]:
    """Two clustered streams, woven so that each cluster of B follows the cluster of A with the same value."""
    streams = generated((pattern, pattern), n)
    whole = min(int(np.count_nonzero(each["last"].to_numpy())) for each in streams)
    streams = [each.filter(pa.array(each["key"].to_numpy() < whole)) for each in streams]
    keys = np.concatenate([each["key"].to_numpy() for each in streams])
    side = np.repeat([0, 1], [len(each) for each in streams])
    ts = np.empty(len(keys), np.int64)
    ts[np.lexsort((side, keys))] = np.arange(1, len(keys) + 1) * GAP_US
    left, right = (each.set_column(1, "ts", pa.array(ts[side == i]).cast(TIMESTAMP)) for i, each in enumerate(streams))
    return left, right


def measure(run: Run) -> Result:
    """Clusters, and unique values, which are clusters of one."""
    n = run.tuples(TUPLES)
    measured: dict[str, Any] = {}
    for (name, pattern), share in run.each(CASES.items()):
        found = measure_case(share, *synchronized(pattern, n))
        measured[name] = {"pattern": pattern, "window_s": WINDOW_S} | found
    return {"tuples": n, "state_name": run.engine.state_name, "cases": measured}


def measure_case(run: Run, left: pa.Table, right: pa.Table) -> dict[str, Any]:
    """What the join of two woven streams holds at most, and what Eq. (1) says of B."""
    trial = alike("pwjoin", (left, right), WINDOW_S, pt.when("last"))
    series = run.sample(trial, GAP_US)
    estimates = predicted_states(right, left, trial.span_us()[0], series["seconds"], WINDOW_S)
    errors = np.abs(np.subtract(estimates, series["state_right"]))
    every_object = series["seconds"][:1] == [GAP_US / SECOND_US]
    shown = int(np.searchsorted(series["seconds"], _SHOWN_S)) if every_object else len(series["seconds"])
    return {
        "samples": len(series["seconds"]),
        "objects": len(left) + len(right),
        "every_object": every_object,
        "max_state_left": int(max(series["state_left"], default=0)),
        "max_state_right": int(max(series["state_right"], default=0)),
        "largest_cluster_left": int(np.bincount(left["key"].to_numpy()).max()),
        "max_estimate_right": max(estimates, default=0.0),
        "max_error_right": float(errors.max(initial=0.0)),
        "curve": {name: series[name][:shown] for name in ("seconds", "state_left", "state_right")},
    }


# Claims


def _where_seen(claim: str) -> Callable[[Result], str]:
    """The claim, which is of fewer moments if not every object was seen."""
    limited = f"After each micro-batch (inside it nothing is seen): {claim}"
    return lambda result: claim if result["cases"]["clusters"]["every_object"] else limited


def _largest(result: Result, *names: str) -> tuple[Any, ...]:
    """The largest of each figure in both cases."""
    return tuple(max(case[name] for case in result["cases"].values()) for name in names)


def _seen(result: Result) -> str:
    cases = result["cases"].values()
    samples, objects = (sum(case[name] for case in cases) for name in ("samples", "objects"))
    if all(case["every_object"] for case in cases):
        return f"{samples:,} objects"
    return f"{samples:,} micro-batches of {objects / max(1, samples):,.0f} objects"


CLAIMS = (
    Claim(
        _where_seen("B's state stays empty"),
        "B's state stays empty",
        lambda m: (*_largest(m, "max_state_right"), _seen(m)),
        lambda largest, _: largest == 0,
        "largest: {} tuples, after each of {}",
    ),
    Claim(
        _where_seen("A's state never exceeds A's largest cluster"),
        "A's state never exceeds its largest cluster, or what its window holds if that is less",
        lambda m: tuple(m["cases"]["clusters"][name] for name in ("max_state_left", "largest_cluster_left")),
        lambda state, cluster: 0 < state <= cluster,
        "largest state {}, largest cluster {}",
    ),
    Claim(
        _where_seen("A's state never exceeds one tuple where values are unique"),
        "with unique values A's state is at most one tuple",
        lambda m: m["cases"]["unique"]["max_state_left"],
        lambda state: state == 1,
        "largest state {}",
    ),
    Claim(
        "Eq. (1), from what the streams have brought so far, always gives the state that B is measured to have",
        NOT_REPORTED,
        lambda m: _largest(m, "max_estimate_right", "max_error_right"),
        lambda _, error: error == 0,
        "largest estimate {:g} tuples, largest error {:g}",
    ),
)


# Picture


def draw(result: Result, path: Path) -> None:
    """The first seconds of the clustered and of the unique case; all of them where not every object is seen."""
    title = plot.titled("Best case: each cluster of B follows A's punctuation", result)
    with plot.picture(path, title, panels=2) as axes:
        for each, name, shown_s in zip(axes, ("clusters", "unique"), (_SHOWN_S, _SHOWN_S / 10), strict=True):
            case = result["cases"][name]
            (_draw_every if case["every_object"] else _draw_some)(each, case["curve"])
            largest = case["largest_cluster_left"]
            each.axhline(largest, color=plot.GREY, linestyle=":", linewidth=1.5, label="A's largest cluster")
            each.set_ylim(-0.03 * largest, largest * 1.1)
            plot.label(each, "time (s)", result["state_name"], case["pattern"])
            if case["every_object"]:
                each.set_xlim(0, shown_s)
        axes[1].set_yticks([0, 1])
        plot.legend_below(axes, columns=3)


def _draw_every(axes: Any, curve: dict[str, list[float]]) -> None:
    """Steps: a sample holds from the object before it on."""
    for side, colour, width in (("left", plot.BLUE, 1.6), ("right", plot.VERMILLION, 2.5)):
        name = f"state of {_NAMES[side]}"
        axes.step(curve["seconds"], curve[f"state_{side}"], color=colour, linewidth=width, where="pre", label=name)


def _draw_some(axes: Any, curve: dict[str, list[float]]) -> None:
    """Points: what is between them was not seen."""
    for side, colour, mark in (("left", plot.BLUE, "o"), ("right", plot.VERMILLION, "x")):
        name = f"state of {_NAMES[side]} after a micro-batch"
        axes.plot(curve["seconds"], curve[f"state_{side}"], mark, color=colour, markersize=5, label=name)


EXPERIMENTS = (
    Experiment("fig07_best_case", "Best case, synchronized clusters", "PWJoin figure 7", measure, CLAIMS, draw),
)

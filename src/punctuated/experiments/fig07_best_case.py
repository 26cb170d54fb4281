"""Figure 7: the best case. Every cluster of B comes right after A has punctuated the same value (PW-52).

    A   0 0 0 <0>               1 1 <1>             2 2 2 2 <2>
    B             0 0 0 0 <0>           1 1 1 <1>               2 ...

The paper: B's state stays empty, and A's never exceeds its largest cluster, or what its window holds if that is less.
The second bound needs a B that goes on meanwhile, since A's window moves with B; here B is silent, and it cannot act.
Objects come at a fixed gap, so that a sample after each gap sees the state after every single object. On Spark it is
seen after each micro-batch, of many objects.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.engine import Engine
from punctuated.experiments.experiment import Experiment, Progress, Result, check, part, scaled
from punctuated.experiments.tables_engine import TABLES
from punctuated.experiments.trial import SECOND_US, alike
from punctuated.plan.cost import pwjoin_state
from punctuated.streams.generator import TIMESTAMP

TUPLES = 6_000  # per stream, about
GAP_US = 5_000  # between two objects of either stream: 100 tuples/s per stream on average
CLUSTER, WINDOW_S = 20, 15
_SHOWN_S = 2.0
_NAMES = {"left": "A", "right": "B"}


def synchronized(pattern: str, n: int) -> tuple[pa.Table, pa.Table]:
    """Two clustered streams, woven so that each cluster of B follows the cluster of A with the same value."""
    streams = [pt.streams.generate(pattern, n, seed=seed) for seed in (1, 2)]
    whole = min(int(np.count_nonzero(each["last"].to_numpy())) for each in streams)
    streams = [each.filter(pa.array(each["key"].to_numpy() < whole)) for each in streams]
    keys = np.concatenate([each["key"].to_numpy() for each in streams])
    side = np.repeat([0, 1], [len(each) for each in streams])
    ts = np.empty(len(keys), np.int64)
    ts[np.lexsort((side, keys))] = np.arange(1, len(keys) + 1) * GAP_US
    left, right = (each.set_column(1, "ts", pa.array(ts[side == i]).cast(TIMESTAMP)) for i, each in enumerate(streams))
    return left, right


def run(scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
    """Clusters, and unique values, which are clusters of one."""
    n = scaled(TUPLES, scale)
    cases = {"clusters": f"cluster-asc-{CLUSTER}", "unique": "unique-asc"}
    measured: dict[str, Any] = {}
    for i, (name, pattern) in enumerate(cases.items()):
        found = _measure(engine, *synchronized(pattern, n), part(progress, i, len(cases)))
        measured[name] = {"pattern": pattern, "window_s": WINDOW_S} | found
    return {"engine": engine.name, "tuples": n, "cases": measured, "checks": _checks(measured)}


def _measure(engine: Engine, left: pa.Table, right: pa.Table, progress: Progress | None) -> dict[str, Any]:
    series = engine.sample(alike("pwjoin", (left, right), WINDOW_S, pt.when("last")), GAP_US, progress)
    clusters = [np.bincount(each["key"].to_numpy()) for each in (left, right)]
    objects = len(left) + len(right)
    every_object = series["seconds"][:1] == [GAP_US / SECOND_US]
    shown = int(np.searchsorted(series["seconds"], _SHOWN_S)) if every_object else len(series["seconds"])
    seconds = objects * GAP_US / SECOND_US
    punctuations = len(clusters[0]) / seconds
    return {
        "samples": len(series["seconds"]),
        "objects": objects,
        "every_object": every_object,
        "max_state_left": int(max(series["state_left"], default=0)),
        "max_state_right": int(max(series["state_right"], default=0)),
        "largest_cluster_left": int(clusters[0].max()),
        "largest_cluster_right": int(clusters[1].max()),
        "estimate_right": pwjoin_state(len(right) / seconds, WINDOW_S, punctuations, seconds, len(clusters[1])),
        "curve": {name: series[name][:shown] for name in ("seconds", "state_left", "state_right")},
    }


def _checks(measured: dict[str, Any]) -> list[dict[str, Any]]:
    clusters, unique = measured["clusters"], measured["unique"]
    when = "" if clusters["every_object"] else "After each micro-batch (inside it nothing is seen): "
    return [
        check(
            f"{when}B's state stays empty",
            all(each["max_state_right"] == 0 for each in measured.values()),
            f"largest: {max(each['max_state_right'] for each in measured.values())} tuples, {_seen(measured)}",
        ),
        check(
            f"{when}A's state never exceeds A's largest cluster",
            0 < clusters["max_state_left"] <= clusters["largest_cluster_left"],
            f"largest state {clusters['max_state_left']}, largest cluster {clusters['largest_cluster_left']}",
        ),
        check(
            f"{when}A's state never exceeds one tuple where values are unique",
            unique["max_state_left"] == 1,
            f"largest state {unique['max_state_left']}",
        ),
        check(
            "Eq. (1) gives 0 for B's state",
            clusters["estimate_right"] == 0 and unique["estimate_right"] == 0,
            f"estimates {clusters['estimate_right']:g} (clusters) and {unique['estimate_right']:g} (unique)",
        ),
    ]


def _seen(measured: dict[str, Any]) -> str:
    samples, objects = (sum(each[name] for each in measured.values()) for name in ("samples", "objects"))
    if all(each["every_object"] for each in measured.values()):
        return f"after each of {samples:,} objects"
    return f"after each of {samples:,} micro-batches of {objects / max(1, samples):,.0f} objects"


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
            plot.label(each, "time (s)", "tuples in state", case["pattern"])
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


EXPERIMENT = Experiment("fig07_best_case", "Best case, synchronized clusters", "PWJoin figure 7", run, draw)

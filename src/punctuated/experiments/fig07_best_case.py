"""Figure 7: the best case. Every cluster of B comes right after A has punctuated the same value (PW-52).

    A   0 0 0 <0>               1 1 <1>             2 2 2 2 <2>
    B             0 0 0 0 <0>           1 1 1 <1>               2 ...

The paper: B's state stays empty, and A's never exceeds its largest cluster, or what its window holds if that is less.
The second bound needs a B that goes on meanwhile, since A's window moves with B; here B is silent, and it cannot act.
Objects come at a fixed gap, so that a sample after each gap sees the state after every single object.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import punctuated as pt
from punctuated.experiments import plot
from punctuated.experiments.experiment import Experiment, Progress, Result, check, report, scaled
from punctuated.experiments.run import SECOND_US, declare, sample
from punctuated.plan.estimate import pwjoin_state
from punctuated.streams.generator import TIMESTAMP

TUPLES = 6_000  # per stream, about
GAP_US = 5_000  # between two objects of either stream: 100 tuples/s per stream on average
CLUSTER, WINDOW_S = 20, 15
_SHOWN_S = 2.0


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


def run(scale: float = 1.0, progress: Progress | None = None) -> Result:
    """Clusters, and unique values, which are clusters of one."""
    n = scaled(TUPLES, scale)
    cases = {
        "clusters": (f"cluster-asc-{CLUSTER}", WINDOW_S),
        "unique": ("unique-asc", WINDOW_S),
    }
    measured: dict[str, Any] = {}
    for i, (name, (pattern, window)) in enumerate(cases.items()):
        measured[name] = {"pattern": pattern, "window_s": window} | _measure(*synchronized(pattern, n), window)
        report(progress, (i + 1) / len(cases))
    return {"tuples": n, "cases": measured, "checks": _checks(measured)}


def _measure(left: pa.Table, right: pa.Table, window: float) -> dict[str, Any]:
    flags = pt.when("last")
    series = sample(declare("A", left, window, flags), declare("B", right, window, flags), "pwjoin", GAP_US)
    clusters = [np.bincount(each["key"].to_numpy()) for each in (left, right)]
    shown = int(np.searchsorted(series["seconds"], _SHOWN_S))
    seconds = (len(left) + len(right)) * GAP_US / SECOND_US
    punctuations = len(clusters[0]) / seconds
    return {
        "samples": len(series["seconds"]),
        "objects": len(left) + len(right),
        "max_state_left": int(max(series["state_left"])),
        "max_state_right": int(max(series["state_right"])),
        "largest_cluster_left": int(clusters[0].max()),
        "largest_cluster_right": int(clusters[1].max()),
        "estimate_right": pwjoin_state(len(right) / seconds, window, punctuations, seconds, len(clusters[1])),
        "curve": {name: series[name][:shown] for name in ("seconds", "state_left", "state_right")},
    }


def _checks(measured: dict[str, Any]) -> list[dict[str, Any]]:
    clusters, unique = measured["clusters"], measured["unique"]
    return [
        check(
            "B's state stays empty",
            all(each["max_state_right"] == 0 for each in measured.values()),
            f"largest: {max(each['max_state_right'] for each in measured.values())} tuples, after each of "
            f"{sum(each['objects'] for each in measured.values()):,} objects",
        ),
        check(
            "A's state never exceeds A's largest cluster",
            0 < clusters["max_state_left"] <= clusters["largest_cluster_left"],
            f"largest state {clusters['max_state_left']}, largest cluster {clusters['largest_cluster_left']}",
        ),
        check(
            "With unique values A's state never exceeds one tuple",
            unique["max_state_left"] == 1,
            f"largest state {unique['max_state_left']}",
        ),
        check(
            "Eq. (1) gives 0 for B's state",
            clusters["estimate_right"] == 0 and unique["estimate_right"] == 0,
            f"estimates {clusters['estimate_right']:g} (clusters) and {unique['estimate_right']:g} (unique)",
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """The first seconds of the clustered and of the unique case."""
    with plot.picture(path, "Best case: each cluster of B follows A's punctuation", panels=2) as axes:
        for each, name in zip(axes, ("clusters", "unique"), strict=True):
            case = result["cases"][name]
            _draw_case(each, case)
            plot.label(each, "time (s)", "tuples in state", case["pattern"])
        axes[0].set_xlim(0, _SHOWN_S)
        axes[1].set_xlim(0, _SHOWN_S / 10)
        axes[1].set_yticks([0, 1])
        plot.legend_below(axes, columns=3)


def _draw_case(axes: Any, case: dict[str, Any]) -> None:
    curve, largest = case["curve"], case["largest_cluster_left"]
    axes.axhline(largest, color=plot.GREY, linestyle=":", linewidth=1.5, label="A's largest cluster")
    # A sample holds from the object before it on.
    axes.step(curve["seconds"], curve["state_left"], color=plot.BLUE, linewidth=1.6, where="pre", label="state of A")
    axes.step(
        curve["seconds"], curve["state_right"], color=plot.VERMILLION, linewidth=2.5, where="pre", label="state of B"
    )
    axes.set_ylim(-0.03 * largest, largest * 1.1)


EXPERIMENT = Experiment("fig07_best_case", "Best case, synchronized clusters", "PWJoin figure 7", run, draw)

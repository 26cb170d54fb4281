"""Figure 4 of Kang, Naughton and Viglas: what pairs of structures cost over time, in three workloads (KN-30).

The paper: TN, HT and HH win, as estimated, and in every workload the estimated order of the pairs is the measured one.
The first has other winners here (see figure 2); the second is checked, with the calibrated model.
"""

from itertools import combinations
from pathlib import Path
from typing import Any

from punctuated.cli import plot
from punctuated.experiments import kang_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.pair_cost import MINUTE_S, WindowJoin, measure_pairs
from punctuated.experiments.progress import Progress, part
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

MINUTES = 5
MOST_LOSS = 0.1
APART = 0.15  # costs that differ by less have no order
_SHOWN_TIMES = 8  # pairs that cost more than so many times the best are off the chart
_NAMES = ("a", "b", "c")


def measure(scale: float, progress: Progress | None) -> Result:
    """Measure the eight pairs in each workload."""
    weights, seconds = machine_weights(), MINUTE_S * scale
    workloads = {}
    for i, (name, each) in enumerate(zip(_NAMES, cost.PAPER_TABLE, strict=True)):
        join = WindowJoin((int(each.windows[0]), int(each.windows[1])), each.rates)
        share = part(progress, i, len(_NAMES))
        measured = measure_pairs(join, cost.SHOWN_PAIRS, seconds, MINUTES, share)
        estimated = join.estimates(weights)
        workloads[name] = {
            "windows": list(join.windows),
            "rates": list(join.rates),
            "measured": measured.cheapest(),
            "estimated": {pair: estimated[pair] for pair in cost.SHOWN_PAIRS},
            "paper": dict(each.printed),
            "sums": {pair: [each * seconds / MINUTE_S for each in costs] for pair, costs in measured.sums().items()},
            "results": measured.results,
        }
    return {"seconds": seconds * MINUTES, "workloads": workloads}


def checks(result: Result) -> list[Check]:
    """The calibrated model against what was measured, and that asymmetry pays."""
    workloads = result["workloads"]
    losses = {
        name: each["measured"][_best(each["estimated"])] / min(each["measured"].values()) - 1
        for name, each in workloads.items()
    }
    swapped = [f"{one}, {two} in {name}" for name, each in workloads.items() for one, two in _swapped(each)]
    skewed = workloads["a"]["measured"]
    symmetric, asymmetric = (
        _best({pair: skewed[pair] for pair in skewed if (pair[0] == pair[1]) is alike}) for alike in (True, False)
    )
    return [
        check(
            "In each workload the pair that the model chooses is the cheapest one measured, or at most "
            f"{MOST_LOSS:.0%} more expensive",
            max(losses.values()) <= MOST_LOSS,
            "; ".join(
                f"{name}: {_best(each['estimated'])} chosen, {_best(each['measured'])} measured, {losses[name]:+.1%}"
                for name, each in workloads.items()
            ),
        ),
        check(
            f"The estimated order of the pairs is the measured one, where costs are more than {APART:.0%} apart",
            not swapped,
            "; ".join(swapped)
            or "; ".join(f"{name}: {' '.join(_order(each['measured']))}" for name, each in workloads.items()),
        ),
        check(
            "In the skewed workload (a) an asymmetric pair is cheaper than any symmetric one",
            skewed[asymmetric] < skewed[symmetric],
            f"{asymmetric} {skewed[asymmetric]:.4f}, {symmetric} {skewed[symmetric]:.4f}: "
            f"{skewed[symmetric] / skewed[asymmetric] - 1:.0%} more efficient",
        ),
    ]


def _best(costs: dict[str, float]) -> str:
    return min(costs, key=lambda pair: costs[pair])


def _order(costs: dict[str, float]) -> list[str]:
    return sorted(costs, key=lambda pair: costs[pair])


def _swapped(workload: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs that are clearly apart, and in the other order than estimated."""
    measured, estimated = workload["measured"], workload["estimated"]
    return [
        (one, two)
        for one, two in combinations(_order(measured), 2)
        if measured[two] > (1 + APART) * measured[one] and estimated[two] < estimated[one]
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per workload; pairs that are far off the chart are missing, as in the paper."""
    title = f"Measured cost of {result['seconds']:,.0f} s of input, {MINUTES} batches"
    with plot.picture(path, title, panels=3, height=4.8, width=9) as axes:
        for each, (name, workload) in zip(axes, result["workloads"].items(), strict=True):
            cheapest = min(sums[-1] for sums in workload["sums"].values())
            total = sum(workload["rates"]) * result["seconds"] / 1000
            for pair, sums in workload["sums"].items():
                if sums[-1] <= _SHOWN_TIMES * cheapest:
                    tuples = [total * i / (len(sums) - 1) for i in range(len(sums))]
                    each.plot(tuples, [1000 * cpu for cpu in sums], label=pair, linewidth=1.8, **kang_plot.look(pair))
            (a, b), (rate_a, rate_b) = workload["windows"], workload["rates"]
            shown = f"({name}) A={a:,}, B={b:,}\n$\\lambda_a$={rate_a:g}, $\\lambda_b$={rate_b:g}"
            plot.label(each, "tuples (thousands)", "", shown)
            plot.headroom(each)
        axes[0].set_ylabel("CPU time (ms)")
        kang_plot.legend_below(axes, columns=8)


EXPERIMENT = tables_experiment(
    "kn_fig04", "Measured cost in three workloads", "Kang et al., figure 4", measure, checks, draw
)

"""Figures 3 and 4 of Kang, Naughton and Viglas: the measured cost of eight pairs of structures (KN-23, KN-30).

Figure 3 is over the split of the input, figure 4 over time in three workloads. Estimates are those of the calibrated
model; the winners are other ones than the paper's, see figure 2. Costs are those of the join's loop, without Arrow on
either side, and of the cheapest of five minutes.
"""

import math
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from papers.kang import plot as kang
from papers.kang.estimated_cost import COST_LABEL, TOTAL_RATE, WINDOWS
from papers.kang.pair_cost import MINUTE_S, WindowJoin, measure_pairs
from papers.lab import plot
from papers.lab.claim import Claim, Result, Verdict
from papers.lab.experiment import ON_TABLES, Experiment, Run
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

MINUTES = 5
MOST_LOSS = 0.1
Costs = dict[str, float]  # by pair


def _cheapest(costs: Costs) -> str:
    return min(costs, key=lambda pair: costs[pair])


def _from_cheapest(costs: Costs) -> list[str]:
    return sorted(costs, key=lambda pair: costs[pair])


def _loss(point: Result) -> float:
    """How much more the pair that the model chooses costs than the cheapest one measured."""
    measured: Costs = point["measured"]
    return measured[_cheapest(point["estimated"])] / min(measured.values()) - 1


# Figure 3

SHARES = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 0.75, 0.9, 0.96, 0.98, 0.99, 0.995, 0.998, 0.9995)
MOST_ERROR = 0.25
MOST_FACTOR = 3.0  # lines that meet at a flat angle: where exactly they do is open to chance


def measure_splits(run: Run) -> Result:
    """Measure all pairs at each split."""
    weights, seconds = machine_weights(), MINUTE_S * run.scale
    points = []
    joins = {share: WindowJoin(WINDOWS, (TOTAL_RATE * share, TOTAL_RATE * (1 - share))) for share in SHARES}
    for (share, join), each in run.each(joins.items()):
        measured = measure_pairs(join, cost.SHOWN_PAIRS, seconds, MINUTES, each.progress)
        estimated = join.estimates(weights)
        points.append(
            {
                "share": share,
                "measured": measured.cheapest(),
                "estimated": {pair: estimated[pair] for pair in cost.SHOWN_PAIRS},
                "results": measured.results,
            }
        )
    crossovers = {
        "estimated": [
            {"share": each.share, "before": each.before, "after": each.after}
            for each in cost.crossovers(WINDOWS, weights=weights, matches=joins[SHARES[0]].matches)
        ],
        "measured": measured_crossovers(points),
    }
    return {"windows": list(WINDOWS), "seconds": seconds * MINUTES, "points": points, "crossovers": crossovers}


def measured_crossovers(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Where the cheapest pair changes, between two measured splits in proportion to how far ahead either was there."""
    found = []
    for one, two in pairwise(points):
        before, after = _cheapest(one["measured"]), _cheapest(two["measured"])
        if before != after:
            ahead, behind = (math.log(each["measured"][after] / each["measured"][before]) for each in (one, two))
            weight = ahead / (ahead - behind) if ahead > behind else 0.5
            share = _from_logit((1 - weight) * _logit(one["share"]) + weight * _logit(two["share"]))
            found.append({"share": share, "before": before, "after": after})
    return found


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _from_logit(number: float) -> float:
    return 1 / (1 + math.exp(-number))


def _chooses_well(result: Result) -> Verdict:
    losses = [_loss(point) for point in result["points"]]
    right = sum(loss == 0 for loss in losses)
    found = f"the cheapest at {right} of {len(losses)} splits; at worst {max(losses):.1%} more expensive"
    return max(losses) <= MOST_LOSS, found


def _changes_as_estimated(result: Result) -> Verdict:
    expected, found = (result["crossovers"][name] for name in ("estimated", "measured"))
    factors = [math.exp(abs(_logit(a["share"]) - _logit(b["share"]))) for a, b in zip(expected, found, strict=False)]
    same = [[(each["before"], each["after"]) for each in one] for one in (expected, found)]
    return (
        same[0] == same[1] and max(factors, default=1.0) <= MOST_FACTOR,
        f"estimated {_in_words(expected)}; measured {_in_words(found)}",
    )


def _in_words(crossovers: list[dict[str, Any]]) -> str:
    return ", ".join(f"{each['before']}/{each['after']} at {each['share']:.2%}" for each in crossovers) or "none"


def _estimates_are_close(result: Result) -> Verdict:
    errors = [
        abs(each["estimated"][pair] / each["measured"][pair] - 1)
        for each in result["points"]
        for pair in each["measured"]
    ]
    typical, within = sorted(errors)[len(errors) // 2], sum(error <= MOST_ERROR for error in errors)
    return typical <= MOST_ERROR, f"median error {typical:.0%}, {within} of {len(errors)} within that"


def _asymmetric_at_both_ends(result: Result) -> Verdict:
    points = result["points"]
    shown = points[0], points[len(points) // 2], points[-1]
    left, middle, right = (_cheapest(each["measured"]) for each in shown)
    return (
        left != left[::-1] and right != right[::-1] and middle in ("HH", "TT"),
        ", ".join(f"{_cheapest(each['measured'])} at {each['share']:.2%}" for each in shown),
    )


SPLIT_CLAIMS = (
    Claim(
        "At every split the pair that the model chooses is the cheapest one measured, or at most "
        f"{MOST_LOSS:.0%} more expensive",
        "the same winners as estimated",
        _chooses_well,
    ),
    Claim(
        f"The winners change in the order estimated, at ratios that differ by a factor of {MOST_FACTOR:g} at most",
        "the same crossovers as estimated",
        _changes_as_estimated,
    ),
    Claim(
        f"Half of the estimates are within {MOST_ERROR:.0%} of what is measured",
        "the same shape as estimated",
        _estimates_are_close,
    ),
    Claim(
        "An asymmetric pair wins where one stream is much faster, a symmetric one in the middle",
        "TN and NT win at the ends, HH in the middle",
        _asymmetric_at_both_ends,
    ),
)


def draw_splits(result: Result, path: Path) -> None:
    """Estimated as lines, measured as dots of the same colour; the ground shows the measured winners."""
    points, shares = result["points"], [each["share"] for each in result["points"]]
    title = f"Measured cost of eight pairs (dots) and estimate (lines)\nwindows of {result['windows'][0]:,} tuples"
    with plot.picture(path, title, height=6) as (axes,):
        lines, dots = (
            {pair: [each[what][pair] for each in points] for pair in cost.SHOWN_PAIRS}
            for what in ("estimated", "measured")
        )
        for pair in cost.SHOWN_PAIRS:
            axes.plot(shares, lines[pair], label=pair, linewidth=1.5, alpha=0.8, **kang.look(pair))
            axes.plot(shares, dots[pair], "o", color=kang.look(pair)["color"], markersize=4.5)
        both = [number for costs in (lines, dots) for each in costs.values() for number in each]
        kang.split_axis(axes, shares)
        kang.cost_axis(axes, min(both) / 1.1, max(both) * 1.1)
        kang.winners(axes, shares, result["crossovers"]["measured"])
        axes.set_ylabel(COST_LABEL)
        kang.legend_below([axes], columns=8)


# Figure 4

APART = 0.15  # costs that differ by less have no order
_SHOWN_TIMES = 8  # pairs that cost more than so many times the best are off the chart
_NAMES = ("a", "b", "c")


def measure_workloads(run: Run) -> Result:
    """Measure the eight pairs in each workload of Table 3."""
    weights, seconds = machine_weights(), MINUTE_S * run.scale
    workloads = {}
    for (name, workload), share in run.each(zip(_NAMES, cost.PAPER_TABLE, strict=True)):
        join = WindowJoin((int(workload.windows[0]), int(workload.windows[1])), workload.rates)
        measured = measure_pairs(join, cost.SHOWN_PAIRS, seconds, MINUTES, share.progress)
        estimated = join.estimates(weights)
        workloads[name] = {
            "windows": list(join.windows),
            "rates": list(join.rates),
            "measured": measured.cheapest(),
            "estimated": {pair: estimated[pair] for pair in cost.SHOWN_PAIRS},
            "paper": dict(workload.printed),
            "sums": {pair: [each * seconds / MINUTE_S for each in costs] for pair, costs in measured.sums().items()},
            "results": measured.results,
        }
    return {"seconds": seconds * MINUTES, "workloads": workloads}


def _chooses_well_in_each(result: Result) -> Verdict:
    losses = {name: _loss(each) for name, each in result["workloads"].items()}
    found = "; ".join(
        f"{name}: {_cheapest(each['estimated'])} chosen, {_cheapest(each['measured'])} measured, {losses[name]:+.1%}"
        for name, each in result["workloads"].items()
    )
    return max(losses.values()) <= MOST_LOSS, found


def _order_is_estimated(result: Result) -> Verdict:
    workloads = result["workloads"].items()
    wrong = [f"{one}, {two} in {name}" for name, each in workloads for one, two in swapped(each)]
    orders = [f"{name}: {' '.join(_from_cheapest(each['measured']))}" for name, each in workloads]
    return not wrong, "; ".join(wrong or orders)


def swapped(workload: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs that are clearly apart, and in the other order than estimated."""
    measured, estimated = workload["measured"], workload["estimated"]
    return [
        (one, two)
        for one, two in combinations(_from_cheapest(measured), 2)
        if measured[two] > (1 + APART) * measured[one] and estimated[two] < estimated[one]
    ]


def _asymmetry_pays(result: Result) -> Verdict:
    costs: Costs = result["workloads"]["a"]["measured"]
    symmetric, asymmetric = (
        _cheapest({pair: costs[pair] for pair in costs if (pair[0] == pair[1]) is alike}) for alike in (True, False)
    )
    return (
        costs[asymmetric] < costs[symmetric],
        f"{asymmetric} {costs[asymmetric]:.4f}, {symmetric} {costs[symmetric]:.4f}: "
        f"{costs[symmetric] / costs[asymmetric] - 1:.0%} more efficient",
    )


WORKLOAD_CLAIMS = (
    Claim(
        "In each workload the pair that the model chooses is the cheapest one measured, or at most "
        f"{MOST_LOSS:.0%} more expensive",
        "TN, HT and HH win, as estimated",
        _chooses_well_in_each,
    ),
    Claim(
        f"The estimated order of the pairs is the measured one, where costs are more than {APART:.0%} apart",
        "in every workload the estimated order of the pairs is the measured one",
        _order_is_estimated,
    ),
    Claim(
        "In the skewed workload (a) an asymmetric pair is cheaper than any symmetric one",
        "TN wins; asymmetric pairs are up to 53 % more efficient",
        _asymmetry_pays,
    ),
)


def draw_workloads(result: Result, path: Path) -> None:
    """A panel for each workload; pairs that are far off the chart are missing, as in the paper."""
    title = f"Measured cost of {result['seconds']:,.0f} s of input, {MINUTES} batches"
    with plot.picture(path, title, panels=3, height=4.8, width=9) as axes:
        for each, (name, workload) in zip(axes, result["workloads"].items(), strict=True):
            cheapest = min(sums[-1] for sums in workload["sums"].values())
            total = sum(workload["rates"]) * result["seconds"] / 1000
            for pair, sums in workload["sums"].items():
                if sums[-1] <= _SHOWN_TIMES * cheapest:
                    tuples = [total * i / (len(sums) - 1) for i in range(len(sums))]
                    each.plot(tuples, [1000 * cpu for cpu in sums], label=pair, linewidth=1.8, **kang.look(pair))
            (a, b), (rate_a, rate_b) = workload["windows"], workload["rates"]
            shown = f"({name}) A={a:,}, B={b:,}\n$\\lambda_a$={rate_a:g}, $\\lambda_b$={rate_b:g}"
            plot.label(each, "tuples (thousands)", "", shown)
            plot.headroom(each)
        axes[0].set_ylabel("CPU time (ms)")
        kang.legend_below(axes, columns=8)


EXPERIMENTS = (
    Experiment(
        "kn_fig03",
        "Measured cost of eight pairs of structures",
        "Kang et al., figure 3",
        measure_splits,
        SPLIT_CLAIMS,
        draw_splits,
        ON_TABLES,
    ),
    Experiment(
        "kn_fig04",
        "Measured cost in three workloads",
        "Kang et al., figure 4",
        measure_workloads,
        WORKLOAD_CLAIMS,
        draw_workloads,
        ON_TABLES,
    ),
)

"""Figures 3 and 4 of Kang, Naughton and Viglas: the measured cost of eight pairs of structures (KN-23, KN-30).

Figure 3 is over the split of the input, figure 4 over time in three workloads. Estimates are those of the calibrated
model; the winners are other ones than the paper's, see figure 2. Costs are those of the join's loop, without Arrow on
either side, and of the cheapest of five minutes.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from papers.kang import plot as kang
from papers.kang.estimated_cost import COST_LABEL, TOTAL_RATE, WINDOWS
from papers.kang.pair_cost import MINUTE_S, WindowJoin, measure_pairs
from papers.lab import plot
from papers.lab.claim import Claim, Result
from papers.lab.experiment import Run, tables_experiment
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

MINUTES = 5
MOST_LOSS = 0.1
Costs = dict[str, float]  # by pair
Crossovers = Sequence[Mapping[str, Any]]
_MORE_EXPENSIVE = f"at most {MOST_LOSS:.0%} more expensive"


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


def _factors(estimated: Crossovers, measured: Crossovers) -> list[float]:
    """By what factors the ratios of the streams differ at estimated and measured crossovers."""
    pairs = zip(estimated, measured, strict=False)
    return [math.exp(abs(_logit(one["share"]) - _logit(two["share"]))) for one, two in pairs]


def _changes(crossovers: Crossovers) -> list[tuple[str, str]]:
    return [(each["before"], each["after"]) for each in crossovers]


def _in_words(crossovers: Crossovers) -> str:
    return ", ".join(f"{each['before']}/{each['after']} at {each['share']:.2%}" for each in crossovers) or "none"


def _errors(result: Result) -> list[float]:
    points = result["points"]
    return [abs(each["estimated"][pair] / each["measured"][pair] - 1) for each in points for pair in each["measured"]]


def _winners(result: Result) -> list[tuple[str, float]]:
    """The cheapest pairs at both ends and in the middle, and the shares of the left stream there."""
    points = result["points"]
    shown = points[0], points[len(points) // 2], points[-1]
    return [(_cheapest(each["measured"]), each["share"]) for each in shown]


SPLIT_CLAIMS = (
    Claim(
        f"At every split the pair that the model chooses is the cheapest one measured, or {_MORE_EXPENSIVE}",
        "the same winners as estimated",
        lambda m: [_loss(point) for point in m["points"]],
        lambda losses: max(losses) <= MOST_LOSS,
        lambda losses: f"the cheapest at {losses.count(0)} of {len(losses)} splits; at worst {max(losses):.1%} more",
    ),
    Claim(
        f"The winners change in the order estimated, at ratios that differ by a factor of {MOST_FACTOR:g} at most",
        "the same crossovers as estimated",
        lambda m: (m["crossovers"]["estimated"], m["crossovers"]["measured"]),
        lambda ours, other: _changes(ours) == _changes(other) and max(_factors(ours, other), default=1) <= MOST_FACTOR,
        lambda ours, other: f"estimated {_in_words(ours)}; measured {_in_words(other)}",
    ),
    Claim(
        f"Half of the estimates are within {MOST_ERROR:.0%} of what is measured",
        "the same shape as estimated",
        lambda m: (sorted(_errors(m))[len(_errors(m)) // 2], sum(error <= MOST_ERROR for error in _errors(m))),
        lambda typical, _: typical <= MOST_ERROR,
        "median error {:.0%}, {} of all within that",
    ),
    Claim(
        "An asymmetric pair wins where one stream is much faster, a symmetric one in the middle",
        "TN and NT win at the ends, HH in the middle",
        _winners,
        lambda won: won[1][0] in ("HH", "TT") and all(pair != pair[::-1] for pair, _ in (won[0], won[2])),
        lambda won: ", ".join(f"{pair} at {share:.2%}" for pair, share in won),
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


def swapped(workload: dict[str, Any]) -> list[tuple[str, str]]:
    """Pairs that are clearly apart, and in the other order than estimated."""
    measured, estimated = workload["measured"], workload["estimated"]
    return [
        (one, two)
        for one, two in combinations(_from_cheapest(measured), 2)
        if measured[two] > (1 + APART) * measured[one] and estimated[two] < estimated[one]
    ]


def _swapped_in_each(result: Result) -> list[str]:
    return [f"{one}, {two} in {name}" for name, each in result["workloads"].items() for one, two in swapped(each)]


def _choices(result: Result) -> str:
    return "; ".join(
        f"{name}: {_cheapest(each['estimated'])} chosen, {_cheapest(each['measured'])} measured, {_loss(each):+.1%}"
        for name, each in result["workloads"].items()
    )


def _of_skewed(result: Result, is_symmetric: bool) -> tuple[str, float]:
    """The cheapest symmetric or asymmetric pair in the skewed workload, and its cost."""
    costs: Costs = result["workloads"]["a"]["measured"]
    pair = _cheapest({pair: costs[pair] for pair in costs if (pair[0] == pair[1]) is is_symmetric})
    return pair, costs[pair]


WORKLOAD_CLAIMS = (
    Claim(
        f"In each workload the pair that the model chooses is the cheapest one measured, or {_MORE_EXPENSIVE}",
        "TN, HT and HH win, as estimated",
        lambda m: ([_loss(each) for each in m["workloads"].values()], _choices(m)),
        lambda losses, _: max(losses) <= MOST_LOSS,
        "{1}",
    ),
    Claim(
        f"The estimated order of the pairs is the measured one, where costs are more than {APART:.0%} apart",
        "in every workload the estimated order of the pairs is the measured one",
        lambda m: (_swapped_in_each(m), [_from_cheapest(each["measured"]) for each in m["workloads"].values()]),
        lambda wrong, _: not wrong,
        lambda wrong, orders: "; ".join(wrong or map(" ".join, orders)),
    ),
    Claim(
        "In the skewed workload (a) an asymmetric pair is cheaper than any symmetric one",
        "TN wins; asymmetric pairs are up to 53 % more efficient",
        lambda m: (*_of_skewed(m, is_symmetric=False), *_of_skewed(m, is_symmetric=True)),
        lambda _, asymmetric, __, symmetric: asymmetric < symmetric,
        lambda ours, our_cost, other, cost: (
            f"{ours} {our_cost:.4f}, {other} {cost:.4f}: {cost / our_cost - 1:.0%} more"
        ),
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
    tables_experiment(
        "kn_fig03",
        "Measured cost of eight pairs of structures",
        "Kang et al., figure 3",
        measure_splits,
        SPLIT_CLAIMS,
        draw_splits,
    ),
    tables_experiment(
        "kn_fig04",
        "Measured cost in three workloads",
        "Kang et al., figure 4",
        measure_workloads,
        WORKLOAD_CLAIMS,
        draw_workloads,
    ),
)

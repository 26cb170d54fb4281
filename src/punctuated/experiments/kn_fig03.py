"""Figure 3 of Kang, Naughton and Viglas: the measured cost of figure 2's eight pairs after 300 s of input (KN-23).

The paper: the same shape and the same crossovers as estimated. Here the estimate is that of the calibrated model, and
the winners are other ones than the paper's; see figure 2. Costs are those of the join's loop, without Arrow on either
side, and of the cheapest of five minutes.
"""

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

from punctuated.cli import plot
from punctuated.experiments import kang_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.kn_fig02 import COST_LABEL, TOTAL_RATE, WINDOWS
from punctuated.experiments.pair_cost import MINUTE_S, WindowJoin, measure_pairs
from punctuated.experiments.progress import Progress, part
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

SHARES = (0.0005, 0.002, 0.005, 0.01, 0.02, 0.04, 0.1, 0.25, 0.5, 0.75, 0.9, 0.96, 0.98, 0.99, 0.995, 0.998, 0.9995)
MINUTES = 5
MOST_LOSS, MOST_ERROR = 0.1, 0.25
MOST_FACTOR = 3.0  # lines that meet at a flat angle: where exactly they do is open to chance


def measure(scale: float, progress: Progress | None) -> Result:
    """Measure all pairs at each split."""
    weights, seconds = machine_weights(), MINUTE_S * scale
    points = []
    joins = {share: WindowJoin(WINDOWS, (TOTAL_RATE * share, TOTAL_RATE * (1 - share))) for share in SHARES}
    for i, (share, join) in enumerate(joins.items()):
        measured = measure_pairs(join, cost.SHOWN_PAIRS, seconds, MINUTES, part(progress, i, len(SHARES)))
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
        before, after = _cheapest(one), _cheapest(two)
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


def checks(result: Result) -> list[Check]:
    """The calibrated model against what was measured."""
    points, crossovers = result["points"], result["crossovers"]
    losses, errors, right = [], [], 0
    for each in points:
        measured, estimated = each["measured"], each["estimated"]
        chosen = min(estimated, key=lambda pair: estimated[pair])
        losses.append(measured[chosen] / min(measured.values()) - 1)
        right += losses[-1] == 0
        errors += [abs(estimated[pair] / measured[pair] - 1) for pair in measured]
    expected, found = crossovers["estimated"], crossovers["measured"]
    factors = [math.exp(abs(_logit(a["share"]) - _logit(b["share"]))) for a, b in zip(expected, found, strict=False)]
    typical = sorted(errors)[len(errors) // 2]
    return [
        check(
            "At every split the pair that the model chooses is the cheapest one measured, or at most "
            f"{MOST_LOSS:.0%} more expensive",
            max(losses) <= MOST_LOSS,
            f"the cheapest at {right} of {len(points)} splits; at worst {max(losses):.1%} more expensive",
        ),
        check(
            f"The winners change in the order estimated, at ratios that differ by a factor of {MOST_FACTOR:g} at most",
            _names(expected) == _names(found) and max(factors, default=1.0) <= MOST_FACTOR,
            f"estimated {_in_words(expected)}; measured {_in_words(found)}",
        ),
        check(
            f"Half of the estimates are within {MOST_ERROR:.0%} of what is measured",
            typical <= MOST_ERROR,
            f"median error {typical:.0%}, {sum(error <= MOST_ERROR for error in errors)} of {len(errors)} within that",
        ),
        check(
            "An asymmetric pair wins where one stream is much faster, a symmetric one in the middle",
            all(_cheapest(points[i]) != _cheapest(points[i])[::-1] for i in (0, -1))
            and _cheapest(points[len(points) // 2]) in ("HH", "TT"),
            ", ".join(
                f"{_cheapest(each)} at {each['share']:.2%}"
                for each in (points[0], points[len(points) // 2], points[-1])
            ),
        ),
    ]


def _cheapest(point: dict[str, Any]) -> str:
    measured: dict[str, float] = point["measured"]
    return min(measured, key=lambda pair: measured[pair])


def _names(crossovers: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(each["before"], each["after"]) for each in crossovers]


def _in_words(crossovers: list[dict[str, Any]]) -> str:
    return ", ".join(f"{each['before']}/{each['after']} at {each['share']:.2%}" for each in crossovers) or "none"


def draw(result: Result, path: Path) -> None:
    """Estimated as lines, measured as dots of the same colour; the ground shows the measured winners."""
    points, shares = result["points"], [each["share"] for each in result["points"]]
    title = f"Measured cost of eight pairs (dots) and estimate (lines)\nwindows of {result['windows'][0]:,} tuples"
    with plot.picture(path, title, height=6) as (axes,):
        lines, dots = (
            {pair: [each[what][pair] for each in points] for pair in cost.SHOWN_PAIRS}
            for what in ("estimated", "measured")
        )
        for pair in cost.SHOWN_PAIRS:
            axes.plot(shares, lines[pair], label=pair, linewidth=1.5, alpha=0.8, **kang_plot.look(pair))
            axes.plot(shares, dots[pair], "o", color=kang_plot.look(pair)["color"], markersize=4.5)
        both = [number for costs in (lines, dots) for each in costs.values() for number in each]
        kang_plot.split_axis(axes, shares)
        kang_plot.cost_axis(axes, min(both) / 1.1, max(both) * 1.1)
        kang_plot.winners(axes, shares, result["crossovers"]["measured"])
        axes.set_ylabel(COST_LABEL)
        kang_plot.legend_below([axes], columns=8)


EXPERIMENT = tables_experiment(
    "kn_fig03", "Measured cost of eight pairs of structures", "Kang et al., figure 3", measure, checks, draw
)

"""Figure 2 of Kang, Naughton and Viglas: what eight pairs of structures cost by the model, over the split of the input.

The paper: from left to right TN, TH, HH, HT and NT win; TH gives way to HH at about 20/80, HH to HT at about 80/20
(KN-21, KN-22). That is what its weights say. Those of this machine say something else: a hash index is the cheaper one
to search and to update, and only nested loops can beat it, where hardly anything is searched.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from punctuated.cli import plot
from punctuated.experiments import kang_plot
from punctuated.experiments.experiment import Check, Result, check, listed, tables_experiment
from punctuated.experiments.progress import Progress, report
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

WINDOWS = (5000, 5000)
TOTAL_RATE = 1000.0  # tuples per second of both streams
PAPER_WINNERS = ("TN", "TH", "HH", "HT", "NT")
PAPER_SHARES = (0.0009, 0.216, 0.784, 0.9991)  # recomputed with the formulas
COST_LABEL = f"s of CPU per 60 s of {TOTAL_RATE:,.0f} tuples/s"
_LOWEST_SHARE, _POINTS = 2e-4, 121


def measure(scale: float, progress: Progress | None) -> Result:
    """Evaluate the formulas; there is nothing to scale, and no join."""
    ends = np.log(_LOWEST_SHARE / (1 - _LOWEST_SHARE))
    shares = (1 / (1 + np.exp(-np.linspace(ends, -ends, _POINTS)))).tolist()
    models = {
        name: _model(shares, weights)
        for name, weights in (("paper", cost.KANG_WEIGHTS), ("machine", machine_weights()))
    }
    report(progress, 1.0)
    return {"windows": list(WINDOWS), "rate": TOTAL_RATE, "shares": shares, "models": models}


def costs_at(share: float, weights: cost.Weights) -> dict[str, float]:
    """What each pair costs if this share of all tuples is of the left stream."""
    rates = TOTAL_RATE * share, TOTAL_RATE * (1 - share)
    return {pair: cost.unit_time_cost(pair, windows=WINDOWS, rates=rates, weights=weights) for pair in cost.SHOWN_PAIRS}


def _model(shares: list[float], weights: cost.Weights) -> dict[str, Any]:
    costs = [costs_at(share, weights) for share in shares]
    return {
        "costs": {pair: [each[pair] for each in costs] for pair in cost.SHOWN_PAIRS},
        "crossovers": [asdict(each) for each in cost.crossovers(WINDOWS, weights=weights)],
    }


def winners(model: dict[str, Any]) -> list[str]:
    """The cheapest pairs from left to right."""
    found = model["crossovers"]
    return [found[0]["before"], *(each["after"] for each in found)] if found else []


def checks(result: Result) -> list[Check]:
    """The paper's winners by its weights, and what is left of them by ours."""
    models = result["models"]
    shares = [each["share"] for each in models["paper"]["crossovers"]]
    machine = winners(models["machine"])
    return [
        check(
            f"With the paper's weights the winners are {', '.join(PAPER_WINNERS)}",
            winners(models["paper"]) == list(PAPER_WINNERS),
            ", ".join(winners(models["paper"])),
        ),
        check(
            "TH gives way to HH at about 20 % of A, HH to HT at about 80 %",
            len(shares) == 4 and abs(shares[1] - 0.2) < 0.03 and abs(shares[2] - 0.8) < 0.03,
            f"crossovers at {listed(shares, '.2%')}",
        ),
        check(
            "With the weights of this machine, too, an asymmetric pair wins at one end, its mirror image at the other",
            len(machine) > 1 and machine[0] == machine[-1][::-1] and machine[0] != machine[-1],
            f"{', '.join(machine)}, crossovers at "
            + listed((each["share"] for each in models["machine"]["crossovers"]), ".2%"),
        ),
    ]


def draw(result: Result, path: Path) -> None:
    """One panel per set of weights; pairs that are far off the chart leave it."""
    title = f"Estimated cost of eight pairs, windows of {result['windows'][0]:,} tuples"
    titles = {"paper": "the paper's weights (2003)", "machine": "weights of this machine"}
    with plot.picture(path, title, panels=2, height=5) as axes:
        for each, (name, shown) in zip(axes, titles.items(), strict=True):
            draw_model(each, result["shares"], result["models"][name])
            each.set_title(shown, fontsize=11, pad=20)
        axes[0].set_ylabel(COST_LABEL)
        kang_plot.legend_below(axes, columns=8)


def draw_model(axes: Any, shares: list[float], model: dict[str, Any]) -> None:
    """Lines over the split, on the ground of the winners."""
    costs = model["costs"]
    for pair in cost.SHOWN_PAIRS:
        axes.plot(shares, costs[pair], label=pair, linewidth=1.8, **kang_plot.look(pair))
    lowest = min(min(each) for each in costs.values())
    highest = max(max(costs[pair]) for pair in costs if "N" not in pair)
    kang_plot.split_axis(axes, shares)
    kang_plot.cost_axis(axes, lowest / 1.15, 2 * highest)
    kang_plot.winners(axes, shares, model["crossovers"])


EXPERIMENT = tables_experiment(
    "kn_fig02", "Estimated cost of eight pairs of structures", "Kang et al., figure 2", measure, checks, draw
)

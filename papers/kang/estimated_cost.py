"""Figure 2 and Table 3 of Kang, Naughton and Viglas: costs of pairs by the formulas (KN-21, KN-22, KN-31).

The winners of figure 2 are those of the paper's weights. By the weights of this machine a hash index is the cheaper one
to search and to update, and only nested loops can beat it, where hardly anything is searched.

All costs of Table 3 come out to the printed digits, if an update of a T-tree costs two whole searches; by Eq. (6) as it
is printed only those without a T-tree would (XD-01).
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from papers.kang import plot as kang
from papers.lab import plot
from papers.lab.claim import Claim, Result
from papers.lab.experiment import Run, tables_experiment
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights

# Figure 2

WINDOWS = (5000, 5000)
TOTAL_RATE = 1000.0  # tuples per second of both streams
PAPER_WINNERS = ("TN", "TH", "HH", "HT", "NT")
COST_LABEL = f"s of CPU per 60 s of {TOTAL_RATE:,.0f} tuples/s"
_LOWEST_SHARE, _POINTS = 2e-4, 121


def evaluate_models(run: Run) -> Result:
    """Evaluate the formulas; there is nothing to scale, and no join."""
    ends = np.log(_LOWEST_SHARE / (1 - _LOWEST_SHARE))
    shares = (1 / (1 + np.exp(-np.linspace(ends, -ends, _POINTS)))).tolist()
    models = {"paper": _model(shares, cost.KANG_WEIGHTS), "machine": _model(shares, machine_weights())}
    return {"windows": list(WINDOWS), "rate": TOTAL_RATE, "shares": shares, "models": models}


def _costs_at(share: float, weights: cost.Weights) -> dict[str, float]:
    """What each pair costs if this share of all tuples is of the left stream."""
    rates = TOTAL_RATE * share, TOTAL_RATE * (1 - share)
    return {pair: cost.unit_time_cost(pair, windows=WINDOWS, rates=rates, weights=weights) for pair in cost.SHOWN_PAIRS}


def _model(shares: list[float], weights: cost.Weights) -> dict[str, Any]:
    costs = [_costs_at(share, weights) for share in shares]
    return {
        "costs": {pair: [each[pair] for each in costs] for pair in cost.SHOWN_PAIRS},
        "crossovers": [asdict(each) for each in cost.crossovers(WINDOWS, weights=weights)],
    }


def _winners(result: Result, weights: str) -> list[str]:
    """The cheapest pairs from left to right."""
    found = result["models"][weights]["crossovers"]
    return [found[0]["before"], *(each["after"] for each in found)] if found else []


def _shares(result: Result, weights: str) -> list[float]:
    return [each["share"] for each in result["models"][weights]["crossovers"]]


MODEL_CLAIMS = (
    Claim(
        f"With the paper's weights the winners are {', '.join(PAPER_WINNERS)}",
        "from left to right TN, TH, HH, HT and NT win",
        lambda m: _winners(m, "paper"),
        lambda winners: winners == list(PAPER_WINNERS),
        "{}",
    ),
    Claim(
        "TH gives way to HH at about 20 % of A, HH to HT at about 80 %",
        "TH gives way to HH at about 20/80, HH to HT at about 80/20",
        lambda m: _shares(m, "paper"),
        lambda shares: len(shares) == 4 and abs(shares[1] - 0.2) < 0.03 and abs(shares[2] - 0.8) < 0.03,
        "crossovers at {:.2%}",
    ),
    Claim(
        "With the weights of this machine, too, an asymmetric pair wins at one end, its mirror image at the other",
        "TN wins at the left end, NT at the right one",
        lambda m: (_winners(m, "machine"), _shares(m, "machine")),
        lambda winners, _: len(winners) > 1 and winners[0] == winners[-1][::-1] and winners[0] != winners[-1],
        "{}, crossovers at {:.2%}",
    ),
)


def draw_models(result: Result, path: Path) -> None:
    """A panel for each set of weights; pairs that are far off the chart leave it."""
    title = f"Estimated cost of eight pairs, windows of {result['windows'][0]:,} tuples"
    titles = {"paper": "the paper's weights (2003)", "machine": "weights of this machine"}
    with plot.picture(path, title, panels=2, height=5) as axes:
        for each, (name, shown) in zip(axes, titles.items(), strict=True):
            draw_model(each, result["shares"], result["models"][name])
            each.set_title(shown, fontsize=11, pad=20)
        axes[0].set_ylabel(COST_LABEL)
        kang.legend_below(axes, columns=8)


def draw_model(axes: Any, shares: list[float], model: dict[str, Any]) -> None:
    """Lines over the split, on the ground of the winners."""
    costs = model["costs"]
    for pair in cost.SHOWN_PAIRS:
        axes.plot(shares, costs[pair], label=pair, linewidth=1.8, **kang.look(pair))
    lowest = min(min(each) for each in costs.values())
    highest = max(max(costs[pair]) for pair in costs if "N" not in pair)
    kang.split_axis(axes, shares)
    kang.cost_axis(axes, lowest / 1.15, 2 * highest)
    kang.winners(axes, shares, model["crossovers"])


# Table 3

TABLE_WINNERS = ("TN", "HT", "HH")
_HALF_A_DIGIT = 0.005


def evaluate_table(run: Run) -> Result:
    """Evaluate the formulas; there is nothing to scale, and no join."""
    return {
        "rows": [
            {
                "windows": list(workload.windows),
                "rates": list(workload.rates),
                "printed": dict(workload.printed),
                "recomputed": workload.costs(),
            }
            for workload in cost.PAPER_TABLE
        ]
    }


def _errors(result: Result) -> list[float]:
    rows = result["rows"]
    return [abs(row["recomputed"][pair] - row["printed"][pair]) for row in rows for pair in row["printed"]]


def _equal(errors: Sequence[float]) -> int:
    return sum(error <= _HALF_A_DIGIT + 1e-9 for error in errors)


def _orders(result: Result, what: str) -> list[str]:
    """The pairs of each workload, from the cheapest on."""
    costs = [row[what] for row in result["rows"]]
    return [" ".join(sorted(each, key=lambda pair: round(each[pair], 2))) for each in costs]


TABLE_CLAIMS = (
    Claim(
        "All 24 costs come out to the printed digits",
        "24 costs",
        _errors,
        lambda errors: _equal(errors) == len(errors) == 24,
        lambda errors: f"{_equal(errors)} of {len(errors)}, largest difference {max(errors):.4f}",
    ),
    Claim(
        f"The winners are {', '.join(TABLE_WINNERS)}",
        "TN, HT and HH win",
        lambda m: [min(row["recomputed"], key=row["recomputed"].get) for row in m["rows"]],
        lambda winners: winners == list(TABLE_WINNERS),
        "{}",
    ),
    Claim(
        "Pairs come in the printed order in every workload",
        "the order of the printed costs",
        lambda m: (_orders(m, "recomputed"), _orders(m, "printed")),
        lambda recomputed, printed: recomputed == printed,
        "{}",
    ),
    Claim(
        "In the first workload the asymmetric TN is 51 % more efficient than the symmetric HH",
        "asymmetric pairs are up to 53 % more efficient, as measured",
        lambda m: tuple(m["rows"][0]["recomputed"][pair] for pair in ("TN", "HH")),
        lambda tn, hh: 0.5 < hh / tn - 1 < 0.52,
        lambda tn, hh: f"TN {tn:.2f}, HH {hh:.2f}: saves {1 - tn / hh:.0%}, {hh / tn - 1:.0%} more efficient",
    ),
)


def draw_table(result: Result, path: Path) -> None:
    """Printed as rings, recomputed as dots inside them."""
    with plot.picture(path, "Table 3: printed and recomputed costs", panels=3, share_y=True, height=4.8) as axes:
        for each, row in zip(axes, result["rows"], strict=True):
            pairs = list(row["printed"])
            printed, recomputed = ([row[name][pair] for pair in pairs] for name in ("printed", "recomputed"))
            each.plot(pairs, printed, "o", color=plot.GREY, markersize=11, fillstyle="none", label="printed")
            each.plot(pairs, recomputed, "o", color=plot.BLUE, markersize=5, label="recomputed")
            for i, cost_of in enumerate(recomputed):
                each.annotate(
                    f"{cost_of:,.2f}" if cost_of < 100 else f"{cost_of:,.0f}",
                    (i, cost_of),
                    (0, 9),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7.5,
                )
            kang.cost_axis(each, 3, 8000)
            each.set_xlim(-0.7, len(pairs) - 0.3)
            (a, b), (rate_a, rate_b) = row["windows"], row["rates"]
            each.set_title(f"A={a:,.0f}, B={b:,.0f}\n$\\lambda_a$={rate_a:g}, $\\lambda_b$={rate_b:g}", fontsize=10)
        axes[0].set_ylabel("s of CPU per 60 s of input")
        plot.legend_below(axes, columns=2)


EXPERIMENTS = (
    tables_experiment(
        "kn_fig02",
        "Estimated cost of eight pairs of structures",
        "Kang et al., figure 2",
        evaluate_models,
        MODEL_CLAIMS,
        draw_models,
    ),
    tables_experiment(
        "kn_table3",
        "Estimated costs of three workloads",
        "Kang et al., table 3",
        evaluate_table,
        TABLE_CLAIMS,
        draw_table,
    ),
)

"""Table 3 of Kang, Naughton and Viglas: 24 costs of three workloads and eight pairs, recomputed (KN-31).

All of them come out to the printed digits, if an update of a T-tree costs two whole searches; by Eq. (6) as it is
printed only those without a T-tree would (XD-01).
"""

from pathlib import Path

from punctuated.cli import plot
from punctuated.experiments import kang_plot
from punctuated.experiments.experiment import Check, Result, check, tables_experiment
from punctuated.experiments.progress import Progress, report
from punctuated.plan import cost

PAPER_WINNERS = ("TN", "HT", "HH")
_HALF_A_DIGIT = 0.005


def measure(scale: float, progress: Progress | None) -> Result:
    """Evaluate the formulas; there is nothing to scale, and no join."""
    rows = [
        {
            "windows": list(workload.windows),
            "rates": list(workload.rates),
            "printed": dict(workload.printed),
            "recomputed": workload.costs(),
        }
        for workload in cost.PAPER_TABLE
    ]
    report(progress, 1.0)
    return {"rows": rows}


def checks(result: Result) -> list[Check]:
    """The formulas against what is printed."""
    rows = result["rows"]
    errors = [abs(row["recomputed"][pair] - row["printed"][pair]) for row in rows for pair in row["printed"]]
    equal = sum(error <= _HALF_A_DIGIT + 1e-9 for error in errors)
    cheapest = [min(row["recomputed"], key=lambda pair: row["recomputed"][pair]) for row in rows]
    ahead = 1 - rows[0]["recomputed"]["TN"] / rows[0]["recomputed"]["HH"]
    return [
        check(
            "All 24 costs come out to the printed digits",
            equal == len(errors) == 24,
            f"{equal} of {len(errors)}, largest difference {max(errors):.4f}",
        ),
        check(f"The winners are {', '.join(PAPER_WINNERS)}", cheapest == list(PAPER_WINNERS), ", ".join(cheapest)),
        check(
            "Pairs come in the printed order in every workload",
            all(_order(row["recomputed"]) == _order(row["printed"]) for row in rows),
            "; ".join(" ".join(_order(row["recomputed"])) for row in rows),
        ),
        check(
            "In the first workload the asymmetric TN is 51 % more efficient than the symmetric HH",
            0.5 < 1 / (1 - ahead) - 1 < 0.52,
            f"TN {rows[0]['recomputed']['TN']:.2f}, HH {rows[0]['recomputed']['HH']:.2f}: saves {ahead:.0%}, "
            f"{1 / (1 - ahead) - 1:.0%} more efficient (the paper measured 53 %)",
        ),
    ]


def _order(costs: dict[str, float]) -> list[str]:
    return sorted(costs, key=lambda pair: round(costs[pair], 2))


def draw(result: Result, path: Path) -> None:
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
            kang_plot.cost_axis(each, 3, 8000)
            each.set_xlim(-0.7, len(pairs) - 0.3)
            (a, b), (rate_a, rate_b) = row["windows"], row["rates"]
            each.set_title(f"A={a:,.0f}, B={b:,.0f}\n$\\lambda_a$={rate_a:g}, $\\lambda_b$={rate_b:g}", fontsize=10)
        axes[0].set_ylabel("s of CPU per 60 s of input")
        plot.legend_below(axes, columns=2)


EXPERIMENT = tables_experiment(
    "kn_table3", "Estimated costs of three workloads", "Kang et al., table 3", measure, checks, draw
)

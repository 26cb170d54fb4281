"""`python -m benchmarks.model`: does the cost model choose the pair of structures that is measured to be the best?

Random workloads: windows of 200 to 20,000 tuples, rates that sum up to a constant at ratios from 1:999 to 999:1, equal
values and values that are near. All pairs run in turns over the same streams. A cost is that of the cheapest batch, in
seconds of CPU per 60 s of input: what other programs on the machine add is not the pair's. Nor is what depends on where
the machine code happens to be loaded (docs/decisions/009), so batches run in several processes.

Prints each workload with the pair that the model chooses and the best one measured, and for equal values what the index
of values costs in comparison, which `algorithm="auto"` takes. Writes JSON.
"""

import argparse
import json
import math
import platform
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from papers.kang.pair_cost import WindowJoin, measure_pairs
from punctuated.plan import cost
from punctuated.plan.cost.weights import machine_weights
from punctuated.runtime.calibration import calibrate

TOTAL_RATE = 1000.0
SMALLEST_WINDOW, LARGEST_WINDOW = 200, 20_000
WIDEST_RATIO = 999
FEWEST_MATCHES, MOST_MATCHES = 0.1, 10  # of a search in the larger window
VALUES = 1_000_000  # of which a band reaches some
TIE = 0.03  # costs that differ by less are not told apart
TARGET_SHARE, TARGET_LOSS = 0.9, 0.1
VALUE_INDEX = "pwjoin"


def workloads(n: int, seed: int) -> list[WindowJoin]:
    """As many with equal values as with near ones; everything is spread evenly on a logarithmic scale."""
    rng = np.random.default_rng(seed)

    def spread(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    found = []
    for i in range(n):
        windows = round(spread(SMALLEST_WINDOW, LARGEST_WINDOW)), round(spread(SMALLEST_WINDOW, LARGEST_WINDOW))
        ratio = spread(1 / WIDEST_RATIO, WIDEST_RATIO)
        rates = TOTAL_RATE * ratio / (1 + ratio), TOTAL_RATE / (1 + ratio)
        share = spread(FEWEST_MATCHES, MOST_MATCHES) / max(windows)
        if i % 2:
            found.append(WindowJoin(windows, rates, VALUES, round(share * VALUES / 2)))
        else:
            found.append(WindowJoin(windows, rates, round(1 / share)))
    return found


def measure(join: WindowJoin, seconds: float, n_batches: int) -> dict[str, float]:
    """The measured cost of every pair, and of the index of values where there is a key."""
    pairs = list(map("".join, product(cost.PREDICATES[join.predicate], repeat=2)))
    others = [VALUE_INDEX] if join.predicate == "=" else []
    return measure_pairs(join, [*pairs, *others], seconds, n_batches).cheapest()


def measure_apart(joins: list[WindowJoin], seconds: float, n_batches: int, processes: int) -> list[dict[str, float]]:
    """The measured costs of all workloads, each the cheapest of several processes, which run one after the other."""
    found: list[list[dict[str, float]]] = []
    for _ in range(processes):
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as fresh:
            found.append(list(fresh.map(partial(measure, seconds=seconds, n_batches=n_batches), joins)))
    return [{pair: min(each[pair] for each in costs) for pair in costs[0]} for costs in zip(*found, strict=True)]


def judge(measured: dict[str, float], predicted: dict[str, float]) -> dict[str, Any]:
    """The choice of a model against the best pair; `loss` is how much more it costs."""
    chosen, best = (min(costs, key=lambda pair: costs[pair]) for costs in (predicted, measured))
    loss = measured[chosen] / measured[best] - 1
    return {
        "chosen": chosen,
        "loss": loss,
        "is_best": chosen == best,
        "is_as_good": loss <= TIE,
        "predicted": predicted,
    }


def summary(judged: list[dict[str, Any]]) -> dict[str, Any]:
    """How often the choice was the best pair, or one that costs as much, and what the worst choice costs."""
    return {
        "workloads": len(judged),
        "best": sum(each["is_best"] for each in judged),
        "as_good": sum(each["is_as_good"] for each in judged),
        "worst_loss": max(each["loss"] for each in judged),
    }


def index_summary(ratios: list[float]) -> str:
    """How the index of values does against the best pair."""
    cheaper = sum(ratio < 1 for ratio in ratios)
    return (
        f"index of values: cheaper than the best pair in {cheaper} of {len(ratios)} workloads with a key, "
        f"{min(ratios):.2f} to {max(ratios):.2f} of its cost"
    )


def weigh(saved: bool) -> dict[str, cost.Weights]:
    """The models to judge: calibrated now (with all weights, and with two per structure) or saved; and the paper's."""
    if saved:
        return {"calibrated": machine_weights(), "paper": cost.KANG_WEIGHTS}
    calibration = calibrate()
    return {"calibrated": calibration.weights, "two weights": calibration.plain, "paper": cost.KANG_WEIGHTS}


def judge_all(join: WindowJoin, costs: dict[str, float], models: dict[str, cost.Weights]) -> dict[str, Any]:
    """What was measured of a workload, and what each model says of it; `index` is the index of values / best pair."""
    measured = {pair: each for pair, each in costs.items() if pair != VALUE_INDEX}
    return {
        "join": asdict(join),
        "matches": join.matches,
        "measured": measured,
        "index": costs[VALUE_INDEX] / min(measured.values()) if VALUE_INDEX in costs else None,
        "models": {name: judge(measured, join.estimates(weights)) for name, weights in models.items()},
    }


def main() -> None:
    options, console = _options(), Console()
    with console.status("calibrating"):
        models = weigh(options.saved)
    joins = workloads(options.workloads, options.seed)
    with console.status(f"measuring {len(joins)} workloads, {options.processes} times over"):
        costs = measure_apart(joins, options.seconds, options.batches, options.processes)
    rows = [judge_all(join, each, models) for join, each in zip(joins, costs, strict=True)]
    totals = {name: summary([row["models"][name] for row in rows]) for name in models}
    ours = totals["calibrated"]
    met = ours["as_good"] >= TARGET_SHARE * len(rows) and ours["worst_loss"] <= TARGET_LOSS
    console.print(_table(joins, rows, models))
    console.print(*_in_words(totals, rows, met), sep="\n")
    result = {
        "machine": platform.machine(),
        "python": platform.python_version(),
        "weights": {name: cost.weights_content(weights) for name, weights in models.items()},
        "totals": totals,
        "met": met,
        "workloads": rows,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20.0, help="of input in a batch")
    parser.add_argument("--batches", type=int, default=5, help="in a process")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--saved", action="store_true", help="do not calibrate: the weights saved, or the reference")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/model.json"))
    return parser.parse_args()


def _table(joins: list[WindowJoin], rows: list[dict[str, Any]], models: dict[str, cost.Weights]) -> Table:
    title = "Chosen, and how much more it costs; index of values / best pair"
    table = Table("windows", "rates", "matches", "predicate", "best", *models, "index", title=title)
    for join, row in zip(joins, rows, strict=True):
        best = min(row["measured"], key=lambda pair: row["measured"][pair])
        index = "" if row["index"] is None else f"{row['index']:.2f}"
        table.add_row(*_described(join), best, *map(_choice, row["models"].values()), index)
    return table


def _in_words(totals: dict[str, dict[str, Any]], rows: list[dict[str, Any]], met: bool) -> list[str]:
    chosen = [
        f"{name}: best in {total['best']}, as good as the best (within {TIE:.0%}) in {total['as_good']} of "
        f"{total['workloads']}; at worst {total['worst_loss']:.1%} more expensive"
        for name, total in totals.items()
    ]
    verdict = "met" if met else "[red]missed[/red]"
    return [
        *chosen,
        index_summary([row["index"] for row in rows if row["index"] is not None]),
        f"target, {TARGET_SHARE:.0%} and at most {TARGET_LOSS:.0%} more expensive: {verdict}",
    ]


def _described(join: WindowJoin) -> tuple[str, ...]:
    return (
        "{:,} and {:,}".format(*join.windows),
        "{:,.1f} and {:,.1f}".format(*join.rates),
        "{:.2g} and {:.2g}".format(*join.matches),
        join.predicate,
    )


def _choice(judged: dict[str, Any]) -> str:
    colour = "green" if judged["is_best"] else "yellow" if judged["is_as_good"] else "red"
    return f"[{colour}]{judged['chosen']}[/{colour}] {judged['loss']:+.1%}"


if __name__ == "__main__":
    main()

"""Strategies for limited resources side by side: results per second by the formula, and of a join that sheds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import punctuated as pt
from punctuated.cli import plot
from punctuated.experiments.experiment import Check, Experiment, Result, check, tables_experiment
from punctuated.experiments.progress import Progress, report
from punctuated.experiments.shed_run import SheddingJoin
from punctuated.plan.allocation import allocate
from punctuated.plan.cost import output_rate

MOST_ERROR = 0.05
Found = Mapping[str, Mapping[str, Any]]  # of each strategy


@dataclass(frozen=True)
class Contest:
    """A join, what it lacks, the strategies that are tried, by their names in the paper, and what it says of them."""

    join: SheddingJoin
    strategies: Mapping[str, str]
    expected: tuple[float, ...]  # results per second by the paper's formula
    claim: str  # on the order of the strategies
    holds: Callable[[Found], bool]
    title: str  # of the picture
    rate: float | None = None  # mu: tuples per second that may probe
    tuples: float | None = None  # M: tuples that may be stored

    def measure(self, scale: float, progress: Progress | None) -> Result:
        """Predict and measure each strategy, on the same streams."""
        join = replace(self.join, seconds=self.join.seconds * scale)
        runs = {}
        for i, (name, strategy) in enumerate(self.strategies.items()):
            runs[name] = self._run(join, strategy)
            report(progress, (i + 1) / len(self.strategies))
        return {"seconds": join.seconds, "runs": runs}

    def _run(self, join: SheddingJoin, strategy: str) -> dict[str, Any]:
        granted = allocate(strategy, join.rates, join.windows, self.rate, self.tuples)
        series = join.run(pt.shed(rate=self.rate, tuples=self.tuples, strategy=strategy))
        return {
            "strategy": strategy,
            "rates": list(granted.rates),
            "windows": list(granted.windows),
            "predicted": output_rate(rates=granted.rates, windows=granted.windows, selectivity=join.selectivity),
            "measured": series["results"][-1] / series["seconds"][-1],
        }

    def checks(self, result: Result) -> list[Check]:
        """The formula, the strategies by it, and their order."""
        found: Found = result["runs"]
        predicted = [each["predicted"] for each in found.values()]
        errors = {
            name: abs(each["measured"] - each["predicted"]) / (each["predicted"] or 1.0) for name, each in found.items()
        }
        worst = max(errors, key=lambda name: errors[name])
        best = allocate("optimal", self.join.rates, self.join.windows, self.rate, self.tuples)
        most = output_rate(rates=best.rates, windows=best.windows, selectivity=self.join.selectivity)
        return [
            check(
                f"The formula gives {', '.join(f'{each:.4g}' for each in self.expected)} results per second",
                all(abs(one - two) < 0.05 for one, two in zip(predicted, self.expected, strict=True)),
                ", ".join(f"{name} {each['predicted']:.4g}" for name, each in found.items()),
            ),
            check(
                f"Every strategy gives as many results as the formula says, within {MOST_ERROR:.0%}",
                max(errors.values()) <= MOST_ERROR,
                ", ".join(f"{name} {each['measured']:.4g}" for name, each in found.items())
                + f"; largest error {errors[worst]:.1%}",
            ),
            check(
                "What we call optimal is the best of them",
                abs(most - max(predicted)) < 1e-9,
                f"{most:.4g} results per second, with rates {best.rates[0]:g} and {best.rates[1]:g}, "
                f"windows {best.windows[0]:g} and {best.windows[1]:g}",
            ),
            check(self.claim, self.holds(found), f"{', '.join(ranked(found))}; {more_than_equal(found)}"),
        ]

    def draw(self, result: Result, path: Path) -> None:
        """Bars for what was measured, lines across them for the formula."""
        _draw_bars(result, path, self.title)

    def experiment(self, name: str, title: str, paper: str) -> Experiment:
        """The figure of the paper that shows it."""
        return tables_experiment(name, title, paper, self.measure, self.checks, self.draw)


def ranked(found: Found, what: str = "measured") -> list[str]:
    """The strategies, the one with the most results first."""
    return sorted(found, key=lambda name: -float(found[name][what]))


def more_than_equal(found: Found) -> str:
    """In words, what the best strategy gives beyond an equal split (KN-43)."""
    best, what = ranked(found)[0], ("measured", "predicted")
    measured, predicted = (found[best][each] / found["equal"][each] - 1 for each in what)
    return f"{best} gives {measured:.0%} more than an equal split; by the formula {predicted:.0%}"


def _draw_bars(result: Result, path: Path, title: str) -> None:
    runs = result["runs"]
    with plot.picture(path, title) as (axes,):
        places = range(len(runs))
        bars = axes.bar(
            places, [each["measured"] for each in runs.values()], width=0.6, color=plot.BLUE, label="measured"
        )
        axes.hlines(
            [each["predicted"] for each in runs.values()],
            [place - 0.38 for place in places],
            [place + 0.38 for place in places],
            color=plot.VERMILLION,
            linewidth=2.2,
            label="formula",
        )
        axes.bar_label(bars, labels=[f"{each['measured']:.3g}" for each in runs.values()], padding=4, fontsize=10)
        axes.set_xticks(places, [_wrapped(name) for name in runs])
        axes.set_ylabel("results per second")
        axes.set_ylim(0, 1.18 * max(each["measured"] for each in runs.values()))
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper right", ncols=2, frameon=False, fontsize=10)


def _wrapped(name: str) -> str:
    return name.replace(" / ", " /\n").replace(" to ", "\nto ")


def is_order(found: Found, names: Sequence[str]) -> bool:
    """Whether the strategies come in this order, by the formula and as measured."""
    return all(ranked(found, what) == list(names) for what in ("predicted", "measured"))

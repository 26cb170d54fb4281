"""Figures 5 to 7 of Kang, Naughton and Viglas: how to share out too little CPU and memory (KN-37, KN-40, KN-42).

What goes beyond the resources is shed at random (KN-33). A tuple that gets no CPU is stored all the same, but does not
probe. A tuple that is not stored still counts for the window, which holds the last n tuples of its stream. So a random
share of them is kept, not the most recent ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import punctuated as pt
from papers.lab import plot
from papers.lab.claim import NOT_REPORTED, Claim, Result
from papers.lab.experiment import Experiment, Run, tables_experiment
from papers.lab.trial import SECOND_US, Series, join_quietly, times_us
from punctuated.model.shed import Shed
from punctuated.plan.allocation import Allocation, allocate
from punctuated.plan.cost import output_rate

Sides = tuple[float, float]
Found = Mapping[str, Mapping[str, Any]]  # of each strategy
MOST_ERROR = 0.05
_SAMPLES = 100  # of a run
_SPARE = 1.2  # of the time in which a window fills on average


@dataclass(frozen=True)
class SheddingJoin:
    """Two streams with uniform values, and the last tuples of each."""

    rates: Sides
    windows: tuple[int, int]
    values: tuple[int, int]  # distinct ones; those of the stream with fewer are among the other's
    seconds: float

    @property
    def selectivity(self) -> float:
        """Share of all pairs that match."""
        return min(1 / self.values[0], 1 / self.values[1])

    @property
    def filled_s(self) -> float:
        """When both windows are full for certain."""
        return _SPARE * max(window / rate for window, rate in zip(self.windows, self.rates, strict=True))

    def run(self, shed: Shed | None = None, seed: int = 1) -> Series:
        """Results so far, counted from the moment at which both windows are full."""
        tables = [self._table(side, seed) for side in (0, 1)]
        left, right = (
            pt.stream(table, name=name, key="key", time="ts", window=pt.rows(n))
            for table, name, n in zip(tables, "AB", self.windows, strict=True)
        )
        step_us = round((self.seconds + self.filled_s) * SECOND_US / _SAMPLES)
        metrics = join_quietly(left, right, "HH", shed=shed, sample_every=step_us).metrics
        seconds, results = times_us(metrics) / SECOND_US, metrics["results"].to_numpy()
        end = min(int(times_us(table)[-1]) for table in tables) / SECOND_US
        kept = (seconds >= self.filled_s) & (seconds <= end)
        seconds, results = seconds[kept], results[kept]
        return {"seconds": (seconds - seconds[0]).tolist(), "results": (results - results[0]).tolist()}

    def _table(self, side: int, seed: int) -> pa.Table:
        rate = self.rates[side]
        n = round(rate * (self.seconds + self.filled_s))
        name, gap = f"uniform-{self.values[side]}", round(SECOND_US / rate)
        return pt.streams.generate(name, n, seed=2 * seed + side, gap=gap)


@dataclass(frozen=True)
class Contest:
    """A join, what it lacks, the strategies that are tried, and what the paper reports of them."""

    join: SheddingJoin
    strategies: Mapping[str, str]  # by their names in the paper
    expected: tuple[float, ...]  # results per second by the paper's formula
    claim: str  # on the order of the strategies
    holds: Callable[[Found], bool]
    title: str  # of the picture
    report: str = NOT_REPORTED  # on the order of the strategies
    rate: float | None = None  # mu: tuples per second that may probe
    tuples: float | None = None  # M: tuples that may be stored

    def measure(self, run: Run) -> Result:
        """Predict and measure each strategy, on the same streams."""
        join = replace(self.join, seconds=self.join.seconds * run.scale)
        runs = {name: self._run(join, strategy) for (name, strategy), _ in run.each(self.strategies.items())}
        return {"seconds": join.seconds, "runs": runs}

    def _run(self, join: SheddingJoin, strategy: str) -> dict[str, Any]:
        granted = self._granted(strategy)
        series = join.run(pt.shed(rate=self.rate, tuples=self.tuples, strategy=strategy))
        return {
            "strategy": strategy,
            "rates": list(granted.rates),
            "windows": list(granted.windows),
            "predicted": self._predicted(granted),
            "measured": series["results"][-1] / series["seconds"][-1],
        }

    def _granted(self, strategy: str) -> Allocation:
        return allocate(strategy, self.join.rates, self.join.windows, self.rate, self.tuples)

    def _predicted(self, granted: Allocation) -> float:
        return output_rate(rates=granted.rates, windows=granted.windows, selectivity=self.join.selectivity)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The formula, the strategies by it, the best one, and the order of all."""
        expected = ", ".join(f"{each:.4g}" for each in self.expected)
        return (
            Claim(
                f"The formula gives {expected} results per second",
                f"{expected} results per second",
                lambda m: m["runs"],
                self._is_expected,
                lambda found: _in_words(found, "predicted"),
            ),
            Claim(
                f"Every strategy gives as many results as the formula says, within {MOST_ERROR:.0%}",
                NOT_REPORTED,
                lambda m: m["runs"],
                lambda found: _worst_error(found) <= MOST_ERROR,
                lambda found: f"{_in_words(found, 'measured')}; largest error {_worst_error(found):.1%}",
            ),
            Claim(
                "What we call optimal is the best of them",
                NOT_REPORTED,
                lambda m: (max(each["predicted"] for each in m["runs"].values()), self._granted("optimal")),
                lambda most, best: abs(most - self._predicted(best)) < 1e-9,
                "{0:.4g} results per second, with rates {1.rates} and windows {1.windows}",
            ),
            Claim(
                self.claim,
                self.report,
                lambda m: m["runs"],
                self.holds,
                lambda found: f"{', '.join(ranked(found))}; {more_than_equal(found)}",
            ),
        )

    def _is_expected(self, found: Found) -> bool:
        pairs = zip((each["predicted"] for each in found.values()), self.expected, strict=True)
        return all(abs(one - two) < 0.05 for one, two in pairs)

    def draw(self, result: Result, path: Path) -> None:
        """Bars for what was measured, lines across them for the formula."""
        _draw_bars(result, path, self.title)

    def experiment(self, name: str, title: str, paper: str) -> Experiment:
        """The experiment that repeats a figure of the paper."""
        return tables_experiment(name, title, paper, self.measure, self.claims, self.draw)


def ranked(found: Found, what: str = "measured") -> list[str]:
    """The strategies, from the one with the most results on."""
    return sorted(found, key=lambda name: -float(found[name][what]))


def is_order(found: Found, names: Sequence[str]) -> bool:
    """Whether the strategies come in this order, by the formula and as measured."""
    return all(ranked(found, what) == list(names) for what in ("predicted", "measured"))


def _in_words(found: Found, what: str) -> str:
    return ", ".join(f"{name} {each[what]:.4g}" for name, each in found.items())


def _worst_error(found: Found) -> float:
    errors = (abs(each["measured"] - each["predicted"]) / (each["predicted"] or 1.0) for each in found.values())
    return float(max(errors))


def more_than_equal(found: Found) -> str:
    """What the best strategy gives beyond an equal split (KN-43), in words."""
    best, what = ranked(found)[0], ("measured", "predicted")
    measured, predicted = (found[best][each] / found["equal"][each] - 1 for each in what)
    return f"{best} gives {measured:.0%} more than an equal split; by the formula {predicted:.0%}"


def _draw_bars(result: Result, path: Path, title: str) -> None:
    runs = result["runs"]
    with plot.picture(path, title) as (axes,):
        positions = range(len(runs))
        bars = axes.bar(
            positions, [each["measured"] for each in runs.values()], width=0.6, color=plot.BLUE, label="measured"
        )
        axes.hlines(
            [each["predicted"] for each in runs.values()],
            [at - 0.38 for at in positions],
            [at + 0.38 for at in positions],
            color=plot.VERMILLION,
            linewidth=2.2,
            label="formula",
        )
        axes.bar_label(bars, labels=[f"{each['measured']:.3g}" for each in runs.values()], padding=4, fontsize=10)
        axes.set_xticks(positions, [_wrapped(name) for name in runs])
        axes.set_ylabel("results per second")
        axes.set_ylim(0, 1.18 * max(each["measured"] for each in runs.values()))
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper right", ncols=2, frameon=False, fontsize=10)


def _wrapped(name: str) -> str:
    return name.replace(" / ", " /\n").replace(" to ", "\nto ")


# The three figures

LIMITED_CPU = Contest(
    SheddingJoin(rates=(800.0, 200.0), windows=(100, 200), values=(100, 100), seconds=300.0),
    strategies={
        "MaxA": "max-left",
        "MaxB": "max-right",
        "proportional to rates": "by-rate",
        "proportional to windows": "by-window",
        "equal": "equal",
    },
    expected=(200.0, 100.0, 180.0, 133.33, 150.0),
    claim="MaxA gives the most results, MaxB the fewest",
    report="all CPU to the stream that probes the larger window gives the most results, the opposite the fewest",
    holds=lambda found: (ranked(found)[0], ranked(found)[-1]) == ("MaxA", "MaxB"),
    title="CPU for 100 of 1,000 tuples/s\n$\\lambda_a$=800, $\\lambda_b$=200, A=100, B=200, $\\sigma$=0.01, $\\mu$=100",
    rate=100.0,
)

# The complete windows are as large as all memory.
MEMORY_ORDER = ("MaxA", "inverse to rates", "equal", "proportional to rates", "MaxB")
LIMITED_MEMORY = Contest(
    SheddingJoin(rates=(10.0, 50.0), windows=(1000, 1000), values=(200, 100), seconds=1500.0),
    strategies={
        "MaxA": "max-left",
        "MaxB": "max-right",
        "proportional to rates": "by-rate",
        "inverse to rates": "inverse-rate",
        "equal": "equal",
    },
    expected=(250.0, 50.0, 83.33, 216.67, 150.0),
    claim="The more memory the slower stream's window gets, the more results",
    report="all memory to the window of the slower stream gives the most results",
    holds=lambda found: is_order(found, MEMORY_ORDER),
    title="Memory for 1,000 tuples\n$\\lambda_a$=10, $\\lambda_b$=50, $\\sigma_a$=0.005, $\\sigma_b$=0.01, M=1,000",
    tuples=1000.0,
)


def _is_crossed_first(found: Found) -> bool:
    crossed_one, crossed_two, same_one, same_two, equal = (float(each["measured"]) for each in found.values())
    return min(crossed_one, crossed_two) > equal > 0 == same_one == same_two


# The paper names no rates; either stream could take all CPU.
LIMITED_BOTH = Contest(
    SheddingJoin(rates=(20.0, 20.0), windows=(100, 100), values=(100, 100), seconds=3000.0),
    strategies={
        "MaxA / Max λb": "left-window/right-rate",
        "MaxB / Max λa": "right-window/left-rate",
        "MaxA / Max λa": "left-window/left-rate",
        "MaxB / Max λb": "right-window/right-rate",
        "equal": "equal",
    },
    expected=(10.0, 10.0, 0.0, 0.0, 5.0),
    claim="The crossed strategies are the best, equal comes next, the others give nothing",
    report="all memory to one window and all CPU to the other stream's probes gives the most results, whichever is "
    "which; an equal split comes next, and both to the same stream gives the fewest",
    holds=_is_crossed_first,
    title="CPU for 10 tuples/s and memory for 100 tuples\n$\\mu$=10, M=100, $\\sigma$=0.01",
    rate=10.0,
    tuples=100.0,
)

EXPERIMENTS = (
    LIMITED_CPU.experiment("kn_fig05", "Strategies for limited CPU", "Kang et al., figure 5"),
    LIMITED_MEMORY.experiment("kn_fig06", "Strategies for limited memory", "Kang et al., figure 6"),
    LIMITED_BOTH.experiment("kn_fig07", "Strategies for limited CPU and memory", "Kang et al., figure 7"),
)

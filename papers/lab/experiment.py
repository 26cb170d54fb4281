"""What an experiment is: measurements as plain data, claims that are judged by them alone, and a picture."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from papers.lab.claim import Claim, Result
from papers.lab.engine import Engine
from papers.lab.progress import Progress, each_part, silent
from papers.lab.tables_engine import TABLES
from papers.lab.trial import SECOND_US, Series, Trial, only
from punctuated.errors import PunctuatedError

ALL_ENGINES = ("tables", "spark")
_FEWEST_TUPLES = 200  # with fewer nothing happens
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Run:
    """One run of an experiment, or a part of it: the length of its streams, who listens, and what runs its joins."""

    scale: float = 1.0  # of the published experiment
    progress: Progress = silent
    engine: Engine = TABLES

    def tuples(self, n: int) -> int:
        """A number of tuples at this scale.

        >>> Run(scale=0.5).tuples(30_000), Run(scale=1e-9).tuples(30_000)
        (15000, 200)
        """
        return max(_FEWEST_TUPLES, round(n * self.scale))

    def each(self, items: Iterable[_Item]) -> "Iterator[tuple[_Item, Run]]":
        """Each item with its part of this run."""
        for item, share in each_part(self.progress, list(items)):
            yield item, replace(self, progress=share)

    def sample(self, trial: Trial, step_us: int) -> Series:
        """The counters of a join at every step of event time."""
        return self.engine.sample(trial, step_us, self.progress)

    def sample_each(self, trials: Mapping[str, Trial], step_s: int, columns: Sequence[str]) -> dict[str, Series]:
        """These counters of several joins, one join after the other."""
        return {
            name: only(share.sample(trial, step_s * SECOND_US), columns)
            for (name, trial), share in self.each(trials.items())
        }

    def race(self, trials: Mapping[str, Trial], batch_s: int, repeats: int) -> dict[str, dict[str, Any]]:
        """The times of joins that take turns; see `Engine.race`."""
        return self.engine.race(trials, batch_s * SECOND_US, repeats, self.progress)


@dataclass(frozen=True)
class Experiment:
    """One figure of a paper. What `run` returns survives JSON and is all that claims and `plot` need."""

    name: str
    title: str
    paper: str
    measure: Callable[[Run], Result]
    claims: Sequence[Claim]
    plot: Callable[[Result, Path], None]
    engines: tuple[str, ...] = ALL_ENGINES

    def run(self, scale: float = 1.0, progress: Progress = silent, engine: Engine = TABLES) -> Result:
        """Measure on an engine, and judge the claims."""
        self.demand_engine(engine.name)
        result = {"engine": engine.name} | self.measure(Run(scale, progress, engine))
        progress(1.0)
        return result | {"claims": self.judge(result)}

    def judge(self, result: Result) -> list[dict[str, Any]]:
        """All claims as plain data, with what these measurements say of them."""
        return [claim.of(result) for claim in self.claims]

    def demand_engine(self, name: str) -> None:
        """Raise if this experiment does not run on that engine."""
        if name not in self.engines:
            raise PunctuatedError(f"{self.name} does not run on {name}: its engines are {', '.join(self.engines)}")


def tables_experiment(
    name: str,
    title: str,
    paper: str,
    measure: Callable[[Run], Result],
    claims: Sequence[Claim],
    plot: Callable[[Result, Path], None],
) -> Experiment:
    """An experiment that runs in this process only: it measures the loop of a join, or evaluates formulas."""
    return Experiment(name, title, paper, measure, claims, plot, (TABLES.name,))

"""What an experiment is: measurements as plain data, the checks of the paper's claims on them, and a picture.

Checks look at the measurements alone. So a result that was written can be checked again, and a test can alter a
measurement and see the claim fail that rests on it.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from punctuated.errors import PunctuatedError
from punctuated.experiments.engine import Engine
from punctuated.experiments.progress import Progress
from punctuated.experiments.tables_engine import TABLES

Result = dict[str, Any]
Check = dict[str, Any]
ALL_ENGINES = ("tables", "spark")


@dataclass(frozen=True)
class Experiment:
    """One figure of a paper. What `run` returns survives JSON and is all that `checks` and `plot` need."""

    name: str
    title: str
    paper: str
    measure: Callable[[float, Progress | None, Engine], Result]
    checks: Callable[[Result], list[Check]]
    plot: Callable[[Result, Path], None]
    engines: tuple[str, ...] = ALL_ENGINES

    def run(self, scale: float = 1.0, progress: Progress | None = None, engine: Engine = TABLES) -> Result:
        """Measure on an engine, and check the claims.

        `scale` multiplies the length of the streams, `progress` hears the share done so far.
        """
        self.demand_engine(engine.name)
        result = {"engine": engine.name} | self.measure(scale, progress, engine)
        return result | {"checks": self.checks(result)}

    def demand_engine(self, name: str) -> None:
        """Raise if this experiment does not run on that engine."""
        if name not in self.engines:
            raise PunctuatedError(f"{self.name} does not run on {name}: its engines are {', '.join(self.engines)}")


def tables_experiment(
    name: str,
    title: str,
    paper: str,
    measure: Callable[[float, Progress | None], Result],
    checks: Callable[[Result], list[Check]],
    plot: Callable[[Result, Path], None],
) -> Experiment:
    """An experiment that runs in this process only: it measures the loop of a join, or evaluates formulas."""
    return Experiment(
        name, title, paper, lambda scale, progress, _: measure(scale, progress), checks, plot, (TABLES.name,)
    )


def check(claim: str, holds: bool, detail: str) -> Check:
    """A claim, whether it holds in this run, and the numbers that decided."""
    return {"claim": claim, "holds": bool(holds), "detail": detail}


def listed(values: Iterable[float], form: str = ",.0f") -> str:
    """Numbers for a detail.

    >>> listed([1234.5, 7]), listed([0.5], ".0%")
    ('1,234, 7', '50%')
    """
    return ", ".join(f"{value:{form}}" for value in values)


def scaled(n: int, scale: float) -> int:
    """A number of tuples at this scale; never so few that nothing happens.

    >>> scaled(30_000, 0.5), scaled(30_000, 1e-9)
    (15000, 200)
    """
    return max(200, round(n * scale))

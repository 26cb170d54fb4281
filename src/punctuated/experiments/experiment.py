"""What an experiment is: a run that returns plain data with the checks of the paper's claims, and a picture of it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from punctuated.experiments.engine import Engine

Result = dict[str, Any]
Progress = Callable[[float], None]


class Runner(Protocol):
    """Runs an experiment; `scale` multiplies the length of the streams, `progress` hears the share done so far.

    The joins run on `engine`, by default over tables; the result names it.
    """

    def __call__(self, scale: float = 1.0, progress: Progress | None = None, engine: "Engine" = ...) -> Result: ...


@dataclass(frozen=True)
class Experiment:
    """One figure of the paper. What `run` returns survives JSON and is all that `plot` needs."""

    name: str
    title: str
    paper: str
    run: Runner
    plot: Callable[[Result, Path], None]


def check(claim: str, holds: bool, detail: str) -> dict[str, Any]:
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


def report(progress: Progress | None, done: float) -> None:
    """Tell how far the run is, if someone listens."""
    if progress is not None:
        progress(done)


def part(progress: Progress | None, i: int, n: int) -> Progress | None:
    """What the i-th of n equal parts of a run tells.

    >>> heard: list[float] = []
    >>> report(part(heard.append, 1, 4), 0.5)
    >>> heard
    [0.375]
    """
    return None if progress is None else lambda done: progress((i + done) / n)

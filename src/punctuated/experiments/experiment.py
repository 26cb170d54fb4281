"""What an experiment is: a run that returns plain data with the checks of the paper's claims, and a picture of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Result = dict[str, Any]
Progress = Callable[[float], None]


class Runner(Protocol):
    """Runs an experiment; `scale` multiplies the length of the streams, `progress` hears the share done so far."""

    def __call__(self, scale: float = 1.0, progress: Progress | None = None) -> Result: ...


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

"""How far a run is: it tells a share of itself, from 0 to 1, to whoever listens."""

from collections.abc import Callable

Progress = Callable[[float], None]


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

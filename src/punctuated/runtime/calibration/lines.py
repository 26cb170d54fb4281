"""Lines: the CPU time of one kind of work on one structure, over the rate (KN-18).

60 seconds' worth of tuples are processed in one batch without delays, at 20 rates: once searches alone, once insertions
and removals alone, once neither. The slope is what a tuple costs; where the line crosses 60 seconds, the machine is
saturated.

            s of CPU per 60 s of input
         60 |. . . . . . . . . . /. . .
            |                 /  :
            |              /     :
            |         o o        :          slope = loop + touched * weight
            |   o o o            :
            +--------------------+---->     tuples per second
              20 rates      saturation
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE, PREDICATES
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.runtime.calibration.timed_join import TimedJoin

Progress = Callable[[float], None]

BATCH_S = 60.0  # of input, the unit of all costs
N_RATES = 20
WINDOWS = (200, 700, 2500, 7000, 20_000)
SEARCH, UPDATE, IDLE = "search", "update", "idle"
USUAL = 5000  # the paper's window, at which matches and bucket sizes vary
FEW, MANY = 0.1, 8.0  # matches of a search
_BUCKET_SIZES = (2, 40)  # beside the usual one: a bucket's fixed cost shows only if its size varies
_ROUNDS = 3
_PILOT = 200  # operations, to find the highest rate


@dataclass(frozen=True)
class Setting:
    """What is measured: one kind of work on one structure."""

    structure: str
    work: str  # SEARCH; UPDATE, an insertion and a removal; or IDLE, neither
    predicate: str = "="
    window: int = USUAL
    matches: float = FEW
    bucket_size: int = BUCKET_SIZE

    def touched(self, ceilings: bool) -> float:
        """Tuples that one operation touches by the model."""
        if self.work == UPDATE:
            return 2 * tuples_updated(self.structure, self.window, NODE_SIZE, ceilings)
        return tuples_probed(self.structure, self.window, self.bucket_size, NODE_SIZE, 0, ceilings)


IDLE_SETTING = Setting("N", IDLE)


@dataclass(frozen=True)
class MeasuredLine:
    """CPU seconds per 60 s of input at several rates, and the straight line through them."""

    setting: Setting
    rates: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def slope(self) -> float:
        """Seconds per tuple per second, by least squares."""
        slope = float(np.polyfit(self.rates, self.seconds, 1)[0])
        return slope if slope > 0 else sum(self.seconds) / sum(self.rates)  # a clock too coarse for so short a run

    @property
    def saturation_rate(self) -> float:
        """Tuples per second at which this work alone keeps a core busy."""
        start = float(np.mean(self.seconds)) - self.slope * float(np.mean(self.rates))
        return (BATCH_S - start) / self.slope


def settings() -> Iterable[Setting]:
    """All settings that are measured."""
    yield IDLE_SETTING
    for predicate in ("=", "band"):
        for structure in PREDICATES[predicate]:
            for window in sorted({*WINDOWS, USUAL}):
                yield Setting(structure, SEARCH, predicate, window)
                yield Setting(structure, UPDATE, predicate, window)
            yield Setting(structure, SEARCH, predicate, matches=MANY)
    for bucket_size in _BUCKET_SIZES:
        yield Setting("H", SEARCH, bucket_size=bucket_size)


def measure_lines(longest_s: float, progress: Progress | None = None) -> list[MeasuredLine]:
    """All lines in turns, several times over, so that a slow spell of the machine spoils one round only.

    `longest_s` is the CPU time of a batch with the highest rate.
    """
    runs = [_Measuring(setting, longest_s) for setting in settings()]
    for turn in range(_ROUNDS):
        for i, run in enumerate(runs):
            run.measure()
            if progress is not None:
                progress(0.95 * (turn + (i + 1) / len(runs)) / _ROUNDS)
    return [run.line() for run in runs]


class _Measuring:
    """A line that is being measured."""

    def __init__(self, setting: Setting, longest_s: float) -> None:
        self._setting = setting
        join = TimedJoin(
            f"N{setting.structure}",
            setting.window,
            predicate=setting.predicate,
            matches=setting.matches,
            bucket_size=setting.bucket_size,
        )
        self._work = {SEARCH: join.search, UPDATE: join.update, IDLE: join.idle}[setting.work]
        per_tuple = min(self._work(_PILOT) for _ in range(3)) / _PILOT
        most = max(N_RATES, round(longest_s / max(per_tuple, 1e-9)))
        self._counts = [max(1, most * (i + 1) // N_RATES) for i in range(N_RATES)]
        self._seconds: list[list[float]] = [[] for _ in self._counts]

    def measure(self) -> None:
        for count, seconds in zip(self._counts, self._seconds, strict=True):
            seconds.append(self._work(count))

    def line(self) -> MeasuredLine:
        rates = tuple(count / BATCH_S for count in self._counts)
        return MeasuredLine(self._setting, rates, tuple(map(min, self._seconds)))  # what the machine adds is no cost

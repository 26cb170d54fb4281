"""The weights of this machine, by the method of the paper (KN-18).

60 seconds' worth of tuples are processed in one batch without delays, at 20 rates: once searches alone, once insertions
and removals alone. The CPU time is a line over the rate. Its slope, less that of tuples which do neither, and divided
by the tuples that the model says are touched, is the weight; where the line crosses 60 seconds, the machine is
saturated.

            s of CPU per 60 s of input
         60 |. . . . . . . . . . /. . .
            |                 /  :
            |              /     :
            |         o o        :          slope = loop + touched * weight
            |   o o o            :
            +--------------------+---->     tuples per second
              20 rates      saturation

The paper has two weights per structure (`Calibration.plain`). Today they do not suffice to tell which structure wins:
nested loops pay for every match, and twice as much for ranges as for equal keys; an update of a tree has a fixed part,
and its nodes are not full; a search of hash buckets waits for the caches. So `Calibration.weights` are fitted to
windows of several sizes, with more costs beside P and I (see `Weight`), for either kind of predicate.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from punctuated.plan.cost.choice import PREDICATES
from punctuated.plan.cost.full_join import unit_time_cost
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.plan.cost.weights import Weight, Weights, calibrated_weights

Progress = Callable[[float], None]

BATCH_S = 60.0  # of input, the unit of all costs
N_RATES = 20
WINDOWS = (200, 700, 2500, 7000, 20_000)
SEARCH, UPDATE, IDLE = "search", "update", "idle"
_BUCKET_SIZES = (2, 40)  # beside the usual one: a bucket's fixed cost shows only if its size varies
_FEW, _MANY = 0.1, 8.0  # matches of a search
_USUAL = 5000  # the paper's window, at which matches and bucket sizes vary
_ROUNDS = 3
_LONGEST_S = 6e-3  # of CPU, of the batch with the highest rate
_PILOT = 200  # operations, to find that rate
_JOIN, _JOIN_TUPLES, _JOIN_ROUNDS = "HH", 60_000, 9  # the pair with the cheapest structures
_SMALLEST_SHARE = 0.01  # of a line's slope: what a cost is at least, once others have been taken off

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What is measured: one kind of work on one structure."""

    structure: str
    work: str  # SEARCH; UPDATE, an insertion and a removal; or IDLE, neither
    predicate: str = "="
    window: int = _USUAL
    matches: float = _FEW
    bucket_size: int = BUCKET_SIZE

    def touched(self, ceilings: bool) -> float:
        """Tuples that one operation touches by the model."""
        if self.work == UPDATE:
            return 2 * tuples_updated(self.structure, self.window, NODE_SIZE, ceilings)
        return tuples_probed(self.structure, self.window, self.bucket_size, NODE_SIZE, 0, ceilings)


_IDLE = Setting("N", IDLE)


@dataclass(frozen=True)
class Line:
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


@dataclass(frozen=True)
class Calibration:
    """Weights of this machine, and the lines that they were read off."""

    weights: Weights
    plain: Weights  # only what the paper has: P and I
    lines: tuple[Line, ...]

    @property
    def usual_lines(self) -> list[Line]:
        """Those that the plain weights are read off: equal keys, and the paper's window and bucket size."""
        return [line for line in self.lines if line.setting == Setting(line.setting.structure, line.setting.work)]


def machine_weights() -> Weights:
    """The weights saved for this machine, or else those of the reference machine.

    `punctuated cost calibrate` saves some.
    """
    return calibrated_weights() or REFERENCE_WEIGHTS


def calibrate(progress: Progress | None = None, *, effort: float = 1.0) -> Calibration:
    """Measure the weights of all structures, in about 20 seconds.

    Args:
        progress: Hears the share done so far.
        effort: Multiplies the length of all runs.
    """
    lines = _measure(list(_settings()), _LONGEST_S * effort, progress)
    costs = _costs(lines)
    equal, by_range = (
        _weights({setting: cost for setting, cost in costs.items() if setting.predicate == each})
        for each in ("=", "band")
    )
    equal, by_range = _in_a_join(equal, replace(by_range, H=equal.H), max(500, round(_JOIN_TUPLES * effort)))
    if progress is not None:
        progress(1.0)
    return Calibration(replace(equal, by_range=by_range), _plain(costs), tuple(lines))


# Lines


def _settings() -> Iterable[Setting]:
    yield _IDLE
    for predicate in ("=", "band"):
        for structure in PREDICATES[predicate]:
            for window in sorted({*WINDOWS, _USUAL}):
                yield Setting(structure, SEARCH, predicate, window)
                yield Setting(structure, UPDATE, predicate, window)
            yield Setting(structure, SEARCH, predicate, matches=_MANY)
    for bucket_size in _BUCKET_SIZES:
        yield Setting("H", SEARCH, bucket_size=bucket_size)


def _measure(settings: Sequence[Setting], longest_s: float, progress: Progress | None) -> list[Line]:
    """All lines in turns, several times over, so that a slow spell of the machine spoils one round only."""
    runs = [_Run(setting, longest_s) for setting in settings]
    for turn in range(_ROUNDS):
        for i, run in enumerate(runs):
            run.measure()
            if progress is not None:
                progress(0.95 * (turn + (i + 1) / len(runs)) / _ROUNDS)
    return [run.line() for run in runs]


class _Run:
    """One line under way."""

    def __init__(self, setting: Setting, longest_s: float) -> None:
        from punctuated.experiments.timed_join import TimedJoin

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

    def line(self) -> Line:
        rates = tuple(count / BATCH_S for count in self._counts)
        return Line(self._setting, rates, tuple(map(min, self._seconds)))  # what the machine adds is no cost


# Weights

Costs = dict[Setting, float]


def _costs(lines: Sequence[Line]) -> Costs:
    """What each kind of work costs beside the loop around it."""
    slopes = {line.setting: line.slope for line in lines}
    idle = slopes.pop(_IDLE)
    return {setting: _less(slope, idle) for setting, slope in slopes.items()}


def _less(cost: float, other: float) -> float:
    return max(cost - other, _SMALLEST_SHARE * cost)


def _weights(costs: Costs) -> Weights:
    """The weights of all structures for one kind of predicate; those that do not serve it get any."""
    N, B, T = (_weight(structure, costs) for structure in "NBT")  # noqa: N806  the paper's symbols
    H = _weight("H", costs) if any(setting.structure == "H" for setting in costs) else N  # noqa: N806  as above
    return Weights(N, H, B, T, ceilings=False)


def _weight(structure: str, costs: Costs) -> Weight:
    ours = {setting: cost for setting, cost in costs.items() if setting.structure == structure}
    match = _match_cost(ours)
    searches = {each: _less(cost, _FEW * match) for each, cost in ours.items() if _is_usual(each, SEARCH)}
    updates = {each: cost for each, cost in ours.items() if _is_usual(each, UPDATE)}
    # A search of hash buckets touches as much in any window; what grows with the window is its way through the caches.
    P, search, *doubling = _fit(searches, of_window=structure == "H")  # noqa: N806  as in Table 1
    I, update, *_ = _fit(updates)  # noqa: E741, N806  as above
    return Weight(P=P, I=I, search=search, update=update / 2, match=match, doubling=sum(doubling))


def _is_usual(setting: Setting, work: str) -> bool:
    return setting.work == work and setting.matches == _FEW


def _fit(costs: Costs, of_window: bool = False) -> list[float]:
    """Costs per tuple touched, fixed ones, and if asked for those of each doubling of the window.

    Least squares of the relative errors; none is below 0, and the first one is above.
    """
    touched = np.array([setting.touched(ceilings=False) for setting in costs])
    columns = [touched, np.ones(len(costs))]
    if of_window:
        columns.append(np.array([math.log2(setting.window) for setting in costs]))
    relative = np.column_stack(columns) / np.array(list(costs.values()))[:, None]
    kept = list(range(len(columns))) if np.ptp(touched) > 0 else [0]
    while True:
        found, *_ = np.linalg.lstsq(relative[:, kept], np.ones(len(costs)))
        if found[0] > 0 and found.min() >= 0:
            break
        kept.remove(kept[1 + int(found[1:].argmin())])  # something beside the tuples touched: these do cost
    all_found = np.zeros(len(columns))
    all_found[kept] = found
    return [float(each) for each in all_found]


def _match_cost(costs: Costs) -> float:
    """What one more match adds to a search."""
    few, many = (
        next(cost for each, cost in costs.items() if each == replace(each, work=SEARCH, window=_USUAL, matches=matches))
        for matches in (_FEW, _MANY)
    )
    return max(0.0, (many - few) / (_MANY - _FEW))


def _plain(costs: Costs) -> Weights:
    """As in the paper: equal keys, its window, its bucket size, cost over touched tuples."""
    found = {setting: cost / setting.touched(ceilings=True) for setting, cost in costs.items()}
    N, H, B, T = (  # noqa: N806  the paper's symbols
        Weight(P=found[Setting(each, SEARCH)], I=found[Setting(each, UPDATE)]) for each in "NHBT"
    )
    return Weights(N, H, B, T)


# The join around the structures


def _in_a_join(equal: Weights, by_range: Weights, n: int) -> tuple[Weights, Weights]:
    """The weights with what the join around the structures costs: per tuple, and per match, which is a result.

    A whole join is measured, and what the model says of its structures is taken off.
    """
    few, many = (
        max(0.0, BATCH_S * _join_seconds(n, matches) / n - _structures_cost(equal, matches))
        for matches in (_FEW, _MANY)
    )
    result = max(0.0, (many - few) / (_MANY - _FEW))
    loop = max(0.0, few - _FEW * result)
    return _with_join(equal, loop, result), _with_join(by_range, loop, result)


def _structures_cost(weights: Weights, matches: float) -> float:
    return unit_time_cost(_JOIN, windows=(_USUAL, _USUAL), rates=(0.5, 0.5), weights=weights, matches=matches)


def _with_join(weights: Weights, loop: float, result: float) -> Weights:
    N, H, B, T = (  # noqa: N806  the paper's symbols
        replace(weight, match=(weight.match or 0.0) + result) for weight in map(weights.of, "NHBT")
    )
    return replace(weights, N=N, H=H, B=B, T=T, loop=loop)


def _join_seconds(n: int, matches: float) -> float:
    """CPU seconds of `n` tuples, half of them of either stream."""
    from punctuated.experiments.timed_join import TimedJoin

    join = TimedJoin(_JOIN, _USUAL, matches=matches)
    return min(join.both(n // 2) for _ in range(_JOIN_ROUNDS))


# Measured on 15 November 2026 on one core of an AMD EPYC (Zen 4, 1 MiB of L2), with Python 3.11 and numba 0.68.1;
# medians of 5 calibrations.
REFERENCE_WEIGHTS = Weights(
    N=Weight(P=6.4e-09, I=5.4e-07, search=1.41e-07, match=4.9e-06),
    H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
    B=Weight(P=2.78e-07, I=4.02e-07, update=1.9e-06, match=5.71e-07),
    T=Weight(P=2.4e-07, I=4.47e-07, update=2.18e-06, match=5.55e-07),
    loop=1.58e-06,
    ceilings=False,
    by_range=Weights(
        N=Weight(P=1.4e-08, I=5.4e-07, match=1.05e-05),
        H=Weight(P=8.89e-08, I=7e-07, match=5.22e-07, doubling=7.18e-08),
        B=Weight(P=3.15e-07, I=4.36e-07, update=1.58e-06, match=5.16e-07),
        T=Weight(P=2.85e-07, I=4.58e-07, update=2.13e-06, match=5.21e-07),
        loop=1.58e-06,
        ceilings=False,
    ),
)

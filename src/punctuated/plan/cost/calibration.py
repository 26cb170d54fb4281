"""The weights of this machine, by the method of the paper (KN-18).

60 seconds' worth of tuples are processed in one batch without delays, at 20 rates: once searches alone, once insertions
and removals alone. The CPU time is a line over the rate. Its slope, divided by the tuples that the model says are
touched, is the weight; where it crosses 60 seconds, the machine is saturated.

            s of CPU per 60 s of input
         60 |. . . . . . . . . . /. . .
            |                 /  :
            |              /     :
            |         o o        :          slope = touched * weight
            |   o o o            :
            +--------------------+---->     tuples per second
              20 rates      saturation

The paper has two weights per structure (`Calibration.plain`). Today they do not suffice to tell which structure wins:
nested loops pay for every match, and twice as much for ranges as for equal keys; an update of a tree has a fixed part;
and its nodes are not full. So `Calibration.weights` are fitted to windows of several sizes, with fixed costs beside P
and I (see `Weight`), for either kind of predicate.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from punctuated.join.timed_driver import TimedDriver
from punctuated.model.algorithm import pair
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import JoinSpec, StreamSpec
from punctuated.model.window import CountWindow
from punctuated.plan.cost.choice import PREDICATES
from punctuated.plan.cost.full_join import unit_time_cost
from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE
from punctuated.plan.cost.sliding_window import SlidingWindow
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.plan.cost.weights import Weight, Weights, calibrated_weights

Progress = Callable[[float], None]

BATCH_S = 60.0  # of input, the unit of all costs
N_RATES = 20
WINDOWS = (200, 1000, 5000, 20_000)
SEARCH, UPDATE = "search", "update"
_BUCKET_SIZES = (2, 40)  # beside the usual one: a bucket's fixed cost shows only if its size varies
_FEW, _MANY = 0.1, 8.0  # matches of a search
_USUAL = 5000  # the window at which matches and bucket sizes vary
_ROUNDS = 4
_LONGEST_S = 6e-3  # of CPU, of the batch with the highest rate
_PILOT = 200  # operations, to find that rate
_JOIN, _JOIN_TUPLES, _JOIN_ROUNDS = "HH", 60_000, 9  # the pair with the cheapest structures


@dataclass(frozen=True)
class Setting:
    """What is measured: one kind of work on one structure."""

    structure: str
    work: str  # SEARCH, or UPDATE: an insertion and a removal
    predicate: str = "="
    window: int = _USUAL
    matches: float = _FEW
    bucket_size: int = BUCKET_SIZE

    def touched(self, ceilings: bool) -> float:
        """Tuples that one operation touches by the model."""
        if self.work == UPDATE:
            return 2 * tuples_updated(self.structure, self.window, NODE_SIZE, ceilings)
        return tuples_probed(self.structure, self.window, self.bucket_size, NODE_SIZE, 0, ceilings)


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
    equal, by_range = (_weights([line for line in lines if line.setting.predicate == each]) for each in ("=", "band"))
    equal, by_range = _in_a_join(equal, replace(by_range, H=equal.H), max(500, round(_JOIN_TUPLES * effort)))
    if progress is not None:
        progress(1.0)
    return Calibration(replace(equal, by_range=by_range), _plain(lines), tuple(lines))


# Lines


def _settings() -> Iterable[Setting]:
    for predicate in ("=", "band"):
        for structure in PREDICATES[predicate]:
            for window in WINDOWS:
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
        self._setting = setting
        window = SlidingWindow(
            setting.structure,
            setting.window,
            predicate=setting.predicate,
            matches=setting.matches,
            bucket_size=setting.bucket_size,
        )
        self._work = window.search if setting.work == SEARCH else window.update
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


def _weights(lines: Sequence[Line]) -> Weights:
    """The weights of all structures for one kind of predicate; those that do not serve it get any."""
    N, B, T = (_weight(structure, lines) for structure in "NBT")  # noqa: N806  the paper's symbols
    H = _weight("H", lines) if any(line.setting.structure == "H" for line in lines) else N  # noqa: N806  as above
    return Weights(N, H, B, T, ceilings=False)


def _weight(structure: str, lines: Sequence[Line]) -> Weight:
    ours = [line for line in lines if line.setting.structure == structure]
    usual = [line for line in ours if line.setting.matches == _FEW]
    match = _match_cost(ours)
    search, P = _fit([line for line in usual if line.setting.work == SEARCH], _FEW * match)  # noqa: N806  as in Table 1
    update, I = _fit([line for line in usual if line.setting.work == UPDATE])  # noqa: E741, N806  as above
    return Weight(P=P, I=I, search=search, update=update / 2, match=match)


def _fit(lines: Sequence[Line], beside: float = 0.0) -> tuple[float, float]:
    """A fixed cost, and one per tuple touched: least squares of the relative errors, neither below 0.

    `beside` is what each operation costs on top of these.
    """
    touched = np.array([line.setting.touched(ceilings=False) for line in lines])
    slopes = np.array([max(line.slope - beside, 0.01 * line.slope) for line in lines])
    ratios = touched / slopes
    if np.ptp(touched) > 0:
        (fixed, per_tuple), *_ = np.linalg.lstsq(np.column_stack([1 / slopes, ratios]), np.ones(len(lines)))
        if fixed >= 0 and per_tuple > 0:
            return float(fixed), float(per_tuple)
    return 0.0, float(ratios.sum() / (ratios**2).sum())


def _match_cost(lines: Sequence[Line]) -> float:
    """What one more match adds to a search."""
    few, many = (
        next(
            line for line in lines if line.setting == replace(line.setting, work=SEARCH, window=_USUAL, matches=matches)
        )
        for matches in (_FEW, _MANY)
    )
    return max(0.0, (many.slope - few.slope) / (_MANY - _FEW))


def _plain(lines: Sequence[Line]) -> Weights:
    """As in the paper: equal keys, its window, its bucket size, slope over touched tuples."""
    found = {line.setting: line.slope / line.setting.touched(ceilings=True) for line in lines}
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
    """CPU seconds of `n` tuples, half of them of either stream, in a join whose windows are full."""
    schema = pa.schema([("key", pa.int64()), ("ts", pa.int64())])
    left, right = (
        StreamSpec(name=name, columns=("key", "ts"), key=("key",), time="ts", window=CountWindow(_USUAL))
        for name in ("left", "right")
    )
    driver = TimedDriver(JoinSpec(left, right, algorithm=pair(_JOIN)), (schema, schema), [pa.int64()])
    driver.discard_output()
    rng, start, taken = np.random.default_rng(0), 0, []
    for count in (_USUAL, *[n // 2] * _JOIN_ROUNDS):
        ts, before = np.arange(start, start + count), driver.loop_s
        one, two = (
            StreamBatch(pa.table([rng.integers(0, round(_USUAL / matches), count), ts], schema=schema))
            for _ in range(2)
        )
        driver.process(one, two)
        taken.append(driver.loop_s - before)
        start += count
    return min(taken[1:])


# Measured on 15 November 2026 on one core of an AMD EPYC (Zen 4, 1 MiB of L2), with Python 3.11 and numba 0.68.1;
# medians of 5 calibrations.
REFERENCE_WEIGHTS = Weights(
    N=Weight(P=6.28e-09, I=2.43e-07, search=5.47e-07, match=4.45e-06),
    H=Weight(P=6.92e-08, I=4.02e-07, search=7.22e-07, match=5.86e-07),
    B=Weight(P=2.73e-07, I=3.56e-07, update=1.6e-06, match=5.72e-07),
    T=Weight(P=2.62e-07, I=3.8e-07, update=1.96e-06, match=5.48e-07),
    loop=2.82e-06,
    ceilings=False,
    by_range=Weights(
        N=Weight(P=1.38e-08, I=2.48e-07, search=3.31e-07, match=1.07e-05),
        H=Weight(P=6.92e-08, I=4.02e-07, search=7.22e-07, match=5.86e-07),
        B=Weight(P=2.86e-07, I=3.8e-07, update=1.34e-06, match=5.51e-07),
        T=Weight(P=2.77e-07, I=4.04e-07, update=1.89e-06, match=5.58e-07),
        loop=2.82e-06,
        ceilings=False,
    ),
)

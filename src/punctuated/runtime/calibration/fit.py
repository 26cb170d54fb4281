"""From lines to weights, by least squares: the weights of structures, and what a whole join adds to them (KN-18)."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from punctuated.model.load import Observation
from punctuated.plan.cost.model import CostModel
from punctuated.plan.cost.weights import ValueIndexWeight, Weight, Weights
from punctuated.runtime.calibration.lines import (
    BATCH_S,
    FEW,
    IDLE_SETTING,
    MANY,
    SEARCH,
    UPDATE,
    USUAL,
    MeasuredLine,
    Setting,
)
from punctuated.runtime.calibration.timed_join import TimedJoin

Floats = npt.NDArray[np.float64]
Costs = dict[Setting, float]
_SMALLEST_SHARE = 0.01  # of a line's slope: what a cost is at least, once others have been taken off

# Structures


def line_costs(lines: Sequence[MeasuredLine]) -> Costs:
    """What each kind of work costs beside the loop around it."""
    slopes = {line.setting: line.slope for line in lines}
    idle = slopes.pop(IDLE_SETTING)
    return {setting: _less(slope, idle) for setting, slope in slopes.items()}


def _less(cost: float, other: float) -> float:
    return max(cost - other, _SMALLEST_SHARE * cost)


def fitted_weights(costs: Costs) -> tuple[Weights, Weights]:
    """The weights of all structures, for equality and for ranges; for a range those of hash buckets mean nothing."""
    equal, by_range = ({each: cost for each, cost in costs.items() if each.predicate == how} for how in ("=", "band"))
    N, H, B, T = (_weight(structure, equal) for structure in "NHBT")  # noqa: N806  the paper's symbols
    n, b, t = (_weight(structure, by_range) for structure in "NBT")
    return Weights(N, H, B, T, ceilings=False), Weights(n, H, b, t, ceilings=False)


def plain_weights(costs: Costs) -> Weights:
    """The weights by the method of the paper: equal keys, its window, its bucket size, cost over touched tuples."""
    found = {setting: cost / setting.touched(ceilings=True) for setting, cost in costs.items()}
    N, H, B, T = (  # noqa: N806  the paper's symbols
        Weight(P=found[Setting(each, SEARCH)], I=found[Setting(each, UPDATE)]) for each in "NHBT"
    )
    return Weights(N, H, B, T)


def _weight(structure: str, costs: Costs) -> Weight:
    ours = {setting: cost for setting, cost in costs.items() if setting.structure == structure}
    match = match_cost(ours)
    searches = {each: _less(cost, FEW * match) for each, cost in ours.items() if _is_usual(each, SEARCH)}
    updates = {each: cost for each, cost in ours.items() if _is_usual(each, UPDATE)}
    # A search of hash buckets touches as much in any window; what grows with the window is its way through the caches.
    P, search, *doubling = fit_touched(searches, of_window=structure == "H")  # noqa: N806  as in Table 1
    I, update, *_ = fit_touched(updates)  # noqa: E741, N806  as above
    return Weight(P=P, I=I, search=search, update=update / 2, match=match, doubling=sum(doubling))


def _is_usual(setting: Setting, work: str) -> bool:
    return setting.work == work and setting.matches == FEW


def match_cost(costs: Costs) -> float:
    """What one more match adds to a search."""
    few, many = (
        next(cost for each, cost in costs.items() if each == replace(each, work=SEARCH, window=USUAL, matches=matches))
        for matches in (FEW, MANY)
    )
    return max(0.0, (many - few) / (MANY - FEW))


def fit_touched(costs: Costs, of_window: bool = False) -> list[float]:
    """Costs per tuple touched, fixed ones, and if asked for those of each doubling of the window."""
    touched = np.array([setting.touched(ceilings=False) for setting in costs])
    columns = [touched, np.ones(len(costs))]
    if of_window:
        columns.append(np.array([math.log2(setting.window) for setting in costs]))
    measured = np.array(list(costs.values()))
    if np.ptp(touched) > 0:
        return fit_columns(columns, measured)
    return [*fit_columns(columns[:1], measured), *[0.0] * (len(columns) - 1)]


def fit_columns(columns: Sequence[Floats], costs: Floats) -> list[float]:
    """What a unit of each column costs, by least squares of the relative errors.

    No cost is below 0, and the first one is above 0.
    """
    relative = np.column_stack(columns) / costs[:, None]
    kept = list(range(len(columns)))
    while True:
        found, *_ = np.linalg.lstsq(relative[:, kept], np.ones(len(costs)))
        if found[0] > 0 and found.min() >= 0:
            break
        kept.remove(kept[1 + int(found[1:].argmin())])  # never the first one, which does cost
    all_found = np.zeros(len(columns))
    all_found[kept] = found
    return [float(each) for each in all_found]


# Whole joins: around the structures of their windows, and with an index of values

_PAIR = "HH"  # with the cheapest structures
_ROUNDS = 9
_INDEXED_MATCHES = (0.02, 0.1, 0.3, 1.0, 3.0, 8.0)  # from values that hardly recur to those that are always there
_INDEXED_WINDOWS = (700, USUAL, 20_000)


def in_a_join(equal: Weights, by_range: Weights, n: int) -> tuple[Weights, Weights]:
    """The weights with what the join around the structures costs: per tuple, and per match, which is a result.

    A whole join of `n` tuples is measured, and what the model says of its structures is taken off.
    """
    few, many = (
        max(0.0, tuple_cost(_PAIR, USUAL, matches, n) - _structures_cost(equal, matches)) for matches in (FEW, MANY)
    )
    result = max(0.0, (many - few) / (MANY - FEW))
    loop = max(0.0, few - FEW * result)
    return _with_join(equal, loop, result), _with_join(by_range, loop, result)


def _structures_cost(weights: Weights, matches: float) -> float:
    seen = Observation.unshed((0.5, 0.5), (USUAL, USUAL), (matches, matches))
    return CostModel(weights).join(_PAIR, seen)


def _with_join(weights: Weights, loop: float, result: float) -> Weights:
    N, H, B, T = (  # noqa: N806  the paper's symbols
        replace(weight, match=(weight.match or 0.0) + result) for weight in map(weights.of, "NHBT")
    )
    return replace(weights, N=N, H=H, B=B, T=T, loop=loop)


def value_index_weight(n: int) -> ValueIndexWeight:
    """What the index of values costs, fitted to joins of `n` tuples whose values recur more or less often."""
    settings = [(window, matches) for window in _INDEXED_WINDOWS for matches in _INDEXED_MATCHES]
    costs = np.array([tuple_cost(None, window, matches, n) for window, matches in settings])
    every_tuple = np.ones(len(settings))
    is_new = np.array([math.exp(-2 * matches) for _, matches in settings])  # no tuple of the value in either window
    matched = np.array([matches for _, matches in settings])
    arrival, new_value, match = fit_columns([every_tuple, is_new, matched], costs)
    return ValueIndexWeight(arrival, new_value, match)


def tuple_cost(structures: str | None, window: int, matches: float, n: int) -> float:
    """What a tuple costs in the unit of the model, measured with `n` tuples, half of them of either stream."""
    join = TimedJoin(structures, window, matches=matches)
    return BATCH_S * min(join.both(n // 2) for _ in range(_ROUNDS)) / n

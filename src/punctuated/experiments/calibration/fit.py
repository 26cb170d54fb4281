"""From lines to weights, by least squares."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from punctuated.experiments.calibration.lines import FEW, IDLE_SETTING, MANY, SEARCH, UPDATE, USUAL, Line, Setting
from punctuated.plan.cost.weights import Weight, Weights

Floats = npt.NDArray[np.float64]
Costs = dict[Setting, float]
_SMALLEST_SHARE = 0.01  # of a line's slope: what a cost is at least, once others have been taken off


def line_costs(lines: Sequence[Line]) -> Costs:
    """What each kind of work costs beside the loop around it."""
    slopes = {line.setting: line.slope for line in lines}
    idle = slopes.pop(IDLE_SETTING)
    return {setting: _less(slope, idle) for setting, slope in slopes.items()}


def _less(cost: float, other: float) -> float:
    return max(cost - other, _SMALLEST_SHARE * cost)


def fitted_weights(costs: Costs) -> tuple[Weights, Weights]:
    """The weights of all structures, for equality and for ranges; those that do not serve a range are any."""
    equal, by_range = ({each: cost for each, cost in costs.items() if each.predicate == how} for how in ("=", "band"))
    N, H, B, T = (_weight(structure, equal) for structure in "NHBT")  # noqa: N806  the paper's symbols
    n, b, t = (_weight(structure, by_range) for structure in "NBT")
    return Weights(N, H, B, T, ceilings=False), Weights(n, H, b, t, ceilings=False)


def plain_weights(costs: Costs) -> Weights:
    """As in the paper: equal keys, its window, its bucket size, cost over touched tuples."""
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

    None is below 0, and the first one is above.
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

"""What tuples cost in a whole join: around the structures of its windows, and in an index of values."""

import math
from dataclasses import replace

import numpy as np

from punctuated.experiments.calibration.fit import fit_columns
from punctuated.experiments.calibration.lines import BATCH_S, FEW, MANY, USUAL
from punctuated.experiments.calibration.timed_join import TimedJoin
from punctuated.model.load import Observation
from punctuated.plan.cost.model import CostModel
from punctuated.plan.cost.weights import ValueIndexWeight, Weights

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
    """What a tuple costs, in the unit of the model, of `n` tuples of which half are of either stream."""
    join = TimedJoin(structures, window, matches=matches)
    return BATCH_S * min(join.both(n // 2) for _ in range(_ROUNDS)) / n

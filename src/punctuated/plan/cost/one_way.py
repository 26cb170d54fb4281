"""The cost of one direction of a join: one stream probes a window, the other one updates it (KN-11 … KN-16).

Functions over `CostModel`: their options beside those named here are its `weights`, `bucket_size` and `node_size`.
"""

from typing import Unpack

from punctuated.plan.cost.inputs import amount
from punctuated.plan.cost.model import CostModel, ModelOptions


def probe_cost(structure: str, window: float, *, matches: float = 0, **options: Unpack[ModelOptions]) -> float:
    """Cost of one search in a window: tuples touched, times P, and the fixed cost if there is one.

    Args:
        structure: `N` nested loops, `H` hash index, `B` B+tree or `T` T-tree.
        window: Tuples in the window, B.
        matches: Expected matches of a search; in a tree each is one more tuple touched, unless the weights say what a
            match costs. The paper has none.
        options: See `CostModel`.

    Example:
        >>> round(probe_cost("N", 5000), 6), round(probe_cost("H", 5000), 6)
        (1.5, 0.0055)
    """
    return CostModel(**options).probe(structure, amount(window, "window"), amount(matches, "matches"))


def insert_cost(structure: str, window: float, **options: Unpack[ModelOptions]) -> float:
    """Cost of storing a tuple in a window: tuples touched, times I, and the fixed cost if there is one.

    Example:
        >>> insert_cost("H", 5000)
        0.00078
    """
    return CostModel(**options).insert(structure, amount(window, "window"))


def invalidate_cost(structure: str, window: float, **options: Unpack[ModelOptions]) -> float:
    """Cost of forgetting the oldest tuple: it has to be found again, so that it equals an insertion (KN-14, KN-16).

    Example:
        >>> invalidate_cost("T", 5000) == insert_cost("T", 5000)
        True
    """
    return CostModel(**options).invalidate(structure, amount(window, "window"))


def one_way_cost(
    structure: str,
    *,
    probe_rate: float,
    update_rate: float,
    window: float,
    matches: float = 0,
    **options: Unpack[ModelOptions],
) -> float:
    """Cost of one direction, whatever the structure: a line of Eq. (2).

    Each tuple that updates the window is inserted and drives another one out (physical windows, KN-03). A tuple that
    probes also goes through the loop of the join, which the paper takes to be free.

    Example:
        >>> round(one_way_cost("T", probe_rate=998, update_rate=2, window=9500), 5)
        4.16896
    """
    model, probes = CostModel(**options), amount(probe_rate, "probe_rate")
    updates, window = amount(update_rate, "update_rate"), amount(window, "window")
    worked = model.one_way(structure, probes, updates, window, amount(matches, "matches"))
    return probes * model.weights.loop + worked

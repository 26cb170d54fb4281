"""The cost of one direction of a join: one stream probes a window, the other one updates it (KN-11 … KN-16).

A structure on window B serves the direction A → B: A's rate is the `probe_rate`, B's rate the `update_rate`. All costs
are in the unit of the weights, see `weights`.
"""

import math

from punctuated.plan.cost.inputs import BUCKET_SIZE, NODE_SIZE, amount, check_bucket_size, check_node_size
from punctuated.plan.cost.touched import tuples_probed, tuples_updated
from punctuated.plan.cost.weights import KANG_WEIGHTS, Weights


def probe_cost(
    structure: str,
    window: float,
    *,
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float = 0,
) -> float:
    """Cost of one search in a window of so many tuples: tuples touched, times P, and the fixed cost if there is one.

    Args:
        structure: `N` nested loops, `H` hash index, `B` B+tree or `T` T-tree.
        window: Tuples in the window, B.
        weights: Costs of touching one tuple.
        bucket_size: Tuples per bucket of the hash index, B/|B|.
        node_size: Tuples per node of a tree, N.
        matches: Expected matches of a search; in a tree each is one more tuple touched, unless the weights say what a
            match costs. The paper has none.

    Example:
        >>> round(probe_cost("N", 5000), 6), round(probe_cost("H", 5000), 6)
        (1.5, 0.0055)
    """
    bucket_size, node_size = check_bucket_size(bucket_size), check_node_size(node_size)
    window, matches = amount(window, "window"), amount(matches, "matches")
    weight = weights.of(structure)
    in_tree = matches if weight.match is None else 0
    touched = tuples_probed(structure, window, bucket_size, node_size, in_tree, weights.ceilings)
    in_window = weight.search + weight.doubling * math.log2(max(1.0, window))
    return in_window + touched * weight.P + matches * (weight.match or 0.0)


def insert_cost(structure: str, window: float, *, weights: Weights = KANG_WEIGHTS, node_size: int = NODE_SIZE) -> float:
    """Cost of storing a tuple in a window of so many: tuples touched, times I, and the fixed cost if there is one.

    Example:
        >>> insert_cost("H", 5000)
        0.00078
    """
    weight, window, node_size = weights.of(structure), amount(window, "window"), check_node_size(node_size)
    return weight.update + tuples_updated(structure, window, node_size, weights.ceilings) * weight.I


def invalidate_cost(
    structure: str, window: float, *, weights: Weights = KANG_WEIGHTS, node_size: int = NODE_SIZE
) -> float:
    """Cost of forgetting the oldest tuple: it has to be found again, so that it equals an insertion (KN-14, KN-16).

    Example:
        >>> invalidate_cost("T", 5000) == insert_cost("T", 5000)
        True
    """
    return insert_cost(structure, window, weights=weights, node_size=node_size)


def one_way_cost(
    structure: str,
    *,
    probe_rate: float,
    update_rate: float,
    window: float,
    weights: Weights = KANG_WEIGHTS,
    bucket_size: float = BUCKET_SIZE,
    node_size: int = NODE_SIZE,
    matches: float = 0,
) -> float:
    """Cost of one direction, whatever the structure: a line of Eq. (2).

    Each tuple that updates the window is inserted and drives another one out (physical windows, KN-03). A tuple that
    probes also goes through the loop of the join, which the paper takes to be free.

    Example:
        >>> round(one_way_cost("T", probe_rate=998, update_rate=2, window=9500), 5)
        4.16896
    """
    probed = probe_cost(
        structure, window, weights=weights, bucket_size=bucket_size, node_size=node_size, matches=matches
    )
    inserted = insert_cost(structure, window, weights=weights, node_size=node_size)
    invalidated = invalidate_cost(structure, window, weights=weights, node_size=node_size)
    searches = amount(probe_rate, "probe_rate") * (weights.loop + probed)
    return searches + amount(update_rate, "update_rate") * (inserted + invalidated)


def nested_loops_cost(
    probe_rate: float, update_rate: float, window: float, *, weights: Weights = KANG_WEIGHTS
) -> float:
    """Eq. (3): `lambda_a * B * P_n + 2 * lambda_b * I_n`.

    Example:
        >>> round(nested_loops_cost(2, 998, 500), 4)
        0.4996
    """
    return one_way_cost("N", probe_rate=probe_rate, update_rate=update_rate, window=window, weights=weights)


def hash_cost(
    probe_rate: float, update_rate: float, *, bucket_size: float = BUCKET_SIZE, weights: Weights = KANG_WEIGHTS
) -> float:
    """Eq. (4): `lambda_a * (B/|B|) * P_h + 2 * lambda_b * I_h`; the size of the window plays no part.

    Example:
        >>> round(hash_cost(500, 500), 2)
        3.53
    """
    return one_way_cost(
        "H", probe_rate=probe_rate, update_rate=update_rate, window=0, bucket_size=bucket_size, weights=weights
    )


def btree_cost(
    probe_rate: float,
    update_rate: float,
    window: float,
    *,
    node_size: int = NODE_SIZE,
    matches: float = 0,
    weights: Weights = KANG_WEIGHTS,
) -> float:
    """Eq. (5): `(lambda_a * P_b + 2 * lambda_b * I_b) * (ceil(log_{N+1} ceil(B/N)) + 1) * ceil(log2 N)`.

    Example:
        >>> round(btree_cost(500, 500, 5000), 2)
        5.46
    """
    return one_way_cost(
        "B",
        probe_rate=probe_rate,
        update_rate=update_rate,
        window=window,
        node_size=node_size,
        matches=matches,
        weights=weights,
    )


def ttree_cost(
    probe_rate: float,
    update_rate: float,
    window: float,
    *,
    node_size: int = NODE_SIZE,
    matches: float = 0,
    weights: Weights = KANG_WEIGHTS,
) -> float:
    """Eq. (6): `(lambda_a * P_t + 2 * lambda_b * I_t) * (1.5 * (ceil(log2 ceil(B/N)) - 1) + ceil(log2 N))`.

    The paper prints the update as `2 * 1.5 * (…) + ceil(log2 N)`. Its Table 3 comes out only if the 2 stands before
    the whole search (XD-01).

    Example:
        >>> round(ttree_cost(500, 500, 5000), 2)
        5.8
    """
    return one_way_cost(
        "T",
        probe_rate=probe_rate,
        update_rate=update_rate,
        window=window,
        node_size=node_size,
        matches=matches,
        weights=weights,
    )

"""Equations as the paper prints them: costs of one direction, Eq. (3) to (6), and crossovers, Eq. (8) to (11).

Plans go by the general model, `punctuated.plan.cost`, which these are compared with.
"""

import math
from typing import Unpack

from punctuated.plan.cost.inputs import NODE_SIZE, amount, check_node_size
from punctuated.plan.cost.model import ModelOptions, one_way_cost
from punctuated.plan.cost.touched import ceil_log, ttree_height

# The cost of one direction, an equation for each structure. All are `one_way_cost`, and take its options.


def nested_loops_cost(probe_rate: float, update_rate: float, window: float, **options: Unpack[ModelOptions]) -> float:
    """Eq. (3): `lambda_a * B * P_n + 2 * lambda_b * I_n`.

    Example:
        >>> round(nested_loops_cost(2, 998, 500), 4)
        0.4996
    """
    return one_way_cost("N", probe_rate=probe_rate, update_rate=update_rate, window=window, **options)


def hash_cost(probe_rate: float, update_rate: float, **options: Unpack[ModelOptions]) -> float:
    """Eq. (4): `lambda_a * (B/|B|) * P_h + 2 * lambda_b * I_h`; the size of the window plays no part.

    Example:
        >>> round(hash_cost(500, 500), 2)
        3.53
    """
    return one_way_cost("H", probe_rate=probe_rate, update_rate=update_rate, window=0, **options)


def btree_cost(
    probe_rate: float, update_rate: float, window: float, *, matches: float = 0, **options: Unpack[ModelOptions]
) -> float:
    """Eq. (5): `(lambda_a * P_b + 2 * lambda_b * I_b) * (ceil(log_{N+1} ceil(B/N)) + 1) * ceil(log2 N)`.

    Example:
        >>> round(btree_cost(500, 500, 5000), 2)
        5.46
    """
    return one_way_cost("B", probe_rate=probe_rate, update_rate=update_rate, window=window, matches=matches, **options)


def ttree_cost(
    probe_rate: float, update_rate: float, window: float, *, matches: float = 0, **options: Unpack[ModelOptions]
) -> float:
    """Eq. (6): `(lambda_a * P_t + 2 * lambda_b * I_t) * (1.5 * (ceil(log2 ceil(B/N)) - 1) + ceil(log2 N))`.

    The paper prints the update as `2 * 1.5 * (…) + ceil(log2 N)`. Its Table 3 comes out only if the 2 stands before
    the whole search (XD-01).

    Example:
        >>> round(ttree_cost(500, 500, 5000), 2)
        5.8
    """
    return one_way_cost("T", probe_rate=probe_rate, update_rate=update_rate, window=window, matches=matches, **options)


# Crossovers as ratios lambda_a / lambda_b (KN-26 … KN-29), for the weights of Eq. (7) and ten tuples per bucket. A
# ratio of 0 or infinity says that one of the two pairs is the cheaper one at every ratio.


def tn_th_ratio(right_window: float) -> float:
    """Eq. (8): `13.6 / (3B - 55)`; below it TN is cheaper than TH.

    Example:
        >>> round(tn_th_ratio(500), 4), round(1 / tn_th_ratio(500))
        (0.0094, 106)
    """
    return _ratio(13.6, 3 * amount(right_window, "right_window") - 55)


def th_hh_ratio(left_window: float, *, node_size: int = NODE_SIZE, printed: bool = False) -> float:
    """Eq. (9): `(58.9 - 3.9h - 2.6n) / (8.1h + 5.4n - 23.7)`; below it TH is cheaper than HH.

    `h = ceil(log2 ceil(A/N))` is the height of the T-tree and `n = ceil(log2 N)`. The paper prints `2.7n`, which
    belongs to its misprint in Eq. (6); only `5.4n` agrees with its Table 3, and with its text's "20 %/80 %" (XD-02).

    Args:
        left_window: Tuples in window A.
        node_size: Tuples per node of the T-tree, N.
        printed: Whether to use the formula as it is printed.

    Example:
        >>> round(th_hh_ratio(5000), 3), round(th_hh_ratio(5000, printed=True), 3)
        (0.276, 0.395)
    """
    node_size = check_node_size(node_size)
    h, n = ttree_height(amount(left_window, "left_window"), node_size), ceil_log(2, node_size)
    return _ratio(58.9 - 3.9 * h - 2.6 * n, 8.1 * h + (2.7 if printed else 5.4) * n - 23.7)


def hh_ht_ratio(right_window: float, *, node_size: int = NODE_SIZE, printed: bool = False) -> float:
    """Eq. (10), the inverse of Eq. (9) with B for A; below it HH is cheaper than HT.

    Example:
        >>> round(hh_ht_ratio(5000), 2), round(hh_ht_ratio(5000, printed=True), 2)
        (3.62, 2.53)
    """
    return _inverse(th_hh_ratio(amount(right_window, "right_window"), node_size=node_size, printed=printed))


def ht_nt_ratio(left_window: float) -> float:
    """Eq. (11): `(3A - 55) / 13.6`, the inverse of Eq. (8) with A for B; below it HT is cheaper than NT.

    Example:
        >>> round(ht_nt_ratio(500), 2)
        106.25
    """
    return _inverse(tn_th_ratio(amount(left_window, "left_window")))


def _ratio(numerator: float, denominator: float) -> float:
    if numerator <= 0:
        return 0.0
    return numerator / denominator if denominator > 0 else math.inf


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio > 0 else math.inf

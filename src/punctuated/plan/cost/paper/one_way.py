"""The cost of one direction, an equation per structure as the paper prints them: Eq. (3) to (6).

All of them are `one_way_cost`, the options too.
"""

from typing import Unpack

from punctuated.plan.cost.model import ModelOptions, one_way_cost


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

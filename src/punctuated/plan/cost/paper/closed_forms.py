"""The paper's closed forms of the crossovers: Eq. (8) to (11), as ratios lambda_a / lambda_b (KN-26 … KN-29).

They hold for the weights of Eq. (7) and ten tuples per bucket; `crossovers` has the general model. A ratio of 0 or
infinity says that one of the two pairs is the cheaper one at every ratio.
"""

import math

from punctuated.plan.cost.inputs import NODE_SIZE, amount, check_node_size
from punctuated.plan.cost.touched import ceil_log, ttree_height


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

"""How many tuples an operation touches in each structure (KN-12); ceilings are part of the formulas (XD-01).

Logarithms are counted, not computed: in floating point, the ceiling of a power of the base could be one too high.
Weights that were fitted to several windows use no ceilings: nodes are not full, so measured costs have no such steps.
"""

import math

from punctuated.plan.cost.inputs import check_structure

_FILL = 0.7  # how full a leaf is on average


def tuples_probed(
    structure: str, window: float, bucket_size: float, node_size: int, matches: float, ceilings: bool = True
) -> float:
    """Tuples that a search touches.

    In a tree a search leads to the first match, and each expected match is one more tuple that is touched. The paper
    leaves these out (`matches=0`). A scan and a bucket contain the matches that they touch.
    """
    if check_structure(structure) == "N":
        return window
    if structure == "H":
        return bucket_size
    return tree_search(structure, window, node_size, ceilings) + matches


def tuples_updated(structure: str, window: float, node_size: int, ceilings: bool = True) -> float:
    """Tuples that an insertion, or the removal of the oldest tuple, touches.

    Arrival order is kept in the scan buffer and in each bucket, so that the oldest tuple is found at once (KN-14).
    """
    return 1.0 if check_structure(structure) in "NH" else tree_search(structure, window, node_size, ceilings)


def tree_search(structure: str, window: float, node_size: int, ceilings: bool = True) -> float:
    """Tuples compared on the way to a key, in the B+tree of Eq. (5) or the T-tree of Eq. (6).

    >>> tree_search("T", 5000, 100), round(tree_search("T", 5000, 100, ceilings=False), 2)
    (14.5, 13.61)
    """
    if not ceilings:
        return _smooth_search(structure, max(2.0, window), node_size)
    in_node = ceil_log(2, node_size)  # binary search
    if structure == "B":
        return btree_height(window, node_size) * in_node
    # One and a half comparisons per node; on average the key is found a level above the leaves (KN-16).
    return 1.5 * (ttree_height(window, node_size) - 1) + in_node


def _smooth_search(structure: str, window: float, node_size: int) -> float:
    if structure == "B":
        # Binary searches one after the other are a binary search of the whole. Each level beyond the second costs as
        # much as two comparisons more, as measured.
        return math.log2(window) + 2 * max(0, btree_height(window / _FILL, node_size) - 2)
    return 1.5 * max(0.0, math.log2(window / node_size) - 1) + math.log2(min(window, node_size))


def btree_height(window: float, node_size: int) -> int:
    """Levels of a B+tree, leaves included: `ceil(log_{N+1} ceil(B/N)) + 1` (KN-15).

    >>> btree_height(5000, 100)
    2
    """
    return ceil_log(node_size + 1, math.ceil(window / node_size)) + 1


def ttree_height(window: float, node_size: int) -> int:
    """Levels of a T-tree: `ceil(log2 ceil(B/N))` (KN-16).

    At least one: by the formula a single node would have none, and a search less than nothing above it.

    >>> ttree_height(5000, 100), ttree_height(100, 100)
    (6, 1)
    """
    return max(1, ceil_log(2, math.ceil(window / node_size)))


def ceil_log(base: int, n: int) -> int:
    """`ceil(log_base n)`, and 0 for an `n` below 1.

    >>> ceil_log(2, 100), ceil_log(2, 128), ceil_log(101, 1)
    (7, 7, 0)
    """
    power = 0
    while base**power < n:
        power += 1
    return power

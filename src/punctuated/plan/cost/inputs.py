"""Checks the arguments of the formulas: finite numbers of 0 or more, and structures, pairs and predicates by name.

Two numbers, one for each stream, are a tuple with that of the left stream (A) first.
"""

import math
from collections.abc import Sequence
from numbers import Integral, Real

from punctuated.errors import CostError

Sides = tuple[float, float]

STRUCTURES = {"N": "nested loops", "H": "hash index", "B": "B+tree", "T": "T-tree"}
BUCKET_SIZE = 10  # tuples per bucket of a hash index, B/|B| (KN-24)
NODE_SIZE = 100  # tuples per node of a tree, N (KN-24)

# A hash index finds equal keys only, a tree also the keys of a range, and a scan serves any predicate (KN-05).
_EQUALITY, _RANGE, _ARBITRARY = "NHBT", "NBT", "N"
PREDICATES = {
    "=": _EQUALITY,
    "<": _RANGE,
    "<=": _RANGE,
    ">": _RANGE,
    ">=": _RANGE,
    "band": _RANGE,
    "any": _ARBITRARY,
}


def amount(value: float, name: str) -> float:
    """This value as a float; raises unless it is a finite number of 0 or more."""
    if not isinstance(value, Real) or not math.isfinite(value) or value < 0:
        raise CostError(f"{name}={value!r}: give a finite number of 0 or more")
    return float(value)


def positive(value: float, name: str) -> float:
    """This value as a float; raises unless it is a finite number above 0."""
    if not isinstance(value, Real) or not math.isfinite(value) or value <= 0:
        raise CostError(f"{name}={value!r}: give a finite number above 0")
    return float(value)


def sides(values: Sequence[float], name: str) -> Sides:
    """Two numbers, one for each stream; raises unless both are finite and 0 or more."""
    try:
        left, right = values
    except (TypeError, ValueError):
        raise CostError(f"{name}={values!r}: give two numbers, of the left and of the right stream") from None
    return amount(left, f"{name}[0]"), amount(right, f"{name}[1]")


def both_sides(values: float | Sequence[float], name: str) -> Sides:
    """Two numbers, one for each stream; a single number counts for both."""
    if isinstance(values, Sequence):
        return sides(values, name)
    return amount(values, name), amount(values, name)


def check_structure(structure: str) -> str:
    """The letter of a structure; raises if it is unknown."""
    if structure not in STRUCTURES:
        known = ", ".join(f"{letter} ({name})" for letter, name in STRUCTURES.items())
        raise CostError(f"no structure is called {structure!r}; known are: {known}")
    return structure


def structures_of(pair: str) -> tuple[str, str]:
    """The structures on the left and on the right window that a pair such as `TN` names (KN-19)."""
    if len(pair) != 2:
        raise CostError(f"{pair!r} is no pair: give two letters out of {''.join(STRUCTURES)}, such as 'TN'")
    return check_structure(pair[0]), check_structure(pair[1])


def serving_structures(predicate: str, structures: str) -> list[str]:
    """The structures that serve a predicate, out of these."""
    if predicate not in PREDICATES:
        raise CostError(f"no predicate is called {predicate!r}; known are: {', '.join(PREDICATES)}")
    wanted = {check_structure(structure) for structure in structures}
    allowed = [structure for structure in PREDICATES[predicate] if structure in wanted]
    if not allowed:
        raise CostError(
            f"none of structures={structures!r} serves the predicate {predicate!r}: "
            f"give one of {', '.join(PREDICATES[predicate])}"
        )
    return allowed


def check_bucket_size(bucket_size: float) -> float:
    """The tuples per bucket of a hash index; raises unless there is at least one."""
    if not isinstance(bucket_size, Real) or not 1 <= bucket_size < math.inf:
        raise CostError(f"bucket_size={bucket_size!r}: a bucket holds at least one tuple, give 1 or more")
    return float(bucket_size)


def check_node_size(node_size: int) -> int:
    """The tuples per node of a tree; raises unless there are at least two."""
    if not isinstance(node_size, Integral) or node_size < 2:
        raise CostError(f"node_size={node_size!r}: a node of a tree holds at least two tuples, give 2 or more")
    return int(node_size)

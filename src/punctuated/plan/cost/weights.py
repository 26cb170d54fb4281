"""Weights: what it costs to touch one tuple in a structure, as measured by the paper or on this machine (KN-17, KN-18).

Unit: seconds of CPU per 60 seconds of input, for one tuple touched per second; a join that costs 60 needs one core for
itself (XD-23).
"""

from collections.abc import Callable
from dataclasses import dataclass

from punctuated.errors import CostError
from punctuated.plan.cost.inputs import amount, check_structure, positive


def _as_floats(weights: object, checked: Callable[[float, str], float], *names: str) -> None:
    """Check these fields and keep them as plain floats, whatever numbers were given: only those are saved exactly."""
    for name in names:
        object.__setattr__(weights, name, checked(getattr(weights, name), name))


@dataclass(frozen=True)
class Weight:
    """Costs of touching one tuple of a structure: `P` in a search, `I` in an update (P_d and I_d of Table 1).

    The paper does not have the other costs, and its formulas do not change: `search` and `update` are fixed costs of
    each, `match` is what a match adds to a search (None: in a tree one more tuple touched, elsewhere nothing), and
    `doubling` is what each doubling of the window adds to it.
    """

    P: float
    I: float  # noqa: E741  the paper's symbol
    search: float = 0.0
    update: float = 0.0
    match: float | None = None
    doubling: float = 0.0

    def __post_init__(self) -> None:
        _as_floats(self, positive, "P", "I")
        _as_floats(self, amount, "search", "update", "doubling", *(() if self.match is None else ("match",)))


@dataclass(frozen=True)
class ValueIndexWeight:
    """Costs of the index of values that both windows share; the paper has no such index.

    `arrival` is the cost of a tuple, `new_value` what it costs more if its value is not there yet, and `match` what a
    match adds.
    """

    arrival: float
    new_value: float
    match: float

    def __post_init__(self) -> None:
        _as_floats(self, positive, "arrival")
        _as_floats(self, amount, "new_value", "match")


@dataclass(frozen=True)
class Weights:
    """The weights of all structures, by their letters.

    The other fields are not in the paper. `loop` is what a tuple costs in the join around the structures. `ceilings`
    says whether the formulas of the trees round up, as the paper's do. `by_range` has the weights for other predicates
    than equality, if they differ. `value_index` has those of the index of values, if they are known.

    Example:
        >>> KANG_WEIGHTS.of("H").P
        0.00055
    """

    N: Weight
    H: Weight
    B: Weight
    T: Weight
    loop: float = 0.0
    ceilings: bool = True
    by_range: "Weights | None" = None
    value_index: ValueIndexWeight | None = None

    def __post_init__(self) -> None:
        _as_floats(self, amount, "loop")
        if not isinstance(self.ceilings, bool):
            raise CostError(f"ceilings={self.ceilings!r}: give True or False")

    def of(self, structure: str) -> Weight:
        """The weights of one structure."""
        weight: Weight = getattr(self, check_structure(structure))
        return weight

    def serving(self, predicate: str) -> "Weights":
        """The weights for this predicate."""
        return self if predicate == "=" or self.by_range is None else self.by_range


# Eq. (7), measured with Java 1.4 on an Athlon XP at 1,533 MHz (KN-17, KN-20).
KANG_WEIGHTS = Weights(
    N=Weight(P=3e-4, I=1e-4),
    H=Weight(P=5.5e-4, I=7.8e-4),
    B=Weight(P=2.6e-4, I=2.6e-4),
    T=Weight(P=2.6e-4, I=2.7e-4),
)

"""Which structures to join with: the cheapest pair that the predicate allows (KN-05, KN-32)."""

from collections.abc import Sequence
from itertools import product
from typing import Required, Unpack

from punctuated.plan.cost.inputs import STRUCTURES
from punctuated.plan.cost.model import Candidate, CostModel, JoinOptions, ModelOptions, full_load

ALL_PAIRS = tuple(f"{on_a}{on_b}" for on_a, on_b in product(STRUCTURES, repeat=2))


class Choice(JoinOptions, total=False):
    """The arguments of `candidates`."""

    windows: Required[Sequence[float]]
    rates: Required[Sequence[float]]
    predicate: str
    structures: str


def candidates(
    *,
    windows: Sequence[float],
    rates: Sequence[float],
    predicate: str = "=",
    structures: str = "NHBT",
    matches: float | Sequence[float] = 0,
    **options: Unpack[ModelOptions],
) -> list[Candidate]:
    """All pairs of structures that the predicate allows, the cheapest first; ties by name.

    Args:
        windows: Tuples in the windows of both streams.
        rates: Tuples per second of both streams; where tuples are shed, the effective ones (KN-38).
        predicate: `=`, one of `<`, `<=`, `>`, `>=`, `band` for ranges, or `any`.
        structures: The structures to choose from; the paper leaves out `B`, which takes more memory than `T` (KN-21).
        matches: Expected matches of a search, in window A and in window B; see `probe_cost`.
        options: `weights`, `bucket_size` and `node_size`, see `CostModel`.

    Example:
        >>> [each.pair for each in candidates(windows=(9500, 500), rates=(2, 998), predicate="<")[:3]]
        ['BN', 'TN', 'BT']
    """
    return CostModel(**options).candidates(full_load(windows, rates, matches), predicate, structures)


def best(**choice: Unpack[Choice]) -> str:
    """The cheapest pair of structures; the arguments are those of `candidates`.

    Example:
        >>> best(windows=(9500, 500), rates=(2, 998), structures="NHT")
        'TN'
    """
    return candidates(**choice)[0].pair

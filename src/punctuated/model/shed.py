"""Shedding: what a join leaves out when CPU or memory does not suffice for all of it (KN-33 … KN-42)."""

import math
from dataclasses import dataclass
from numbers import Integral, Real

from punctuated.errors import ShedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Shed:
    """How much a join may do and keep, how that is divided between its streams, and which coins decide."""

    rate: float | None = None
    tuples: float | None = None
    strategy: str = "optimal"
    floor: float = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rate is None and self.tuples is None:
            raise ShedError("nothing to shed by: give rate=, tuples per second that may probe, or tuples= to store")
        if self.rate is not None and not _is_number(self.rate, above=0):
            raise ShedError(f"rate={self.rate!r}: give the tuples per second that may probe, more than 0")
        if self.tuples is not None and not _is_number(self.tuples, above=0):
            raise ShedError(f"tuples={self.tuples!r}: give how many tuples may be stored, more than 0")
        if not _is_number(self.floor) or self.floor < 0:
            raise ShedError(f"floor={self.floor!r}: give the least that each stream gets, 0 or more")
        if not isinstance(self.strategy, str):
            raise ShedError(f"strategy={self.strategy!r}: give the name of a strategy, such as 'optimal'")
        if not isinstance(self.seed, Integral) or isinstance(self.seed, bool):
            raise ShedError(f"seed={self.seed!r}: give an integer")


def _is_number(given: object, above: float = -math.inf) -> bool:
    if isinstance(given, bool) or not isinstance(given, Real):
        return False
    return math.isfinite(given) and float(given) > above


def shed(
    *,
    rate: float | None = None,
    tuples: float | None = None,
    strategy: str = "optimal",
    floor: float = 0,
    seed: int = 0,
) -> Shed:
    """Limits of a join's resources; what goes beyond them is left out at random.

    The results are a random sample of those of the whole join. Over it, `count`, `sum` and `mean` of a group become
    estimates with a standard error.

    Args:
        rate: Tuples per second that may probe the other window, both streams together.
        tuples: Tuples that may be stored, both windows together.
        strategy: How the streams share what there is; "optimal" gives the most results.
        floor: The least that each stream gets. With none, a strategy may leave some pairs without any chance, and
            then nothing can be estimated.
        seed: Another seed sheds other tuples.

    Example:
        >>> shed(rate=100, floor=10)
        Shed(rate=100, tuples=None, strategy='optimal', floor=10, seed=0)
    """
    return Shed(rate=rate, tuples=tuples, strategy=strategy, floor=floor, seed=seed)

"""Load shedding: what a join leaves out when CPU or memory does not suffice for all of it (KN-33 … KN-42)."""

import math
from dataclasses import dataclass
from numbers import Integral, Real

from punctuated.errors import ShedError
from punctuated.model.window import Duration, parse_duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Shed:
    """How much a join may do and keep, how that is divided between its streams, and which coins decide."""

    rate: float | None = None
    tuples: float | None = None
    strategy: str = "optimal"
    floor: float = 0
    seed: int = 0
    trigger_us: int | None = None

    def __post_init__(self) -> None:
        if self.rate is None and self.tuples is None and self.trigger_us is None:
            raise ShedError(
                "nothing to shed by: give rate=, tuples per second that may probe, or tuples= to store, or trigger="
            )
        if self.rate is not None and self.trigger_us is not None:
            raise ShedError("rate= and trigger= both limit CPU: give the rate, or the trigger that it is found by")
        if self.trigger_us is not None and self.trigger_us <= 0:
            raise ShedError("trigger= must be longer than zero: give the interval of the query's trigger")
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


def _is_number(value: object, above: float = -math.inf) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return math.isfinite(value) and float(value) > above


def shed(
    *,
    rate: float | None = None,
    tuples: float | None = None,
    strategy: str = "optimal",
    floor: float = 0,
    seed: int = 0,
    trigger: Duration | None = None,
) -> Shed:
    """Limit the resources of a join: what goes beyond the limits is left out at random.

    The results are a random sample of those of the whole join. Over it, `count`, `sum` and `mean` of a group become
    estimates with a standard error.

    Args:
        rate: Tuples per second that may probe the other window, both streams together.
        tuples: Tuples that may be stored, both windows together.
        strategy: How the streams share the resources. "optimal" gives the most results.
        floor: The least that each stream gets. Without it, a strategy may leave some pairs without any chance, and
            then nothing can be estimated.
        seed: Another seed leaves out other tuples.
        trigger: On Spark, in place of `rate`: interval of the query's trigger. When micro-batches take longer, only
            as many tuples probe as earlier micro-batches managed in that time.

    Example:
        >>> shed(rate=100, floor=10)
        Shed(rate=100, tuples=None, strategy='optimal', floor=10, seed=0, trigger_us=None)
    """
    interval = None if trigger is None else parse_duration(trigger)
    return Shed(rate=rate, tuples=tuples, strategy=strategy, floor=floor, seed=seed, trigger_us=interval)

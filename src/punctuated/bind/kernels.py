"""Which kernels are compiled together, and which of them a join needs."""

from enum import Enum

from punctuated.join.output.grouping import Grouping
from punctuated.model.spec import JoinSpec


class Kernels(Enum):
    """Kinds of kernels; those that take longest to compile come first.

    Kernels around a loop are what its join does outside the loop: arrays grow, a state is saved and loaded.
    """

    OF_FOUR = ".four"  # the loop of up to four streams in one join, and of up to eight
    OF_EIGHT = ".eight"
    OF_VALUES = ".values"  # the loop of two streams
    OF_EXPIRIES = ".expiries"  # the same, if every tuple has a window of its own
    OF_PAIRS = ".pairs"  # the same, if windows have structures of their own
    AROUND_VALUES = ".values.around"
    AROUND_EXPIRIES = ".expiries.around"
    AROUND_PAIRS = ".pairs.around"
    AROUND_FOUR = ".four.around"
    AROUND_EIGHT = ".eight.around"
    OF_EXCHANGE = ".exchange"  # how keys are read and spread; for every join
    OF_SUMS = ".sums"  # of groups
    OF_GROUPS = ".groups"  # how results find their groups
    OF_COLD = ".cold"  # what a join also needs if values may be on disk
    OF_COLD_EXPIRIES = ".cold.expiries"
    OF_COLD_FOUR = ".cold.four"
    OF_COLD_EIGHT = ".cold.eight"
    OF_STAGES = ".stages"  # what a staged join also needs

    @property
    def loop(self) -> "Kernels":
        """The loop that these kernels are around, or are added to; for a loop, the loop itself."""
        return _LOOPS.get(self, self)

    @property
    def goes_beyond_memory(self) -> bool:
        """Whether only some joins need them in addition."""
        return self in COLD.values() or self is Kernels.OF_STAGES

    @property
    def builds_on(self) -> "tuple[Kernels, ...]":
        """What is compiled first, since these are compiled by running a whole join."""
        if self is Kernels.AROUND_PAIRS:  # structures, and what is around any loop of two streams
            return Kernels.OF_PAIRS, Kernels.AROUND_VALUES, Kernels.OF_EXCHANGE
        return (self.loop, AROUND[self.loop], Kernels.OF_EXCHANGE) if self.goes_beyond_memory else ()


AROUND = {
    Kernels.OF_VALUES: Kernels.AROUND_VALUES,
    Kernels.OF_EXPIRIES: Kernels.AROUND_EXPIRIES,
    Kernels.OF_PAIRS: Kernels.AROUND_PAIRS,
    Kernels.OF_FOUR: Kernels.AROUND_FOUR,
    Kernels.OF_EIGHT: Kernels.AROUND_EIGHT,
}
COLD = {
    Kernels.OF_VALUES: Kernels.OF_COLD,
    Kernels.OF_EXPIRIES: Kernels.OF_COLD_EXPIRIES,
    Kernels.OF_FOUR: Kernels.OF_COLD_FOUR,
    Kernels.OF_EIGHT: Kernels.OF_COLD_EIGHT,
}
_LOOPS = {more: loop for kinds in (AROUND, COLD) for loop, more in kinds.items()} | {
    Kernels.OF_STAGES: Kernels.OF_VALUES
}


def kernels_of(spec: JoinSpec, grouping: Grouping | None = None) -> tuple[Kernels, ...]:
    """What a join and its groups need; what takes longest comes first."""
    loop = _loop_of(spec)
    needed = [loop, AROUND[loop], Kernels.OF_EXCHANGE]
    if grouping is not None:
        needed.append(Kernels.OF_GROUPS)
    if grouping is not None and any(each.function in ("sum", "mean") for each in grouping.aggregates.values()):
        needed.append(Kernels.OF_SUMS)
    if spec.is_staged:
        needed.append(Kernels.OF_STAGES)
    elif spec.memory is not None:
        needed.append(COLD[loop])
    return tuple(needed)


def _loop_of(spec: JoinSpec) -> Kernels:
    if spec.reaches:
        return Kernels.OF_FOUR if len(spec.streams) <= 4 else Kernels.OF_EIGHT
    if spec.algorithm.structures is not None:
        return Kernels.OF_PAIRS
    return Kernels.OF_EXPIRIES if spec.own_windows else Kernels.OF_VALUES

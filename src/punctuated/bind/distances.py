"""How near the members of a result must be: what `within=` and the windows of the streams say, checked."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from punctuated.errors import StreamError, WindowError
from punctuated.model.algorithm import HW, MULTIWAY, MW, Algorithm, choose_algorithm
from punctuated.model.reach import Reach, Steps, Within, reach_along, reach_by_windows, reach_within, reversed_reach
from punctuated.model.spec import MOST_STREAMS, StreamSpec
from punctuated.model.window import TimeWindow


@dataclass(frozen=True)
class Near:
    """What `within=` says, and whether a path counts in both directions; without it, the windows decide."""

    within: Within | Steps | None = None
    along: bool = False
    both_directions: bool = False

    def ways(self, streams: Sequence[StreamSpec]) -> tuple[Reach, ...]:
        """One way to be near, or two for a path; none if the windows of two streams decide."""
        names = [stream.name for stream in streams]
        if self.along:
            self._check_path()
        if self.within is None:
            return (reach_by_windows(names, [each.window for each in streams]),) if len(streams) > 2 else ()
        for stream in streams:
            if stream.window is not None:
                raise WindowError(
                    f"stream {stream.name!r} has a window of its own, but within= also says how near tuples must be; "
                    "leave one of them out"
                )
        if not self.along:
            return (reach_within(names, self.within),)
        forth = reach_along(names, self.within)
        return (forth, reversed_reach(forth)) if self.both_directions else (forth,)

    def _check_path(self) -> None:
        if self.within is None:
            raise WindowError("a path needs within=: one duration for all steps, or a list with one for each")
        if not isinstance(self.both_directions, bool):
            raise WindowError(f"both_directions={self.both_directions!r}: give True or False")


WINDOWS = Near()


def as_windows(streams: Sequence[StreamSpec], ways: Sequence[Reach]) -> tuple[StreamSpec, ...]:
    """Two streams with windows that say the same: how much later a tuple of the other may be, in any way."""
    spans = (max(way[side][1 - side] for way in ways) for side in range(2))
    return tuple(replace(stream, window=TimeWindow(span)) for stream, span in zip(streams, spans, strict=True))


def check_number(n_streams: int) -> None:
    """Raise if this many streams cannot be joined."""
    if n_streams < 2:
        raise StreamError(f"a join needs two streams or more; {n_streams or 'none'} was given")
    if n_streams > MOST_STREAMS:
        raise StreamError(f"a join takes up to {MOST_STREAMS} streams, not {n_streams}; join some of them first")


def choose_multiway(name: str, propagation: str | None, *, keyed: bool) -> Algorithm:
    """The algorithm of a join of any number of streams; `auto` goes by values, or without a key by time."""
    best = HW if keyed else MW
    return choose_algorithm(best.name if name == "auto" else name, propagation)


def is_multiway(name: object) -> bool:
    """Whether an algorithm belongs to the W-join's family, which also serves two streams."""
    return isinstance(name, str) and name in MULTIWAY

"""What a join of any number of streams does, and its inputs, as parts of a node of the plan."""

from collections.abc import Iterator, Sequence

from punctuated.model.algorithm import HW, Walk
from punctuated.model.eternity import UNBOUNDED
from punctuated.model.reach import farthest
from punctuated.model.spec import JoinSpec
from punctuated.model.window import show_duration
from punctuated.plan import words
from punctuated.plan.bounds import is_unbounded_among
from punctuated.plan.statistics import StreamStatistics, most_state
from punctuated.plan.stream_plan import PlannedInput, plan_stream, seen, state
from punctuated.plan.tree import Fact, PlanNode

_FOUND = {"value": "an index of values", "scan": "a scan of all tuples", "time": "a scan of the tuples in time"}
_LOOKED = {
    "exact": "",
    "global": ", in the widest window of all, and a second look",
    "local": ", in the widest windows of each stream, and a second look",
    "none": ", and a look at the windows afterwards",
}


def plan_many(
    spec: JoinSpec, inputs: Sequence[PlannedInput], statistics: Sequence[StreamStatistics] | None
) -> tuple[str, tuple[Fact, ...], tuple[PlanNode, ...]]:
    """The title of the join, what is known of it, and the nodes of its inputs."""
    names = [stream.name for stream in spec.streams]
    keys = zip(*(stream.key for stream in spec.streams), strict=True)
    shown = [columns[0] if len(set(columns)) == 1 else " = ".join(columns) for columns in keys]
    title = f"inner join of {words.listed(names)}{' on ' if shown else ''}{', '.join(shown)}"
    children = tuple(_stream(spec, side, inputs[side], statistics) for side in spec.sides)
    return title, tuple(_walk(spec, names)), children


def _walk(spec: JoinSpec, names: Sequence[str]) -> Iterator[Fact]:
    walk, name = spec.algorithm.walk or HW.walk or Walk("value"), spec.algorithm.name
    cleaned = f", cleaned up every {walk.cleans_every:,} tuples" if walk.cleans_every else ""
    partners = f"partners by {_FOUND[walk.finds]}{_LOOKED[walk.periods]}{cleaned}"
    yield Fact("algorithm", f"{name}, {partners}", {"name": name})
    yield Fact("order", "for each tuple, streams with the fewest candidates first")
    if len(spec.reaches) > 1:
        yield Fact("path", f"along {' then '.join(names)}, or back")


def _stream(spec: JoinSpec, side: int, known: PlannedInput, statistics: Sequence[StreamStatistics] | None) -> PlanNode:
    far, stream, ours = farthest(spec.reaches)[side], spec.streams[side], statistics and statistics[side]
    reach = {each.name: None if us == UNBOUNDED else us for each, us in zip(spec.streams, far, strict=True)}
    reaches = {"up_to_us": {name: us for name, us in reach.items() if name != stream.name}}
    waits = Fact("waits for", f"{_waits_for(spec, side, far)}; {words.lateness(stream)}", reaches)
    found = (seen(ours),) if ours else ()
    most = most_state(spec, side, statistics) if statistics else None
    is_bounded = not is_unbounded_among(spec, side)
    bounded_by = _bounded_by(spec, side, far) if is_bounded else "unbounded until others end"
    return plan_stream(
        spec,
        side,
        known,
        f"stream {side + 1}",
        waits,
        *found,
        state(bounded_by, is_bounded, "at most about", most, ours or None),
    )


def _waits_for(spec: JoinSpec, side: int, far: Sequence[int]) -> str:
    """Others that are as far away stand together."""
    apart: dict[int, list[str]] = {}
    for j, other in enumerate(spec.streams):
        if j != side:
            apart.setdefault(far[j], []).append(other.name)
    return ", ".join(f"{words.listed(names)} {_reach(us)}" for us, names in apart.items())


def _bounded_by(spec: JoinSpec, side: int, far: Sequence[int]) -> str:
    """What lets its tuples go; the proofs are those of `is_unbounded_among`."""
    others = [j for j in spec.sides if j != side]
    near = [spec.streams[j].name for j in others if spec.algorithm.by_window and far[j] != UNBOUNDED]
    ended = [spec.streams[j].name for j in others if spec.streams[j].punctuated and spec.algorithm.by_punctuation]
    by = []
    if near:
        by.append(f"its reach as {'the others go' if len(near) == len(others) else _go(near)} on")
    by += [f"punctuations of {words.listed(ended)}"] if ended else []
    return f"bounded by {' and '.join(by)}"


def _go(names: Sequence[str]) -> str:
    return f"{words.listed(names)} {'goes' if len(names) == 1 else 'go'}"


def _reach(us: int) -> str:
    return "without end" if us == UNBOUNDED else f"up to {show_duration(us)} later"

"""What a union of streams does, or one stream by itself, and its inputs, as parts of a node of the plan."""

from collections.abc import Sequence

from punctuated.model.spec import JoinSpec
from punctuated.plan import words
from punctuated.plan.statistics import StreamStatistics
from punctuated.plan.stream_plan import PlannedInput, plan_stream, seen, state
from punctuated.plan.tree import Fact, PlanNode

_STATE = "no tuples, only which values are over"


def plan_union(
    spec: JoinSpec, inputs: Sequence[PlannedInput], statistics: Sequence[StreamStatistics] | None
) -> tuple[str, tuple[Fact, ...], tuple[PlanNode, ...]]:
    """The title of the union, what is known of it, and the nodes of its inputs."""
    names = [stream.name for stream in spec.streams]
    title = f"union of {words.listed(names)}" if len(names) > 1 else f"{names[0]} by itself"
    key = f", by {', '.join(spec.left.key)}" if spec.left.key else ""
    children = tuple(_stream(spec, side, inputs[side], statistics) for side in spec.sides)
    return title + key, (), children


def _stream(spec: JoinSpec, side: int, known: PlannedInput, statistics: Sequence[StreamStatistics] | None) -> PlanNode:
    stream, ours = spec.streams[side], statistics and statistics[side]
    found = (seen(ours),) if ours else ()
    late = Fact("times", words.lateness(stream), {"lateness_us": stream.lateness_us})
    kept = state(_STATE, True, "", None, None)
    return plan_stream(spec, side, known, f"stream {side + 1}", late, *found, kept)

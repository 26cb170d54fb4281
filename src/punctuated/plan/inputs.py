"""An input of a join as a node of the plan: its window, where its punctuations come from, and what bounds its state."""

from collections.abc import Iterator
from dataclasses import dataclass

from punctuated.model.memory import show_size
from punctuated.model.spec import JoinSpec, JoinType, OnViolation, StreamSpec
from punctuated.model.window import show_duration
from punctuated.plan import tree as words
from punctuated.plan.statistics import StreamStatistics, bytes_of
from punctuated.plan.tree import Fact, Kind, PlanNode


@dataclass(frozen=True)
class PlannedInput:
    """What is known of an input beside its declaration."""

    pattern_column: str | None = None
    endings: tuple[tuple[tuple[str, ...], str], ...] = ()  # key and time columns of streams that announce its endings
    facts: tuple[Fact, ...] = ()  # which way its rows come, which of them and which columns
    origin: PlanNode | None = None  # the join whose output it is, or groups of one


def plan_stream(spec: JoinSpec, side: int, known: PlannedInput, role: str, *facts: Fact) -> PlanNode:
    """The node of an input; `facts` are those that depend on the kind of the join, the state last."""
    stream = spec.streams[side]
    time = "" if stream.is_output else f"; time: {stream.time}"
    key = Fact(
        "key",
        f"{', '.join(stream.key) or 'none'}{time}",
        {"columns": list(stream.key), "time": None if stream.is_output else stream.time},
    )
    first, last = facts[:-1], facts[-1]
    return PlanNode(
        Kind.STREAM,
        f"{stream.name}: {role}",
        (key, *known.facts, *first, *_limits(stream), _punctuations(spec, side, known), last),
        () if known.origin is None else (known.origin,),
        punctuates=stream.punctuated,
        name=stream.name,
    )


def seen(ours: StreamStatistics) -> Fact:
    """What was found in the data."""
    counts = {"tuples": ours.tuples, "distinct_values": ours.distinct_values, "punctuations": ours.punctuations}
    values, punctuations = words.count(ours.distinct_values, "value"), words.count(ours.punctuations, "punctuation")
    text = f"{words.count(ours.tuples, 'tuple')} at {words.rate(ours.rate)}, {values}, {punctuations}"
    return Fact("seen", text, counts | {"per_second": ours.rate})


def state(bounded_by: str, is_bounded: bool, size: str, tuples: float | None, ours: StreamStatistics | None) -> Fact:
    """What bounds the state, and how large it will be if that is known; `size` says how well."""
    if tuples is None or ours is None:
        return Fact("state", bounded_by, {"bounded": is_bounded})
    nbytes = bytes_of(tuples, ours)
    text = f"{bounded_by}; {size} {words.count(round(tuples), 'tuple')}, {show_size(round(nbytes))}"
    return Fact("state", text, {"bounded": is_bounded, "tuples": tuples, "bytes": nbytes})


def _limits(stream: StreamSpec) -> Iterator[Fact]:
    """Other options of a stream, where they are not the default ones."""
    if stream.order is not None:
        yield Fact("order", f"equal times by {stream.order}")
    if stream.max_ahead_us is not None:
        yield Fact("ahead", f"rejected if more than {show_duration(stream.max_ahead_us)} ahead")
    if stream.idle_after_us is not None:
        yield Fact("idle", f"after {show_duration(stream.idle_after_us)} of silence, others move its watermark")
    if stream.on_violation is not OnViolation.REJECT:
        yield Fact("broken promises", str(stream.on_violation.value))


def _punctuations(spec: JoinSpec, side: int, known: PlannedInput) -> Fact:
    """Where they come from, and whom they help to forget."""
    sources = _sources(spec.streams[side], known)
    others = [stream.name for place, stream in enumerate(spec.streams) if place != side]
    if not spec.streams[side].punctuated:
        used = ", since its key is not that of its input" if spec.streams[side].is_output else ""
    elif not spec.algorithm.by_punctuation:
        used = f"; {spec.algorithm.name} does not use them"
    elif spec.how is JoinType.UNION and others:
        used = "; a value is over in the union once all its streams have ended it"
    else:
        used = f"; they purge {words.listed(others)}" if others else ""
    return Fact("punctuations", f"from {', '.join(sources) or 'nowhere'}{used}", {"sources": sources}, is_flow=True)


def _sources(stream: StreamSpec, known: PlannedInput) -> list[str]:
    """Where the punctuations of a stream come from, in words."""
    if stream.is_output:
        return ["its input"] if stream.punctuated else []
    found = [f"flag {stream.flag!r}"] if stream.flag is not None else []
    found += ["unique keys"] if stream.unique else []
    found += ["clustered keys"] if stream.clustered else []
    found += [f"rows with patterns in {known.pattern_column!r}"] if known.pattern_column is not None else []
    return found + [f"endings announced apart ({', '.join(key)} at {time})" for key, time in known.endings]

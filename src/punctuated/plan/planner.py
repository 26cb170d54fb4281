"""The planner: makes the plan of a join, of a union, or of groups, as one tree of nodes.

All kinds of joins have the same tree: a node for the join, and below it a node for each stream. A stream that is the
output of another join has the plan of that join below it. Joins of two streams, joins of many streams and unions differ
in the title, in how long a tuple waits, and in what bounds the state.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from punctuated.expressions.nodes import Expression
from punctuated.model.memory import show_size
from punctuated.model.reach import farthest
from punctuated.model.shed import Shed
from punctuated.model.spec import LEFT, JoinSpec, JoinType, OnViolation, StreamSpec
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import show_duration
from punctuated.operator.family import family_of
from punctuated.operator.windows.predicate import RangePredicate
from punctuated.output.groups.grouping import Grouping, contains_key
from punctuated.plan.bounds import is_unbounded, output_rule, punctuates, show_bound
from punctuated.plan.optimizer import compare_structures, other_states
from punctuated.plan.statistics import StreamStatistics, bytes_of, expected_state, largest_state
from punctuated.plan.tree import (
    Fact,
    NodeKind,
    PlanNode,
    show_count,
    show_cpu,
    show_lateness,
    show_names,
    show_rate,
    show_window,
)

Statistics = Sequence[StreamStatistics] | None  # of all streams; None before there are rows


@dataclass(frozen=True)
class PlannedInput:
    """What a plan says of an input beside its declaration."""

    pattern_column: str | None = None
    endings: tuple[tuple[tuple[str, ...], str], ...] = ()  # key and time columns of streams that announce its endings
    facts: tuple[Fact, ...] = ()  # how its rows are read: by which way, which rows, and which columns
    origin: PlanNode | None = None  # the join or the groups whose output it is


# Joins and unions


def plan_join(
    spec: JoinSpec,
    inputs: Sequence[PlannedInput],
    statistics: Statistics,
    where: Expression | None,
    ranged: RangePredicate | None,
    runs: Sequence[Fact] = (),
) -> PlanNode:
    """The plan of a join or a union, with estimates if there are statistics; `runs` says where and how it runs."""
    facts = [
        *([] if where is None else [Fact("where", repr(where))]),
        *(Fact(each.what, each.text, each.data) for each in family_of(spec).explain(spec)),
        *([] if spec.shed is None else [Fact("sheds", _show_shed(spec.shed))]),
        *([] if spec.reaches else _costs(spec, ranged, statistics)),
    ]
    if spec.memory is not None:
        facts.append(Fact("memory", f"{spec.memory}; beyond that, values that were not touched for long wait on disk"))
    if statistics is None:
        facts.append(Fact("estimates", "none, since rates are known only once there are rows"))
    children = tuple(_plan_stream(spec, side, inputs[side], statistics) for side in spec.sides)
    facts += [*runs, output_rule(spec)]
    return PlanNode(NodeKind.JOIN, _title(spec), tuple(facts), children, punctuates=punctuates(spec))


def _title(spec: JoinSpec) -> str:
    names = [stream.name for stream in spec.streams]
    if spec.how is JoinType.UNION:
        title = f"union of {show_names(names)}" if len(names) > 1 else f"{names[0]} by itself"
        return f"{title}, by {', '.join(spec.left.key)}" if spec.left.key else title
    outer = " outer" if spec.how in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL) else ""
    keys = zip(*(stream.key for stream in spec.streams), strict=True)
    shown = [columns[0] if len(set(columns)) == 1 else " = ".join(columns) for columns in keys]
    return f"{spec.how.value}{outer} join of {show_names(names)}{' on ' if shown else ''}{', '.join(shown)}"


def _show_shed(shed: Shed) -> str:
    limits = [f"more than {shed.rate:g} tuples per second" if shed.rate is not None else ""]
    limits += [f"more than {shed.tuples:g} stored tuples" if shed.tuples is not None else ""]
    limits += [f"what takes longer than {show_duration(shed.trigger_us)}" if shed.trigger_us is not None else ""]
    return f"{' and '.join(filter(None, limits))}, strategy {shed.strategy}, floor {shed.floor:g}, seed {shed.seed}"


def _costs(spec: JoinSpec, ranged: RangePredicate | None, statistics: Statistics) -> Iterator[Fact]:
    """What a join of two streams costs, and what it would cost or hold if it were carried out in other ways."""
    compared = compare_structures(spec, ranged, statistics)
    if compared is not None and compared.chosen in compared.costs:
        cost = compared.costs[compared.chosen]
        yield Fact("cost", f"{compared.chosen}, {show_cpu(cost)} of CPU per minute", {"cpu_s_per_minute": cost})
    if compared is not None and compared.others:
        costs = compared.costs
        shown = ", ".join(f"{name} {show_cpu(costs[name])}" if costs else name for name in compared.others)
        unknown = "" if costs else "; costs depend on rates that are measured while it runs"
        yield Fact("other candidates", shown + unknown, {"cpu_s_per_minute": dict(costs)})
    states = other_states(spec, statistics)
    if states:
        shown = ", ".join(f"{name} {show_count(round(tuples), 'tuple')}" for name, tuples in states.items())
        yield Fact("state by other algorithms", shown, {"tuples": states})


# Streams


def _plan_stream(spec: JoinSpec, side: int, known: PlannedInput, statistics: Statistics) -> PlanNode:
    """The node of an input of a join."""
    stream, ours = spec.streams[side], None if statistics is None else statistics[side]
    role = f"stream {side + 1}" if spec.reaches else "left stream" if side == LEFT else "right stream"
    facts = (
        _key(stream),
        *known.facts,
        _waiting(spec, side),
        *([] if ours is None else [_seen(ours)]),
        *_options(stream),
        _punctuations(spec, side, known),
        _state(spec, side, statistics),
    )
    children = () if known.origin is None else (known.origin,)
    title = f"{stream.name}: {role}"
    return PlanNode(NodeKind.STREAM, title, facts, children, punctuates=stream.punctuated, name=stream.name)


def _key(stream: StreamSpec) -> Fact:
    time = None if stream.is_output else stream.time
    text = ", ".join(stream.key) or "none"
    shown = text if time is None else f"{text}; time: {time}"
    return Fact("key", shown, {"columns": list(stream.key), "time": time})


def _waiting(spec: JoinSpec, side: int) -> Fact:
    """How long a tuple stays joinable, and how late it may be."""
    stream = spec.streams[side]
    if spec.how is JoinType.UNION:
        return Fact("times", show_lateness(stream), {"lateness_us": stream.lateness_us})
    if not spec.reaches:
        window = {} if stream.window is None else asdict(stream.window)
        text = f"{show_window(stream)}; {show_lateness(stream)}"
        return Fact("window", text, {**window, "lateness_us": stream.lateness_us})
    far = farthest(spec.reaches)[side]
    others = {spec.streams[j].name: far[j] for j in spec.sides if j != side}
    spans = {name: None if us == UNBOUNDED else us for name, us in others.items()}
    return Fact("waits for", f"{_show_spans(others)}; {show_lateness(stream)}", {"up_to_us": spans})


def _show_spans(spans_us: Mapping[str, int]) -> str:
    """How much later the tuples of other streams may be; streams with equal spans are listed together."""
    names: dict[int, list[str]] = {}
    for name, us in spans_us.items():
        names.setdefault(us, []).append(name)
    spans = {us: "without end" if us == UNBOUNDED else f"up to {show_duration(us)} later" for us in names}
    return ", ".join(f"{show_names(names[us])} {span}" for us, span in spans.items())


def _seen(ours: StreamStatistics) -> Fact:
    """What was found in the data of a stream."""
    counts = {"tuples": ours.tuples, "distinct_values": ours.distinct_values, "punctuations": ours.punctuations}
    values, punctuations = show_count(ours.distinct_values, "value"), show_count(ours.punctuations, "punctuation")
    text = f"{show_count(ours.tuples, 'tuple')} at {show_rate(ours.rate)}, {values}, {punctuations}"
    return Fact("seen", text, counts | {"per_second": ours.rate})


def _options(stream: StreamSpec) -> Iterator[Fact]:
    """The other options of a stream that differ from their defaults."""
    if stream.order is not None:
        yield Fact("order", f"equal times by {stream.order}")
    if stream.max_ahead_us is not None:
        yield Fact("ahead", f"rejected if more than {show_duration(stream.max_ahead_us)} ahead")
    if stream.idle_after_us is not None:
        yield Fact("idle", f"after {show_duration(stream.idle_after_us)} of silence, others move its watermark")
    if stream.on_violation is not OnViolation.REJECT:
        yield Fact("broken promises", str(stream.on_violation.value))


def _punctuations(spec: JoinSpec, side: int, known: PlannedInput) -> Fact:
    """Where the punctuations of a stream come from, and what the join does with them."""
    sources = _sources(spec.streams[side], known)
    others = [spec.streams[j].name for j in spec.sides if j != side]
    if not spec.streams[side].punctuated:
        used = ", since its key is not that of its input" if spec.streams[side].is_output else ""
    elif not spec.algorithm.by_punctuation:
        used = f"; {spec.algorithm.name} does not use them"
    elif spec.how is JoinType.UNION and others:
        used = "; a value is over in the union once all its streams have ended it"
    else:
        used = f"; they purge {show_names(others)}" if others else ""
    return Fact("punctuations", f"from {', '.join(sources) or 'nowhere'}{used}", {"sources": sources}, is_flow=True)


def _sources(stream: StreamSpec, known: PlannedInput) -> list[str]:
    """The sources of a stream's punctuations."""
    if stream.is_output:
        return ["its input"] if stream.punctuated else []
    found = [f"flag {stream.flag!r}"] if stream.flag is not None else []
    found += ["unique keys"] if stream.unique else []
    found += ["clustered keys"] if stream.clustered else []
    found += [f"rows with patterns in {known.pattern_column!r}"] if known.pattern_column is not None else []
    return found + [f"endings announced apart ({', '.join(key)} at {time})" for key, time in known.endings]


def _state(spec: JoinSpec, side: int, statistics: Statistics) -> Fact:
    """What bounds the state of a stream, and how large the state will be if that can be estimated."""
    text, data = show_bound(spec, side), {"bounded": not is_unbounded(spec, side)}
    if statistics is None or spec.how is JoinType.UNION:
        return Fact("state", text, data)
    estimate, quality = (largest_state, "at most about") if spec.reaches else (expected_state, "about")
    tuples = estimate(spec, side, statistics)
    nbytes = bytes_of(tuples, statistics[side])
    size = f"{quality} {show_count(round(tuples), 'tuple')}, {show_size(round(nbytes))}"
    return Fact("state", f"{text}; {size}", {**data, "tuples": tuples, "bytes": nbytes})


# Groups


def plan_groups(
    joined: PlanNode, key: Sequence[str], grouping: Grouping, runs: Sequence[Fact] = (), *, is_one_group: bool = False
) -> PlanNode:
    """The plan of groups over the plan of their join; `key` is the key of its results, `runs` says where they run."""
    calls = [f"{name} = {each.function}({each.column or ''})" for name, each in grouping.aggregates.items()]
    punctuates = joined.punctuates and contains_key(grouping.by, key)
    facts = (
        *([Fact("aggregates", ", ".join(calls))] if calls else []),
        *_finished(grouping, _when_over(joined, key, punctuates), punctuates),
        *runs,
    )
    kind = "distinct" if grouping.is_distinct else "groups by"
    title = "one group of all rows" if is_one_group else f"{kind} {', '.join(grouping.by)}"
    return PlanNode(NodeKind.GROUPS, title, facts, (joined,), punctuates=punctuates)


def _finished(grouping: Grouping, when: str, is_ended: bool) -> tuple[Fact, Fact]:
    """When a group comes out, and what is kept until it is over."""
    ends = {"before_the_end": is_ended}
    if grouping.is_distinct:
        first = Fact("out", "each combination when it first appears")
        return first, Fact("state", f"one row for each combination; forgotten {when}", ends)
    return Fact("final", when, ends, is_flow=True), Fact("state", "one row for each group that is not final")


def _when_over(joined: PlanNode, key: Sequence[str], is_ended: bool) -> str:
    if is_ended:
        return f"when its key ({', '.join(key)}) is over in the output of the join"
    streams = {1: "the stream has", 2: "both streams have"}.get(len(joined.children), "all streams have")
    return f"only when {streams} ended"

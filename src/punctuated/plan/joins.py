"""What a union of streams does, or one stream by itself, and its inputs, as parts of a node of the plan."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from punctuated.model.expression import Expression
from punctuated.model.reach import farthest
from punctuated.model.shed import Shed
from punctuated.model.spec import LEFT, JoinSpec, JoinType, Side, StreamSpec
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import show_duration
from punctuated.operator.family import family_of
from punctuated.operator.windows.predicate import RangePredicate
from punctuated.output.groups.grouping import Grouping, contains_key
from punctuated.plan import tree as words
from punctuated.plan.bounds import Bound, Proof, bound, is_unbounded_among, output_rule, punctuates
from punctuated.plan.inputs import PlannedInput, plan_stream, seen, state
from punctuated.plan.optimizer import other_states, weigh
from punctuated.plan.statistics import StreamStatistics, expected_state, most_state
from punctuated.plan.tree import Fact, Kind, PlanNode

_STATE = "no tuples, only which values are over"
Statistics = Sequence[StreamStatistics] | None


def plan_union(
    spec: JoinSpec, inputs: Sequence[PlannedInput], statistics: Sequence[StreamStatistics] | None
) -> tuple[str, tuple[Fact, ...], tuple[PlanNode, ...]]:
    """The title of the union, what is known of it, and the nodes of its inputs."""
    names = [stream.name for stream in spec.streams]
    title = f"union of {words.listed(names)}" if len(names) > 1 else f"{names[0]} by itself"
    key = f", by {', '.join(spec.left.key)}" if spec.left.key else ""
    children = tuple(_stream_of_union(spec, side, inputs[side], statistics) for side in spec.sides)
    return title + key, (), children


def _stream_of_union(
    spec: JoinSpec, side: int, known: PlannedInput, statistics: Sequence[StreamStatistics] | None
) -> PlanNode:
    stream, ours = spec.streams[side], statistics and statistics[side]
    found = (seen(ours),) if ours else ()
    late = Fact("times", words.lateness(stream), {"lateness_us": stream.lateness_us})
    kept = state(_STATE, True, "", None, None)
    return plan_stream(spec, side, known, f"stream {side + 1}", late, *found, kept)


# What a join of any number of streams does, and its inputs, as parts of a node of the plan.


def plan_many(
    spec: JoinSpec, inputs: Sequence[PlannedInput], statistics: Sequence[StreamStatistics] | None
) -> tuple[str, tuple[Fact, ...], tuple[PlanNode, ...]]:
    """The title of the join, what is known of it, and the nodes of its inputs."""
    names = [stream.name for stream in spec.streams]
    keys = zip(*(stream.key for stream in spec.streams), strict=True)
    shown = [columns[0] if len(set(columns)) == 1 else " = ".join(columns) for columns in keys]
    title = f"inner join of {words.listed(names)}{' on ' if shown else ''}{', '.join(shown)}"
    children = tuple(_stream_of_many(spec, side, inputs[side], statistics) for side in spec.sides)
    return title, _algorithm(spec), children


def _stream_of_many(
    spec: JoinSpec, side: int, known: PlannedInput, statistics: Sequence[StreamStatistics] | None
) -> PlanNode:
    far, stream, ours = farthest(spec.reaches)[side], spec.streams[side], statistics and statistics[side]
    reach = {each.name: None if us == UNBOUNDED else us for each, us in zip(spec.streams, far, strict=True)}
    reaches = {"up_to_us": {name: us for name, us in reach.items() if name != stream.name}}
    waits = Fact("waits for", f"{_waits_for(spec, side, far)}; {words.lateness(stream)}", reaches)
    found = (seen(ours),) if ours else ()
    most = most_state(spec, side, statistics) if statistics else None
    is_bounded = not is_unbounded_among(spec, side)
    bounded_by = _bounded_among(spec, side, far) if is_bounded else "unbounded until others end"
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


def _bounded_among(spec: JoinSpec, side: int, far: Sequence[int]) -> str:
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


# A join of two streams as a node of the plan, its inputs below it.


def plan_join(
    spec: JoinSpec,
    inputs: Sequence[PlannedInput],
    statistics: Statistics,
    where: Expression | None,
    ranged: RangePredicate | None,
    runs: Sequence[Fact] = (),
) -> PlanNode:
    """The plan of a join, with estimates if there are statistics of the data; `runs` says where and how it runs."""
    extra = () if where is None else (Fact("where", repr(where)),)
    if spec.reaches:
        plan = plan_union if spec.how is JoinType.UNION else plan_many
        title, facts, children = plan(spec, inputs, statistics)
    else:
        title, children = _title(spec), tuple(_stream(spec, side, inputs[side], statistics) for side in Side)
        facts = (*_algorithm(spec), *_shedding(spec), *_costs(spec, ranged, statistics))
    facts = (*extra, *facts, *_memory(spec), *_estimates(statistics), *runs, output_rule(spec))
    return PlanNode(Kind.JOIN, title, facts, children, punctuates=punctuates(spec))


def _title(spec: JoinSpec) -> str:
    outer = " outer" if spec.how in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL) else ""
    keys = [a if a == b else f"{a} = {b}" for a, b in zip(spec.left.key, spec.right.key, strict=True)]
    on = f" on {', '.join(keys)}" if keys else ""
    return f"{spec.how.value}{outer} join of {spec.left.name} and {spec.right.name}{on}"


# How it is joined


def _algorithm(spec: JoinSpec) -> tuple[Fact, ...]:
    return tuple(Fact(each.what, each.text, each.data) for each in family_of(spec).explain(spec))


def _shedding(spec: JoinSpec) -> tuple[Fact, ...]:
    return () if spec.shed is None else (Fact("sheds", _limits(spec.shed)),)


def _limits(shed: Shed) -> str:
    limits = [f"more than {shed.rate:g} tuples per second" if shed.rate is not None else ""]
    limits += [f"more than {shed.tuples:g} stored tuples" if shed.tuples is not None else ""]
    limits += [f"what takes longer than {show_duration(shed.trigger_us)}" if shed.trigger_us is not None else ""]
    return f"{' and '.join(filter(None, limits))}, strategy {shed.strategy}, floor {shed.floor:g}, seed {shed.seed}"


def _memory(spec: JoinSpec) -> list[Fact]:
    if spec.memory is None:
        return []
    return [Fact("memory", f"{spec.memory}; beyond that, values that were not touched for long wait on disk")]


# What it costs


def _costs(spec: JoinSpec, ranged: RangePredicate | None, statistics: Statistics) -> Iterator[Fact]:
    weighed = weigh(spec, ranged, statistics)
    if weighed is not None and weighed.chosen in weighed.costs:
        cost = weighed.costs[weighed.chosen]
        yield Fact("cost", f"{weighed.chosen}, {words.cpu(cost)} of CPU per minute", {"cpu_s_per_minute": cost})
    if weighed is not None and weighed.others:
        shown = ", ".join(
            f"{name} {words.cpu(weighed.costs[name])}" if weighed.costs else name for name in weighed.others
        )
        unknown = "" if weighed.costs else "; costs depend on rates that are measured while it runs"
        yield Fact("other candidates", shown + unknown, {"cpu_s_per_minute": dict(weighed.costs)})
    states = other_states(spec, statistics)
    if states:
        shown = ", ".join(f"{name} {words.count(round(tuples), 'tuple')}" for name, tuples in states.items())
        yield Fact("state by other algorithms", shown, {"tuples": states})


def _estimates(statistics: Statistics) -> list[Fact]:
    if statistics is not None:
        return []
    return [Fact("estimates", "none, since rates are known only once there are rows")]


# Its inputs


def _stream(spec: JoinSpec, side: Side, known: PlannedInput, statistics: Statistics) -> PlanNode:
    stream, proofs = spec.streams[side], bound(spec, side)
    ours = None if statistics is None else statistics[side]
    tuples = None if statistics is None else expected_state(spec, side, statistics)
    window = Fact("window", f"{words.window(stream)}; {words.lateness(stream)}", _window(stream))
    found = () if ours is None else (seen(ours),)
    bounded_by = state(_bounded_by(proofs), not proofs.is_missing, "about", tuples, ours)
    return plan_stream(spec, side, known, f"{'left' if side == LEFT else 'right'} stream", window, *found, bounded_by)


def _window(stream: StreamSpec) -> dict[str, Any]:
    """A window for machines."""
    own = {} if stream.window is None else asdict(stream.window)
    return {**own, "lateness_us": stream.lateness_us}


def _bounded_by(found: Bound) -> str:
    """The proofs in words."""
    bounds = {
        Proof.COUNT_WINDOW: "its count window",
        Proof.WINDOW: f"its window as {found.prover} goes on",
        Proof.PUNCTUATIONS: f"{found.prover}'s punctuations",
    }
    if found.is_missing:
        return f"unbounded until {found.prover} ends"
    kept = f"; keys that never come in {found.prover} stay until it ends" if found.leaves_strangers else ""
    return "bounded by " + " and ".join(bounds[proof] for proof in found.proofs) + kept


# Groups of a join as a node of the plan: what they hold, and what finishes them.


def plan_groups(
    joined: PlanNode, key: Sequence[str], grouping: Grouping, runs: Sequence[Fact] = (), *, is_one_group: bool = False
) -> PlanNode:
    """The plan of groups over the plan of their join, whose results have this key; `runs` says where they are made."""
    calls = [f"{name} = {each.function}({each.column or ''})" for name, each in grouping.aggregates.items()]
    computed = (Fact("aggregates", ", ".join(calls)),) if calls else ()
    punctuates = joined.punctuates and contains_key(grouping.by, key)
    when = _ended(joined, key, punctuates)
    facts = (*computed, *(_distinct if grouping.is_distinct else _final)(when, punctuates), *runs)
    kind = "distinct" if grouping.is_distinct else "groups by"
    title = "one group of all rows" if is_one_group else f"{kind} {', '.join(grouping.by)}"
    return PlanNode(Kind.GROUPS, title, facts, (joined,), punctuates=punctuates)


def _final(when: str, is_ended: bool) -> tuple[Fact, Fact]:
    """What finishes a group, and what is kept until then."""
    final = Fact("final", when, {"before_the_end": is_ended}, is_flow=True)
    return final, Fact("state", "one row for each group that is not final")


def _distinct(when: str, is_ended: bool) -> tuple[Fact, Fact]:
    """When a combination comes out, and how long it is remembered."""
    first = Fact("out", "each combination when it first appears")
    return first, Fact("state", f"one row for each combination; forgotten {when}", {"before_the_end": is_ended})


def _ended(joined: PlanNode, key: Sequence[str], is_ended: bool) -> str:
    if is_ended:
        return f"when its key ({', '.join(key)}) is over in the output of the join"
    streams = {1: "the stream has", 2: "both streams have"}.get(len(joined.children), "all streams have")
    return f"only when {streams} ended"

"""A join of two streams as a node of the plan, its inputs below it."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from punctuated.join.tactics.range_predicate import RangePredicate
from punctuated.model.algorithm import STRUCTURES
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.predicate import Expression
from punctuated.model.shed import Shed
from punctuated.model.side import LEFT, Side
from punctuated.model.size import show_size
from punctuated.model.spec import JoinSpec, JoinType, StreamSpec
from punctuated.model.window import show_duration
from punctuated.plan import words
from punctuated.plan.bounds import Bound, Proof, bound
from punctuated.plan.many_plan import plan_many
from punctuated.plan.optimizer import other_states, weigh
from punctuated.plan.output_rule import output_rule, punctuates
from punctuated.plan.statistics import StreamStatistics, expected_state
from punctuated.plan.stream_plan import PlannedInput, plan_stream, seen, state
from punctuated.plan.tree import Fact, Kind, PlanNode
from punctuated.plan.union_plan import plan_union

Statistics = Sequence[StreamStatistics] | None


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
        facts = (*_algorithm(spec), *_costs(spec, ranged, statistics))
    facts = (*extra, *facts, *_memory(spec), *_estimates(statistics), *runs, output_rule(spec))
    return PlanNode(Kind.JOIN, title, facts, children, punctuates=punctuates(spec))


def _title(spec: JoinSpec) -> str:
    outer = " outer" if spec.how in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL) else ""
    keys = [a if a == b else f"{a} = {b}" for a, b in zip(spec.left.key, spec.right.key, strict=True)]
    on = f" on {', '.join(keys)}" if keys else ""
    return f"{spec.how.value}{outer} join of {spec.left.name} and {spec.right.name}{on}"


# How it is joined


def _algorithm(spec: JoinSpec) -> Iterator[Fact]:
    name = spec.algorithm.name
    yield Fact("algorithm", f"{name}, purge {_purge(spec)}", {"name": name, "adaptive": spec.adaptive})
    if spec.algorithm.structures is not None:
        pairs = zip(spec.algorithm.structures, spec.streams, strict=True)
        named = [f"{STRUCTURES[letter]} on {stream.name}" for letter, stream in pairs]
        yield Fact("structures", ", ".join(named) + ("; may change while it runs" if spec.adaptive else ""))
    if spec.policy is not None:
        yield Fact("stages", _stages(spec.policy, spec.memory))
    if spec.shed is not None:
        yield Fact("sheds", _limits(spec.shed))


def _purge(spec: JoinSpec) -> str:
    if not spec.algorithm.by_punctuation:
        return "by window only" if spec.algorithm.by_window else "never"
    threshold = spec.purge_threshold if spec.policy is None else spec.policy.threshold
    return "at every punctuation" if threshold == 1 else f"at every {threshold} punctuations"


def _stages(policy: Policy, memory: Memory | None) -> str:
    limit = "all tuples in memory"
    if memory is not None:
        size = show_size(memory.nbytes) if memory.nbytes is not None else f"{memory.tuples:,} tuples"
        limit = f"{size} in memory, the rest on disk"
    silence = "" if policy.silence_us is None else f", or silent for {show_duration(policy.silence_us)}"
    return f"{limit}; a disk join when a batch is empty{silence}, and when a stream ends"


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

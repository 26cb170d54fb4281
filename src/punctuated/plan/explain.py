"""What a join will do, in words: the plan, what bounds each state, and what to expect of it."""

from collections.abc import Sequence

from punctuated.model.algorithm import STRUCTURES, Propagation
from punctuated.model.memory import Memory
from punctuated.model.policy import Policy
from punctuated.model.shed import Shed
from punctuated.model.side import LEFT, Side
from punctuated.model.size import show_size
from punctuated.model.spec import JoinSpec, JoinType, StreamSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.plan.bounds import Bound, Proof, bound
from punctuated.plan.statistics import StreamStatistics, expected_state

_BOTH = "when both streams have ended a value"
_RULES = {
    Propagation.NONE: "none",
    Propagation.REGULAR: _BOTH,
    Propagation.EARLY: f"{_BOTH}, or its last tuple has left the window",
    Propagation.OWN_STATE: f"{_BOTH}, or the ending one stores none of it",
}


def explain(
    spec: JoinSpec, statistics: Sequence[StreamStatistics] | None, where: str | None, choice: Sequence[str] = ()
) -> str:
    """The plan as text, with estimates if there are statistics of the data; `choice` are lines on what was weighed."""
    keys = ", ".join(f"{a} = {b}" for a, b in zip(spec.left.key, spec.right.key, strict=True))
    lines = [f"{_title(spec.how)} join of {spec.left.name} and {spec.right.name}{' on ' if keys else ''}{keys}"]
    if where is not None:
        lines.append(f"  where {where}")
    lines.append(f"  algorithm: {spec.algorithm.name}, purge {_purge(spec)}")
    if spec.algorithm.structures is not None:
        named = [
            f"{STRUCTURES[letter]} on {stream.name}"
            for letter, stream in zip(spec.algorithm.structures, spec.streams, strict=True)
        ]
        lines.append(f"  structures: {', '.join(named)}")
    if spec.policy is not None:
        lines.append(f"  stages: {_stages(spec.policy, spec.memory)}")
    lines += choice
    if spec.shed is not None:
        lines.append(f"  sheds: {_limits(spec.shed)}")
    lines += describe_memory(spec)
    for side in Side:
        lines += _describe(spec, side, statistics)
    lines.append(f"  output punctuations: {output_rule(spec)}")
    return "\n".join(lines)


def describe_memory(spec: JoinSpec) -> list[str]:
    """What is kept in memory and where the rest goes, if there is a limit."""
    if spec.memory is None:
        return []
    return [f"  memory: {spec.memory}; beyond that, values that were not touched for long wait on disk"]


def output_rule(spec: JoinSpec) -> str:
    """When values are over in the output, in words."""
    told = any(stream.punctuated for stream in spec.streams)
    rule = _RULES[spec.algorithm.propagation]
    rule = rule if len(spec.streams) == 2 else rule.replace("both streams", "all streams")
    return rule if told else "none, since no stream brings any"


def _limits(shed: Shed) -> str:
    limits = [f"more than {shed.rate:g} tuples per second" if shed.rate is not None else ""]
    limits += [f"more than {shed.tuples:g} stored tuples" if shed.tuples is not None else ""]
    limits += [f"what takes longer than {seconds(shed.trigger_us)}" if shed.trigger_us is not None else ""]
    return f"{' and '.join(filter(None, limits))}, strategy {shed.strategy}, floor {shed.floor:g}, seed {shed.seed}"


def _stages(policy: Policy, memory: Memory | None) -> str:
    limit = "all tuples in memory"
    if memory is not None:
        size = show_size(memory.nbytes) if memory.nbytes is not None else f"{memory.tuples:,} tuples"
        limit = f"{size} in memory, the rest on disk"
    silence = "" if policy.silence_us is None else f", or silent for {seconds(policy.silence_us)}"
    return f"{limit}; a disk join when a batch is empty{silence}, and when a stream ends"


def _title(how: JoinType) -> str:
    outer = how in (JoinType.LEFT, JoinType.RIGHT, JoinType.FULL)
    return f"{how.value} outer" if outer else how.value


def _purge(spec: JoinSpec) -> str:
    if not spec.algorithm.by_punctuation:
        return "by window only" if spec.algorithm.by_window else "never"
    threshold = spec.purge_threshold if spec.policy is None else spec.policy.threshold
    return "at every punctuation" if threshold == 1 else f"at every {threshold} punctuations"


def _describe(spec: JoinSpec, side: Side, statistics: Sequence[StreamStatistics] | None) -> list[str]:
    stream = spec.streams[side]
    lines = [
        f"  {'left' if side == LEFT else 'right'} {stream.name}: {describe_window(stream)}, "
        f"{lateness(stream)}, punctuations from {describe_sources(stream)}"
    ]
    state = f"    state: {_describe_bound(bound(spec, side))}"
    if statistics is None:
        return [*lines, state]
    ours = statistics[side]
    return [
        *lines,
        f"    {_count(ours.tuples, 'tuple')} at {_rate(ours.rate)}, {_count(ours.distinct_values, 'value')}, "
        f"{_count(ours.punctuations, 'punctuation')}",
        f"{state}; about {expected_state(spec, side, statistics):,.0f} tuples",
    ]


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _rate(per_second: float) -> str:
    """In the unit that shows it best.

    >>> _rate(1234.5), _rate(1 / 7200)
    ('1,234.5/s', '12.0/day')
    """
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if per_second * seconds >= 1:
            return f"{per_second * seconds:,.1f}/{unit}"
    return f"{per_second * 86400:,.1f}/day"


def lateness(stream: StreamSpec) -> str:
    """How late its tuples may be, in words."""
    return "watermark of its join" if stream.is_output else f"lateness {seconds(stream.lateness_us)}"


def describe_window(stream: StreamSpec) -> str:
    """A window in words."""
    window = stream.window
    if isinstance(window, CountWindow):
        per = " of each key" if window.per_key else ", in one bucket"
        return f"last {window.n:,} tuples{per}"
    if isinstance(window, TimeWindow):
        start = f"{seconds(window.offset_us)} to " if window.offset_us else ""
        return f"window {start}{seconds(window.span_us)}"
    if isinstance(window, UntilWindow):
        return f"window until {window.column!r}"
    return "no window"


def describe_sources(stream: StreamSpec) -> str:
    """Where punctuations come from, in words."""
    said = [f"flag {stream.flag!r}"] if stream.flag is not None else []
    said += ["unique keys"] if stream.unique else []
    said += ["clustered keys"] if stream.clustered else []
    return ", ".join(said) or ("rows or endings" if stream.punctuated else "nowhere")


def seconds(us: int) -> str:
    """A duration in words."""
    return f"{us / 1e6:g} s"


def _describe_bound(found: Bound) -> str:
    """The proofs in words."""
    words = {
        Proof.COUNT_WINDOW: "its count window",
        Proof.WINDOW: f"its window as {found.prover} goes on",
        Proof.PUNCTUATIONS: f"{found.prover}'s punctuations",
    }
    if found.is_missing:
        return f"unbounded until {found.prover} ends"
    kept = f"; keys that never come in {found.prover} stay until it ends" if found.leaves_strangers else ""
    return "bounded by " + " and ".join(words[proof] for proof in found.proofs) + kept

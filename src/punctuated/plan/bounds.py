"""What a join forgets, and when its output is punctuated.

A tuple is forgotten once it is proved that no later tuple of another stream can match it: by a window, or by a
punctuation. A state without any such proof grows until the other streams end. The same proofs decide when a value is
over in the output, by all streams together (PW-08) or by one stream (PW-32, PJ-09).
"""

from dataclasses import dataclass
from enum import Enum

from punctuated.model.algorithm import Propagation
from punctuated.model.reach import farthest
from punctuated.model.spec import JoinSpec, JoinType, Side
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.plan.tree import Fact, show_names


class Proof(Enum):
    """Why a tuple may be forgotten."""

    COUNT_WINDOW = "count window"  # enough tuples came after it
    WINDOW = "window"  # the other stream is beyond its window
    PUNCTUATIONS = "punctuations"  # the other stream has ended its value


@dataclass(frozen=True)
class StateBound:
    """The proofs that bound the state of one stream of two, before the other stream, `prover`, ends."""

    proofs: tuple[Proof, ...]
    prover: str
    of_any_value: bool  # whether the other stream may end values of which it has no tuple

    @property
    def keeps_unmatched(self) -> bool:
        """Whether tuples whose values never come in the other stream stay until that stream ends."""
        return self.proofs == (Proof.PUNCTUATIONS,) and not self.of_any_value

    @property
    def is_missing(self) -> bool:
        """Whether only the end of the other stream bounds the state."""
        return not self.proofs


# What bounds a state


def state_bound(spec: JoinSpec, side: Side) -> StateBound:
    """What bounds the state of one stream in a join of two."""
    ours, other, algorithm = spec.streams[side], spec.streams[side.other], spec.algorithm
    holds = {
        Proof.COUNT_WINDOW: isinstance(ours.window, CountWindow),
        Proof.WINDOW: isinstance(ours.window, TimeWindow | UntilWindow) and algorithm.by_window,
        Proof.PUNCTUATIONS: other.punctuated and algorithm.by_punctuation,
    }
    return StateBound(tuple(proof for proof, does in holds.items() if does), other.name, other.ends_any)


def is_unbounded(spec: JoinSpec, side: int) -> bool:
    """Whether only the end of other streams bounds the state of a stream."""
    if spec.how is JoinType.UNION:
        return False
    return _is_unbounded_among_many(spec, side) if spec.reaches else state_bound(spec, Side(side)).is_missing


def _is_unbounded_among_many(spec: JoinSpec, side: int) -> bool:
    """Whether only the end of other streams bounds the state of a stream in a join of many.

    A tuple goes when each other stream has ended its value or is beyond its reach. It also goes with its value, when
    another stream that ends values has no tuple of that value left.
    """
    far, algorithm = farthest(spec.reaches), spec.algorithm
    ends = [stream.punctuated and algorithm.by_punctuation for stream in spec.streams]
    in_reach = [[algorithm.by_window and us != UNBOUNDED for us in row] for row in far]
    goes = [all(in_reach[i][j] or ends[j] for j in spec.sides if j != i) for i in spec.sides]
    return not goes[side] and not any(ends[j] and goes[j] for j in spec.sides if j != side)


def show_bound(spec: JoinSpec, side: int) -> str:
    """What bounds the state of a stream, as a text."""
    if spec.how is JoinType.UNION:
        return "no tuples, only which values are over"
    return _show_bound_among_many(spec, side) if spec.reaches else _show_bound_of_two(state_bound(spec, Side(side)))


def _show_bound_of_two(bound: StateBound) -> str:
    if bound.is_missing:
        return f"unbounded until {bound.prover} ends"
    texts = {
        Proof.COUNT_WINDOW: "its count window",
        Proof.WINDOW: f"its window as {bound.prover} goes on",
        Proof.PUNCTUATIONS: f"{bound.prover}'s punctuations",
    }
    kept = f"; keys that never come in {bound.prover} stay until it ends" if bound.keeps_unmatched else ""
    return "bounded by " + " and ".join(texts[proof] for proof in bound.proofs) + kept


def _show_bound_among_many(spec: JoinSpec, side: int) -> str:
    if is_unbounded(spec, side):
        return "unbounded until others end"
    far, algorithm = farthest(spec.reaches)[side], spec.algorithm
    others = [j for j in spec.sides if j != side]
    in_reach = [spec.streams[j].name for j in others if algorithm.by_window and far[j] != UNBOUNDED]
    ending = [spec.streams[j].name for j in others if spec.streams[j].punctuated and algorithm.by_punctuation]
    by = []
    if in_reach:
        some = f"{show_names(in_reach)} {'goes' if len(in_reach) == 1 else 'go'}"
        by.append(f"its reach as {'the others go' if len(in_reach) == len(others) else some} on")
    by += [f"punctuations of {show_names(ending)}"] if ending else []
    return f"bounded by {' and '.join(by)}"


# When a value is over in the output

_OWN_STATE_IS_EMPTY = {
    Propagation.EARLY: "its last tuple there is gone",
    Propagation.OWN_STATE: "none of it is stored there",
}


def punctuates(spec: JoinSpec) -> bool:
    """Whether the output can say that a value is over before a stream ends."""
    return bool(_output_rules(spec))


def output_rule(spec: JoinSpec) -> Fact:
    """When values are over in the output, as a fact of a plan."""
    rules = _output_rules(spec)
    text = f"when {', or '.join(rules)}" if rules else _why_no_rule(spec)
    return Fact("output punctuations", text, {"propagation": spec.algorithm.propagation.value}, is_flow=True)


def _output_rules(spec: JoinSpec) -> list[str]:
    """When a value is over: by all streams together (PW-08), or by one of them (PW-32, PJ-09)."""
    if spec.algorithm.propagation is Propagation.NONE:
        return []
    ending = [side for side in spec.sides if spec.streams[side].punctuated]
    early = [side for side in ending if spec.may_end_early(side)]
    rules = []
    if len(ending) == len(spec.streams):
        streams = {1: "the stream has", 2: "both streams have"}.get(len(spec.streams), "all streams have")
        rules.append(f"{streams} ended a value")
    if early:
        names, what = show_names([spec.streams[side].name for side in early], "or"), "it" if rules else "a value"
        rules.append(f"{names} has ended {what} and {_OWN_STATE_IS_EMPTY[spec.algorithm.propagation]}")
    return rules


def _why_no_rule(spec: JoinSpec) -> str:
    bringing = [stream.name for stream in spec.streams if stream.punctuated]
    if not bringing:
        return "none, since no stream brings any"
    if spec.algorithm.propagation is Propagation.NONE:
        return "none"
    streams = "both streams" if len(spec.streams) == 2 else "all streams"
    return f"none before a stream ends, since only {show_names(bringing)} brings any, and {streams} would have to"

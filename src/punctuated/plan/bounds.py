"""What bounds a side's state: the proofs by which its tuples are forgotten, and the stream that gives them."""

from dataclasses import dataclass
from enum import Enum

from punctuated.model.algorithm import Propagation
from punctuated.model.reach import farthest
from punctuated.model.spec import JoinSpec, Side
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.plan.tree import Fact, listed

_ALONE = {Propagation.EARLY: "its last tuple there is gone", Propagation.OWN_STATE: "none of it is stored there"}


class Proof(Enum):
    """Why a tuple may be forgotten."""

    COUNT_WINDOW = "count window"  # enough tuples came after it
    WINDOW = "window"  # the other stream is beyond its window
    PUNCTUATIONS = "punctuations"  # the other stream has ended its value


@dataclass(frozen=True)
class Bound:
    """The proofs that a side's tuples can have before the other stream, `prover`, ends."""

    proofs: tuple[Proof, ...]
    prover: str
    of_any_value: bool  # else the other stream ends only values that come there

    @property
    def leaves_strangers(self) -> bool:
        """Whether tuples whose values never come in the other stream stay until that ends."""
        return self.proofs == (Proof.PUNCTUATIONS,) and not self.of_any_value

    @property
    def is_missing(self) -> bool:
        """Whether nothing but the end of the other stream bounds the state."""
        return not self.proofs


def bound(spec: JoinSpec, side: Side) -> Bound:
    """What bounds the state of a side."""
    ours, other, algorithm = spec.streams[side], spec.streams[side.other], spec.algorithm
    holds = {
        Proof.COUNT_WINDOW: isinstance(ours.window, CountWindow),
        Proof.WINDOW: isinstance(ours.window, TimeWindow | UntilWindow) and algorithm.by_window,
        Proof.PUNCTUATIONS: other.punctuated and algorithm.by_punctuation,
    }
    return Bound(tuple(proof for proof, does in holds.items() if does), other.name, other.ends_any)


def is_unbounded_among(spec: JoinSpec, side: int) -> bool:
    """The same in a join of any number of streams.

    Tuples go when all others have ended their value or are beyond their reach; or with the value, when a stream that
    ends values has no tuple of it left.
    """
    far, algorithm = farthest(spec.reaches), spec.algorithm
    ends = [stream.punctuated and algorithm.by_punctuation for stream in spec.streams]
    near = [[algorithm.by_window and bound != UNBOUNDED for bound in row] for row in far]
    goes = [all(near[i][j] or ends[j] for j in spec.sides if j != i) for i in spec.sides]
    return not goes[side] and not any(ends[j] and goes[j] for j in spec.sides if j != side)


def is_unbounded(spec: JoinSpec, side: Side) -> bool:
    """Whether nothing but the end of the other stream bounds a side's state."""
    return bound(spec, side).is_missing


# When a join says that a value is over in its output.


def punctuates(spec: JoinSpec) -> bool:
    """Whether the output can say that a value is over before a stream ends."""
    return bool(_rules(spec))


def output_rule(spec: JoinSpec) -> Fact:
    """When values are over in the output, in words."""
    rules = _rules(spec)
    text = f"when {', or '.join(rules)}" if rules else _why_none(spec)
    return Fact("output punctuations", text, {"propagation": spec.algorithm.propagation.value}, is_flow=True)


def _rules(spec: JoinSpec) -> list[str]:
    """By all streams together (PW-08), or by one alone (PW-32, PJ-09)."""
    if spec.algorithm.propagation is Propagation.NONE:
        return []
    ending = [side for side in spec.sides if spec.streams[side].punctuated]
    alone = [side for side in ending if spec.may_end_early(side)]
    rules = []
    if len(ending) == len(spec.streams):
        rules.append(f"{_all_of(spec)} ended a value")
    if alone:
        names = listed([spec.streams[side].name for side in alone], "or")
        rules.append(f"{names} has ended {'it' if rules else 'a value'} and {_ALONE[spec.algorithm.propagation]}")
    return rules


def _why_none(spec: JoinSpec) -> str:
    bringing = [stream.name for stream in spec.streams if stream.punctuated]
    if not bringing:
        return "none, since no stream brings any"
    if spec.algorithm.propagation is Propagation.NONE:
        return "none"
    return f"none before a stream ends, since only {listed(bringing)} brings any, and {_all_would(spec)} have to"


def _all_of(spec: JoinSpec) -> str:
    return {1: "the stream has", 2: "both streams have"}.get(len(spec.streams), "all streams have")


def _all_would(spec: JoinSpec) -> str:
    return "both streams would" if len(spec.streams) == 2 else "all streams would"

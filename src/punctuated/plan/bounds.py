"""What bounds a side's state: the proofs by which its tuples are forgotten, and the stream that gives them."""

from dataclasses import dataclass
from enum import Enum

from punctuated.model.eternity import UNBOUNDED
from punctuated.model.reach import farthest
from punctuated.model.side import Side
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow


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

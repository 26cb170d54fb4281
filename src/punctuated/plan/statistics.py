"""What is known of streams, and what is to be expected of a join of them: tuples in its states, and its load."""

from collections.abc import Sequence
from dataclasses import dataclass

from punctuated.model.load import Observation
from punctuated.model.reach import farthest
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, Side
from punctuated.model.times import UNBOUNDED
from punctuated.model.window import CountWindow, TimeWindow
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import Proof, bound
from punctuated.plan.cost.waits import FOR_THE_WINDOW, Waits
from punctuated.plan.sizing import INDEX_BYTES


@dataclass(frozen=True)
class StreamStatistics:
    """What is known of a stream's data, `waits` being those for the other stream."""

    tuples: int
    seconds: float
    distinct_values: int
    punctuations: int
    waits: Waits = FOR_THE_WINDOW
    own_window_s: float | None = None  # on average, where every tuple has a window of its own
    row_bytes: float = 0.0  # of the columns of a tuple, on average

    @property
    def rate(self) -> float:
        """Tuples per second."""
        return self.tuples / self.seconds if self.seconds > 0 else float(self.tuples)


def n_values(statistics: Sequence[StreamStatistics]) -> int:
    """Distinct values of the stream that has more of them."""
    return max(1, *(each.distinct_values for each in statistics))


def expected_state(spec: JoinSpec, side: Side, statistics: Sequence[StreamStatistics]) -> float:
    """Tuples to expect in the state: what windows leave, less what the other stream's punctuations remove."""
    ours, window, proofs = statistics[side], spec.streams[side].window, bound(spec, side).proofs
    if isinstance(window, CountWindow):
        groups = max(1, ours.distinct_values) if window.per_key else 1
        return float(min(ours.tuples, window.n * groups))
    span_s = ours.seconds
    window_s = window.span_us / 1e6 if isinstance(window, TimeWindow) else ours.own_window_s
    if window_s is not None and Proof.WINDOW in proofs:
        # The other stream's watermark proves that a window has passed.
        span_s = min(span_s, window_s + spec.streams[side.other].lateness_us / 1e6)
    waits = ours.waits if Proof.PUNCTUATIONS in proofs else FOR_THE_WINDOW
    return waits.state(ours.rate, span_s)


def most_state(spec: JoinSpec, side: int, statistics: Sequence[StreamStatistics]) -> float:
    """The most to expect in a state of a join of any number of streams.

    A tuple waits until it is out of reach of all others, or all have ended its value. It goes earlier where one of them
    has ended it and has none of it left, which is not looked at here.
    """
    ours, far, algorithm = statistics[side], farthest(spec.reaches)[side], spec.algorithm
    reach_us = max((far[j] for j in spec.sides if j != side), default=0)
    span_s = ours.seconds
    if algorithm.by_window and reach_us != UNBOUNDED:
        lateness_us = max(stream.lateness_us for j, stream in enumerate(spec.streams) if j != side)
        span_s = min(span_s, (reach_us + lateness_us) / 1e6)
    waits = ours.waits if algorithm.by_punctuation else FOR_THE_WINDOW
    return waits.state(ours.rate, span_s)


def bytes_of(tuples: float, ours: StreamStatistics) -> float:
    """What so many stored tuples of a stream take, columns and index included."""
    return tuples * (ours.row_bytes + INDEX_BYTES)


def expected(spec: JoinSpec, statistics: Sequence[StreamStatistics]) -> Observation:
    """The load to expect: what comes, and what of it probes and is stored if the join sheds (KN-38)."""
    windows = expected_state(spec, LEFT, statistics), expected_state(spec, RIGHT, statistics)
    rates = statistics[LEFT].rate, statistics[RIGHT].rate
    probing, kept = rates, windows
    if spec.shed is not None:
        found_later = None if spec.shed.trigger_us is None else max(1.0, sum(rates))  # no limit is known yet
        probing, kept = shed_allocation(spec.shed)(rates, windows, found_later)
    left, right = (
        rate * min(1.0, some / all_of_it) if all_of_it else rate
        for rate, some, all_of_it in zip(rates, kept, windows, strict=True)
    )
    share = 1 / n_values(statistics) if spec.left.key else 0.0
    return Observation(rates, probing, (left, right), kept, (share * kept[LEFT], share * kept[RIGHT]))

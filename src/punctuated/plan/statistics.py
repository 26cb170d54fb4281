"""What is known of the data of streams, and what a join of them is expected to hold and to do.

Statistics come from tables, of which every tuple and every ending can be looked at. Before a stream has rows there are
none, and plans have no estimates. A state is the rate of a stream times the lifetime of its tuples, see
`plan.cost.cardinality`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.intake.prepare import key_columns, window_ends
from punctuated.keys.codec import KeyCodec, key_codec
from punctuated.model.batch import StreamBatch
from punctuated.model.load import Observation
from punctuated.model.punctuation import Punctuation, PunctuationKind, classify, named_values
from punctuated.model.reach import farthest
from punctuated.model.spec import LEFT, RIGHT, JoinSpec, Side, StreamSpec
from punctuated.model.times import UNBOUNDED, to_microseconds
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import Proof, state_bound
from punctuated.plan.cost.cardinality import WHOLE_WINDOW, Lifetime
from punctuated.plan.sizing import INDEX_BYTES

Ints = npt.NDArray[np.int64]
TimedCodes = tuple[Ints, Ints]  # codes of values, and times


@dataclass(frozen=True)
class StreamStatistics:
    """What is known of the data of a stream; `lifetime` is how long its tuples wait for the other streams."""

    tuples: int
    seconds: float
    distinct_values: int
    punctuations: int
    lifetime: Lifetime = WHOLE_WINDOW
    own_window_s: float | None = None  # mean length of the windows, if every tuple has a window of its own
    row_bytes: float = 0.0  # mean size of a tuple's columns

    @property
    def rate(self) -> float:
        """Tuples per second."""
        return self.tuples / self.seconds if self.seconds > 0 else float(self.tuples)


# What to expect of a join


def n_values(statistics: Sequence[StreamStatistics]) -> int:
    """The distinct values of the stream that has most of them; at least one."""
    return max(1, *(each.distinct_values for each in statistics))


def bytes_of(tuples: float, ours: StreamStatistics) -> float:
    """The memory that this many stored tuples of a stream take, columns and index included."""
    return tuples * (ours.row_bytes + INDEX_BYTES)


def expected_state(spec: JoinSpec, side: int, statistics: Sequence[StreamStatistics]) -> float:
    """Tuples in the state of one stream of two: those in its window, less those that punctuations purge."""
    ours, window, proofs = statistics[side], spec.streams[side].window, state_bound(spec, Side(side)).proofs
    if isinstance(window, CountWindow):
        groups = max(1, ours.distinct_values) if window.per_key else 1
        return float(min(ours.tuples, window.n * groups))
    span_s = ours.seconds
    window_s = window.span_us / 1e6 if isinstance(window, TimeWindow) else ours.own_window_s
    if window_s is not None and Proof.WINDOW in proofs:
        # The other stream's watermark proves that a window has passed.
        span_s = min(span_s, window_s + spec.streams[Side(side).other].lateness_us / 1e6)
    lifetime = ours.lifetime if Proof.PUNCTUATIONS in proofs else WHOLE_WINDOW
    return lifetime.state(ours.rate, span_s)


def largest_state(spec: JoinSpec, side: int, statistics: Sequence[StreamStatistics]) -> float:
    """An upper limit for the tuples in the state of one stream of many.

    A tuple stays until it is out of reach of all other streams, or all of them have ended its value. It goes earlier if
    one of them has ended the value and has no tuple of it left, which is not considered here.
    """
    ours, far, algorithm = statistics[side], farthest(spec.reaches)[side], spec.algorithm
    reach_us = max((far[j] for j in spec.sides if j != side), default=0)
    span_s = ours.seconds
    if algorithm.by_window and reach_us != UNBOUNDED:
        lateness_us = max(stream.lateness_us for j, stream in enumerate(spec.streams) if j != side)
        span_s = min(span_s, (reach_us + lateness_us) / 1e6)
    lifetime = ours.lifetime if algorithm.by_punctuation else WHOLE_WINDOW
    return lifetime.state(ours.rate, span_s)


def expected_load(spec: JoinSpec, statistics: Sequence[StreamStatistics]) -> Observation:
    """The load of a join of two: what arrives, and which part of it probes and is stored if the join sheds (KN-38)."""
    windows = expected_state(spec, LEFT, statistics), expected_state(spec, RIGHT, statistics)
    rates = statistics[LEFT].rate, statistics[RIGHT].rate
    probing, kept = rates, windows
    if spec.shed is not None:
        measured_later = None if spec.shed.trigger_us is None else max(1.0, sum(rates))  # no limit is known yet
        probing, kept = shed_allocation(spec.shed)(rates, windows, measured_later)
    left, right = (
        rate * min(1.0, some / complete) if complete else rate
        for rate, some, complete in zip(rates, kept, windows, strict=True)
    )
    share = 1 / n_values(statistics) if spec.left.key else 0.0
    return Observation(rates, probing, (left, right), kept, (share * kept[LEFT], share * kept[RIGHT]))


# Statistics of tables


def table_statistics(
    spec: JoinSpec, batches: Sequence[Sequence[StreamBatch]], key_types: Sequence[pa.DataType]
) -> tuple[StreamStatistics, ...]:
    """The statistics of all streams, from all their batches."""
    codec = key_codec(key_types)
    streams = [_StreamData.read(spec.streams[side], [each[side] for each in batches], codec) for side in spec.sides]
    return tuple(ours.statistics([other for other in streams if other is not ours]) for ours in streams)


@dataclass(frozen=True)
class _StreamData:
    """The tuples of a stream, and the values that it ends one by one."""

    spec: StreamSpec
    tuples: TimedCodes
    ends: TimedCodes
    n_tuples: int
    n_punctuations: int
    seconds: float
    own_window_s: float | None
    row_bytes: float

    @staticmethod
    def read(spec: StreamSpec, batches: Sequence[StreamBatch], codec: KeyCodec) -> "_StreamData":
        rows = pa.concat_tables([batch.rows for batch in batches])
        ts = to_microseconds(rows[spec.time], spec.time)
        seconds = float(ts.max() - ts.min()) / 1e6 if ts.size else 0.0
        own_window_s = _own_window_s(spec, rows, ts, seconds)
        row_bytes = rows.nbytes / len(rows) if len(rows) else 0.0
        if not spec.key:
            nothing = np.empty(0, np.int64), np.empty(0, np.int64)
            return _StreamData(spec, nothing, nothing, len(rows), 0, seconds, own_window_s, row_bytes)
        codes, valid = codec.encode([rows[name] for name in spec.key])
        tuples = codes[valid], ts[valid]
        ends = _concatenated([*_named_endings(spec, batches, codec), *_derived_endings(spec, rows, tuples, valid)])
        n_others = sum(
            _kind(spec, each) is not PunctuationKind.VALUES for batch in batches for each in batch.punctuations
        )
        n_punctuations = ends[0].size + n_others
        return _StreamData(spec, tuples, ends, len(rows), n_punctuations, seconds, own_window_s, row_bytes)

    def statistics(self, others: Sequence["_StreamData"]) -> StreamStatistics:
        return StreamStatistics(
            tuples=self.n_tuples,
            seconds=self.seconds,
            distinct_values=np.unique(self.tuples[0]).size,
            punctuations=self.n_punctuations,
            lifetime=self._lifetime(others),
            own_window_s=self.own_window_s,
            row_bytes=self.row_bytes,
        )

    def _lifetime(self, others: Sequence["_StreamData"]) -> Lifetime:
        """How long our tuples wait until all other streams have ended their values."""
        n = self.tuples[0].size
        if not n or not all(other.ends[0].size for other in others):
            return WHOLE_WINDOW
        known, waits = np.ones(n, np.bool_), np.full(n, np.iinfo(np.int64).min)
        for other in others:
            does_end, wait = self._waits_for(other)
            known, waits = known & does_end, np.maximum(waits, wait)
        kept = waits[known & (waits > 0)]
        mean_s = float(kept.mean()) / 1e6 if kept.size else 0.0
        return Lifetime(mean_s, ended=kept.size / n, over=(int(known.sum()) - kept.size) / n)

    def _waits_for(self, other: "_StreamData") -> tuple[npt.NDArray[np.bool_], Ints]:
        """The mask of our tuples whose values `other` ends, and how long they wait for its watermark to get there."""
        (codes, ts), (ended, at) = self.tuples, _first_of_each(other.ends)
        position = np.minimum(np.searchsorted(ended, codes), ended.size - 1)
        return ended[position] == codes, at[position] + other.spec.lateness_us - ts


def _own_window_s(spec: StreamSpec, rows: pa.Table, ts: Ints, seconds: float) -> float | None:
    """The mean length of windows that end by a column; a window without an end is as long as the stream."""
    if not isinstance(spec.window, UntilWindow) or not ts.size:
        return None
    lengths = np.maximum(window_ends(spec, rows, ts) - ts, 0) / 1e6
    return float(np.minimum(lengths, seconds).mean())


def _kind(spec: StreamSpec, punctuation: Punctuation) -> PunctuationKind:
    return classify(punctuation.patterns, spec.columns, spec.key, spec.time)


def _named_endings(spec: StreamSpec, batches: Sequence[StreamBatch], codec: KeyCodec) -> list[TimedCodes]:
    """The values that announced endings and rows with patterns end one by one."""
    found = []
    for batch in batches:
        for endings in batch.endings:
            codes, valid = codec.encode(endings.keys.columns)
            found.append((codes[valid], endings.ts.to_numpy()[valid]))
        for punctuation in batch.punctuations:
            if _kind(spec, punctuation) is PunctuationKind.VALUES:
                values = named_values(punctuation.patterns, spec.columns, spec.key)
                codes, _ = codec.encode(key_columns(values, codec.types))
                found.append((codes, np.full(codes.size, punctuation.ts, np.int64)))
    return found


def _derived_endings(
    spec: StreamSpec, rows: pa.Table, tuples: TimedCodes, valid: npt.NDArray[np.bool_]
) -> list[TimedCodes]:
    """The values that the tuples themselves end, by a flag or by a declared constraint."""
    found = []
    if spec.flag is not None:
        flagged = np.asarray(pc.fill_null(rows[spec.flag], False)).astype(np.bool_)[valid]
        found.append((tuples[0][flagged], tuples[1][flagged]))
    if spec.unique:
        found.append(tuples)
    if spec.clustered:  # a value ends with the tuple that follows its last one, which is close to it
        codes, times = tuples
        ended, last = _first_of_each((codes, -times))
        found.append((ended, -last))
    return found


def _concatenated(parts: Sequence[TimedCodes]) -> TimedCodes:
    nothing = np.empty(0, np.int64)
    codes, times = zip(*[(nothing, nothing), *parts], strict=True)
    return np.concatenate(codes), np.concatenate(times)


def _first_of_each(timed: TimedCodes) -> TimedCodes:
    """Each code once, in ascending order, with its earliest time."""
    codes, times = timed
    order = np.lexsort((times, codes))
    found, first = np.unique(codes[order], return_index=True)
    return found, times[order][first]

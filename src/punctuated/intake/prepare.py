"""From an input batch to arrays in the order of processing.

A batch of one stream is sorted by time, late tuples and those too far ahead are rejected, keys become codes, and
punctuations are sorted by what they end. Then the objects of all streams become one sequence. Everything is a function
of what the batch holds, not of the order in which it came.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.json_rows import render_values
from punctuated.intake.watermarks import BatchTimes, Boundaries, read_tick, times_of, with_codes
from punctuated.kernels import layout as lay
from punctuated.kernels.layout import UNBOUNDED, Ints, Objects
from punctuated.kernels.order import are_in_order, has_ties, is_sorted, merge_two, pack_object
from punctuated.keys.codec import KeyCodec
from punctuated.keys.pattern_match import typed_scalar
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import Pattern
from punctuated.model.punctuation import Punctuation, PunctuationKind, classify, named_values, time_floor
from punctuated.model.rejection import Rejection
from punctuated.model.spec import StreamSpec
from punctuated.model.times import LARGEST_TIME, PER_SECOND, to_microseconds
from punctuated.model.window import CountWindow, TimeWindow, UntilWindow

T = TypeVar("T", bound=np.generic)
Times = npt.NDArray[np.int64]
_NO_INTS = np.empty(0, np.int64)


def window_ends(stream: StreamSpec, rows: pa.Table, ts: Ints) -> Ints:
    """When the windows of these rows end, in microseconds; `ts` are their times.

    An empty window ends just before its tuple: up to then an earlier tuple may still come that meets it.
    """
    if isinstance(stream.window, TimeWindow):
        return ts + stream.window.span_us
    if not isinstance(stream.window, UntilWindow):
        return np.full(ts.size, UNBOUNDED)
    column = rows[stream.window.column].combine_chunks()
    ends = np.maximum(_microseconds(column), ts - 1)
    return np.where(np.asarray(column.is_valid()), ends, UNBOUNDED)


def _microseconds(column: pa.Array) -> Ints:
    """Ends are cut to the range of times, so that nothing overflows; what they admit stays the same."""
    known = pc.fill_null(column, pa.scalar(0, column.type))
    if column.type == pa.uint64():
        known = pc.min_element_wise(known, pa.scalar(LARGEST_TIME, pa.uint64()))
    numbers: Ints = np.asarray(known.cast(pa.int64()))
    per_second = PER_SECOND[column.type.unit] if pa.types.is_timestamp(column.type) else 1_000_000
    if per_second > 1_000_000:
        return numbers // (per_second // 1_000_000)
    factor = 1_000_000 // per_second
    limit = LARGEST_TIME // factor
    return np.clip(numbers, -limit - 1, limit) * factor


# The order of processing


def merge_order(inputs: Sequence[Objects]) -> Ints:
    """All objects by time, tuples before punctuations, then by stream; each as `pack_object` writes it."""
    return merge_two(*inputs) if len(inputs) == 2 else merge_many(inputs)


def merge_many(inputs: Sequence[Objects]) -> Ints:
    """Merge any number of streams by sorting, which takes one and a half times as long as the loop for two.

    The sequences are sorted already; a stable sort notices that by itself.
    """
    tuples = [(objects.ts, 0, side) for side, objects in enumerate(inputs)]
    punctuations = [(objects.punctuation_ts, 1, side) for side, objects in enumerate(inputs)]
    parts = [(ts, pack_object(np.arange(ts.size), *which)) for ts, *which in (*tuples, *punctuations)]
    times, packed = (np.concatenate(each) for each in zip(*parts, strict=True))
    return packed[np.argsort(times, kind="stable")]


# One stream of a batch


class TupleKeys(NamedTuple):
    """How a tactic knows tuples: by the code of their value; if windows have structures, by a group and an interval."""

    code: Times
    valid: npt.NDArray[np.bool_]  # no null in the key
    group: Times = _NO_INTS
    low: Times = _NO_INTS
    high: Times = _NO_INTS

    def kept(self, mask: npt.NDArray[np.bool_]) -> "TupleKeys":
        """The keys of the tuples that `mask` keeps."""
        group, low, high = (each[mask] if each.size else each for each in self[2:])
        return TupleKeys(self.code[mask], self.valid[mask], group, low, high)


Encode = Callable[[pa.Table], TupleKeys]


@dataclass(frozen=True)
class RangeEnding:
    """A punctuation over join values that it does not name one by one: a pattern per key attribute."""

    patterns: tuple[Pattern, ...]
    ts: int
    announced: bool


@dataclass
class PreparedBatch:
    """One side of a batch, ready to be processed."""

    rows: pa.Table  # accepted so far, sorted
    objects: lay.Objects
    times: BatchTimes
    boundaries: lay.Records  # of a clustered stream
    rejected: list[tuple[pa.Table, Rejection]]
    ranges: list[RangeEnding]  # punctuation_code of a range points here
    promises: list[Punctuation]  # punctuations that end no value; punctuation_code points here too

    def close(self) -> None:
        """Make all arrays read-only, like those in Arrow memory, so that the loop is compiled only once."""
        views: list[Any] = [array.view() for array in self.objects]
        for view in views:
            view.flags.writeable = False
        self.objects = lay.Objects(*views)


@dataclass
class _Punctuations:
    """Collects punctuations, then sorts them by time, kind and content: their place in the input does not matter."""

    ts: list[Times] = field(default_factory=list)
    code: list[Times] = field(default_factory=list)
    kind: list[npt.NDArray[np.uint8]] = field(default_factory=list)

    def add(self, ts: Times, code: Times, kind: int) -> None:
        """Punctuations of one kind."""
        assert ts.dtype == code.dtype == np.int64  # one array of floats would turn all into floats
        assert ts.flags.writeable and code.flags.writeable  # kernels are compiled for such arrays
        self.ts.append(ts)
        self.code.append(code)
        self.kind.append(np.full(ts.size, kind, np.uint8))

    def sorted(self) -> tuple[Times, Times, npt.NDArray[np.uint8]]:
        if not self.ts:
            return _NO_INTS, _NO_INTS, np.empty(0, np.uint8)
        ts, code, kind = _joined(self.ts), _joined(self.code), _joined(self.kind)
        if are_in_order(ts, kind, code):
            return ts, code, kind
        order = np.lexsort((code, kind, ts))
        return ts[order], code[order], kind[order]


def _joined(parts: list[npt.NDArray[T]]) -> npt.NDArray[T]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def needs_total_order(stream: StreamSpec) -> bool:
    """Whether the results show the order of tuples of one stream with equal times."""
    return stream.unique or stream.clustered or stream.order is not None or isinstance(stream.window, CountWindow)


def prepare_batch(
    stream: StreamSpec, batch: StreamBatch, codec: KeyCodec, ours: np.void, encode: Encode, own_windows: bool
) -> PreparedBatch:
    """Sort a batch, reject what is late or ahead, encode the rest. `ours` is the side's record before the batch."""
    rows, ts = _sort_rows(stream, batch)
    keys = encode(rows)
    ended_at = ending_times(batch)
    newest = int(ours["newest"])
    came = Boundaries.of(stream, rows, ts)
    if batch.tick is None:
        came_at = row_times(batch, ts, ended_at)
        if came_at is not ts:
            came_at = np.sort(came_at)
        times = times_of(stream, came_at, punctuation_times(batch, ended_at), came, newest)
    else:
        times = read_tick(stream, batch.tick, newest)
    punctuations, ranges, promises = _punctuations(stream, batch, ended_at, codec, times)
    boundaries = with_codes(times.boundaries, came, keys.code)
    ahead = times.are_ahead(ts)
    late = (ts < int(ours["watermark"])) & ~ahead
    if stream.flag is not None:
        last = _flagged(rows[stream.flag])
        last = last[keys.valid[last] & ~ahead[last] if times.ahead else keys.valid[last]]
        punctuations.add(ts[last], keys.code[last], lay.END_VALUE)
    masks = (late, Rejection.LATE), (ahead, Rejection.AHEAD)
    rejected = [(rows.filter(pa.array(mask)), reason) for mask, reason in masks if mask.any()]
    if rejected:
        kept = ~(late | ahead)
        rows, ts, keys = rows.filter(pa.array(kept)), ts[kept], keys.kept(kept)
    status = np.where(keys.valid, 0, lay.NULL_KEY).astype(np.uint8)
    ends = window_ends(stream, rows, ts) if own_windows else _NO_INTS
    objects = lay.Objects(ts, keys.code, status, ends, *punctuations.sorted(), keys.group, keys.low, keys.high)
    return PreparedBatch(rows, objects, times, boundaries, rejected, ranges, promises)


def _sort_rows(stream: StreamSpec, batch: StreamBatch) -> tuple[pa.Table, Times]:
    """Rows in the order of processing, and their times."""
    rows = batch.rows
    ts = to_microseconds(rows[stream.time], stream.time)
    order = _row_order(stream, rows, ts)
    return (rows, ts) if order is None else (rows.take(pa.array(order)), ts[order])


def _row_order(stream: StreamSpec, rows: pa.Table, ts: Times) -> Times | None:
    total = needs_total_order(stream)
    if is_sorted(ts) and not (total and has_ties(ts)):
        return None
    if not total:
        return np.argsort(ts, kind="stable")
    first = [] if stream.order is None else [stream.order]
    names = list(dict.fromkeys([*first, *stream.key, *rows.column_names]))
    columns = [pa.array(ts), *(sortable(rows[name]) for name in names)]
    keyed = pa.table(columns, names=[str(i) for i in range(len(columns))])
    sort_keys = [(name, "ascending") for name in keyed.column_names]
    return np.asarray(pc.sort_indices(keyed, sort_keys=sort_keys)).astype(np.int64)


def sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in a form that Arrow can sort."""
    if pa.types.is_interval(column.type):
        return pa.chunked_array([pa.array([repr(value) for value in column.to_pylist()], pa.string())])
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return pa.chunked_array([render_values(chunk) for chunk in column.chunks], pa.large_string())
    if pa.types.is_float16(column.type):
        return column.cast(pa.float32())
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _flagged(column: pa.ChunkedArray) -> Times:
    return np.asarray(pc.indices_nonzero(column)).view(np.int64)


def ending_times(batch: StreamBatch) -> list[Times]:
    """The times of each of the batch's endings; they were checked when they were read, and are microseconds."""
    return [endings.ts.to_numpy() for endings in batch.endings]


def punctuation_times(batch: StreamBatch, of_endings: Sequence[Times]) -> Times:
    """Times of the in-band punctuations other than flags; those of endings are given."""
    timed = zip(batch.endings, of_endings, strict=True)
    times = [ts for endings, ts in timed if endings.in_band and not endings.of_rows]
    if batch.punctuations:
        times.append(_ints([p.ts for p in batch.punctuations if p.in_band]))
    return _joined(times) if times else _NO_INTS


def row_times(batch: StreamBatch, ts: Times, of_endings: Sequence[Times]) -> Times:
    """Times of all rows: of tuples, which are given, and of rows that are not tuples."""
    more_ts = [times for endings, times in zip(batch.endings, of_endings, strict=True) if endings.of_rows]
    more_ts += [] if batch.passed is None else [batch.passed]
    return np.concatenate([ts, *more_ts]) if more_ts else ts


def _punctuations(
    stream: StreamSpec, batch: StreamBatch, ended_at: Sequence[Times], codec: KeyCodec, times: BatchTimes
) -> tuple[_Punctuations, list[RangeEnding], list[Punctuation]]:
    """All punctuations of a batch except flags: single values as codes, others as positions in a list."""
    built = _Punctuations()
    ranges: list[RangeEnding] = []
    promises: list[Punctuation] = []
    for endings, ts in zip(batch.endings, ended_at, strict=True):
        codes, valid = codec.encode(endings.keys.columns)
        if endings.of_rows:
            valid = valid & ~times.are_ahead(ts)
        kind = lay.END_VALUE if endings.in_band else lay.ANNOUNCE_VALUE
        built.add(ts[valid], codes[valid], kind)
    for punctuation in sorted(batch.punctuations, key=lambda each: _content(stream, each)):
        code, kind = _meaning(stream, punctuation, codec, ranges, promises)
        built.add(np.full(code.size, punctuation.ts, np.int64), code, kind)
    return built, ranges, promises


def _content(stream: StreamSpec, punctuation: Punctuation) -> tuple[bool, str]:
    """The sort key of punctuations of one time and kind; announced ones come last."""
    return not punctuation.in_band, repr(_key_patterns(stream, punctuation))


def _key_patterns(stream: StreamSpec, punctuation: Punctuation) -> tuple[Pattern, ...]:
    by_column = dict(zip(stream.columns, punctuation.patterns, strict=True))
    return tuple(by_column[name] for name in stream.key)


def _meaning(
    stream: StreamSpec,
    punctuation: Punctuation,
    codec: KeyCodec,
    ranges: list[RangeEnding],
    promises: list[Punctuation],
) -> tuple[Times, int]:
    """Codes and kind of a punctuation; ranges and promises are put aside on the way."""
    kind = classify(punctuation.patterns, stream.columns, stream.key, stream.time)
    if kind is PunctuationKind.VALUES:
        values = named_values(punctuation.patterns, stream.columns, stream.key)
        codes, _ = codec.encode(key_columns(values, codec.types))
        return codes.copy(), lay.END_VALUE if punctuation.in_band else lay.ANNOUNCE_VALUE
    if kind is PunctuationKind.RANGE:
        ranges.append(RangeEnding(_key_patterns(stream, punctuation), punctuation.ts, not punctuation.in_band))
        return _ints([len(ranges) - 1]), lay.END_RANGE
    if kind is PunctuationKind.END:
        return _ints([lay.NEVER]), lay.END_STREAM
    if kind is PunctuationKind.TIME:
        return _ints([time_floor(punctuation.patterns[stream.columns.index(stream.time)])]), lay.SET_FLOOR
    if kind is PunctuationKind.PROMISE:
        promises.append(punctuation)
        return _ints([len(promises) - 1]), lay.PROMISE_ONLY
    return _ints([lay.NONE]), lay.NO_ENDING  # it ends nothing, but it is an object of the stream and has a time


def _ints(numbers: Sequence[int]) -> Times:
    """Always 64-bit integers: NumPy would turn an empty list, or large numbers beside small ones, into floats."""
    return np.array(numbers, np.int64)


def key_columns(values: Sequence[tuple[Any, ...]], types: Sequence[pa.DataType]) -> list[pa.ChunkedArray]:
    """Key values as columns."""
    columns = zip(*values, strict=True)
    return [
        pa.chunked_array([pa.array([typed_scalar(value, dtype) for value in column], dtype)])
        for column, dtype in zip(columns, types, strict=True)
    ]

"""From an input batch to arrays in the order of processing; late tuples and tuples from the future are sorted out here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.keys import KeyCodec
from punctuated.join.pattern_match import typed_scalar
from punctuated.kernels import layout as lay
from punctuated.kernels.merge import has_ties, is_sorted, mark_ahead
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import Pattern
from punctuated.model.punctuation import Kind, Punctuation, classify, named_values, time_floor
from punctuated.model.spec import StreamSpec
from punctuated.model.times import to_microseconds
from punctuated.model.window import CountWindow

_NO_INTS = np.empty(0, np.int64)


@dataclass(frozen=True)
class RangeEnding:
    """A punctuation over join values that it does not name one by one: a pattern per key attribute."""

    patterns: tuple[Pattern, ...]
    ts: int


@dataclass
class Intake:
    """One side of a batch, ready to be processed."""

    rows: pa.Table  # accepted so far, sorted
    objects: lay.Objects
    rejected: list[tuple[pa.Table, str]]
    ranges: list[RangeEnding]  # punctuation_code of a range points here
    promises: list[Punctuation]  # punctuations that end no value


@dataclass
class _Punctuations:
    """Punctuations under construction, a stretch of equal kind at a time; then sorted by time, in-band first."""

    ts: list[npt.NDArray[np.int64]] = field(default_factory=list)
    code: list[npt.NDArray[np.int64]] = field(default_factory=list)
    kind: list[npt.NDArray[np.uint8]] = field(default_factory=list)

    def add(self, ts: npt.NDArray[np.int64], code: npt.NDArray[np.int64], kind: int) -> None:
        self.ts.append(ts)
        self.code.append(code)
        self.kind.append(np.full(ts.size, kind, np.uint8))

    def sorted(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        if not self.ts:
            return _NO_INTS, _NO_INTS, np.empty(0, np.uint8)
        ts, code, kind = np.concatenate(self.ts), np.concatenate(self.code), np.concatenate(self.kind)
        order = np.lexsort((kind >= lay.ANNOUNCE_VALUE, ts))
        return ts[order], code[order], kind[order]


def needs_total_order(stream: StreamSpec) -> bool:
    """Whether the order among tuples of one stream with equal times can be seen in the results."""
    return stream.unique or stream.clustered or stream.order is not None or isinstance(stream.window, CountWindow)


def take_in(stream: StreamSpec, batch: StreamBatch, codec: KeyCodec, ours: np.void) -> Intake:
    """Sort a batch, sort out what is late or ahead, and encode the rest. `ours` is the side's record before the batch."""
    rows = _sort_rows(stream, batch.rows)
    ts = to_microseconds(rows[stream.time], stream.time)
    codes, valid = codec.encode([rows[name] for name in stream.key])
    punctuations, ranges, promises = _punctuations(stream, batch, codec)
    late = ts < int(ours["watermark"])
    in_band_ts = np.sort(np.concatenate([_NO_INTS, *(part for part, kind in zip(punctuations.ts, punctuations.kind)
                                                     if kind.size and kind[0] < lay.ANNOUNCE_VALUE)]))
    ahead = _find_ahead(stream, ts, late, in_band_ts, ours)
    if stream.flag is not None:
        flagged = _flags(rows[stream.flag]) & ~ahead & valid
        punctuations.add(ts[flagged], codes[flagged], lay.END_VALUE)
    rejected = [(rows.filter(pa.array(mask)), reason) for mask, reason in ((late, "late"), (ahead, "ahead")) if mask.any()]
    kept = ~(late | ahead)
    if rejected:
        rows, ts, codes, valid = rows.filter(pa.array(kept)), ts[kept], codes[kept], valid[kept]
    status = np.where(valid, 0, lay.NULL_KEY).astype(np.uint8)
    objects = lay.Objects(ts, codes, status, *punctuations.sorted())
    return Intake(rows, objects, rejected, ranges, promises)


def _sort_rows(stream: StreamSpec, rows: pa.Table) -> pa.Table:
    ts = to_microseconds(rows[stream.time], stream.time)
    total = needs_total_order(stream)
    if is_sorted(ts) and not (total and has_ties(ts)):
        return rows
    if not total:
        return rows.take(pa.array(np.argsort(ts, kind="stable")))
    first = [] if stream.order is None else [stream.order]
    names = list(dict.fromkeys([*first, *stream.key, *rows.column_names]))
    keyed = pa.table([pa.array(ts), *(_sortable(rows[name]) for name in names)], names=["", *map(str, range(len(names)))])
    order = [("", "ascending"), *((str(i), "ascending") for i in range(len(names)))]
    return rows.take(pc.sort_indices(keyed, sort_keys=order, null_placement="at_end"))


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
        return pa.chunked_array([pa.array([repr(value) for value in column.to_pylist()], pa.string())])
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _flags(column: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    return np.asarray(pc.fill_null(column, False).to_numpy().astype(np.bool_))


def _find_ahead(
    stream: StreamSpec,
    ts: npt.NDArray[np.int64],
    late: npt.NDArray[np.bool_],
    in_band_ts: npt.NDArray[np.int64],
    ours: np.void,
) -> npt.NDArray[np.bool_]:
    if stream.max_ahead_us is None:
        return np.zeros(ts.size, np.bool_)
    marks = mark_ahead(ts, in_band_ts, int(ours["newest"]), stream.max_ahead_us)
    return np.asarray(marks.astype(np.bool_) & ~late)


def _punctuations(
    stream: StreamSpec, batch: StreamBatch, codec: KeyCodec
) -> tuple[_Punctuations, list[RangeEnding], list[Punctuation]]:
    """All punctuations of a batch but the flags, single values as codes, ranges as positions in a list."""
    built, ranges, promises = _Punctuations(), [], []
    for endings in batch.endings:
        codes, valid = codec.encode(endings.keys.columns)
        ts = to_microseconds(endings.ts, stream.time)
        built.add(ts[valid], codes[valid], lay.END_VALUE if endings.in_band else lay.ANNOUNCE_VALUE)
    for punctuation in batch.punctuations:
        _add(built, stream, punctuation, codec, ranges, promises)
    return built, ranges, promises


def _add(
    built: _Punctuations,
    stream: StreamSpec,
    punctuation: Punctuation,
    codec: KeyCodec,
    ranges: list[RangeEnding],
    promises: list[Punctuation],
) -> None:
    kind = classify(punctuation.patterns, stream.columns, stream.key, stream.time)
    ts = np.array([punctuation.ts], np.int64)
    nothing = np.array([lay.NEVER], np.int64)
    by_column = dict(zip(stream.columns, punctuation.patterns, strict=True))
    if kind is Kind.VALUES:
        values = named_values(punctuation.patterns, stream.columns, stream.key)
        codes, _ = codec.encode(_key_columns(values, codec.types))
        built.add(np.repeat(ts, codes.size), codes, lay.END_VALUE if punctuation.in_band else lay.ANNOUNCE_VALUE)
    elif kind is Kind.RANGE:
        ranges.append(RangeEnding(tuple(by_column[name] for name in stream.key), punctuation.ts))
        place = np.array([len(ranges) - 1], np.int64)
        built.add(ts, place, lay.END_RANGE if punctuation.in_band else lay.ANNOUNCE_RANGE)
    elif kind is Kind.END:
        built.add(ts, nothing, lay.END_STREAM)
    elif kind is Kind.TIME:
        built.add(ts, np.array([time_floor(by_column[stream.time])], np.int64), lay.SET_FLOOR)
    else:
        built.add(ts, nothing, lay.SET_FLOOR)  # ends no value, but it is an object of the stream and has a time
        if kind is Kind.PROMISE:
            promises.append(punctuation)


def _key_columns(values: Sequence[tuple[Any, ...]], types: Sequence[pa.DataType]) -> list[pa.ChunkedArray]:
    columns = zip(*values, strict=True)
    return [
        pa.chunked_array([pa.array([typed_scalar(value, dtype) for value in column], dtype)])
        for column, dtype in zip(columns, types, strict=True)
    ]

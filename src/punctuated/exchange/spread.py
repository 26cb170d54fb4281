"""A batch of a stream, spread over buckets by key. Each bucket is a driver of its own.

Tuples and punctuations that name single values go to the bucket of their key. All other punctuations go to every
bucket, and so does the tick of the batch, which lets a bucket without objects expire, purge and propagate as well.

Without a key one side is spread by its rows, and the tuples of the other side go to every bucket.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.rows import take_rows
from punctuated.arrow.whole_numbers import are_whole, read_whole, write_whole
from punctuated.intake.prepare import ending_times, key_columns, punctuation_times, row_times
from punctuated.intake.watermarks import Boundaries, make_tick
from punctuated.kernels.exchange import assign_positions, deal_numbers
from punctuated.kernels.key_bytes import hash_keys, mix_codes
from punctuated.keys.codec import OrderedKeys
from punctuated.keys.encoding import encode_rows
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.punctuation import Punctuation, PunctuationKind, classify, named_values
from punctuated.model.spec import StreamSpec
from punctuated.model.times import to_microseconds

Numbers = npt.NDArray[np.int64]
Positions = npt.NDArray[np.int32]
_ODD = np.int64(0x9E3779B97F4A7C1)  # any large odd number: columns of a row are mixed by it


def bucket_numbers(columns: Sequence[pa.ChunkedArray], n_buckets: int) -> Numbers:
    """The bucket of each key; a key with a null in it matches nothing, but has a bucket as well."""
    types = [column.type for column in columns]
    if len(types) == 1 and OrderedKeys.fits(types[0]):
        codes, _ = OrderedKeys(types[0]).encode(columns)
        return mix_codes(codes, n_buckets)
    offsets, data, _ = encode_rows(pa.table(list(columns), names=[str(i) for i in range(len(types))]))
    return hash_keys(offsets, data, n_buckets)


def _row_numbers(stream: StreamSpec, rows: pa.Table, n_buckets: int) -> Numbers:
    """A bucket for each row by its content, the same whenever the row is read again."""
    codes = to_microseconds(rows[stream.time], stream.time).astype(np.int64)
    for column in rows.columns:
        if OrderedKeys.fits(column.type):
            codes = codes * _ODD + OrderedKeys(column.type).encode([column])[0]
    return mix_codes(codes, n_buckets)


def spread(
    stream: StreamSpec,
    batch: StreamBatch,
    types: Sequence[pa.DataType],
    n_buckets: int,
    everywhere: bool = False,
) -> list[StreamBatch]:
    """One batch for each bucket; keys are of the common `types` already.

    `everywhere`: the tuples go to every bucket.
    """
    tick = _tick(stream, batch)
    if everywhere:
        rows = [batch.rows] * n_buckets
    elif stream.key:
        rows = split(batch.rows, bucket_numbers([batch.rows[name] for name in stream.key], n_buckets), n_buckets)
    else:
        rows = split(batch.rows, _row_numbers(stream, batch.rows, n_buckets), n_buckets)
    named = [p for p in batch.punctuations if _kind(stream, p) is PunctuationKind.VALUES]
    others = tuple(p for p in batch.punctuations if _kind(stream, p) is not PunctuationKind.VALUES)
    endings = [_spread_endings(each, n_buckets) for each in (*batch.endings, *_as_endings(stream, named, types))]
    return [
        StreamBatch(rows[bucket], tuple(each[bucket] for each in endings if len(each[bucket].keys)), others, tick=tick)
        for bucket in range(n_buckets)
    ]


def _tick(stream: StreamSpec, batch: StreamBatch) -> pa.Table:
    ts = to_microseconds(batch.rows[stream.time], stream.time)
    boundaries = Boundaries.of(stream, batch.rows, ts)
    ended_at = ending_times(batch)
    ts = row_times(batch, ts, ended_at)
    if stream.max_ahead_us is None and ts.size:
        ts = np.array([ts.min(), ts.max()])
    return make_tick(stream, np.sort(ts), punctuation_times(batch, ended_at), boundaries)


def _kind(stream: StreamSpec, punctuation: Punctuation) -> PunctuationKind:
    return classify(punctuation.patterns, stream.columns, stream.key, stream.time)


def split(table: pa.Table, numbers: Numbers, n_buckets: int) -> list[pa.Table]:
    """The rows of each bucket, given the bucket of each row."""
    if n_buckets == 1:
        return [table]
    edges = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(numbers, minlength=n_buckets))])
    positions = np.empty(numbers.size, np.int32)
    assign_positions(numbers, edges[:-1].copy(), positions)
    named = dict(zip(table.column_names, table.columns, strict=True))
    others = [name for name, column in named.items() if not are_whole(column)]
    order = _dealt([read_whole(pa.array(np.arange(numbers.size)))], positions) if others else positions
    rest = take_rows([table.select(others)], order)
    columns = [rest[name] if name in others else _dealt_column(column, positions) for name, column in named.items()]
    dealt = pa.table(columns, schema=table.schema)
    return [dealt.slice(low, high - low) for low, high in pairwise(edges.tolist())]


def _dealt_column(column: pa.ChunkedArray, positions: Positions) -> pa.Array:
    return write_whole(_dealt(map(read_whole, column.chunks), positions), column.type)


def _dealt(parts: Iterable[Numbers], positions: Positions) -> Numbers:
    """The numbers of a column, in these parts, as one array in which each number is at its position."""
    dealt, at = np.empty(positions.size, np.int64), 0
    for part in parts:
        deal_numbers(part, positions[at : at + part.size], dealt)
        at += part.size
    return dealt


def _spread_endings(endings: EndedKeys, n_buckets: int) -> list[EndedKeys]:
    numbers = bucket_numbers(endings.keys.columns, n_buckets)
    both = endings.keys.append_column("\0ts", endings.ts)
    parts = split(both, numbers, n_buckets)
    return [replace(endings, keys=part.drop_columns(["\0ts"]), ts=part["\0ts"]) for part in parts]


def _as_endings(stream: StreamSpec, named: Sequence[Punctuation], types: Sequence[pa.DataType]) -> list[EndedKeys]:
    """Punctuations that name values, as endings in columns."""
    endings = []
    for in_band in (True, False):
        ended = [
            (p.ts, key)
            for p in named
            if p.in_band is in_band
            for key in named_values(p.patterns, stream.columns, stream.key)
        ]
        if ended:
            keys = pa.table(key_columns([key for _, key in ended], types), names=list(stream.key))
            endings.append(EndedKeys(keys, pa.chunked_array([pa.array([ts for ts, _ in ended], pa.int64())]), in_band))
    return endings

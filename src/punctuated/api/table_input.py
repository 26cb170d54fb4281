"""Declared streams over tables, as batches for the driver."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import pyarrow as pa

from punctuated.api.chained import ChainedStream
from punctuated.api.sources import Announced
from punctuated.api.stream import Stream
from punctuated.join.intake.keys import common_key_type
from punctuated.join.intake.reading import Reader, announce
from punctuated.model.batch import EndedKeys, StreamBatch


def key_types(left: Stream, right: Stream) -> list[pa.DataType]:
    """The common type of each key column."""
    names = zip(left.spec.key, right.spec.key, strict=True)
    return [
        common_key_type(ours, left.schema.field(ours).type, right.schema.field(theirs).type) for ours, theirs in names
    ]


def reader(stream: Stream, types: Sequence[pa.DataType]) -> Reader:
    """How the stream's rows are read."""
    return Reader(stream.spec, stream.pattern_column, stream.schema, tuple(types))


def cast_schema(stream: Stream, types: Sequence[pa.DataType]) -> pa.Schema:
    """The stream's columns with keys of the common types."""
    return reader(stream, types).cast_schema


def read_batches(
    left: Stream, right: Stream, types: Sequence[pa.DataType]
) -> Iterator[tuple[StreamBatch, StreamBatch]]:
    """Both streams batch by batch; the shorter one goes on with empty batches."""
    ours, theirs = _read(left, types), _read(right, types)
    nothing = [StreamBatch(cast_schema(stream, types).empty_table()) for stream in (left, right)]
    for one, two in zip_longest(ours, theirs):
        yield one or nothing[0], two or nothing[1]


def _read(stream: Stream, types: Sequence[pa.DataType]) -> Iterator[StreamBatch]:
    if isinstance(stream, ChainedStream):
        yield from stream.read(types)
        return
    read = reader(stream, types).read
    announced = [list(_announced(source, types)) for source in stream.endings]
    for i in range(max(len(stream.batches), *(len(batches) for batches in announced), 1)):
        batch = read(stream.batches[i] if i < len(stream.batches) else stream.batches[0].schema.empty_table())
        more = tuple(batches[i] for batches in announced if i < len(batches))
        yield replace(batch, endings=batch.endings + more)


def _announced(source: Announced, types: Sequence[pa.DataType]) -> Iterator[EndedKeys]:
    batches = (source.data,) if isinstance(source.data, pa.Table) else tuple(source.data)
    for batch in batches:
        yield announce(batch, source.key, source.time, types)

"""Declared streams over tables, as batches for the driver: keys in their common type, pattern rows taken out."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.api.sources import Endings as Announced
from punctuated.api.stream import Stream
from punctuated.errors import PatternError
from punctuated.join.keys import common_key_type
from punctuated.model.batch import Endings, StreamBatch
from punctuated.model.pattern_text import parse_punctuation
from punctuated.model.punctuation import Punctuation
from punctuated.model.times import to_microseconds

Ints = npt.NDArray[np.int64]


def key_types(left: Stream, right: Stream) -> list[pa.DataType]:
    """The common type of each key column."""
    names = zip(left.spec.key, right.spec.key, strict=True)
    return [
        common_key_type(ours, left.schema.field(ours).type, right.schema.field(theirs).type) for ours, theirs in names
    ]


def cast_schema(stream: Stream, types: Sequence[pa.DataType]) -> pa.Schema:
    """The stream's columns with keys of the common types."""
    cast = dict(zip(stream.spec.key, types, strict=True))
    return pa.schema([pa.field(each.name, cast.get(each.name, each.type)) for each in stream.schema])


def read_batches(
    left: Stream, right: Stream, types: Sequence[pa.DataType]
) -> Iterator[tuple[StreamBatch, StreamBatch]]:
    """Both streams batch by batch; the shorter one goes on with empty batches."""
    ours, theirs = _read(left, types), _read(right, types)
    nothing = [StreamBatch(cast_schema(stream, types).empty_table()) for stream in (left, right)]
    for one, two in zip_longest(ours, theirs):
        yield one or nothing[0], two or nothing[1]


def _read(stream: Stream, types: Sequence[pa.DataType]) -> Iterator[StreamBatch]:
    schema = cast_schema(stream, types)
    announced = [list(_announced(source, types)) for source in stream.endings]
    for i in range(max(len(stream.batches), *(len(batches) for batches in announced), 1)):
        table = stream.batches[i] if i < len(stream.batches) else stream.batches[0].schema.empty_table()
        endings = tuple(batches[i] for batches in announced if i < len(batches))
        yield _split(stream, table, schema, types, endings)


def _announced(source: Announced, types: Sequence[pa.DataType]) -> Iterator[Endings]:
    batches = (source.data,) if isinstance(source.data, pa.Table) else tuple(source.data)
    for batch in batches:
        columns = [batch[name].cast(dtype) for name, dtype in zip(source.key, types, strict=True)]
        yield Endings(pa.table(columns, names=list(source.key)), _times(batch[source.time], source.time), in_band=False)


def _times(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(to_microseconds(column, name))])


def _split(
    stream: Stream, table: pa.Table, schema: pa.Schema, types: Sequence[pa.DataType], endings: tuple[Endings, ...]
) -> StreamBatch:
    """Tuples and punctuations of one table."""
    columns = list(stream.spec.columns)
    if stream.pattern_column is None:
        return StreamBatch(table.select(columns).cast(schema), endings)
    is_row = table[stream.pattern_column].is_null().to_numpy()
    places = np.flatnonzero(~is_row)
    said = table.filter(pa.array(~is_row))
    keys = _single_values(stream, said)
    is_single = keys.is_valid().to_numpy(zero_copy_only=False)
    others = np.flatnonzero(~is_single)
    times = to_microseconds(said[stream.spec.time], stream.spec.time)
    if is_single.any():
        named = pa.table([keys.drop_null().cast(types[0])], names=[stream.spec.key[0]])
        ts = pa.chunked_array([pa.array(times[is_single])])
        endings = (Endings(named, ts, in_band=True), *endings)
    return StreamBatch(
        rows=table.filter(pa.array(is_row)).select(columns).cast(schema),
        endings=endings,
        punctuations=_parse(stream, said.take(pa.array(others)), times[others], places[others]),
    )


def _single_values(stream: Stream, said: pa.Table) -> pa.Array:
    """The integers in punctuations that name one integer key and nothing else; null for all others.

    These are by far the most frequent, and reading them one by one would take longer than the join.
    """
    key, columns = stream.spec.key, stream.spec.columns
    texts = said[stream.pattern_column].cast(pa.string()).combine_chunks()
    if len(key) > 1 or not pa.types.is_integer(stream.schema.field(key[0]).type):
        return pa.nulls(len(texts), pa.int64())
    attributes = (r"(?P<key>-?[0-9]{1,18})" if name == key[0] else r"\*" for name in columns)
    found = pc.extract_regex(texts, r"^\s*<\s*" + r"\s*,\s*".join(attributes) + r"\s*>\s*$")
    return pc.struct_field(found, "key").cast(pa.int64()) if len(texts) else pa.nulls(0, pa.int64())


def _parse(stream: Stream, said: pa.Table, times: Ints, places: Ints) -> tuple[Punctuation, ...]:
    types = [stream.schema.field(name).type for name in stream.spec.columns]
    parsed = []
    for text, ts, place in zip(said[stream.pattern_column].to_pylist(), times.tolist(), places.tolist(), strict=True):
        try:
            parsed.append(Punctuation(ts, parse_punctuation(text, types)))
        except PatternError as error:
            raise PatternError(f"stream {stream.spec.name!r}, row {place}: {error}") from None
    return tuple(parsed)

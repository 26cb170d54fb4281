"""A join as a stream for another join: its results, output punctuations and output watermark flow on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from punctuated.api.stream import SparkStream, Stream, check_columns, parse_policy, refuse_collated
from punctuated.errors import StreamError
from punctuated.join.intake.reading import Reader
from punctuated.join.output.chain import TIME, ChainReader, chain_schema
from punctuated.model.batch import StreamBatch
from punctuated.model.spec import OUTPUT_LATENESS_US, StreamSpec
from punctuated.model.window import Duration, Window, as_window


@dataclass(frozen=True)
class ChainedStream(Stream):
    """A stream over the results of a join of tables."""

    source: Any = field(default=None, repr=False)

    def read(self, types: Sequence[pa.DataType]) -> Iterator[StreamBatch]:
        """What the join brings, batch by batch."""
        reader = ChainReader(self.spec, None, self.schema, tuple(types))
        for table in self.source.chain_batches():
            yield reader.read(table)


def reader_class(stream: Stream) -> type[Reader]:
    """How a stream's rows are read."""
    return ChainReader if stream.spec.is_output else Reader


def is_join(data: Any) -> bool:
    """Whether this is what `pt.join` gives."""
    return hasattr(type(data), "chain_source")


def chained_stream(
    joined: Any,
    *,
    key: str | Sequence[str] | None,
    name: str | None,
    window: Window | Duration,
    on_violation: str,
    refused: dict[str, Any],
) -> Stream:
    """Declare the results of a join as a stream."""
    given = [option for option, value in refused.items() if value]
    if given:
        raise StreamError(f"a join's output brings its own times and punctuations: leave out {', '.join(given)}")
    schema = chain_schema(joined.schema, joined.time_type)
    keys = joined.spec.left.key if key is None else (key,) if isinstance(key, str) else tuple(key)
    columns = (*joined.schema.names, TIME)
    check_columns(name or "?", schema, keys, TIME, None, None, None)
    spec = StreamSpec(
        name=name or f"{joined.spec.left.name}{joined.spec.right.name}",
        columns=columns,
        key=keys,
        time=TIME,
        window=as_window(window),
        lateness_us=OUTPUT_LATENESS_US,
        on_violation=parse_policy(on_violation),
        punctuated=keys == joined.spec.left.key,
        is_output=True,
    )
    empty = (schema.empty_table(),)
    frame = joined.chain_source()
    if frame is None:
        return ChainedStream(empty, spec, None, (), joined)
    refuse_collated(spec.name, frame, keys)
    return SparkStream(empty, spec, None, (), frame)

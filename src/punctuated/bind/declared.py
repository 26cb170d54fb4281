"""A declared stream: its options checked against its columns, wherever its rows come from.

Here the options of `pt.stream` become the `StreamSpec` that all else reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.options import StreamOptions
from punctuated.bind.sources import Announced, Clustered, RowsWith, Source, Unique, When, single_sources
from punctuated.errors import ColumnError, StreamError
from punctuated.expressions.shape import Shape
from punctuated.intake.reading import Reader
from punctuated.keys.types import are_keys_alike
from punctuated.model.arguments import HIDDEN, column_names, duplicates, hint_of, text
from punctuated.model.spec import OnViolation, StreamSpec
from punctuated.model.times import are_times_alike, is_time
from punctuated.model.window import Duration, UntilWindow, Window, as_window, parse_duration
from punctuated.output.chain import ChainReader
from punctuated.output.in_band import InBand

OF_OUTPUTS = ("key", "name", "window", "on_violation", "where", "select")  # options that a join's output can have


@dataclass(frozen=True)
class DeclaredStream:
    """The checked arguments of `pt.stream`."""

    spec: StreamSpec
    schema: pa.Schema  # of the tuples, without the column of patterns
    pattern_column: str | None = None
    endings: tuple[Announced, ...] = field(default=(), repr=False)  # announced apart from the stream
    shape: Shape | None = None  # how the data become tuples

    def reader(self, key_types: Sequence[pa.DataType]) -> Reader:
        """How its rows are read, with keys in these common types."""
        kind = ChainReader if self.spec.is_output else Reader
        return kind(self.spec, self.pattern_column, self.schema, tuple(key_types), self.shape)

    def times_of(self, table: pa.Table) -> pa.ChunkedArray:
        """The times of the rows that are tuples."""
        if self.shape is None:
            return table[self.spec.time]
        kept = table.filter(pa.array(self.shape.kept(table)))
        return self.shape.shaped(kept)[self.spec.time]

    def sources_of(self, names: Sequence[str]) -> list[str]:
        """The columns of the data behind these columns, except computed ones."""
        if self.shape is None:
            return list(names)
        found = (self.shape.source_of(name) for name in names)
        return [name for name in found if name is not None]


def declare(schema: pa.Schema, options: StreamOptions) -> DeclaredStream:
    """A stream over data with these columns."""
    name, time, order, window = options["name"], options["time"], options["order"], as_window(options["window"])
    if name is not None:
        text(name, "name", StreamError, "the name of the stream")
    shown = name or "?"
    shape = _shape(schema, options, shown)
    schema = schema if shape is None else shape.schema
    if time is None:
        raise StreamError(f"stream {shown!r}: give time=, the column of event time (and key=, unless it has none)")
    keys = () if options["key"] is None else column_names(options["key"], "key", StreamError)
    text(time, "time", StreamError)
    if order is not None:
        text(order, "order", StreamError)
    sources = single_sources(options["punctuations"])
    pattern_column, flag = _only_column(sources, RowsWith), _only_column(sources, When)
    _check_key(shown, options["key"], keys, sources)
    check_columns(shown, schema, keys, time, flag, pattern_column, order)
    _check_until(shown, schema, time, window, pattern_column)
    columns = [column for column in schema.names if column != pattern_column]
    spec = StreamSpec(
        name=name or "",
        columns=tuple(columns),
        key=keys,
        time=time,
        window=window,
        lateness_us=parse_duration(options["lateness"]),
        max_ahead_us=_duration_if_given(options["max_ahead"]),
        on_violation=parse_policy(options["on_violation"]),
        flag=flag,
        unique=any(isinstance(source, Unique) for source in sources),
        clustered=any(isinstance(source, Clustered) for source in sources),
        order=order,
        idle_after_us=_duration_if_given(options["idle_after"]),
        punctuated=bool(sources),
        ends_any=any(isinstance(source, RowsWith | Announced) for source in sources),
    )
    announced = tuple(source for source in sources if isinstance(source, Announced))
    schema = pa.schema([schema.field(column) for column in columns])
    return DeclaredStream(spec, schema, pattern_column, announced, shape)


def declare_output(joined: BoundJoin, options: StreamOptions) -> DeclaredStream:
    """The output of a join, or groups of it, as a stream."""
    if given := [name for name, value in options.items() if name not in OF_OUTPUTS and value]:
        raise StreamError(f"a join's output brings its own times and punctuations: leave out {', '.join(given)}")
    name = options["name"] or "".join(stream.name for stream in joined.spec.streams)
    results, own_key = joined.views.results, joined.views.shown_key
    shape = _shape(results, options, name)
    if shape is not None:
        results, own_key = shape.schema, None if own_key is None else shape.renamed(own_key)
    time = InBand.beside(results.names).time
    schema = results.append(pa.field(time, joined.time_type))
    keys = (own_key or ()) if options["key"] is None else column_names(options["key"], "key", StreamError)
    is_punctuated, window = keys == own_key, as_window(options["window"])
    check_columns(name, schema, keys, time, None, None, None)
    _check_until(name, schema, time, window, None)
    spec = StreamSpec(
        name=name,
        columns=tuple(schema.names),
        key=keys,
        time=time,
        window=window,
        on_violation=parse_policy(options["on_violation"]),
        punctuated=is_punctuated,
        ends_any=is_punctuated,
        is_output=True,
    )
    return DeclaredStream(spec, schema, shape=shape)


def _duration_if_given(duration: Duration | None) -> int | None:
    return None if duration is None else parse_duration(duration)


def _shape(schema: pa.Schema, options: StreamOptions, stream: str) -> Shape | None:
    select, where = options["select"], options["where"]
    return None if select is None and where is None else Shape.of(schema, select, where, f"stream {stream!r}")


def _check_key(stream: str, key: str | Sequence[str] | None, keys: tuple[str, ...], sources: Sequence[Source]) -> None:
    if key is not None and not keys:
        raise StreamError(f"stream {stream!r}: give at least one key column, or key=None for a join by where= alone")
    for source in sources if key is None else ():
        if not isinstance(source, RowsWith):
            raise StreamError(
                f"stream {stream!r} has no key that {type(source).__name__.lower()} could end; give key=, "
                "or leave out punctuations="
            )


def _only_column(sources: Sequence[Source], kind: type[When] | type[RowsWith]) -> str | None:
    columns = [source.column for source in sources if isinstance(source, kind)]
    if len(columns) > 1:
        raise StreamError(f"one column can be given to {kind.__name__}, not {', '.join(columns)}")
    return columns[0] if columns else None


def parse_policy(name: str) -> OnViolation:
    """The policy of that name."""
    try:
        return OnViolation(name)
    except ValueError:
        raise StreamError(f"on_violation={name!r} is unknown; use 'reject', 'fail' or 'accept'") from None


def check_columns(
    stream: str,
    schema: pa.Schema,
    key: tuple[str, ...],
    time: str,
    flag: str | None,
    pattern: str | None,
    order: str | None,
) -> None:
    """Raise if a column is missing or of a type that does not fit."""
    if twice := duplicates(schema.names):
        raise ColumnError(f"stream {stream!r} has two columns of the name {twice[0]!r}; rename one")
    for name in schema.names:
        if HIDDEN in name:
            raise ColumnError(f"stream {stream!r}: the name of column {name!r} holds the character NUL; rename it")
    if len(set(key)) < len(key):
        raise ColumnError(f"stream {stream!r}: the key names a column twice: {', '.join(key)}")
    for name in (*key, time, flag, pattern, order):
        if name is not None and name not in schema.names:
            raise ColumnError(_unknown(stream, name, schema.names))
    _check_time(stream, schema, time)
    if flag is not None and not pa.types.is_boolean(schema.field(flag).type):
        raise ColumnError(f"stream {stream!r}: when({flag!r}) needs a boolean column, not {schema.field(flag).type}")
    if pattern is not None and not _is_text(schema.field(pattern).type):
        raise ColumnError(
            f"stream {stream!r}: rows_with({pattern!r}) needs a text column, not {schema.field(pattern).type}"
        )
    if pattern is not None and pattern in (*key, time, flag, order):
        raise ColumnError(f"stream {stream!r}: {pattern!r} cannot carry patterns and be an attribute of the stream")


def _check_until(stream: str, schema: pa.Schema, time: str, window: Window, pattern: str | None) -> None:
    """Raise if the column of window ends is missing, or has no times, or times that cannot be compared."""
    if not isinstance(window, UntilWindow):
        return
    if window.column not in schema.names or window.column == pattern:
        raise ColumnError(_unknown(stream, window.column, [name for name in schema.names if name != pattern]))
    ends, times = schema.field(window.column).type, schema.field(time).type
    if not is_time(ends):
        raise ColumnError(
            f"stream {stream!r}: until({window.column!r}) needs a column of timestamps or integers (microseconds), "
            f"not {ends}"
        )
    if not are_times_alike(ends, times):
        raise ColumnError(
            f"stream {stream!r}: until({window.column!r}) is of type {ends} and the time column {time!r} of {times}; "
            "give both a time zone, or neither"
        )
    if pa.types.is_timestamp(times) != pa.types.is_timestamp(ends):
        raise ColumnError(
            f"stream {stream!r}: until({window.column!r}) is of type {ends} and the time column {time!r} of {times}; "
            "give both as timestamps, or both as integers (microseconds)"
        )


def _check_time(stream: str, schema: pa.Schema, time: str) -> None:
    if not is_time(schema.field(time).type):
        raise ColumnError(
            f"stream {stream!r}: time column {time!r} is of type {schema.field(time).type}; "
            "it must be a timestamp or an integer (microseconds)"
        )


def check_endings(stream: DeclaredStream, source: Announced, schema: pa.Schema) -> None:
    """Raise if a separate stream of endings with these columns does not fit."""
    name, keys = stream.spec.name or "?", stream.spec.key
    if len(source.key) != len(keys):
        raise ColumnError(
            f"stream {name!r}: its endings name {len(source.key)} key columns, the stream has {len(keys)}"
        )
    for column in (*source.key, source.time):
        if column not in schema.names:
            raise ColumnError(_unknown(f"endings of {name}", column, schema.names))
    _check_time(f"endings of {name}", schema, source.time)
    ours, theirs = stream.schema.field(stream.spec.time).type, schema.field(source.time).type
    if not are_times_alike(ours, theirs):
        raise ColumnError(
            f"stream {name!r} has times of type {ours}, its endings of type {theirs}: only one of them has a "
            "time zone; cast the other one"
        )
    for column, key in zip(keys, source.key, strict=True):
        wanted, given = stream.schema.field(column).type, schema.field(key).type
        if not are_keys_alike(wanted, given):
            raise ColumnError(f"stream {name!r}: its endings have key {key!r} of type {given}, the stream {wanted}")


def _is_text(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_null(dtype))


def _unknown(stream: str, name: str, known: Sequence[str]) -> str:
    return f"stream {stream!r} has no column {name!r}; {hint_of(name, known, 'it has')}"

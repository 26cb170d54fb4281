"""`pt.stream`: a table or DataFrame together with what it promises."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from punctuated.api.sources import Announced, Clustered, RowsWith, Source, Unique, When, parts
from punctuated.errors import ColumnError, StreamError
from punctuated.model.spec import OnViolation, StreamSpec
from punctuated.model.times import is_time, to_microseconds
from punctuated.model.window import Duration, Window, as_window, parse_duration


@dataclass(frozen=True)
class Stream:
    """A declared stream. Its data come in batches; a table is one batch."""

    batches: tuple[pa.Table, ...] = field(repr=False)
    spec: StreamSpec
    pattern_column: str | None = None
    endings: tuple[Announced, ...] = field(default=(), repr=False)

    @property
    def schema(self) -> pa.Schema:
        """Columns of the tuples, without the one that carries patterns."""
        return pa.schema([self.batches[0].schema.field(name) for name in self.spec.columns])


@dataclass(frozen=True)
class SparkStream(Stream):
    """A declared stream over a Spark DataFrame; `batches` only tell its columns."""

    frame: Any = field(default=None, repr=False)


def stream(
    data: Any,
    *,
    key: str | Sequence[str] | None = None,
    time: str | None = None,
    name: str | None = None,
    window: Window | Duration = None,
    punctuations: Source | None = None,
    lateness: Duration = 0,
    max_ahead: Duration | None = None,
    on_violation: str = "reject",
    order: str | None = None,
    idle_after: Duration | None = None,
) -> Stream:
    """Declare a stream: what its key and time are, how long its tuples matter, and when a key is over.

    Args:
        data: A `pyarrow.Table`, or a list of them, which are then processed as batches in this order; or a Spark
            DataFrame, streaming or not; or what `pt.join` gave, whose results and punctuations then flow on.
        key: The join key: a column or several; None if `where=` of the join decides alone. A join's own key need not
            be said again.
        time: The column of event times: a timestamp, or an integer in microseconds. A join brings its own.
        name: The stream's name in `rejected` and in messages.
        window: How long a tuple stays joinable for later tuples of the other stream: a duration such as "12 hours",
            `pt.between(…)`, `pt.rows(…)`, or None for ever.
        punctuations: What says that a key is over: `pt.unique()`, `pt.clustered()`, `pt.when(…)`, `pt.rows_with(…)`,
            `pt.endings(…)`, or several of them joined with `|`.
        lateness: How far behind the newest tuple another one may come.
        max_ahead: How far ahead of the newest tuple another one may be, if that is bounded.
        on_violation: What happens to a tuple that comes after its key is over: "reject", "fail" or "accept".
        order: A column that orders tuples of equal times.
        idle_after: On Spark, how long the stream may be silent before its watermark follows the other stream's.

    Example:
        >>> bids = pa.table({"item": [1, 1], "at": [5, 9], "closed": [False, True]})
        >>> import punctuated as pt
        >>> pt.stream(bids, name="B", key="item", time="at", punctuations=pt.when("closed")).spec.key
        ('item',)
    """
    if hasattr(type(data), "chain_source"):  # of the type: a Connect DataFrame takes any name for a column
        from punctuated.api.chained import chained_stream  # it builds on this module

        refused = {"time": time, "punctuations": punctuations, "lateness": lateness, "max_ahead": max_ahead}
        refused |= {"order": order, "idle_after": idle_after}
        return chained_stream(data, key=key, name=name, window=window, on_violation=on_violation, refused=refused)
    if time is None:
        raise StreamError(
            f"stream {name or '?'!r}: give time=, the column of event time (and key=, unless it has none)"
        )
    batches = _as_batches(data)
    schema = batches[0].schema
    keys = () if key is None else (key,) if isinstance(key, str) else tuple(key)
    sources = parts(punctuations)
    pattern_column = _single(sources, RowsWith)
    flag = _single(sources, When)
    columns = tuple(column for column in schema.names if column != pattern_column)
    shown = name or "?"
    if key is None:
        _check_keyless(shown, sources)
    elif not keys:
        raise StreamError(f"stream {shown!r}: give at least one key column, or key=None for a join by where= alone")
    check_columns(shown, schema, keys, time, flag, pattern_column, order)
    for batch in batches:
        to_microseconds(batch[time], time)
    spec = StreamSpec(
        name=name or "",
        columns=columns,
        key=keys,
        time=time,
        window=as_window(window),
        lateness_us=parse_duration(lateness),
        max_ahead_us=None if max_ahead is None else parse_duration(max_ahead),
        on_violation=parse_policy(on_violation),
        flag=flag,
        unique=any(isinstance(source, Unique) for source in sources),
        clustered=any(isinstance(source, Clustered) for source in sources),
        order=order,
        idle_after_us=None if idle_after is None else parse_duration(idle_after),
        punctuated=bool(sources),
    )
    announced = tuple(source for source in sources if isinstance(source, Announced))
    for source in announced:
        if is_frame(source.data) != is_frame(data):
            raise StreamError(f"stream {shown!r} and its endings must both be tables or both be Spark DataFrames")
        _check_endings(shown, schema, keys, source)
    if is_frame(data):
        refuse_collated(shown, data, keys)
        for source in announced:
            refuse_collated(f"endings of {shown}", source.data, source.key)
        return SparkStream(batches, spec, pattern_column, announced, data)
    return Stream(batches, spec, pattern_column, announced)


def is_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect; asking must not import pyspark."""
    kinds = type(data).__mro__
    return any(kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in kinds)


def _as_batches(data: Any) -> tuple[pa.Table, ...]:
    if is_frame(data):
        from punctuated.spark.types import arrow_schema  # pyspark is imported only when a DataFrame comes

        return (arrow_schema(data.schema).empty_table(),)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    tables = (data,) if isinstance(data, pa.Table) else tuple(data) if isinstance(data, Iterable) else ()
    if not tables or not all(isinstance(table, pa.Table) for table in tables):
        raise StreamError(f"a stream needs a pyarrow.Table or a list of them, not {type(data).__name__}")
    for table in tables[1:]:
        if table.schema != tables[0].schema:
            raise StreamError(f"the batches of a stream differ in their columns: {tables[0].schema} and {table.schema}")
    return tables


def refuse_collated(stream: str, frame: Any, key: Sequence[str]) -> None:
    """Raise if a key column of a DataFrame has a collation."""
    from punctuated.spark.collations import refuse_collations

    refuse_collations(frame.schema, key, f"stream {stream!r}: key", ColumnError)


def _check_keyless(stream: str, sources: Sequence[Source]) -> None:
    for source in sources:
        if not isinstance(source, RowsWith):
            raise StreamError(
                f"stream {stream!r} has no key that {type(source).__name__.lower()} could end; give key=, "
                "or leave out punctuations="
            )


def _single(sources: Sequence[Source], kind: type[When] | type[RowsWith]) -> str | None:
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
    if len(set(schema.names)) < len(schema.names):
        raise ColumnError(f"stream {stream!r} has two columns of the same name; rename one")
    if len(set(key)) < len(key):
        raise ColumnError(f"stream {stream!r}: the key names a column twice: {', '.join(key)}")
    for name in (*key, time, flag, pattern, order):
        if name is not None and name not in schema.names:
            raise ColumnError(_unknown(stream, name, schema.names))
    if not is_time(schema.field(time).type):
        raise ColumnError(
            f"stream {stream!r}: time column {time!r} is of type {schema.field(time).type}; "
            "it must be a timestamp or an integer (microseconds)"
        )
    if flag is not None and not pa.types.is_boolean(schema.field(flag).type):
        raise ColumnError(f"stream {stream!r}: when({flag!r}) needs a boolean column, not {schema.field(flag).type}")
    if pattern is not None and not _is_text(schema.field(pattern).type):
        raise ColumnError(
            f"stream {stream!r}: rows_with({pattern!r}) needs a text column, not {schema.field(pattern).type}"
        )
    if pattern is not None and pattern in (*key, time, flag, order):
        raise ColumnError(f"stream {stream!r}: {pattern!r} cannot carry patterns and be an attribute of the stream")


def _is_text(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype) or pa.types.is_null(dtype))


def _unknown(stream: str, name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else f"; it has: {', '.join(known)}"
    return f"stream {stream!r} has no column {name!r}{hint}"


def _check_endings(stream: str, schema: pa.Schema, key: tuple[str, ...], source: Announced) -> None:
    batches = _as_batches(source.data)
    if len(source.key) != len(key):
        raise ColumnError(
            f"stream {stream!r}: its endings name {len(source.key)} key columns, the stream has {len(key)}"
        )
    for name in (*source.key, source.time):
        if name not in batches[0].column_names:
            raise ColumnError(_unknown(f"endings of {stream}", name, batches[0].column_names))
    for batch in batches:
        to_microseconds(batch[source.time], source.time)
    for ours, theirs in zip(key, source.key, strict=True):
        wanted, given = schema.field(ours).type, batches[0].schema.field(theirs).type
        if wanted != given and not _castable(given, wanted):
            raise ColumnError(
                f"stream {stream!r}: its endings have key {theirs!r} of type {given}, the stream {wanted}"
            )


def _castable(given: pa.DataType, wanted: pa.DataType) -> bool:
    try:
        pa.nulls(0, given).cast(wanted)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return False
    return bool(pa.types.is_integer(given) == pa.types.is_integer(wanted))

"""`pt.stream`: data and what is said of them, as a declared stream over tables, DataFrames or another join."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import pyarrow as pa

from punctuated.api.any_table import as_table
from punctuated.bind.declared import DeclaredStream, check_endings, declare, declare_output
from punctuated.bind.options import StreamOptions
from punctuated.bind.origins import FrameOrigin, TableOrigin, origin_of
from punctuated.bind.sources import Announced, Source
from punctuated.errors import ColumnError, StreamError
from punctuated.join.intake.reading import Reader, announce
from punctuated.model.batch import EndedKeys, StreamBatch
from punctuated.model.spec import StreamSpec
from punctuated.model.times import to_microseconds
from punctuated.model.window import Duration, Window

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from punctuated.api.any_table import AnyTable
    from punctuated.api.table_join import Join
    from punctuated.spark.files import Files
    from punctuated.spark.joined import SparkJoin


@dataclass(frozen=True)
class Stream:
    """A declared stream and where its rows come from."""

    declared: DeclaredStream

    @property
    def spec(self) -> StreamSpec:
        """What was said of it."""
        return self.declared.spec

    @property
    def schema(self) -> pa.Schema:
        """Columns of the tuples, without the one that carries patterns."""
        return self.declared.schema


@dataclass(frozen=True)
class TableStream(Stream):
    """A stream over tables, which come in batches."""

    batches: tuple[pa.Table, ...] = field(repr=False)

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """Batch by batch, with the endings that are announced apart."""
        announced = [list(_announced(source, reader)) for source in self.declared.endings]
        for i in range(max(len(self.batches), *(len(batches) for batches in announced), 1)):
            batch = reader.read(self.batches[i] if i < len(self.batches) else self.batches[0].schema.empty_table())
            more = tuple(batches[i] for batches in announced if i < len(batches))
            yield replace(batch, endings=batch.endings + more)


@dataclass(frozen=True)
class ChainedTables(TableStream):
    """A stream over the results of a join of tables, or groups of them."""

    origin: TableOrigin = field(repr=False)

    def read(self, reader: Reader) -> Iterator[StreamBatch]:
        """What the join brings, batch by batch."""
        return map(reader.read, self.origin.chain_batches())


@dataclass(frozen=True)
class SparkStream(Stream):
    """A stream over a Spark DataFrame or files, or over the results of a join of some, or groups of them."""

    frame: "DataFrame | Files" = field(repr=False)
    origin: FrameOrigin | None = field(default=None, repr=False)


@overload
def stream(  # type: ignore[overload-overlap]  # whatever else a DataFrame can be read as
    data: "DataFrame | Files | SparkJoin", **options: Unpack[StreamOptions]
) -> SparkStream: ...


@overload
def stream(data: "AnyTable | Iterable[AnyTable] | Join", **options: Unpack[StreamOptions]) -> TableStream: ...


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
        data: A `pyarrow.Table`, a pandas frame or a table of any library that speaks Arrow, or a list of them, which
            are then processed as batches in this order; or a Spark DataFrame, streaming or not, or `pt.files(…)` in its
            place; or what `pt.join` gave, whose results and punctuations then flow on; or the very groups that `agg`
            gave, each of which then comes at the moment at which it became final.
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
    origin = data if is_join(data) else origin_of(data)
    if origin is not None:
        refused = {"time": time, "punctuations": punctuations, "lateness": lateness, "max_ahead": max_ahead}
        refused |= {"order": order, "idle_after": idle_after}
        return _chained(origin, key, name, window, on_violation, [option for option, value in refused.items() if value])
    tables = None if is_frame(data) else as_tables(data)
    declared = declare(
        _frame_schema(data) if tables is None else tables[0].schema,
        key=key,
        time=time,
        name=name,
        window=window,
        punctuations=punctuations,
        lateness=lateness,
        max_ahead=max_ahead,
        on_violation=on_violation,
        order=order,
        idle_after=idle_after,
    )
    endings = tuple(_read_announced(declared, source, on_spark=tables is None) for source in declared.endings)
    declared = replace(declared, endings=endings)
    if tables is None:
        _refuse_collated(declared.spec.name or "?", data, declared.spec.key)
        return SparkStream(declared, data)
    for table in tables:
        to_microseconds(table[declared.spec.time], declared.spec.time)
    return TableStream(declared, tables)


def is_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect, or files; asking must not import pyspark."""
    kinds = [(kind.__module__, kind.__name__) for kind in type(data).__mro__]
    is_dataframe = any(module.startswith("pyspark.sql") and name == "DataFrame" for module, name in kinds)
    return is_dataframe or ("punctuated.spark.files", "Files") in kinds


def is_join(data: Any) -> bool:
    """Whether this is what `pt.join` gives; asked of the type, for a Connect DataFrame takes any name for a column."""
    return hasattr(type(data), "chain_batches") or hasattr(type(data), "chain_source")


def as_tables(data: Any) -> tuple[pa.Table, ...]:
    """A table, or several of the same columns, of any library that speaks Arrow; their columns are plain."""
    single = as_table(data)
    if single is None and isinstance(data, Iterable):
        found = tuple(as_table(each) for each in data)
    else:
        found = (single,)
    tables = tuple(table for table in found if table is not None)
    if not tables or len(tables) < len(found):
        raise StreamError(
            f"a stream needs a pyarrow.Table or another table of Arrow, a pandas frame, or a list of them, "
            f"not {type(data).__name__}"
        )
    for table in tables[1:]:
        if table.schema != tables[0].schema:
            raise StreamError(f"the batches of a stream differ in their columns: {tables[0].schema} and {table.schema}")
    return tables


def _frame_schema(frame: Any) -> pa.Schema:
    from punctuated.spark.types import arrow_schema  # pyspark is imported only when a DataFrame comes

    return arrow_schema(frame.schema)


def _read_announced(declared: DeclaredStream, source: Announced, on_spark: bool) -> Announced:
    """A separate stream of endings, checked; tables of any library are Arrow's from now on."""
    shown = declared.spec.name or "?"
    if is_frame(source.data) != on_spark:
        raise StreamError(f"stream {shown!r} and its endings must both be tables or both be Spark DataFrames")
    if on_spark:
        check_endings(declared, source, _frame_schema(source.data))
        _refuse_collated(f"endings of {shown}", source.data, source.key)
        return source
    tables = as_tables(source.data)
    check_endings(declared, source, tables[0].schema)
    for table in tables:
        to_microseconds(table[source.time], source.time)
    return replace(source, data=tables)


def _refuse_collated(stream: str, frame: Any, key: Sequence[str]) -> None:
    """Raise if a key column of a DataFrame has a collation."""
    from punctuated.spark.collations import refuse_collations

    refuse_collations(frame.schema, key, f"stream {stream!r}: key", ColumnError)


def _announced(source: Announced, reader: Reader) -> Iterator[EndedKeys]:
    for table in source.data:
        yield announce(table, source.key, source.time, reader.types)


def _chained(
    origin: TableOrigin | FrameOrigin,
    key: str | Sequence[str] | None,
    name: str | None,
    window: Window | Duration,
    on_violation: str,
    refused: Sequence[str],
) -> Stream:
    """The results of a join, or groups of them, as a stream."""
    if refused:
        raise StreamError(f"a join's output brings its own times and punctuations: leave out {', '.join(refused)}")
    bound = origin.bound
    declared = declare_output(
        bound.views.results,
        bound.time_type,
        bound.views.key,
        key=key,
        name=name or "".join(stream.name for stream in bound.spec.streams),
        window=window,
        on_violation=on_violation,
    )
    if isinstance(origin, TableOrigin):
        return ChainedTables(declared, (), origin)
    frame = origin.chain_source()
    _refuse_collated(declared.spec.name, frame, declared.spec.key)
    return SparkStream(declared, frame, origin)

"""`pt.stream`: data and their description, as a declared stream over tables, DataFrames or another join."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

import pyarrow as pa

from punctuated.arrow.any_table import as_table
from punctuated.bind.declared import DeclaredStream, check_endings, declare, declare_output
from punctuated.bind.options import StreamOptions
from punctuated.bind.sources import Announced, Source
from punctuated.bind.streams import Arguments, Stream
from punctuated.errors import ColumnError, StreamError
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.local.streams import ChainedTables, TableStream
from punctuated.model.times import to_microseconds
from punctuated.model.window import Duration, Window
from punctuated.runtime.lineage import FrameOrigin, TableOrigin, origin_of

if TYPE_CHECKING:
    from punctuated.arrow.any_table import AnyTable
    from punctuated.local.join import Join
    from punctuated.spark.joins.joined import SparkJoin
    from punctuated.spark.source.files import Frame


@dataclass(frozen=True)
class SparkStream(Stream):
    """A stream over a Spark DataFrame or files, or over the results or groups of a join on Spark."""

    frame: "Frame" = field(repr=False)
    origin: FrameOrigin | None = field(default=None, repr=False)


@overload
def stream(  # type: ignore[overload-overlap]  # whatever else a DataFrame can be read as
    data: "Frame | SparkJoin", **options: Unpack[StreamOptions]
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
    where: Expression | None = None,
    select: Select | None = None,
) -> Stream:
    """Declare a stream: what its key and time are, how long its tuples matter, and when a key is over.

    Args:
        data: One of these:
            a `pyarrow.Table`, a pandas frame, or a table of any library that speaks Arrow;
            a list of such tables, which are processed as batches in this order;
            a Spark DataFrame, streaming or not, or `pt.files(…)`;
            what `pt.join` returned: its results and punctuations then flow on;
            exactly the groups that `agg` returned: each comes at the moment when it became final.
        key: The join key: one column or several. None if only `where=` of the join decides. For the output of a join,
            its key by default.
        time: The column of event times: a timestamp, or an integer in microseconds. The output of a join has its own.
        name: The stream's name in `rejected` and in messages.
        window: How long a tuple stays joinable for later tuples of the other stream: a duration such as "12 hours",
            `pt.between(…)`, `pt.rows(…)`, `pt.until(…)`, or None for ever.
        punctuations: What says that a key is over: `pt.unique()`, `pt.clustered()`, `pt.when(…)`, `pt.rows_with(…)`,
            `pt.endings(…)`, or several of them joined with `|`.
        lateness: How far a tuple may be behind the newest tuple.
        max_ahead: How far a tuple may be ahead of the newest tuple. By default there is no limit.
        on_violation: What happens to a tuple that comes after its key is over: "reject", "fail" or "accept".
        order: A column that orders tuples of equal times.
        idle_after: On Spark, how long the stream may be silent before its watermark follows the other stream's.
        where: Which rows of the data are tuples, such as `pt.column("price") > 5`. Other rows still count in two ways:
            their time counts, and they may end their key, by a flag or because the key comes once.
        select: Which columns the stream has; all by default. Either names of columns of the data, or a dict of new
            names, `{"item": "item_id", "cents": pt.column("price") * 100}`. All other options use the new names.

    Example:
        >>> bids = pa.table({"item": [1, 1], "at": [5, 9], "closed": [False, True]})
        >>> import punctuated as pt
        >>> pt.stream(bids, name="B", key="item", time="at", punctuations=pt.when("closed")).spec.key
        ('item',)
    """
    options = cast("StreamOptions", {name: value for name, value in locals().items() if name != "data"})
    made = _declared(data, options)
    if isinstance(made, TableStream) and isinstance(data, Iterator):
        data = made.batches  # what was read once is not read again
    return replace(made, arguments=Arguments(data, options, stream))


def _declared(data: Any, options: StreamOptions) -> Stream:
    """The stream that `pt.stream` declares, without its arguments."""
    origin = data if is_join(data) else origin_of(data)
    if origin is not None:
        return _chained(origin, options)
    tables = None if is_frame(data) else as_tables(data)
    declared = declare(_frame_schema(data) if tables is None else tables[0].schema, options)
    endings = tuple(_read_announced(declared, source, on_spark=tables is None) for source in declared.endings)
    declared = replace(declared, endings=endings)
    if tables is None:
        _refuse_collated(declared.spec.name or "?", data, declared.sources_of(declared.spec.key))
        return SparkStream(declared, data)
    for table in tables:
        to_microseconds(declared.times_of(table), declared.spec.time)
    return TableStream(declared, tables)


def is_frame(data: Any) -> bool:
    """Whether this is a Spark DataFrame, classic or Connect, or files; asking must not import pyspark."""
    kinds = [(kind.__module__, kind.__name__) for kind in type(data).__mro__]
    is_dataframe = any(module.startswith("pyspark.sql") and name == "DataFrame" for module, name in kinds)
    return is_dataframe or ("punctuated.spark.source.files", "Files") in kinds


def is_join(data: Any) -> bool:
    """Whether `pt.join` returned this; asks the type, because a Connect DataFrame takes any attribute for a column."""
    return hasattr(type(data), "chain_batches") or hasattr(type(data), "chain_source")


def as_tables(data: Any) -> tuple[pa.Table, ...]:
    """One table, or several with the same columns, of any library that speaks Arrow; their columns become plain."""
    single = as_table(data)
    if single is None and isinstance(data, Iterable):
        found = tuple(as_table(each) for each in data)
    else:
        found = (single,)
    tables = tuple(table for table in found if table is not None)
    if not tables or len(tables) < len(found):
        given = type(data).__name__ if found else "an empty list, whose columns nobody knows"
        raise StreamError(
            f"a stream needs a pyarrow.Table or another Arrow table, a pandas frame, or a list of them, not {given}"
        )
    for table in tables[1:]:
        if table.schema != tables[0].schema:
            raise StreamError(f"the batches of a stream differ in their columns: {tables[0].schema} and {table.schema}")
    return tables


def _frame_schema(frame: Any) -> pa.Schema:
    from punctuated.spark.session.types import arrow_schema  # pyspark is imported only when a DataFrame comes

    return arrow_schema(frame.schema)


def _read_announced(declared: DeclaredStream, source: Announced, on_spark: bool) -> Announced:
    """A separate stream of endings, checked; tables of any library become Arrow tables."""
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
    from punctuated.spark.session.types import refuse_collations

    refuse_collations(frame.schema, key, f"stream {stream!r}: key", ColumnError)


def _chained(origin: TableOrigin | FrameOrigin, options: StreamOptions) -> Stream:
    """The results of a join, or groups of them, as a stream."""
    declared = declare_output(origin.bound, options)
    if isinstance(origin, TableOrigin):
        return ChainedTables(declared, (), origin)
    frame = origin.chain_source()
    _refuse_collated(declared.spec.name, frame, declared.sources_of(declared.spec.key))
    return SparkStream(declared, frame, origin)

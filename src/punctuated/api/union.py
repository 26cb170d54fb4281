"""`pt.only` and `pt.union`: streams that are not joined, with all that a join offers."""

from typing import TYPE_CHECKING, Unpack, overload

from punctuated.api.join import SparkRunOptions, TableRunOptions, as_stream, run_where_the_data_is, sampling_step
from punctuated.api.stream import SparkStream
from punctuated.bind.options import UnionOptions
from punctuated.bind.streams import Stream
from punctuated.bind.union import bind_union
from punctuated.errors import StreamError
from punctuated.expressions.shape import Select
from punctuated.local.join import Join
from punctuated.local.streams import TableStream
from punctuated.model.spec import DEFAULT_MAX_PUNCTUATIONS
from punctuated.model.window import Duration

if TYPE_CHECKING:
    from punctuated.spark.joins.joined import SparkJoin


class SparkUnionOptions(UnionOptions, SparkRunOptions, total=False):
    """The options of unions of DataFrames."""


class TableUnionOptions(UnionOptions, TableRunOptions, total=False):
    """The options of unions of tables."""


@overload
def only(stream: TableStream | Join, **options: Unpack[TableUnionOptions]) -> Join: ...


@overload
def only(stream: "SparkStream | SparkJoin", **options: Unpack[SparkUnionOptions]) -> "SparkJoin": ...


@overload
def only(stream: "Stream | Join | SparkJoin", **options: Unpack[TableUnionOptions]) -> "Join | SparkJoin": ...


def only(
    stream: "Stream | Join | SparkJoin",
    *,
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS,
    bucket_memory: int | str | None = None,
    select: Select | None = None,
    sample_every: Duration | None = None,
    threads: int = 1,
    buckets: int | None = None,
) -> "Join | SparkJoin":
    """One stream by itself: what a join offers, without a join.

    Its results are the accepted tuples, each at its own time, with the key first. Its punctuations are the values that
    the stream has ended. `group_by` returns a group when its value has ended. No tuple is stored. The stream's window
    has no effect here.

    Args:
        stream: Made by `pt.stream` or `pt.join`.
        max_punctuations: As in `pt.join`.
        bucket_memory: As in `pt.join`.
        select: As in `pt.join`.
        sample_every: As in `pt.join`.
        threads: As in `pt.join`.
        buckets: As in `pt.join`.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> bids = pa.table({"item": [7, 7, 8], "at": [1, 2, 3], "closed": [False, True, False]})
        >>> bids = pt.stream(bids, key="item", time="at", punctuations=pt.when("closed"))
        >>> pt.only(bids).punctuations.select(["item", "ts"]).to_pylist()
        [{'item': 7, 'ts': 2}]
        >>> pt.only(bids).group_by("item").agg(n=pt.count()).to_pylist()
        [{'item': 7, 'n': 2}, {'item': 8, 'n': 1}]
    """
    given = as_stream(stream, "pt.only")
    bound = bind_union([given.declared], max_punctuations=max_punctuations, bucket_memory=bucket_memory, select=select)
    return run_where_the_data_is([given], bound, sampling_step(sample_every), threads, buckets)


@overload
def union(*streams: TableStream | Join, **options: Unpack[TableUnionOptions]) -> Join: ...


@overload
def union(*streams: "SparkStream | SparkJoin", **options: Unpack[SparkUnionOptions]) -> "SparkJoin": ...


@overload
def union(*streams: "Stream | Join | SparkJoin", **options: Unpack[TableUnionOptions]) -> "Join | SparkJoin": ...


def union(
    *streams: "Stream | Join | SparkJoin",
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS,
    bucket_memory: int | str | None = None,
    select: Select | None = None,
    sample_every: Duration | None = None,
    threads: int = 1,
    buckets: int | None = None,
) -> "Join | SparkJoin":
    """All tuples of two to eight streams with the same columns; a value is over when all of them have ended it.

    A tuple comes out with the batch that brings it, at its own time, and waits for no other stream. The tuples of a
    batch are in order of time. The output's watermark is that of the slowest stream.

    Args:
        streams: Made by `pt.stream` or `pt.join`, with the same key and with columns of the same names and types.
        max_punctuations: As in `pt.join`.
        bucket_memory: As in `pt.join`.
        select: As in `pt.join`.
        sample_every: As in `pt.join`.
        threads: As in `pt.join`.
        buckets: As in `pt.join`.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> shop = pt.stream(pa.table({"item": [7, 8], "at": [1, 4]}), name="shop", key="item", time="at")
        >>> web = pt.stream(pa.table({"item": [9, 7], "at": [2, 3]}), name="web", key="item", time="at")
        >>> pt.union(shop, web).results["item"].to_pylist()
        [7, 9, 7, 8]
    """
    if len(streams) < 2:
        raise StreamError(f"a union needs two streams or more; {len(streams) or 'none'} was given; for one use pt.only")
    given = [as_stream(each, "pt.union") for each in streams]
    declared = [each.declared for each in given]
    bound = bind_union(declared, max_punctuations=max_punctuations, bucket_memory=bucket_memory, select=select)
    return run_where_the_data_is(given, bound, sampling_step(sample_every), threads, buckets)

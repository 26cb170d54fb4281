"""`pt.join` and `pt.path`: streams are bound to a join, which runs where their data is.

All streams of a join are tables or all are DataFrames, and so is what comes out.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, overload

from punctuated.api.stream import SparkStream, is_join, stream
from punctuated.bind.binder import TimeDistance, bind_join
from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.options import JoinOptions
from punctuated.bind.streams import Stream
from punctuated.errors import ShedError, StreamError
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.local.join import Join
from punctuated.local.streams import TableStream
from punctuated.model.policy import Policy
from punctuated.model.reach import Steps, Within
from punctuated.model.shed import Shed
from punctuated.model.spec import DEFAULT_BUCKET_SIZE, DEFAULT_MAX_PUNCTUATIONS, DEFAULT_NODE_SIZE
from punctuated.model.window import Duration, parse_duration

if TYPE_CHECKING:
    from punctuated.spark.joins.joined import SparkJoin


class SparkRunOptions(TypedDict, total=False):
    """How a join runs on Spark."""

    buckets: int | None


class TableRunOptions(SparkRunOptions, total=False):
    """How a join of tables runs in this process."""

    sample_every: Duration | None
    threads: int


class SparkJoinOptions(JoinOptions, SparkRunOptions, total=False):
    """The options of joins of DataFrames."""


class TableJoinOptions(JoinOptions, TableRunOptions, total=False):
    """The options of joins of tables."""


@overload
def join(*streams: TableStream | Join, within: Within | None = None, **options: Unpack[TableJoinOptions]) -> Join: ...


@overload
def join(
    *streams: "SparkStream | SparkJoin", within: Within | None = None, **options: Unpack[SparkJoinOptions]
) -> "SparkJoin": ...


@overload
def join(
    *streams: "Stream | Join | SparkJoin", within: Within | None = None, **options: Unpack[TableJoinOptions]
) -> "Join | SparkJoin": ...


def join(
    *streams: "Stream | Join | SparkJoin",
    how: str = "inner",
    algorithm: str = "auto",
    within: Within | None = None,
    where: Expression | None = None,
    propagation: str | None = None,
    purge_threshold: int = 1,
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS,
    bucket_memory: int | str | None = None,
    memory: int | str | None = None,
    policy: Policy | None = None,
    sample_every: Duration | None = None,
    threads: int = 1,
    buckets: int | None = None,
    select: Select | None = None,
    shed: Shed | None = None,
    node_size: int = DEFAULT_NODE_SIZE,
    bucket_size: int = DEFAULT_BUCKET_SIZE,
) -> "Join | SparkJoin":
    """Join two to eight streams on their keys, within their windows.

    A result has one tuple of each stream. Returns a `Join` for tables and a `SparkJoin` for DataFrames. Both have
    `results`, `punctuations`, `rejected`, `all`, `explain()` and `group_by(…)`.

    Args:
        streams: Made by `pt.stream`, or by another `pt.join`. With two streams: the left one, then the right one.
        how: "inner", "left", "right", "full", "semi" or "anti". For more than two streams only "inner".
        algorithm: "auto" lets the join choose. All algorithms give the same results; they differ in what they remember
            and what they cost. For two streams: "pwjoin" (uses windows and punctuations), "wjoin" (windows only),
            "pjoin" (punctuations only), "shj" (neither), or a pair of structures for the left and the right window,
            such as "HH" or "TN": N (nested loops), H (hash buckets), B (B+tree), T (T-tree). For any number of
            streams: "hw" (an index of values), "nlw" (a scan of all tuples), "mw" (a scan of the tuples in time),
            "gca" and "lca" (the same with wide windows, checked again afterwards). For comparison: "ripple" and
            "xjoin". For two streams without windows, "xjoin" is XJoin itself, which uses the disk.
        within: How far apart the members of a result may be, in place of the windows of the streams: one duration for
            all, or one for each pair, `{("A", "B"): "5 min", ("B", "C"): "9 min"}`. A missing pair gets the shortest
            way through other streams.
        where: An extra predicate over both rows, such as `pt.left("bid") >= pt.right("ask")` or
            `pt.band("price", -5, +5)`. Streams without a key are joined by it alone.
        propagation: When the output is punctuated: "early" or "regular" for pwjoin, "regular" or "own-state" for pjoin,
            "none" for all.
        purge_threshold: How many punctuations are collected before a purge; 1 purges at once.
        max_punctuations: How many punctuations are remembered. Beyond that, the oldest are forgotten.
        bucket_memory: The most that one bucket may remember, in bytes or as text ("2 GiB"). The join fails before it
            takes more. On tables there are as many buckets as threads. By default there is no limit on tables; on
            Spark it is half of what `spark.executor.pyspark.memory` leaves to a Python worker.
        memory: How much of the streams is kept in memory: a number of tuples of all streams together, or bytes as text
            ("64 MiB"). Tuples beyond that wait on disk, preferably those that were not needed for long. The
            results are the same; with "xjoin" and "pjoin", results with tuples on disk come later. The buckets share
            this memory.
        policy: When "pjoin" and "xjoin" purge, relocate, join what is on disk and propagate. Made by `pt.Policy(…)`.
        sample_every: On tables, the step of event time between two rows of `metrics`.
        threads: On tables, how many threads run at a time, each with some of the buckets. With more than one, results
            come in another order, which is the same every time. If a join cannot be spread, `explain()` says so.
        buckets: Over how many buckets the keys are spread. The default is the number of shuffle partitions on Spark
            and the number of threads on tables, or more if memory= is smaller than a batch.
        select: Which columns the results have beside the key, by their names in the results. (A name that both
            streams have ends in `_left` or `_right`.) Other columns are never made. Every column costs time: on Spark,
            rows leaving the join are most of the work of many joins. A dict gives columns other names or values, such
            as `{"item": "item_id", "total": pt.column("price") * pt.column("n")}`; results have exactly these columns.
        shed: What to leave out at random when CPU or memory does not suffice. Made by `pt.shed(…)`. Results are then
            a sample; `count`, `sum` and `mean` of groups are estimates with a standard error. Inner joins only.
        node_size: How many entries a node of a B+tree or T-tree on a window holds.
        bucket_size: How many tuples a hash bucket of a window holds on average.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> a = pa.table({"k": [1, 2], "ts": [0, 1]})
        >>> a = pt.stream(a, key="k", time="ts", window=10, punctuations=pt.unique())
        >>> b = pt.stream(pa.table({"k": [1, 1], "at": [2, 20]}), key="k", time="at")
        >>> pt.join(a, b).results.to_pylist()
        [{'k': 1, 'ts': 0, 'at': 2}]
    """
    given = [as_stream(each, "pt.join") for each in streams]
    bound = bind_join(
        [each.declared for each in given],
        TimeDistance(within),
        how=how,
        algorithm=algorithm,
        where=where,
        propagation=propagation,
        purge_threshold=purge_threshold,
        max_punctuations=max_punctuations,
        bucket_memory=bucket_memory,
        memory=memory,
        policy=policy,
        select=select,
        shed=shed,
        node_size=node_size,
        bucket_size=bucket_size,
    )
    step = sampling_step(sample_every)
    return run_where_the_data_is(given, bound, step, threads, buckets)


@overload
def path(
    *streams: TableStream | Join, within: Steps, both_directions: bool = False, **options: Unpack[TableJoinOptions]
) -> Join: ...


@overload
def path(
    *streams: "SparkStream | SparkJoin",
    within: Steps,
    both_directions: bool = False,
    **options: Unpack[SparkJoinOptions],
) -> "SparkJoin": ...


@overload
def path(
    *streams: "Stream | Join | SparkJoin",
    within: Steps,
    both_directions: bool = False,
    **options: Unpack[TableJoinOptions],
) -> "Join | SparkJoin": ...


def path(
    *streams: "Stream | Join | SparkJoin",
    within: Steps,
    both_directions: bool = False,
    sample_every: Duration | None = None,
    threads: int = 1,
    buckets: int | None = None,
    **options: Unpack[JoinOptions],
) -> "Join | SparkJoin":
    """Join streams that a key passes in order: a tuple of the first stream, then one of the second, and so on.

    Args:
        streams: In the order of the path, each once.
        within: How much later the next tuple may be: one duration for all steps, or one for each step.
        both_directions: Whether the way back counts, too.
        sample_every: As in `pt.join`.
        threads: As in `pt.join`.
        buckets: As in `pt.join`.
        options: All other options of `pt.join`.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> seen = [pa.table({"car": [1, 2], "ts": times}) for times in ([0, 9], [5, 7], [12, 1])]
        >>> a, b, c = (pt.stream(table, name=name, key="car", time="ts") for table, name in zip(seen, "ABC"))
        >>> pt.path(a, b, c, within=8).results["car"].to_pylist()
        [1]
        >>> pt.path(a, b, c, within=8, both_directions=True).results["car"].to_pylist()
        [2, 1]
    """
    given = [as_stream(each, "pt.path") for each in streams]
    distance = TimeDistance(within, along=True, both_directions=both_directions)
    bound = bind_join([each.declared for each in given], distance, **options)
    step = sampling_step(sample_every)
    return run_where_the_data_is(given, bound, step, threads, buckets)


def run_where_the_data_is(
    streams: Sequence[Stream],
    bound: BoundJoin,
    sample_us: int | None = None,
    threads: int = 1,
    buckets: int | None = None,
) -> "Join | SparkJoin":
    """The bound join on the engine that has the data of its streams."""
    frames = [each for each in streams if isinstance(each, SparkStream)]
    if len(frames) == len(streams):
        if threads != 1:
            raise StreamError(
                f"threads={threads} is for tables: on Spark, as many buckets= run at a time as there are cores"
            )
        return _on_spark(frames, bound, buckets)
    tables = [each for each in streams if isinstance(each, TableStream)]
    if len(tables) < len(streams):
        raise StreamError("some streams are tables and some are Spark DataFrames; use one kind for all")
    if bound.spec.shed is not None and bound.spec.shed.trigger_us is not None:
        raise ShedError("shed(trigger=…) is for streaming DataFrames; on tables give shed(rate=…)")
    return Join(tables, bound, sample_us, threads, buckets)


def _on_spark(streams: Sequence[SparkStream], bound: BoundJoin, buckets: int | None) -> "SparkJoin":
    from punctuated.spark.joins.inputs import JoinInput
    from punctuated.spark.joins.joined import SparkJoin
    from punctuated.spark.session.session import choose_buckets, shuffle_partitions

    announced = [tuple((source.data, source.key, source.time) for source in each.declared.endings) for each in streams]
    frames = [JoinInput(each.frame, endings, each.origin) for each, endings in zip(streams, announced, strict=True)]
    spark = streams[0].frame.sparkSession
    n_buckets = choose_buckets(spark, bound.spec, buckets)
    return SparkJoin(frames, replace(bound, n_buckets=n_buckets, at_once=shuffle_partitions(spark)))


def as_stream(given: Any, taker: str) -> Stream:
    """This stream, or this join as a stream; `taker` is the function that was called, for the message."""
    if is_join(given):
        chained: Stream = stream(given)
        return chained
    if not isinstance(given, Stream):
        raise StreamError(f"{taker} takes streams made by pt.stream, or a join, not {type(given).__name__}")
    return given


def sampling_step(sample_every: Duration | None) -> int | None:
    """The step of event time between two samples of the metrics; None if none was given."""
    if sample_every is None:
        return None
    step = parse_duration(sample_every)
    if step <= 0:
        raise StreamError(f"sample_every={sample_every!r} must be longer than zero")
    return step

"""`pt.join`: two declared streams are checked against each other, and joined where their data is."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from punctuated.api.chained import is_join, reader_class
from punctuated.api.joined import Join
from punctuated.api.stream import SparkStream, Stream, stream
from punctuated.api.table_input import key_types
from punctuated.errors import ColumnError, PredicateError, ShedError, StreamError, UnboundedStateWarning
from punctuated.join.output.where import WherePredicate
from punctuated.join.tactics.pairing import check_structures
from punctuated.join.tactics.range_predicate import split_predicate
from punctuated.model.algorithm import choose_algorithm, pair
from punctuated.model.predicate import Expression
from punctuated.model.shed import Shed
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.size import parse_size
from punctuated.model.spec import (
    DEFAULT_BUCKET_SIZE,
    DEFAULT_MAX_PUNCTUATIONS,
    DEFAULT_NODE_SIZE,
    JoinSpec,
    StreamSpec,
    parse_join_type,
)
from punctuated.model.window import Duration, parse_duration
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.bounds import is_unbounded
from punctuated.plan.optimizer import structure_chooser

if TYPE_CHECKING:
    from punctuated.spark.joined import SparkJoin


def join(
    left: "Stream | Join | SparkJoin",
    right: "Stream | Join | SparkJoin",
    *,
    how: str = "inner",
    algorithm: str = "auto",
    where: Expression | None = None,
    propagation: str | None = None,
    purge_threshold: int = 1,
    max_punctuations: int = DEFAULT_MAX_PUNCTUATIONS,
    bucket_memory: int | str | None = None,
    sample_every: Duration | None = None,
    buckets: int | None = None,
    select: Sequence[str] | None = None,
    shed: Shed | None = None,
    node_size: int = DEFAULT_NODE_SIZE,
    bucket_size: int = DEFAULT_BUCKET_SIZE,
) -> Any:
    """Join two streams on their keys, within their windows.

    Gives a `Join` over tables, a `SparkJoin` over DataFrames; both have `results`, `punctuations`, `rejected`, `all`,
    `explain()` and `group_by(…)`.

    Args:
        left: The left stream, from `pt.stream`, or what another `pt.join` gave.
        right: The right stream, likewise.
        how: "inner", "left", "right", "full", "semi" or "anti".
        algorithm: "auto", or one of "pwjoin" (windows and punctuations), "wjoin" (windows only), "pjoin"
            (punctuations only), "shj" (neither), or a pair of structures for the left and the right window, such as
            "HH" or "TN": N (nested loops), H (hash buckets), B (B+tree), T (T-tree). The results are the same, what is
            remembered and what it costs is not.
        where: An extra predicate over both rows, such as `pt.left("bid") >= pt.right("ask")` or
            `pt.band("price", -5, +5)`. Streams without a key are joined by it alone.
        propagation: When the output is punctuated: "early" or "regular" for pwjoin, "regular" or "own-state" for pjoin,
            "none" for all.
        purge_threshold: How many punctuations are collected before a purge; 1 purges at once.
        max_punctuations: How many punctuations are remembered; the oldest are forgotten beyond that.
        bucket_memory: The most that one bucket may remember, in bytes or as text ("2 GiB"); the join fails before it
            takes more. On tables there is one bucket. By default there is no limit, but on Spark
            half of what `spark.executor.pyspark.memory` leaves to a Python worker.
        sample_every: The step of event time at which `metrics` of tables are taken.
        buckets: On Spark, over how many buckets the keys are spread; by default as many as shuffle partitions.
        select: The columns of the results that are wanted beside the key, by their names in the results; others are
            never made. Every column costs time: on Spark, rows leaving the join are most of the work of many joins.
        shed: What to leave out at random when CPU or memory does not suffice, from `pt.shed(…)`. Results are then a
            sample, and `count`, `sum` and `mean` of groups estimates with a standard error. Inner joins only.
        node_size: Of B+trees and T-trees on windows.
        bucket_size: How many tuples a hash bucket of a window holds on average.

    Example:
        >>> import pyarrow as pa, punctuated as pt
        >>> a = pa.table({"k": [1, 2], "ts": [0, 1]})
        >>> a = pt.stream(a, key="k", time="ts", window=10, punctuations=pt.unique())
        >>> b = pt.stream(pa.table({"k": [1, 1], "at": [2, 20]}), key="k", time="at")
        >>> pt.join(a, b).results.to_pylist()
        [{'k': 1, 'ts': 0, 'at': 2}]
    """
    streams = _as_stream(left), _as_stream(right)
    specs = _named(streams)
    spec = JoinSpec(
        streams=specs,
        how=parse_join_type(how),
        algorithm=choose_algorithm(algorithm, propagation),
        purge_threshold=purge_threshold,
        max_punctuations=max_punctuations,
        bucket_bytes=None if bucket_memory is None else parse_size(bucket_memory, "bucket_memory"),
        selected=None if select is None else _column_names(select),
        shed=_checked(shed),
        node_size=node_size,
        bucket_size=bucket_size,
    )
    _check_predicate(where, spec, streams)
    ranged, _ = split_predicate(where, (streams[LEFT].schema, streams[RIGHT].schema))
    if algorithm == "auto" and not spec.left.key:
        spec = replace(spec, algorithm=pair("NN" if ranged is None else "TT"), adaptive=ranged is not None)
    check_structures(spec, ranged)
    _warn_if_unbounded(spec)
    step = None if sample_every is None else _sampling_step(sample_every)
    return _where_the_data_is(streams, spec, where, buckets, step)


def _as_stream(given: Any) -> Stream:
    if is_join(given):
        return stream(given)
    if not isinstance(given, Stream):
        raise StreamError(f"pt.join takes streams made by pt.stream, or a join, not {type(given).__name__}")
    return given


def _named(streams: tuple[Stream, Stream]) -> tuple[StreamSpec, StreamSpec]:
    """What was declared of both streams, each by a name of its own."""
    left, right = (
        replace(each.spec, name=each.spec.name or name) for each, name in zip(streams, ("left", "right"), strict=True)
    )
    if left.name == right.name:
        raise StreamError(f"both streams are named {left.name!r}; give them different names")
    if len(left.key) != len(right.key):
        raise ColumnError(
            f"{left.name} has {len(left.key)} key columns and {right.name} {len(right.key)}; give both the same number"
        )
    return left, right


def _sampling_step(sample_every: Duration) -> int:
    step = parse_duration(sample_every)
    if step <= 0:
        raise StreamError(f"sample_every={sample_every!r} must be longer than nothing")
    return step


def _checked(shed: Shed | None) -> Shed | None:
    if shed is not None:
        if not isinstance(shed, Shed):
            raise ShedError(f"shed={shed!r}: give pt.shed(…)")
        shed_allocation(shed)
    return shed


def _column_names(select: Sequence[str]) -> tuple[str, ...]:
    if isinstance(select, str) or not all(isinstance(name, str) for name in select):
        raise ColumnError(f"select={select!r}: give a list of column names")
    return tuple(select)


def _check_predicate(where: Expression | None, spec: JoinSpec, streams: tuple[Stream, Stream]) -> None:
    if where is None:
        if not spec.left.key:
            raise StreamError(
                f"neither {spec.left.name} nor {spec.right.name} has a key, and there is no predicate: give pt.stream "
                "key=, or pt.join where="
            )
        return
    if not isinstance(where, Expression):
        raise PredicateError(f"where={where!r} is not a predicate; build one from pt.left(…) and pt.right(…)")
    for column in where.columns():
        ours = spec.streams[column.side]
        if column.name not in ours.columns:
            raise PredicateError(f"{ours.name} has no column {column.name!r}; it has: {', '.join(ours.columns)}")
    empty = [stream.schema.empty_table() for stream in streams]
    WherePredicate(where)(empty[LEFT], empty[RIGHT])


def _warn_if_unbounded(spec: JoinSpec) -> None:
    for side in Side:
        if is_unbounded(spec, side):
            ours, other = spec.streams[side].name, spec.streams[side.other].name
            message = (
                f"nothing bounds what the join remembers of {ours!r}: give it a window, "
                f"or {other!r} punctuations, and an algorithm that uses them"
            )
            warnings.warn(message, UnboundedStateWarning, stacklevel=3)


def _where_the_data_is(
    streams: tuple[Stream, Stream], spec: JoinSpec, where: Expression | None, buckets: int | None, step: int | None
) -> Any:
    left, right = streams
    if isinstance(left, SparkStream) and isinstance(right, SparkStream):
        return _on_spark((left, right), spec, where, buckets)
    if isinstance(left, SparkStream) or isinstance(right, SparkStream):
        raise StreamError("one stream is a table and the other a Spark DataFrame; make both the same")
    if spec.shed is not None and spec.shed.trigger_us is not None:
        raise ShedError("shed(trigger=…) is for streaming DataFrames; on tables give shed(rate=…)")
    return Join(streams, spec, where, step)


def _on_spark(
    streams: tuple[SparkStream, SparkStream], spec: JoinSpec, where: Expression | None, buckets: int | None
) -> "SparkJoin":
    from punctuated.spark.joined import Input, SparkJoin, choose_buckets
    from punctuated.spark.query import Query, View

    types = key_types(*streams)
    readers = [
        reader_class(streams[side])(
            spec.streams[side], streams[side].pattern_column, streams[side].schema, tuple(types)
        )
        for side in Side
    ]
    inputs = [
        Input(stream.frame, tuple((source.data, source.key, source.time) for source in stream.endings))
        for stream in streams
    ]
    n_buckets = choose_buckets((inputs[LEFT], inputs[RIGHT]), readers, spec.how, buckets)
    schemas = readers[LEFT].cast_schema, readers[RIGHT].cast_schema
    chooser = structure_chooser(spec, split_predicate(where, schemas)[0]) if spec.adaptive else None
    query = Query(spec, (readers[LEFT], readers[RIGHT]), where, n_buckets, View.RESULTS, chooser=chooser)
    return SparkJoin((inputs[LEFT], inputs[RIGHT]), query)

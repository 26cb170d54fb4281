"""`pt.join`: two declared streams, and what comes out of joining them."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.api.chained import is_join, reader_class
from punctuated.api.stream import SparkStream, Stream, stream
from punctuated.api.table_input import cast_schema, key_types, read_batches
from punctuated.errors import (
    ColumnError,
    LateGroupsWarning,
    PredicateError,
    ShedError,
    StreamError,
    UnboundedStateWarning,
)
from punctuated.join.chain import chain_schema, chain_tables
from punctuated.join.columns import ResultColumns
from punctuated.join.driver import JoinDriver
from punctuated.join.group_by import GroupBy, check_grouping
from punctuated.join.output import REJECTED_SCHEMA, BatchResult, punctuation_schema
from punctuated.join.pairing import check_structures, served_predicate
from punctuated.join.range_predicate import RangePredicate, split_predicate
from punctuated.join.where import WherePredicate
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import Propagation, choose_algorithm, pair
from punctuated.model.predicate import Expression
from punctuated.model.shed import Shed
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.size import parse_size
from punctuated.model.spec import (
    DEFAULT_BUCKET_SIZE,
    DEFAULT_MAX_PUNCTUATIONS,
    DEFAULT_NODE_SIZE,
    JoinSpec,
    parse_join_type,
)
from punctuated.model.times import from_microseconds, to_microseconds
from punctuated.model.window import Duration, parse_duration
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.explain import StreamStatistics, explain, is_unbounded
from punctuated.plan.optimizer import describe_candidates, expected, structure_chooser

if TYPE_CHECKING:
    from punctuated.spark.joined import SparkJoin

_SAMPLES = 100  # metrics of a table are taken about this often


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
    left, right = _as_stream(left), _as_stream(right)
    names = left.spec.name or "left", right.spec.name or "right"
    if names[LEFT] == names[RIGHT]:
        raise StreamError(f"both streams are named {names[LEFT]!r}; give them different names")
    if len(left.spec.key) != len(right.spec.key):
        raise ColumnError(
            f"{names[LEFT]} has {len(left.spec.key)} key columns and {names[RIGHT]} {len(right.spec.key)}; "
            "give both the same number"
        )
    spec = JoinSpec(
        left=replace(left.spec, name=names[LEFT]),
        right=replace(right.spec, name=names[RIGHT]),
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
    if where is not None:
        _check_predicate(where, (left, right), names)
    elif not spec.left.key:
        raise StreamError(
            f"neither {names[LEFT]} nor {names[RIGHT]} has a key, and there is no predicate: give pt.stream key=, "
            "or pt.join where="
        )
    ranged, _ = split_predicate(where, (left.schema, right.schema))
    if algorithm == "auto" and not spec.left.key:
        spec = replace(spec, algorithm=pair("NN" if ranged is None else "TT"), adaptive=ranged is not None)
    check_structures(spec, ranged)
    _warn_if_unbounded(spec)
    step = None if sample_every is None else parse_duration(sample_every)
    if step is not None and step <= 0:
        raise StreamError(f"sample_every={sample_every!r} must be longer than nothing")
    if isinstance(left, SparkStream) and isinstance(right, SparkStream):
        return _on_spark((left, right), spec, where, buckets)
    if isinstance(left, SparkStream) or isinstance(right, SparkStream):
        raise StreamError("one stream is a table and the other a Spark DataFrame; make both the same")
    if spec.shed is not None and spec.shed.trigger_us is not None:
        raise ShedError("shed(trigger=…) is for streaming DataFrames; on tables give shed(rate=…)")
    return Join((left, right), spec, where, step)


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


def _as_stream(given: Any) -> Stream:
    if is_join(given):
        return stream(given)
    if not isinstance(given, Stream):
        raise StreamError(f"pt.join takes streams made by pt.stream, or a join, not {type(given).__name__}")
    return given


def _check_predicate(where: Expression, streams: tuple[Stream, Stream], names: tuple[str, str]) -> None:
    if not isinstance(where, Expression):
        raise PredicateError(f"where={where!r} is not a predicate; build one from pt.left(…) and pt.right(…)")
    for column in where.columns():
        known = streams[column.side].spec.columns
        if column.name not in known:
            raise PredicateError(f"{names[column.side]} has no column {column.name!r}; it has: {', '.join(known)}")
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


class Join:
    """A join over tables. Nothing runs until something is asked for; then it runs once."""

    def __init__(
        self, streams: tuple[Stream, Stream], spec: JoinSpec, where: Expression | None, sample_us: int | None
    ) -> None:
        self._streams, self._spec, self._where, self._sample_us = streams, spec, where, sample_us
        self._types = key_types(*streams)
        self._schemas = cast_schema(streams[LEFT], self._types), cast_schema(streams[RIGHT], self._types)
        self._columns = ResultColumns.of(spec, self._schemas, tuple(self._types))
        self._time_type = streams[LEFT].schema.field(spec.left.time).type
        self._batches = list(read_batches(*streams, self._types))
        if spec.adaptive:
            self._spec = replace(spec, algorithm=pair(self._best_structures()))

    @property
    def spec(self) -> JoinSpec:
        """What was asked for, normalised."""
        return self._spec

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return self._columns.schema

    @cached_property
    def results(self) -> pa.Table:
        """The joined rows: key, left columns, right columns."""
        return pa.concat_tables([self._columns.schema.empty_table(), *self._each("results")])

    @cached_property
    def punctuations(self) -> pa.Table:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also tells ranges."""
        schema = punctuation_schema(self._spec.left.key, self._types)
        return self._with_time(pa.concat_tables([schema.empty_table(), *self._each("punctuations")]))

    @cached_property
    def rejected(self) -> pa.Table:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""
        return self._with_time(pa.concat_tables([REJECTED_SCHEMA.empty_table(), *self._each("rejected")]))

    @cached_property
    def all(self) -> pa.Table:
        """Everything in one table, batch by batch; `_kind` says result, punctuation or rejected."""
        nothing = pa.schema([("_kind", pa.string()), ("_ts", pa.int64()), *self._columns.schema]).empty_table()
        parts = [nothing, *(part for batch in self._timed for part in self._in_band(batch))]
        table = pa.concat_tables(parts, promote_options="permissive")
        return table.set_column(1, "_ts", self._times(table["_ts"]))

    @cached_property
    def metrics(self) -> pa.Table:
        """One row per sampling step: tuples in each state, and totals of everything else so far."""
        driver, _ = self._run
        return driver.samples.table()

    @property
    def kept(self) -> dict[str, float]:
        """Which share of each stream's tuples probed and was stored; all of them, unless the join sheds."""
        shedding = self._run[0].shedding
        names = [f"{what}_{side}" for side in ("left", "right") for what in ("probed", "stored")]
        return dict.fromkeys(names, 1.0) if shedding is None else shedding.kept

    @property
    def structures(self) -> list[tuple[str, str] | None]:
        """Of the left and the right window after each batch, where they have any of their own."""
        return [batch.structures for batch in self._run[1]]

    def explain(self) -> str:
        """The plan, and what to expect of it."""
        where = None if self._where is None else repr(self._where)
        statistics = [self._statistics(side) for side in Side]
        return explain(self._spec, statistics, where, describe_candidates(self._spec, self._ranged, statistics))

    @property
    def time_type(self) -> pa.DataType:
        """The type of result times."""
        return self._time_type

    def chain_source(self) -> None:
        """Nothing but this object is needed to go on with its results."""

    def chain_batches(self) -> Iterator[pa.Table]:
        """All that the join says, batch by batch, for another join."""
        schema = chain_schema(self.schema, self.time_type)
        for batch in self._timed:
            tables = chain_tables(schema, self._spec.left.key, batch, batch.rejected, speaks_for_all=True)
            yield pa.concat_tables([schema.empty_table(), *tables])

    def group_by(self, *columns: str) -> "Grouping":
        """Group the results; each group comes out once, when it is final."""
        return Grouping(self, columns)

    # Running

    def _new_driver(self, with_times: bool, with_chances: bool = False) -> JoinDriver:
        ranged, where = served_predicate(self._spec, self._where, self._schemas)
        return JoinDriver(
            self._spec,
            self._schemas,
            self._types,
            where=where,
            ranged=ranged,
            chooser=structure_chooser(self._spec, self._ranged) if self._spec.adaptive else None,
            allocate=None if self._spec.shed is None else shed_allocation(self._spec.shed, estimates=with_chances),
            with_chances=with_chances,
            with_times=with_times,
            sample_us=self._sample_us or self._default_step(),
        )

    def _best_structures(self) -> str:
        """To begin with: tables are known before they run."""
        seen = expected(self._spec, [self._statistics(side) for side in Side])
        return structure_chooser(self._spec, self._ranged).candidates(seen)[0].pair

    @cached_property
    def _ranged(self) -> RangePredicate | None:
        """The part of `where` that a tree could serve."""
        return split_predicate(self._where, self._schemas)[0]

    def _default_step(self) -> int | None:
        times = [self._bounds(side) for side in Side]
        known = [bounds for bounds in times if bounds is not None]
        if not known:
            return None
        return max(1, (max(last for _, last in known) - min(first for first, _ in known)) // _SAMPLES)

    def run_batches(self, driver: JoinDriver) -> list[BatchResult]:
        """What each batch brings, the end of both streams included."""
        outputs = [driver.process(one, two) for one, two in self._batches]
        return [*outputs, driver.end()]

    @cached_property
    def _run(self) -> tuple[JoinDriver, list[BatchResult]]:
        driver = self._new_driver(with_times=False)
        return driver, self.run_batches(driver)

    @cached_property
    def _timed(self) -> list[BatchResult]:
        return self.run_batches(self._new_driver(with_times=True))

    def _each(self, what: str) -> list[pa.Table]:
        _, batches = self._run
        return [table for batch in batches for table in getattr(batch, what)]

    # Shaping

    def _times(self, column: pa.ChunkedArray) -> pa.Array:
        return from_microseconds(np.asarray(column.combine_chunks()), self._time_type)

    def _with_time(self, table: pa.Table) -> pa.Table:
        place = table.column_names.index("ts", table.num_columns - 3 if "pattern" in table.column_names else 0)
        return table.set_column(place, "ts", self._times(table.column(place)))

    def _in_band(self, batch: BatchResult) -> list[pa.Table]:
        parts = [
            _labelled("result", table, pa.array(ts)) for table, ts in zip(batch.results, batch.result_ts, strict=True)
        ]
        for table in batch.punctuations:
            names = [*self._spec.left.key, "_ts", "_reason", "_pattern"]
            renamed = table.rename_columns(names)
            parts.append(_labelled("punctuation", renamed.drop_columns(["_ts"]), renamed["_ts"]))
        for table in batch.rejected:
            renamed = table.rename_columns(["_stream", "_reason", "_ts", "_row"])
            parts.append(_labelled("rejected", renamed.drop_columns(["_ts"]), renamed["_ts"]))
        return parts

    def _bounds(self, side: Side) -> tuple[int, int] | None:
        name = self._spec.streams[side].time
        times = [to_microseconds(batch[name], name) for batch in self._streams[side].batches]
        found = np.concatenate(times)
        return (int(found.min()), int(found.max())) if found.size else None

    def _statistics(self, side: Side) -> StreamStatistics:
        batches = [pair[side] for pair in self._batches]
        spec = self._spec.streams[side]
        rows = pa.concat_tables([batch.rows for batch in batches])
        keys = rows.select(list(spec.key))
        distinct = len(keys.group_by(list(spec.key)).aggregate([])) if len(rows) and spec.key else 0
        said = sum(len(batch.punctuations) + sum(len(ending.keys) for ending in batch.endings) for batch in batches)
        if spec.flag is not None:
            said += pc.sum(rows[spec.flag], min_count=0).as_py()
        said += len(rows) if spec.unique else distinct if spec.clustered else 0
        bounds = self._bounds(side)
        seconds = (bounds[1] - bounds[0]) / 1e6 if bounds is not None else 0.0
        return StreamStatistics(len(rows), seconds, distinct, int(said))


def _labelled(kind: str, table: pa.Table, ts: pa.Array) -> pa.Table:
    kinds = pa.array([kind], pa.string()).take(pa.array(np.zeros(len(table), np.int8)))
    return table.add_column(0, "_ts", ts).add_column(0, "_kind", kinds)


class Grouping:
    """Results by group, waiting for aggregates."""

    def __init__(self, joined: Join, by: Sequence[str]) -> None:
        self._joined, self._by = joined, list(by)

    def agg(self, **aggregates: Aggregate) -> pa.Table:
        """The groups with these aggregates, in the order in which they became final.

        Example:
            >>> import pyarrow as pa, punctuated as pt
            >>> a = pa.table({"k": [1, 2], "ts": [0, 1]})
            >>> a = pt.stream(a, key="k", time="ts", window=10, punctuations=pt.unique())
            >>> b = pt.stream(pa.table({"k": [2, 2, 1], "at": [2, 3, 4]}), key="k", time="at")
            >>> pt.join(a, b).group_by("k").agg(n=pt.count()).to_pydict()
            {'k': [2, 1], 'n': [2, 1]}
        """
        spec, schema = self._joined.spec, self._joined.schema
        sheds = spec.shed is not None
        check_grouping(schema, self._by, aggregates, sheds=sheds)
        self._warn_if_late(spec)
        ordered = any(each.is_ordered for each in aggregates.values())
        driver = self._joined._new_driver(with_times=ordered, with_chances=sheds)
        groups = GroupBy(schema, self._by, spec.left.key, aggregates, driver.codec, sheds=sheds)
        return pa.concat_tables([groups.process(batch) for batch in self._joined.run_batches(driver)])

    def _warn_if_late(self, spec: JoinSpec) -> None:
        punctuated = any(stream.punctuated for stream in spec.streams)
        keyed = bool(spec.left.key) and set(spec.left.key) <= set(self._by)
        if keyed and punctuated and spec.algorithm.propagation is not Propagation.NONE:
            return
        message = f"groups by {', '.join(self._by)} are final only when both streams have ended"
        if spec.left.key:
            message += f": group by the join key ({', '.join(spec.left.key)}) of punctuated streams to get them earlier"
        warnings.warn(message, LateGroupsWarning, stacklevel=3)

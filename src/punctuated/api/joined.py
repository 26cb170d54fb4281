"""What comes out of a join over tables: results, punctuations, rejected tuples, metrics, groups."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.api.stream import Stream
from punctuated.api.table_input import cast_schema, key_types, read_batches
from punctuated.errors import LateGroupsWarning
from punctuated.join.driver import JoinDriver
from punctuated.join.output.chain import chain_schema, chain_tables
from punctuated.join.output.collector import REJECTED_SCHEMA, BatchResult, punctuation_schema
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.grouping import check_grouping
from punctuated.join.tactics.pairing import served_predicate
from punctuated.join.tactics.range_predicate import RangePredicate, split_predicate
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import Propagation, pair
from punctuated.model.predicate import Expression
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec
from punctuated.model.times import from_microseconds, to_microseconds
from punctuated.plan.allocation import shed_allocation
from punctuated.plan.explain import StreamStatistics, explain
from punctuated.plan.optimizer import describe_candidates, expected, structure_chooser

_SAMPLES = 100  # metrics of a table are taken about this often


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

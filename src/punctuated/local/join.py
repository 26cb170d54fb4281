"""`Join`, a join over tables: a bound join and its batches, run in this process when its output is first asked for.

The run is kept, so that results, groups, punctuations and metrics come from the same run. Only a reader runs the join
anew, and keeps everything but the results.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, NoReturn

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.errors import RejectedRowsWarning, SinkError, warn_caller
from punctuated.expressions.nodes import Expression
from punctuated.expressions.shape import Select
from punctuated.local.plan import TablePlan
from punctuated.local.run import LocalRun, in_buckets
from punctuated.local.streams import TableStream
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import pair
from punctuated.model.batch import StreamBatch
from punctuated.model.counters import per_stream
from punctuated.model.rejection import Rejection
from punctuated.model.spec import JoinSpec
from punctuated.model.times import to_microseconds
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.grouping import Grouping, grouping_columns
from punctuated.output.views import View
from punctuated.plan.rendering.explain import explain
from punctuated.plan.statistics import expected_load, table_statistics
from punctuated.plan.tree import PlanNode
from punctuated.runtime.lineage import remember_origin

_SAMPLES = 100  # metrics of a table are taken about this often


class Join:
    """A join over tables, as `pt.join` returns it. It runs once, when its output is first asked for.

    To run it step by step, use `bound`, the join itself, and `batches`, its input.
    """

    def __init__(
        self,
        streams: Sequence[TableStream],
        bound: BoundJoin,
        sample_us: int | None = None,
        threads: int = 1,
        buckets: int | None = None,
    ) -> None:
        self._sources = [each.source for each in streams]
        self.batches = list(read_batches(streams, bound))
        self.bound = self._with_best_structures(bound) if bound.spec.adaptive else bound
        self._threads, self._spread = threads, in_buckets(self.bound, self.batches, threads, buckets)
        self._sample_us = sample_us
        self._read: FinishedRun | None = None  # the run of a reader that was read to its end, without results
        self._for_estimates: list[BatchResult] | None = None
        self._warned = False

    @property
    def spec(self) -> JoinSpec:
        """The specification of the join: its streams and options, normalised."""
        return self.bound.spec

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return self.bound.results

    @property
    def time_type(self) -> pa.DataType:
        """The type of result times."""
        return self.bound.time_type

    @cached_property
    def results(self) -> pa.Table:
        """The joined rows: key, left columns, right columns."""
        self._warn_of_rejected()
        return self._table(View.RESULTS)

    @cached_property
    def punctuations(self) -> pa.Table:
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also shows ranges."""
        return self._table(View.PUNCTUATIONS)

    @cached_property
    def rejected(self) -> pa.Table:
        """Tuples that did not take part: `stream`, `reason`, `ts`, and the `row` as JSON."""
        return self._table(View.REJECTED)

    @cached_property
    def all(self) -> pa.Table:
        """Everything in one table, batch by batch; `_kind` says result, punctuation or rejected."""
        return self._table(View.ALL)

    @cached_property
    def metrics(self) -> pa.Table:
        """A table with a row per sampling step: tuples in each state, and totals so far; the docs list the columns."""
        return self._known.run.metrics()

    def write_to(self, **how: object) -> NoReturn:
        """Raise an error that says what to do instead: only joins of streaming DataFrames write to sinks."""
        raise SinkError(
            "write_to is for joins of streaming DataFrames. The output of a join of tables is tables: write them by "
            "pyarrow.parquet, such as pq.write_table(joined.results, 'results.parquet'); or declare the streams over "
            "Spark DataFrames"
        )

    @property
    def kept(self) -> dict[str, float]:
        """The shares of each stream's tuples that probed and that were stored; 1, unless the join sheds."""
        shedding = self._known.run.drivers[0].shedding  # a join that sheds has one bucket
        n = len(self.spec.streams)
        names = [*per_stream("probed", n), *per_stream("stored", n)]
        return dict.fromkeys(names, 1.0) if shedding is None else shedding.kept

    @property
    def structures(self) -> list[tuple[str, str] | None]:
        """The structures of both windows in the first bucket after each batch; None if the join has no structures."""
        return [batch.structures for batch in self._known.batches]

    def explain(self, format: str = "text") -> str:
        """The plan, and what to expect of it: as "text", as "json", or as a picture ("svg").

        Example:
            >>> import pyarrow as pa, punctuated as pt
            >>> table = pa.table({"k": [1, 2], "ts": [0, 1]})
            >>> a, b = (pt.stream(table, name=name, key="k", time="ts", window=10) for name in "AB")
            >>> print(pt.join(a, b).explain().splitlines()[0])
            inner join of A and B on k
        """
        return explain(self.plan(), format)

    def plan(self) -> PlanNode:
        """The plan as a tree."""
        return self.planner().plan()

    def planner(self, grouping: Grouping | None = None) -> TablePlan:
        """What makes the plan of the join, or of these groups of it."""
        return TablePlan(self._spread, self.batches, self._sources, self._threads, grouping)

    def group_by(
        self, *columns: str | Sequence[str], having: Expression | None = None, select: Select | None = None
    ) -> "TableGrouping":
        """Group the results by columns, or by a list of them; each group comes out once, when it is final.

        `having` says which groups come out, and `select` which columns they have. Both use the grouping columns and the
        aggregates: `joined.group_by("k", having=pt.column("n") > 1, select={"id": "k", "n": "n"}).agg(n=pt.count())`.
        """
        return TableGrouping(self, grouping_columns(columns), having, select)

    def distinct(self, *columns: str | Sequence[str]) -> pa.Table:
        """Each combination of values of these columns once, when it first appears; by default, of all columns.

        Example:
            >>> import pyarrow as pa, punctuated as pt
            >>> bids = pa.table({"item": [7, 7, 7, 8], "bidder": ["a", "b", "a", "a"], "at": [1, 2, 3, 4]})
            >>> bids = pt.stream(bids, key="item", time="at", punctuations=pt.clustered())
            >>> pt.only(bids).distinct("item", "bidder").to_pylist()
            [{'item': 7, 'bidder': 'a'}, {'item': 7, 'bidder': 'b'}, {'item': 8, 'bidder': 'a'}]
        """
        bound = self.bound.distinct(grouping_columns(columns, "distinct"))
        self._warn_of_rejected()
        return self._grouped(bound)

    def chain_batches(self) -> Iterator[pa.Table]:
        """What another join gets from this one, batch by batch; rejected rows stay here."""
        self._warn_of_rejected()
        return chain_of(self.bound, self._run.batches)

    def reader(self) -> pa.RecordBatchReader:
        """The results in pieces. Each is made when it is read, or a little earlier by another thread.

        They are never all in memory at once, unless `results` was asked for before: then the reader reads those. A
        reader is read once; another reader runs the join again. Once a reader was read to its end, rejected rows,
        punctuations and metrics are known, too. Dropping a reader before its end stops the join.

        Example:
            >>> import pyarrow as pa, punctuated as pt
            >>> a = pt.stream(pa.table({"k": [1, 2], "ts": [0, 1]}), name="A", key="k", time="ts", window=10)
            >>> b = pt.stream(pa.table({"k": [2, 2, 1], "at": [2, 3, 4]}), name="B", key="k", time="at", window=10)
            >>> sum(batch.num_rows for batch in pt.join(a, b, threads=2).reader())
            3
        """
        tables = self._kept_results() if "_run" in vars(self) else self._read_results()
        batches = (batch for table in tables for batch in table.to_batches())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    # Running

    @cached_property
    def _run(self) -> "FinishedRun":
        """The run that brings the whole output, including the end of all streams."""
        run = self._new_run(timed=True)
        return FinishedRun(run, list(run.to_end(self.batches)))

    @property
    def _known(self) -> "FinishedRun":
        """The run of a reader if there was one, which has no results; else the run that has all of them."""
        return self._run if self._read is None or "_run" in vars(self) else self._read

    def _new_run(self, *, timed: bool) -> LocalRun:
        span, bound, step = self._span(), self._spread, self._sample_us
        takes_turns = bound.n_buckets > (bound.at_once or 1)  # each bucket would stop at every step
        if step is None and span is not None and not takes_turns:
            step = max(1, (span[1] - span[0]) // _SAMPLES)
        return LocalRun(bound, timed=timed, sample_us=step, from_us=None if span is None else span[0])

    def _read_results(self) -> Iterator[pa.Table]:
        """The results as they are found; after the last one, the rest of the output is kept."""
        run, kept = self._new_run(timed=False), list[BatchResult]()
        for parts in run.parts_to_end(self.batches):
            whole = BatchResult()
            for part in parts:
                yield from part.results
                whole = whole.then(replace(part, results=[], result_ts=[]))
            kept.append(whole)
        self._read = FinishedRun(run, kept)
        self._warn_of_rejected()

    def _kept_results(self) -> Iterator[pa.Table]:
        self._warn_of_rejected()
        return (table for batch in self._run.batches for table in batch.results)

    def _table(self, view: View) -> pa.Table:
        finished = self._known if view in (View.PUNCTUATIONS, View.REJECTED) else self._run
        return self.bound.views.table(view, finished.batches)

    def groups(
        self,
        by: tuple[str, ...],
        aggregates: dict[str, Aggregate],
        having: Expression | None = None,
        select: Select | None = None,
    ) -> pa.Table:
        """Groups of the results, in the order in which they became final."""
        bound = self.bound.group_by(by, aggregates, having, select)
        if bound.spec.shed is None:
            self._warn_of_rejected()
        return self._grouped(bound)

    def _grouped(self, bound: BoundJoin) -> pa.Table:
        groups = bound.groups()
        table = pa.concat_tables([groups.process(batch) for batch in self.batches_for(bound)])
        remember_origin(table, TableGroups(self, bound.seen_as(View.CHAIN, bound.grouping)))
        return table

    def batches_for(self, bound: BoundJoin) -> list[BatchResult]:
        """The results of each batch, as the groups of `bound` take them."""
        is_distinct = bound.grouping is not None and bound.grouping.is_distinct
        return self._run.batches if bound.spec.shed is None or is_distinct else self._estimated(bound)

    def _warn_of_rejected(self, run: LocalRun | None = None) -> None:
        """Warn of rejected rows when results are first asked for; every run of the join rejects the same rows."""
        if self._warned:
            return
        self._warned = True
        counts = (run or self._known.run).counts()
        for reason in Rejection:
            columns = per_stream(reason.counter, len(self.spec.streams))
            for stream, counter in zip(self.spec.streams, columns, strict=True):
                if counts[counter]:
                    message = reason.describe(stream.name, counts[counter], "joined.rejected shows them")
                    warn_caller(message, RejectedRowsWarning)

    def _estimated(self, bound: BoundJoin) -> list[BatchResult]:
        """The batches of a run for estimates from a sample: it sheds so that every pair has a chance."""
        if self._for_estimates is None:
            run = LocalRun(bound)
            self._for_estimates = list(run.to_end(self.batches))
            self._warn_of_rejected(run)
        return self._for_estimates

    def _span(self) -> tuple[int, int] | None:
        """The times of the first and the last tuple of all streams; None if there is no tuple."""
        known = [bounds for bounds in map(self._bounds, self.spec.sides) if bounds is not None]
        return (min(first for first, _ in known), max(last for _, last in known)) if known else None

    # What is known of the tables

    def _with_best_structures(self, bound: BoundJoin) -> BoundJoin:
        """The join with the structures that are best for its tables, which are known before it runs."""
        assert bound.chooser is not None
        seen = expected_load(bound.spec, table_statistics(bound.spec, self.batches, bound.key_types))
        best = pair(bound.chooser.candidates(seen)[0].pair)
        return replace(bound, spec=replace(bound.spec, algorithm=best))

    def _bounds(self, side: int) -> tuple[int, int] | None:
        name = self.spec.streams[side].time
        times = [to_microseconds(batch[side].rows[name], name) for batch in self.batches]
        known = [each for each in times if each.size]
        return (min(int(each.min()) for each in known), max(int(each.max()) for each in known)) if known else None


class FinishedRun(NamedTuple):
    """A finished run, and the result of each batch; the last batch is the end of all streams."""

    run: LocalRun
    batches: list[BatchResult]


class TableGrouping:
    """The results of a join, grouped; `agg` says what is computed of each group."""

    def __init__(
        self, joined: Join, by: tuple[str, ...], having: Expression | None = None, select: Select | None = None
    ) -> None:
        self._joined, self._by, self._having, self._select = joined, by, having, select

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
        return self._joined.groups(self._by, aggregates, self._having, self._select)

    def explain(self, format: str = "text") -> str:
        """The plan of the groups and of their join, without aggregates; for these use `pt.explain` of the groups."""
        return explain(self._joined.planner(Grouping(self._by, {})).plan(), format)


@dataclass(frozen=True)
class TableGroups:
    """Groups that go on as a stream of another join."""

    joined: Join
    bound: BoundJoin  # its view is what another join gets

    def plan(self) -> PlanNode:
        """The plan of the groups and of their join."""
        return self.planner().plan()

    def planner(self) -> TablePlan:
        """What makes the plan of the groups."""
        return self.joined.planner(self.bound.grouping)

    def chain_batches(self) -> Iterator[pa.Table]:
        """The groups as tuples, each at the time when it became final, and the punctuations of their keys."""
        groups = self.bound.groups()
        return chain_of(self.bound, [groups.as_results(batch) for batch in self.joined.batches_for(self.bound)])


def chain_of(bound: BoundJoin, batches: Sequence[BatchResult]) -> Iterator[pa.Table]:
    """What another join gets of these batches; rejected rows stay with the join that rejected them."""
    return (bound.views.table(View.CHAIN, [replace(batch, rejected=[])]) for batch in batches)


def read_batches(streams: Sequence[TableStream], bound: BoundJoin) -> Iterator[tuple[StreamBatch, ...]]:
    """The batches of all streams; a stream that has fewer batches continues with empty ones."""
    nothing = [StreamBatch(schema.empty_table()) for schema in bound.schemas]
    read = (stream.read(reader) for stream, reader in zip(streams, bound.inputs, strict=True))
    for batches in zip_longest(*read):
        yield tuple(batch or empty for batch, empty in zip(batches, nothing, strict=True))

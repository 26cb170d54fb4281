"""A join over tables: a bound join, run in this process."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest

import numpy as np
import pyarrow as pa

from punctuated.api.stream import TableStream
from punctuated.bind.bound_join import BoundJoin
from punctuated.bind.origins import remember_origin
from punctuated.errors import RejectedRowsWarning
from punctuated.join.driver import JoinDriver
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.grouping import grouping_columns
from punctuated.join.output.views import View
from punctuated.model.aggregate import Aggregate
from punctuated.model.algorithm import pair
from punctuated.model.batch import StreamBatch
from punctuated.model.counters import per_stream, rejected_as
from punctuated.model.rejection import REJECTIONS, describe_rejection
from punctuated.model.spec import JoinSpec
from punctuated.model.times import to_microseconds
from punctuated.plan.explain import explain
from punctuated.plan.explain_many import explain_many
from punctuated.plan.optimizer import describe_candidates
from punctuated.plan.statistics import expected
from punctuated.plan.table_statistics import table_statistics

_SAMPLES = 100  # metrics of a table are taken about this often


class Join:
    """A join over tables. Nothing runs until something is asked for; then it runs once.

    `bound` is the join itself and `batches` are its input, for those who want to run it step by step.
    """

    def __init__(self, streams: Sequence[TableStream], bound: BoundJoin, sample_us: int | None) -> None:
        self.batches = list(read_batches(streams, bound))
        self.bound = self._with_best_structures(bound) if bound.spec.adaptive else bound
        self._sample_us = sample_us
        self._for_estimates: list[BatchResult] | None = None
        self._warned = False

    @property
    def spec(self) -> JoinSpec:
        """What was asked for, normalised."""
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
        """Values that are over in the output: key columns, `ts`, `reason`, and `pattern`, which also tells ranges."""
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
        """One row per sampling step: tuples in each state, and totals of everything else so far; the docs list them."""
        return self._run[0].samples.table()

    @property
    def kept(self) -> dict[str, float]:
        """Which share of each stream's tuples probed and was stored; all of them, unless the join sheds."""
        shedding = self._run[0].shedding
        n = len(self.spec.streams)
        names = [*per_stream("probed", n), *per_stream("stored", n)]
        return dict.fromkeys(names, 1.0) if shedding is None else shedding.kept

    @property
    def structures(self) -> list[tuple[str, str] | None]:
        """Of the left and the right window after each batch, where they have any of their own."""
        return [batch.structures for batch in self._run[1]]

    def explain(self) -> str:
        """The plan, and what to expect of it."""
        bound = self.bound
        where = None if bound.where is None else repr(bound.where)
        if bound.spec.reaches:
            return explain_many(bound.spec, where)
        statistics = table_statistics(bound.spec, self.batches, bound.key_types)
        return explain(bound.spec, statistics, where, describe_candidates(bound.spec, bound.ranged, statistics))

    def group_by(self, *columns: str | Sequence[str]) -> "TableGrouping":
        """Group the results by columns, or by a list of them; each group comes out once, when it is final."""
        return TableGrouping(self, grouping_columns(columns))

    def chain_batches(self) -> Iterator[pa.Table]:
        """All that the join says to another join, batch by batch; what it has rejected is read here."""
        self._warn_of_rejected()
        return chain_of(self.bound, self._run[1])

    # Running

    @cached_property
    def _run(self) -> tuple[JoinDriver, list[BatchResult]]:
        """The driver, and what each batch brought, the end of all streams included."""
        driver = self.bound.driver(timed=True, sample_us=self._sample_us or self._default_step())
        return driver, run_to_end(driver, self.batches)

    def _table(self, view: View) -> pa.Table:
        return self.bound.views.table(view, self._run[1])

    def groups(self, by: tuple[str, ...], aggregates: dict[str, Aggregate]) -> pa.Table:
        """Groups of the results, in the order in which they became final."""
        bound = self.bound.group_by(by, aggregates)
        self._warn_of_rejected()
        groups = bound.groups()
        table = pa.concat_tables([groups.process(batch) for batch in self.batches_for(bound)])
        remember_origin(table, TableGroups(self, bound.seen_as(View.CHAIN, bound.grouping)))
        return table

    def batches_for(self, bound: BoundJoin) -> list[BatchResult]:
        """What each batch brings to groups."""
        return self._run[1] if bound.spec.shed is None else self._estimated(bound)

    def _warn_of_rejected(self) -> None:
        """Once, when results are asked for that lack rows."""
        counts, warned = self._run[0].counts(), self._warned
        self._warned = True
        for reason in REJECTIONS if not warned else ():
            columns = per_stream(rejected_as(reason), len(self.spec.streams))
            for stream, counter in zip(self.spec.streams, columns, strict=True):
                if counts[counter]:
                    message = describe_rejection(stream.name, reason, counts[counter], "joined.rejected shows them")
                    warnings.warn(message, RejectedRowsWarning, stacklevel=4)

    def _estimated(self, bound: BoundJoin) -> list[BatchResult]:
        """What a join that sheds brings for estimates: every pair has a chance, so it sheds in another way."""
        if self._for_estimates is None:
            self._for_estimates = run_to_end(bound.driver(), self.batches)
        return self._for_estimates

    def _default_step(self) -> int | None:
        known = [bounds for bounds in map(self._bounds, self.spec.sides) if bounds is not None]
        if not known:
            return None
        return max(1, (max(last for _, last in known) - min(first for first, _ in known)) // _SAMPLES)

    # What the tables are like

    def _with_best_structures(self, bound: BoundJoin) -> BoundJoin:
        """To begin with: tables are known before they run."""
        assert bound.chooser is not None
        seen = expected(bound.spec, table_statistics(bound.spec, self.batches, bound.key_types))
        best = pair(bound.chooser.candidates(seen)[0].pair)
        return replace(bound, spec=replace(bound.spec, algorithm=best))

    def _bounds(self, side: int) -> tuple[int, int] | None:
        name = self.spec.streams[side].time
        times = np.concatenate([to_microseconds(batch[side].rows[name], name) for batch in self.batches])
        return (int(times.min()), int(times.max())) if times.size else None


class TableGrouping:
    """Results by group, waiting for aggregates."""

    def __init__(self, joined: Join, by: tuple[str, ...]) -> None:
        self._joined, self._by = joined, by

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
        return self._joined.groups(self._by, aggregates)


@dataclass(frozen=True)
class TableGroups:
    """Groups that go on as a stream."""

    joined: Join
    bound: BoundJoin  # as a chain of its groups

    def chain_batches(self) -> Iterator[pa.Table]:
        """The groups as results, each at its moment, and what the join says of their keys."""
        groups = self.bound.groups()
        return chain_of(self.bound, [groups.as_results(batch) for batch in self.joined.batches_for(self.bound)])


def chain_of(bound: BoundJoin, batches: Sequence[BatchResult]) -> Iterator[pa.Table]:
    """What is said to another join, batch by batch; what was rejected is read where it was."""
    return (bound.views.table(View.CHAIN, [replace(batch, rejected=[])]) for batch in batches)


def read_batches(streams: Sequence[TableStream], bound: BoundJoin) -> Iterator[tuple[StreamBatch, ...]]:
    """All streams batch by batch; the shorter ones go on with empty batches."""
    nothing = [StreamBatch(schema.empty_table()) for schema in bound.schemas]
    read = (stream.read(reader) for stream, reader in zip(streams, bound.inputs, strict=True))
    for batches in zip_longest(*read):
        yield tuple(batch or empty for batch, empty in zip(batches, nothing, strict=True))


def run_to_end(driver: JoinDriver, batches: Sequence[Sequence[StreamBatch]]) -> list[BatchResult]:
    """What each batch brings, and the end of all streams."""
    return [*(driver.process(*batch) for batch in batches), driver.end()]

"""A bound join: everything that a join is, as plain data, for tables, Spark, experiments and calibration alike.

It makes drivers, groups and the schemas of views; runners only bring it batches. It travels to workers as it is.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from punctuated.errors import LateGroupsWarning
from punctuated.join.driver import JoinDriver
from punctuated.join.intake.reading import Reader
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.grouping import Grouping, check_grouping, describe_grouping
from punctuated.join.output.multiway_collector import MultiwayColumns
from punctuated.join.output.views import View, Views, late_groups
from punctuated.join.overflow.scratch import TableStore
from punctuated.join.setup import DriverSetup
from punctuated.join.tactics.range_predicate import RangePredicate, split_predicate
from punctuated.model.aggregate import Aggregate
from punctuated.model.bucket import BucketPlace
from punctuated.model.predicate import Expression
from punctuated.model.spec import JoinSpec
from punctuated.model.times import output_time_type
from punctuated.plan.allocation import ShedAllocation
from punctuated.plan.optimizer import StructureChooser


@dataclass(frozen=True)
class BoundJoin:
    """The inputs, how they are joined, and what of the output is asked for."""

    spec: JoinSpec
    inputs: tuple[Reader, ...]
    where: Expression | None = None
    n_buckets: int = 1
    view: View = View.RESULTS
    grouping: Grouping | None = None
    chooser: StructureChooser | None = None  # made where the join is bound: its weights are those of that machine
    at_once: int | None = None  # how many buckets are processed at a time; none: all

    def seen_as(self, view: View, grouping: Grouping | None = None) -> "BoundJoin":
        """The same join, another part of its output."""
        return replace(self, view=view, grouping=grouping)

    def group_by(self, by: tuple[str, ...], aggregates: Mapping[str, Aggregate]) -> "BoundJoin":
        """The same join, its results by group; warns if nothing can finish the groups before the end."""
        check_grouping(self.results, by, aggregates, sheds=self.spec.shed is not None)
        late = late_groups(self.spec, by)
        if late is not None:
            warnings.warn(late, LateGroupsWarning, stacklevel=3)
        return self.seen_as(View.GROUPS, Grouping(by, aggregates))

    # Columns

    @cached_property
    def schemas(self) -> tuple[pa.Schema, ...]:
        """Of the tuples, keys in their common types."""
        return tuple(reader.cast_schema for reader in self.inputs)

    @property
    def key_types(self) -> tuple[pa.DataType, ...]:
        """The common types of the key columns."""
        return self.inputs[0].types

    @cached_property
    def columns(self) -> ResultColumns | MultiwayColumns:
        """How the inputs' columns become those of the results."""
        kind = MultiwayColumns if self.spec.reaches else ResultColumns
        return kind.of(self.spec, self.schemas, self.key_types)

    @property
    def results(self) -> pa.Schema:
        """The columns of the results."""
        return self.columns.schema

    @property
    def time_type(self) -> pa.DataType:
        """In which times come out: as those of the first stream, in microseconds."""
        return output_time_type(self.schemas[0].field(self.spec.left.time).type)

    @cached_property
    def views(self) -> Views:
        """What leaves the join; the views of its groups, if they are asked for."""
        if self.grouping is None:
            return Views(self.results, self.spec.left.key, self.time_type)
        return Views(self.groups().schema, self.grouping.ended_by(self.spec.left.key), self.time_type)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns of the view that is asked for."""
        return self.views.results if self.view is View.GROUPS else self.views.schema(self.view)

    @cached_property
    def ranged(self) -> RangePredicate | None:
        """The part of `where` that a tree could serve."""
        return split_predicate(self.where, self.schemas)[0]

    # What runs

    def driver(
        self,
        bucket: int = 0,
        *,
        timed: bool = False,
        sample_us: int | None = None,
        sample_from_us: int | None = None,
        bucket_bytes: int | None = None,
        hash_bits: int = 64,
        tables: TableStore | None = None,
    ) -> JoinDriver:
        """The operator of one bucket, empty.

        `timed` asks for the times of results even if the view does not; metrics are sampled every `sample_us` of event
        time, from `sample_from_us` or the first tuple on; `bucket_bytes` is the most that it may hold,
        unless the join itself says so; `hash_bits`: fewer than 64 force collisions; `tables` keeps what goes beyond
        memory, by default for as long as the process lives.
        """
        limit = self.spec.bucket_bytes if self.spec.bucket_bytes is not None else bucket_bytes
        is_ordered = self.grouping is not None and self.grouping.is_ordered
        setup = DriverSetup(
            spec=replace(self.spec, bucket_bytes=limit),
            schemas=self.schemas,
            key_types=self.key_types,
            where=self.where,
            chooser=self.chooser,
            allocate=self._allocation,
            timed=timed or self.view.is_timed or is_ordered,
            estimated=self._estimates,
            sample_us=sample_us,
            sample_from_us=sample_from_us,
            hash_bits=hash_bits,
            place=BucketPlace(bucket, self.n_buckets, self.at_once),
            tables=tables,
            definition=self.definition,
        )
        return JoinDriver(setup)

    def groups(self) -> GroupBy:
        """The groups of one bucket, none yet."""
        assert self.grouping is not None
        by, aggregates = self.grouping.by, self.grouping.aggregates
        timed = self.view is View.CHAIN
        return GroupBy(self.results, by, self.spec.left.key, aggregates, sheds=self._estimates, timed=timed)

    @property
    def _estimates(self) -> bool:
        return self.spec.shed is not None and self.grouping is not None

    @property
    def _allocation(self) -> ShedAllocation | None:
        """What falls to one bucket of what the join may use."""
        return None if self.spec.shed is None else ShedAllocation(self.spec.shed, self.n_buckets, self._estimates)

    @property
    def tells_time(self) -> bool:
        """Whether the engine's time of a batch is needed: silent streams are released, or slow batches shed."""
        shed = self.spec.shed
        silence = any(stream.idle_after_us is not None for stream in self.spec.streams)
        return silence or (shed is not None and shed.trigger_us is not None)

    @property
    def definition(self) -> dict[str, str]:
        """What a saved state depends on beside the join's specification; views without groups have the same state."""
        parts = {} if self.where is None else {"extra predicate (where=)": repr(self.where)}
        if self.grouping is not None:
            parts["grouping"] = describe_grouping(self.grouping.by, self.grouping.aggregates, sheds=self._estimates)
            if self.view is View.CHAIN:
                parts["grouping"] += ", as a stream"
        return parts

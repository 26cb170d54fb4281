"""A join as it travels to the workers: plain data, and how its output looks."""

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import pyarrow as pa

from punctuated.join.driver import JoinDriver
from punctuated.join.intake.reading import Reader
from punctuated.join.output.chain import chain_schema
from punctuated.join.output.collector import REJECTED_SCHEMA, punctuation_schema
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.grouping import describe_grouping
from punctuated.join.tactics.pairing import served_predicate
from punctuated.join.tactics.window_statistics import Chooser
from punctuated.model.aggregate import Aggregate
from punctuated.model.bucket import BucketPlace
from punctuated.model.predicate import Expression
from punctuated.model.side import LEFT, RIGHT
from punctuated.model.spec import JoinSpec
from punctuated.plan.allocation import ShedAllocation

METRICS = "_metrics"  # a row that carries metrics has nothing else; it never reaches a sink


class View(StrEnum):
    """What of a join's output is asked for."""

    RESULTS = "results"
    PUNCTUATIONS = "punctuations"
    REJECTED = "rejected"
    ALL = "all"
    GROUPS = "groups"
    CHAIN = "chain"  # all that the join says, for another join


@dataclass(frozen=True)
class Grouping:
    """Results by group, fused into the join's own step."""

    by: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]


@dataclass(frozen=True)
class Query:
    """Everything that a worker must know."""

    spec: JoinSpec
    readers: tuple[Reader, Reader]
    where: Expression | None
    n_buckets: int
    view: View
    grouping: Grouping | None = None
    chooser: Chooser | None = None  # of structures, made where the query is built: weights are those of that machine
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)

    @cached_property
    def schemas(self) -> tuple[pa.Schema, pa.Schema]:
        """Of the tuples, keys in their common types."""
        return self.readers[LEFT].cast_schema, self.readers[RIGHT].cast_schema

    @property
    def tells_time(self) -> bool:
        """Whether Spark's time of the batch is needed: silent streams are released, or slow batches shed."""
        shed = self.spec.shed
        silence = any(stream.idle_after_us is not None for stream in self.spec.streams)
        return silence or (shed is not None and shed.trigger_us is not None)

    @property
    def key_types(self) -> tuple[pa.DataType, ...]:
        return self.readers[LEFT].types

    @cached_property
    def result_schema(self) -> pa.Schema:
        return ResultColumns.of(self.spec, self.schemas, self.key_types).schema

    @property
    def time_type(self) -> pa.DataType:
        return self.schemas[LEFT].field(self.spec.left.time).type

    @cached_property
    def output_schema(self) -> pa.Schema:
        """The columns of the view, without metrics."""
        if self.view is View.RESULTS:
            return self.result_schema
        if self.view is View.PUNCTUATIONS:
            return _timed(punctuation_schema(self.spec.left.key, self.key_types), self.time_type)
        if self.view is View.REJECTED:
            return _timed(REJECTED_SCHEMA, self.time_type)
        if self.view is View.CHAIN:
            return chain_schema(self.result_schema, self.time_type)
        if self.view is View.GROUPS:
            return self.new_groups(self.new_driver(0)).schema
        texts = [(name, pa.string()) for name in ("_stream", "_reason", "_pattern", "_row")]
        return pa.schema([("_kind", pa.string()), ("_ts", self.time_type), *self.result_schema, *texts])

    def new_driver(self, bucket: int) -> JoinDriver:
        """The operator of one bucket, empty."""
        ordered = self.grouping is not None and any(each.is_ordered for each in self.grouping.aggregates.values())
        ranged, where = served_predicate(self.spec, self.where, self.schemas)
        return JoinDriver(
            _within_worker(self.spec),
            self.schemas,
            self.key_types,
            where=where,
            ranged=ranged,
            chooser=self.chooser,
            allocate=self._allocation,
            with_chances=self._estimates,
            with_times=self.view in (View.ALL, View.CHAIN) or ordered,
            place=BucketPlace(bucket, self.n_buckets),
            definition=self.definition,
        )

    @property
    def _estimates(self) -> bool:
        return self.spec.shed is not None and self.grouping is not None

    @property
    def _allocation(self) -> ShedAllocation | None:
        """What falls to one bucket of what the join may use."""
        shed = self.spec.shed
        return None if shed is None else ShedAllocation(shed, self.n_buckets, self._estimates)

    @property
    def definition(self) -> dict[str, str]:
        """What a saved state depends on beside the join's specification; views without groups have the same state."""
        parts = {} if self.where is None else {"extra predicate (where=)": repr(self.where)}
        if self.grouping is not None:
            parts["grouping"] = describe_grouping(self.grouping.by, self.grouping.aggregates, sheds=self._estimates)
        return parts

    def new_groups(self, driver: JoinDriver) -> GroupBy:
        """The groups of one bucket, none yet."""
        assert self.grouping is not None
        return GroupBy(
            self.result_schema,
            self.grouping.by,
            self.spec.left.key,
            self.grouping.aggregates,
            driver.codec,
            sheds=self._estimates,
        )


def _within_worker(spec: JoinSpec) -> JoinSpec:
    """Where Spark limits a worker's memory, a bucket has half of it unless the join says otherwise."""
    limit = int(os.environ.get("PYSPARK_EXECUTOR_MEMORY_MB", "-1"))
    return replace(spec, bucket_bytes=limit << 19) if spec.bucket_bytes is None and limit > 0 else spec


def _timed(schema: pa.Schema, time_type: pa.DataType) -> pa.Schema:
    """The last `ts` in the stream's own type of time."""
    place = max(i for i, name in enumerate(schema.names) if name == "ts")
    return schema.set(place, pa.field("ts", time_type))

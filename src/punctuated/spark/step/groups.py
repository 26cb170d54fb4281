"""Groups that do not contain the join key: a second exchange by the grouping columns, and a step of their own.

The join's output flows into this step as into another join. Such groups are final when both streams have ended.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, StringType, StructType

from punctuated.arrow.ipc import from_ipc, to_ipc
from punctuated.bind.bound_join import BoundJoin
from punctuated.exchange.spread import bucket_numbers, split
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.model.times import to_microseconds
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.group_by import GroupBy
from punctuated.output.in_band import END, GROUP, PROGRESS, RESULT, InBand
from punctuated.output.views import View
from punctuated.snapshot import fingerprint
from punctuated.spark.pack.bucket_ids import bucket_ids
from punctuated.spark.session.query import Query
from punctuated.spark.state.cache import prepare_worker
from punctuated.spark.step.emit import as_frames
from punctuated.spark.step.writers import TableWriters

PACKED_DDL = "bucket INT, ended BOOLEAN, reached BIGINT, data BINARY"
_SENT = pa.schema([("ended", pa.bool_()), ("reached", pa.int64()), ("data", pa.binary())])
_PACKED = pa.schema([("bucket", pa.int32()), *_SENT])
_SAVED = StructType().add("definition", StringType()).add("data", BinaryType())


@dataclass(frozen=True)
class PackGroups:
    """The function for `mapInArrow`: sends results to the bucket of their group, and the end of the streams to all.

    `reached` is the output watermark of the join, which the first bucket gets if groups go on as a stream; once the
    join has ended, it is the time of the end.
    """

    by: tuple[str, ...]
    columns: tuple[str, ...]
    in_band: InBand
    n_buckets: int
    are_stream: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        for batch in batches:
            table = pa.Table.from_batches([batch])
            rows = self.in_band.of_kind(table, RESULT).select([*self.columns, self.in_band.time])
            ended, reached = self.in_band.is_end(table), self._reached(table)
            spread = split(rows, bucket_numbers([rows[name] for name in self.by], self.n_buckets), self.n_buckets)
            n_always = self.n_buckets if ended else int(self.are_stream and reached > NEVER)
            sent = [(bucket_ids()[i], ours) for i, ours in enumerate(spread) if len(ours) or i < n_always]
            data = [to_ipc(ours).to_pybytes() for _, ours in sent]
            ids = pa.array([number for number, _ in sent], pa.int32())
            progress = pa.array([ended] * len(sent), pa.bool_()), pa.array([reached] * len(sent), pa.int64())
            yield pa.record_batch([ids, *progress, pa.array(data, pa.binary())], _PACKED)

    def _reached(self, table: pa.Table) -> int:
        """The output watermark in these rows, or NEVER: a null would reach the step as a float."""
        ours = self.in_band
        ends = to_microseconds(ours.of_kind(table, END)[ours.time], ours.time).tolist()
        return int(max([NEVER, *ends, *ours.of_kind(table, PROGRESS)[ours.watermark].to_pylist()]))


class GroupStep(StatefulProcessor):
    """Spark's stateful processor for the groups of one bucket."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state to Spark."""
        self._saved = handle.getValueState("groups", _SAVED)

    def handleInputRows(  # type: ignore[override]  # noqa: N802, names and types are Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        prepare_worker()
        frames = list(rows)
        groups = self._query.join.groups()
        definition: fingerprint.Fingerprint = {"format": str(fingerprint.FORMAT), **self._query.join.definition}
        saved = self._saved.get()
        if saved is not None:
            fingerprint.check(json.loads(saved[0]), definition)
            groups.load(bytes(saved[1]))
        batch = gather([pa.Table.from_pandas(frame[_SENT.names], _SENT) for frame in frames])
        number = bucket_ids().index(int(key[0]))
        if self._query.routing is not None:
            with TableWriters(self._query.routing.tables, number) as writers:
                writers.write(GROUP, [groups.process(batch)])
                yield from as_frames(writers.files(self._query.join.schema), self._query.join.schema)
        else:
            for table in group_tables(self._query.join, groups, batch, is_first=number == 0):
                yield from as_frames(table, self._query.join.schema)
        if batch.ended:
            self._saved.clear()
        else:
            self._saved.update((json.dumps(definition), groups.save()))

    def close(self) -> None:
        """Spark's interface; there is nothing to close."""


def gather(packed: Sequence[pa.Table]) -> BatchResult:
    """The results of a micro-batch with their times, which come as a last column, and the progress of the join."""
    whole = pa.concat_tables(packed)
    rows = pa.concat_tables([from_ipc(blob) for blob in whole["data"].to_pylist()])
    n = rows.num_columns - 1
    times = to_microseconds(rows.column(n), rows.column_names[n])
    ended, reached = bool(pc.any(whole["ended"]).as_py()), int(pc.max(whole["reached"]).as_py())
    watermark = FOREVER if ended else reached
    return BatchResult([rows.remove_column(n)], [times], watermark=watermark, latest_ts=reached, ended=ended)


def group_tables(join: BoundJoin, groups: GroupBy, batch: BatchResult, is_first: bool) -> list[pa.Table]:
    """The tables that leave the step: the final groups, and if they are a stream, its progress."""
    if join.view is View.GROUPS:
        return [groups.process(batch)]
    return join.views.tables(View.CHAIN, groups.as_results(batch), is_primary=is_first)

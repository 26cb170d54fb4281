"""Groups that do not contain the join key: a second exchange by the grouping columns, and a step of their own.

The join's output flows into it as into another join. Such groups are final when both streams have ended.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from punctuated.join.exchange.bundle import from_ipc, to_ipc
from punctuated.join.exchange.spread import bucket_numbers, split
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.group_by import GroupBy
from punctuated.join.output.in_band import RESULT, InBand
from punctuated.join.state import fingerprint
from punctuated.model.times import to_microseconds
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.emit import as_frames
from punctuated.spark.query import Query

PACKED_DDL = "bucket INT, ended BOOLEAN, data BINARY"
_PACKED = pa.schema([("bucket", pa.int32()), ("ended", pa.bool_()), ("data", pa.binary())])


@dataclass(frozen=True)
class PackGroups:
    """The function for `mapInArrow`: results by the bucket of their group, the end of the streams to all."""

    by: tuple[str, ...]
    columns: tuple[str, ...]
    in_band: InBand
    n_buckets: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            rows = self.in_band.of_kind(table, RESULT).select([*self.columns, self.in_band.time])
            ended = self.in_band.is_end(table)
            spread = split(rows, bucket_numbers([rows[name] for name in self.by], self.n_buckets), self.n_buckets)
            told = [(bucket_ids()[i], ours) for i, ours in enumerate(spread) if len(ours) or ended]
            data = [to_ipc(ours).to_pybytes() for _, ours in told]
            ids = pa.array([number for number, _ in told], pa.int32())
            yield pa.record_batch(
                [ids, pa.array([ended] * len(told), pa.bool_()), pa.array(data, pa.binary())], _PACKED
            )


class GroupStep(StatefulProcessor):
    """The groups of one bucket as Spark sees them."""

    def __init__(self, query: Query) -> None:
        self._query = query

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._saved = handle.getValueState("groups", "definition STRING, data BINARY")

    def handleInputRows(  # type: ignore[override]  # noqa: N802, names and types are Spark's
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One micro-batch of one bucket."""
        frames = list(rows)
        groups = self._query.join.groups()
        definition: fingerprint.Parts = {"format": str(fingerprint.FORMAT), **self._query.join.definition}
        saved = self._saved.get()
        if saved is not None:
            fingerprint.check(json.loads(saved[0]), definition)
            groups.load(bytes(saved[1]))
        ended = any(frame["ended"].any() for frame in frames)
        data = [blob for frame in frames for blob in frame["data"]]
        yield from as_frames(accumulate(groups, data, ended), self._query.join.schema)
        if ended:
            self._saved.clear()
        else:
            self._saved.update((json.dumps(definition), groups.save()))

    def close(self) -> None:
        """Nothing to close."""


def accumulate(groups: GroupBy, data: Sequence[bytes], ended: bool) -> pa.Table:
    """Take in results of a micro-batch, each with its time behind it; returns the groups that are final."""
    rows = pa.concat_tables([from_ipc(blob) for blob in data])
    n = rows.num_columns - 1
    times = to_microseconds(rows.column(n), rows.column_names[n])
    return groups.process(BatchResult([rows.remove_column(n)], [times], ended=ended))

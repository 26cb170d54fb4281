"""The end of all streams of a join, as an input of its own, which is silent until the streams end.

Spark knows a query by the number of its sources, so the input exists from the first start. Its rows depend only on its
offsets: a run that may end the streams goes from `OPEN` to `ENDED`, once. A run that may not end them repeats what was
begun and adds nothing. So an end that was planned before a crash comes again, and a second end brings nothing.

    run 1   data data data            now=False, trigger availableNow
    run 2   data? <end>               now=True, trigger once: all that has arrived meanwhile, and the end after it
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from punctuated.spark.pack.bucket_ids import bucket_ids
from punctuated.spark.pack.pack import PACKED, PACKED_DDL
from punctuated.spark.session.columns import map_in_arrow
from punctuated.spark.session.versions import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

FORMAT = "punctuated_end"
Offset = dict[str, bool]
OPEN, ENDED = {"ended": False}, {"ended": True}
_ROW = pa.record_batch({"ended": [True]})


def packed_end(spark: SparkSession, n_buckets: int, now: bool) -> DataFrame:
    """The end of all streams as blobs for every bucket: in this run, or in a later one."""
    spark.dataSource.register(EndSource)
    end = spark.readStream.format(FORMAT).option("now", str(now).lower()).load()
    return map_in_arrow(end, end.columns, PackEnd(n_buckets), PACKED_DDL)


@dataclass(frozen=True)
class PackEnd:
    """The function for `mapInArrow` over ends: a row without data says that the streams have ended."""

    n_buckets: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                ends = [{"bucket": number, "side": 0, "rejected": False} for number in bucket_ids()[: self.n_buckets]]
                yield pa.RecordBatch.from_pylist(ends, schema=PACKED)


class EndSource(DataSource):
    """The format of the end of all streams."""

    @classmethod
    def name(cls) -> str:
        """The name for `format(…)`."""
        return FORMAT

    def schema(self) -> str:
        """One column; a row means the end."""
        return "ended BOOLEAN"

    def streamReader(self, schema: StructType) -> "EndReader":  # noqa: N802  (Spark's name)
        """The reader for `spark.readStream`."""
        return EndReader(now=self.options["now"] == "true")


class EndReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """One row between `OPEN` and `ENDED`."""

    def __init__(self, now: bool) -> None:
        self._now, self._latest = now, OPEN

    def initialOffset(self) -> Offset:  # noqa: N802
        """The offset of streams that have not ended."""
        return OPEN

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """No limit: there is one row at most."""
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Spark's interface; nothing changes."""

    def latestOffset(self, start: Offset | None = None, limit: ReadLimit | None = None) -> Offset:  # noqa: N802
        """The end, if this run may end the streams.

        Spark 4.1 does not pass the start. It asks for the partitions of the last batch first, also after a restart.
        """
        return ENDED if self._now else start or self._latest

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        """One partition, if the streams end between these offsets."""
        self._latest = end
        return [InputPartition(None)] if start != end else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The row that means the end."""
        yield _ROW

"""What leaves a step: tables of a view as pandas frames on Arrow memory, which Spark takes without conversion."""

from collections.abc import Iterator
from typing import Self

import pandas as pd
import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.latest_results import LatestResults
from punctuated.join.output.views import View
from punctuated.join.output.widen import widen
from punctuated.spark.bucket_state import Bucket
from punctuated.spark.nested import as_blobs, leaves_packed

_ROWS = 1 << 17  # per frame: small enough for the caches of a processor
_FEW = 1 << 14  # results, which wait for others: a frame costs its way to Spark


def in_large_parts(parts: Iterator[BatchResult]) -> Iterator[BatchResult]:
    """What a batch brings, in parts that have some results, but for the last one."""
    waiting: BatchResult | None = None
    for part in parts:
        waiting = part if waiting is None else waiting.then(part)
        if sum(map(len, waiting.results)) >= _FEW:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


class Emitter:
    """What leaves one bucket in one micro-batch, which may come in parts."""

    def __init__(self, join: BoundJoin, bucket: Bucket) -> None:
        self._join, self._bucket = join, bucket
        comes_in_parts = join.grouping is None or join.grouping.is_distinct  # other groups come with their ending
        is_chain = join.view is View.CHAIN
        self._latest = LatestResults(join.key_types) if is_chain and comes_in_parts else None

    def tables(self, part: BatchResult) -> list[pa.Table]:
        """The tables of the join's view; each has some of its columns, the others are null."""
        groups = self._bucket.groups
        if groups is not None and self._join.view is View.GROUPS:
            return [groups.process(part)]
        if groups is not None:
            part = groups.as_results(part)
        return self._join.views.tables(self._join.view, part, self._bucket.speaks_for_all, self._latest)

    def frames(self, part: BatchResult) -> Iterator[pd.DataFrame]:
        """The same as Spark takes it."""
        for table in self.tables(part):
            yield from as_frames(table, self._join.schema)

    def last_frames(self) -> Iterator[pd.DataFrame]:
        """What leaves after all parts."""
        return iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Nothing to give back."""


def as_frames(table: pa.Table, schema: pa.Schema) -> Iterator[pd.DataFrame]:
    """A table with all columns of a view, cut into frames."""
    for start in range(0, len(table), _ROWS):
        part = widen(table.slice(start, _ROWS), schema)
        if leaves_packed(schema):
            packed = as_blobs(part)
            yield from (_frame(packed.slice(place, 1)) for place in range(len(packed)))
        else:
            yield from map(_frame, _in_one_piece(part))


def _in_one_piece(table: pa.Table) -> Iterator[pa.Table]:
    """The rows in tables whose columns have one chunk each: PySpark takes no others.

    A table has the chunks that it was made of; combined, only gigabytes of text stay in several chunks.
    """
    return (pa.Table.from_batches([batch]) for batch in table.combine_chunks().to_batches())


def _frame(table: pa.Table) -> pd.DataFrame:
    """On Arrow memory: PySpark takes such columns as they are."""
    frame: pd.DataFrame = table.to_pandas(types_mapper=pd.ArrowDtype)
    return frame

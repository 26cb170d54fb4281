"""Pack: Arrow batches of a stream become one blob per bucket, so that Spark shuffles blobs and not rows."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.bind.warm_up import compile_once
from punctuated.join.exchange.parcels import write_parcels
from punctuated.join.exchange.spread import spread
from punctuated.join.intake.reading import Reader, announce
from punctuated.join.output.collector import json_value
from punctuated.model.batch import StreamBatch
from punctuated.model.side import Side
from punctuated.spark.bucket_ids import bucket_ids
from punctuated.spark.rejects import Reject, write_rejects

PACKED = pa.schema([("bucket", pa.int32()), ("side", pa.int8()), ("rejected", pa.bool_()), ("data", pa.binary())])
PACKED_DDL = "bucket INT, side TINYINT, rejected BOOLEAN, data BINARY"
_LARGEST = 64 << 20  # bytes of rows that are packed at a time
Fault = tuple[int, str]  # place of a row, and what is wrong with it


@dataclass(frozen=True)
class Pack:
    """The function for `mapInArrow`; `announced` names key and time columns if the rows are endings."""

    side: Side
    reader: Reader
    n_buckets: int
    announced: tuple[tuple[str, ...], str] | None = None
    everywhere: bool = False  # tuples of this side go to every bucket
    stamped: bool = False  # behind its columns, each row has Spark's time of the batch

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        compile_once()
        for table in _gathered(batches):
            yield from self._pack(table)

    def _pack(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        batch_us = None
        if self.stamped:
            batch_us = table.columns[-1][0].as_py()
            table = table.remove_column(table.num_columns - 1)
        time = self.reader.stream.time if self.announced is None else self.announced[1]
        timeless = [] if self.reader.stream.is_output else _without(table, time)
        sound = table.filter(pc.is_valid(table[time])) if timeless else table
        malformed: list[Fault] = []
        batch = self._read(sound, malformed)
        batches = spread(self.reader.stream, batch, self.reader.types, self.n_buckets, self.everywhere)
        yield self._blobs(bucket_ids()[: self.n_buckets], write_parcels(batches, batch_us), rejected=False)
        corrupt = [*self._described(table, timeless), *self._described(sound, malformed)]
        passed_on = self.reader.passed_on(table)
        if corrupt or passed_on:
            yield self._blobs(bucket_ids()[:1], [write_rejects(corrupt, passed_on)], rejected=True)

    def _read(self, table: pa.Table, faults: list[Fault]) -> StreamBatch:
        if self.announced is None:
            return self.reader.read(table, faults)
        endings = announce(table, *self.announced, self.reader.types)
        endings = replace(endings, keys=endings.keys.rename_columns(list(self.reader.stream.key)))
        return StreamBatch(self.reader.cast_schema.empty_table(), (endings,))

    def _described(self, table: pa.Table, faults: list[Fault]) -> list[Reject]:
        """Corrupt rows, each with what is wrong."""
        rows = table.take(pa.array([place for place, _ in faults], pa.int64())).to_pylist()
        name = self.reader.stream.name
        return [
            (name, "corrupt", None, json.dumps({"error": why, "row": row}, default=json_value, ensure_ascii=False))
            for row, (_, why) in zip(rows, faults, strict=True)
        ]

    def _blobs(self, ids: tuple[int, ...], data: list[bytes], rejected: bool) -> pa.RecordBatch:
        n = len(data)
        columns = [pa.array(ids, pa.int32()), pa.array([int(self.side)] * n, pa.int8())]
        return pa.record_batch([*columns, pa.array([rejected] * n), pa.array(data, pa.binary())], schema=PACKED)


def _without(table: pa.Table, time: str) -> list[Fault]:
    return [(int(place), "its time is null") for place in np.flatnonzero(table[time].is_null())]


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Few large tables instead of many small batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(each.nbytes for each in waiting) > _LARGEST:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if waiting:
        yield pa.Table.from_batches(waiting)


class Blobs(NamedTuple):
    """What was packed, as a step gets it."""

    streams: tuple[list[bytes], list[bytes]]
    rejected: list[bytes]  # rows that were rejected before
    ended: bool  # whether all streams end behind this


def sort_blobs(sides: Iterable[int], rejected: Iterable[bool], data: Iterable[bytes | None]) -> Blobs:
    """Blobs of each stream, those of rejected rows, and the end, which has no data."""
    streams: tuple[list[bytes], list[bytes]] = ([], [])
    before: list[bytes] = []
    ended = False
    for side, is_rejected, blob in zip(sides, rejected, data, strict=True):
        if blob is None:
            ended = True
        else:
            (before if is_rejected else streams[side]).append(blob)
    return Blobs(streams, before, ended)

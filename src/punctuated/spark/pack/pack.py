"""Bucket ids: which id stands for which bucket in Spark's exchange.

Spark sends a row to the partition `pmod(hash(id), partitions)`. Ids 0, 1, 2, … would land unevenly; these ids have the
hashes 0, 1, 2, … modulo 1024, so that every power of two of partitions gets the same number of buckets. They depend on
the bucket's number alone, since Spark restores the number of partitions from the checkpoint without saying so.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.ipc import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.arrow.json_rows import render_rows, render_values
from punctuated.exchange.parcels import write_parcels
from punctuated.exchange.spread import spread
from punctuated.intake.reading import Reader, announce
from punctuated.model.batch import StreamBatch
from punctuated.model.rejection import Rejection
from punctuated.model.spec import MOST_BUCKETS
from punctuated.model.times import Fault
from punctuated.output.rejected import REJECTED_SCHEMA, RenderedRows, rejected_table
from punctuated.runtime.kernel_groups import Kernels
from punctuated.spark.state.cache import load

_ENOUGH = 10_000  # ids looked at; the last one taken is 9,376
_CORRUPT, _PASSED_ON = "corrupt", "passed on"
PACKED = pa.schema([("bucket", pa.int32()), ("side", pa.int8()), ("rejected", pa.bool_()), ("data", pa.binary())])
PACKED_DDL = "bucket INT, side TINYINT, rejected BOOLEAN, data BINARY"
_LEAST, _LARGEST = 16 << 20, 64 << 20  # bytes of rows that are packed at a time, in memory that is used again
_OF_BUCKET = 256 << 10  # of them for each bucket: smaller blobs are not worth it
_SENT = 8 << 20  # bytes of blobs that leave at a time
Addressed: TypeAlias = tuple[int, bytes]  # the id of a bucket, and a blob for it


@cache
def bucket_ids() -> tuple[int, ...]:
    """The id of each bucket."""
    hashes = spark_hash(np.arange(_ENOUGH, dtype=np.uint32)) % MOST_BUCKETS
    return tuple(np.unique(hashes, return_index=True)[1].tolist())


def spark_hash(values: npt.NDArray[np.uint32]) -> npt.NDArray[np.int32]:
    """Spark's hash of integers: Murmur3, 32 bits, seed 42."""
    mixed = _rotated(values * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
    state = _rotated(np.uint32(42) ^ mixed, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    state = state ^ np.uint32(4)  # the length in bytes
    state = (state ^ (state >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    state = (state ^ (state >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return np.asarray(state ^ (state >> np.uint32(16))).astype(np.int32)


def _rotated(values: npt.NDArray[np.uint32], by: int) -> npt.NDArray[np.uint32]:
    return (values << np.uint32(by)) | (values >> np.uint32(32 - by))


# Rows that are rejected before they come to a bucket: corrupt rows, and rows that an earlier join has rejected.
#
# They are sent, in the form in which they are shown, to the bucket that speaks for all. A corrupt row counts as
# rejected in the join that meets it; the others were counted where they were rejected.


class Rejects(NamedTuple):
    """Rows that were rejected before, and how many of each stream are corrupt."""

    rows: list[RenderedRows]
    n_corrupt: Counter[str]


def write_rejects(corrupt: pa.Table, passed_on: pa.Table | None) -> bytes:
    """Both kinds as one blob."""
    before = REJECTED_SCHEMA.empty_table() if passed_on is None else passed_on
    return pack_bundle({_CORRUPT: to_ipc(corrupt), _PASSED_ON: to_ipc(before)})


def read_rejects(blobs: Sequence[bytes]) -> Rejects:
    """All rows of the blobs, in one table if there are any."""
    written = [{kind: from_ipc(table) for kind, table in unpack_bundle(data).items()} for data in blobs]
    tables = [each[kind] for each in written for kind in (_CORRUPT, _PASSED_ON) if len(each[kind])]
    rows = [RenderedRows(pa.concat_tables(tables).combine_chunks())] if tables else []
    return Rejects(rows, Counter(name for each in written for name in each[_CORRUPT]["stream"].to_pylist()))


# Pack: Arrow batches of a stream become one blob per bucket, so that Spark shuffles blobs and not rows.


@dataclass(frozen=True)
class Pack:
    """The function for `mapInArrow`; `announced` names key and time columns if the rows are endings."""

    side: int
    reader: Reader
    n_buckets: int
    announced: tuple[tuple[str, ...], str] | None = None
    everywhere: bool = False  # tuples of this side go to every bucket
    stamped: bool = False  # after its columns, each row has Spark's time of the batch

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        load((Kernels.EXCHANGE,))
        return chain.from_iterable(map(self._pack, _gathered(batches, self._portion)))  # holds nothing that is packed

    @property
    def _portion(self) -> int:
        return min(_LARGEST, max(_LEAST, _OF_BUCKET * self.n_buckets))

    def _pack(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        batch_us = None
        if self.stamped:
            batch_us = table.columns[-1][0].as_py()
            table = table.remove_column(table.num_columns - 1)
        faults: list[Fault] = []
        read = self._read(table, faults)
        batches = spread(self.reader.stream, read, self.reader.types, self.n_buckets, self.everywhere)
        n_rows = 0 if self.reader.stream.is_output else len(table)  # others have come into the query before
        parcels = zip(bucket_ids()[: self.n_buckets], write_parcels(batches, batch_us, n_rows), strict=True)
        yield from (self._blobs(sent, rejected=False) for sent in _in_portions(parcels))
        corrupt = self._described(table, faults)
        passed_on = self.reader.passed_on(table)
        if len(corrupt) or (passed_on is not None and len(passed_on)):
            yield self._rejected(corrupt, passed_on)

    def damaged(self, damages: Sequence[tuple[str, str]]) -> pa.RecordBatch:
        """What cannot be read of the files: their paths, and what is wrong."""
        paths, reasons = (_quoted(texts) for texts in zip(*damages, strict=True))
        return self._rejected(self._corrupt(reasons, "file", paths), None)

    def _read(self, table: pa.Table, faults: list[Fault]) -> StreamBatch:
        if self.announced is None:
            return self.reader.read(table, faults)
        endings = announce(table, *self.announced, self.reader.types, faults)
        endings = replace(endings, keys=endings.keys.rename_columns(list(self.reader.stream.key)))
        return StreamBatch(self.reader.cast_schema.empty_table(), (endings,))

    def _described(self, table: pa.Table, faults: list[Fault]) -> pa.Table:
        """Corrupt rows, each with what is wrong."""
        rows = render_rows(table.take(pa.array([place for place, _ in faults], pa.int64()))).combine_chunks()
        return self._corrupt(_quoted([why for _, why in faults]), "row", rows)

    def _corrupt(self, why: pa.Array, what: str, shown: pa.Array) -> pa.Table:
        described = pc.binary_join_element_wise('{"error": ', why, f', "{what}": ', shown, "}", "")
        return rejected_table(self.reader.stream.name, Rejection.CORRUPT, pa.nulls(len(why), pa.int64()), described)

    def _rejected(self, corrupt: pa.Table, passed_on: pa.Table | None) -> pa.RecordBatch:
        return self._blobs([(bucket_ids()[0], write_rejects(corrupt, passed_on))], rejected=True)

    def _blobs(self, addressed: Sequence[Addressed], rejected: bool) -> pa.RecordBatch:
        n, (ids, data) = len(addressed), zip(*addressed, strict=True)
        columns = [pa.array(ids, pa.int32()), pa.array([int(self.side)] * n, pa.int8())]
        return pa.record_batch([*columns, pa.array([rejected] * n), pa.array(data, pa.binary())], schema=PACKED)


def _quoted(texts: Sequence[str]) -> pa.Array:
    """Texts as JSON."""
    return render_values(pa.array(texts, pa.string())).cast(pa.string())


def _in_portions(addressed: Iterable[Addressed]) -> Iterator[list[Addressed]]:
    """Blobs as they leave: once Spark has taken a blob, it need not be in memory while others are written."""
    portion: list[Addressed] = []
    for each in addressed:
        portion.append(each)
        if sum(len(data) for _, data in portion) >= _SENT:
            yield portion
            portion = []
    if portion:
        yield portion


def _gathered(batches: Iterator[pa.RecordBatch], portion: int) -> Iterator[pa.Table]:
    """Tables of so many bytes instead of many small batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(each.nbytes for each in waiting) > portion:
            yield _table_of(waiting)
    if waiting:
        yield _table_of(waiting)


def _table_of(waiting: list[pa.RecordBatch]) -> pa.Table:
    """The waiting batches as a table, and no longer held by anything else."""
    table = pa.Table.from_batches(waiting)
    waiting.clear()
    return table


class Blobs(NamedTuple):
    """The packed rows as a step gets them."""

    streams: tuple[list[bytes], ...]
    rejected: list[bytes]  # rows that were rejected before
    ended: bool  # whether all streams end after this


def sort_blobs(n_streams: int, sides: Iterable[int], rejected: Iterable[bool], data: Iterable[bytes | None]) -> Blobs:
    """Blobs of each stream, those of rejected rows, and the end, which has no data."""
    streams: tuple[list[bytes], ...] = tuple([] for _ in range(n_streams))
    before: list[bytes] = []
    ended = False
    for side, is_rejected, blob in zip(sides, rejected, data, strict=True):
        if blob is None:
            ended = True
        else:
            (before if is_rejected else streams[side]).append(blob)
    return Blobs(streams, before, ended)

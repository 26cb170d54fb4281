"""Pack: Arrow batches of a stream become one blob for each bucket; a step takes the blobs apart again.

Rows that are rejected before they come to a bucket go to bucket 0, as users will see them: corrupt rows, which count as
rejected in the join that meets them, and rows that an earlier join has rejected and counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from punctuated.arrow.ipc import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.arrow.json_rows import render_rows, render_values
from punctuated.exchange.parcels import write_parcels
from punctuated.exchange.spread import spread
from punctuated.intake.reading import Reader, announce
from punctuated.model.batch import StreamBatch
from punctuated.model.rejection import Rejection
from punctuated.model.times import Fault
from punctuated.output.batch_result import REJECTED_SCHEMA, RenderedTuples, rejected_table
from punctuated.runtime.kernel_groups import Kernels
from punctuated.spark.pack.bucket_ids import bucket_ids
from punctuated.spark.state.cache import prepare_worker

_CORRUPT, _PASSED_ON = "corrupt", "passed on"
PACKED = pa.schema([("bucket", pa.int32()), ("side", pa.int8()), ("rejected", pa.bool_()), ("data", pa.binary())])
PACKED_DDL = "bucket INT, side TINYINT, rejected BOOLEAN, data BINARY"
_LEAST, _LARGEST = 16 << 20, 64 << 20  # bytes of rows that are packed at a time, in memory that is used again
_PER_BUCKET = 256 << 10  # of them for each bucket: smaller blobs are not worth it
_SENT = 8 << 20  # bytes of blobs that leave at a time
Addressed: TypeAlias = tuple[int, bytes]  # the id of a bucket, and a blob for it


# Rows that are rejected before they come to a bucket


class EarlyRejections(NamedTuple):
    """Rows that were rejected before they came to a bucket, and how many corrupt ones each stream has."""

    rows: list[RenderedTuples]
    n_corrupt: Counter[str]


def pack_rejected(corrupt: pa.Table, passed_on: pa.Table | None) -> bytes:
    """Corrupt rows and rows that an earlier join has rejected, as one blob."""
    before = REJECTED_SCHEMA.empty_table() if passed_on is None else passed_on
    return pack_bundle({_CORRUPT: to_ipc(corrupt), _PASSED_ON: to_ipc(before)})


def unpack_rejected(blobs: Sequence[bytes]) -> EarlyRejections:
    """The rejected rows in these blobs, in one table if there are any."""
    written = [{kind: from_ipc(table) for kind, table in unpack_bundle(data).items()} for data in blobs]
    tables = [each[kind] for each in written for kind in (_CORRUPT, _PASSED_ON) if len(each[kind])]
    rows = [RenderedTuples(pa.concat_tables(tables).combine_chunks())] if tables else []
    return EarlyRejections(rows, Counter(name for each in written for name in each[_CORRUPT]["stream"].to_pylist()))


# Rows to blobs


@dataclass(frozen=True)
class Pack:
    """The function for `mapInArrow` over one stream; `announced` names key and time columns if its rows are endings."""

    side: int
    reader: Reader
    n_buckets: int
    announced: tuple[tuple[str, ...], str] | None = None
    everywhere: bool = False  # tuples of this side go to every bucket
    stamped: bool = False  # after its columns, each row has Spark's time of the batch

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker((Kernels.EXCHANGE,))
        return chain.from_iterable(
            map(self._pack, _gathered(batches, self._bytes_at_once))
        )  # holds no table longer than needed

    @property
    def _bytes_at_once(self) -> int:
        return min(_LARGEST, max(_LEAST, _PER_BUCKET * self.n_buckets))

    def _pack(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        batch_us = None
        if self.stamped:
            batch_us = table.columns[-1][0].as_py()
            table = table.remove_column(table.num_columns - 1)
        faults: list[Fault] = []
        read = self._read(table, faults)
        batches = spread(self.reader.stream, read, self.reader.types, self.n_buckets, self.everywhere)
        n_rows = 0 if self.reader.stream.is_output else len(table)  # rows of another join have been counted before
        parcels = zip(bucket_ids()[: self.n_buckets], write_parcels(batches, batch_us, n_rows), strict=True)
        yield from (self._blobs(sent, rejected=False) for sent in _in_groups(parcels))
        corrupt = self._corrupt_rows(table, faults)
        passed_on = self.reader.passed_on(table)
        if len(corrupt) or (passed_on is not None and len(passed_on)):
            yield self._rejected(corrupt, passed_on)

    def damaged(self, damages: Sequence[tuple[str, str]]) -> pa.RecordBatch:
        """Rejected rows for files that cannot be read: each has a path, and what is wrong."""
        paths, reasons = (_quoted(texts) for texts in zip(*damages, strict=True))
        return self._rejected(self._corrupt(reasons, "file", paths), None)

    def _read(self, table: pa.Table, faults: list[Fault]) -> StreamBatch:
        if self.announced is None:
            return self.reader.read(table, faults)
        endings = announce(table, *self.announced, self.reader.types, faults)
        endings = replace(endings, keys=endings.keys.rename_columns(list(self.reader.stream.key)))
        return StreamBatch(self.reader.cast_schema.empty_table(), (endings,))

    def _corrupt_rows(self, table: pa.Table, faults: list[Fault]) -> pa.Table:
        """The corrupt rows, each with what is wrong."""
        rows = render_rows(table.take(pa.array([index for index, _ in faults], pa.int64()))).combine_chunks()
        return self._corrupt(_quoted([why for _, why in faults]), "row", rows)

    def _corrupt(self, why: pa.Array, what: str, shown: pa.Array) -> pa.Table:
        described = pc.binary_join_element_wise('{"error": ', why, f', "{what}": ', shown, "}", "")
        return rejected_table(self.reader.stream.name, Rejection.CORRUPT, pa.nulls(len(why), pa.int64()), described)

    def _rejected(self, corrupt: pa.Table, passed_on: pa.Table | None) -> pa.RecordBatch:
        return self._blobs([(bucket_ids()[0], pack_rejected(corrupt, passed_on))], rejected=True)

    def _blobs(self, addressed: Sequence[Addressed], rejected: bool) -> pa.RecordBatch:
        n, (ids, data) = len(addressed), zip(*addressed, strict=True)
        columns = [pa.array(ids, pa.int32()), pa.array([int(self.side)] * n, pa.int8())]
        return pa.record_batch([*columns, pa.array([rejected] * n), pa.array(data, pa.binary())], schema=PACKED)


def _quoted(texts: Sequence[str]) -> pa.Array:
    """The texts as JSON strings."""
    return render_values(pa.array(texts, pa.string())).cast(pa.string())


def _in_groups(addressed: Iterable[Addressed]) -> Iterator[list[Addressed]]:
    """Blobs in groups as they leave: once Spark has taken a group, it need not stay in memory."""
    group: list[Addressed] = []
    for each in addressed:
        group.append(each)
        if sum(len(data) for _, data in group) >= _SENT:
            yield group
            group = []
    if group:
        yield group


def _gathered(batches: Iterator[pa.RecordBatch], n_bytes: int) -> Iterator[pa.Table]:
    """Tables of about so many bytes instead of many small batches."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
        if sum(each.nbytes for each in waiting) > n_bytes:
            yield _table_of(waiting)
    if waiting:
        yield _table_of(waiting)


def _table_of(waiting: list[pa.RecordBatch]) -> pa.Table:
    """The waiting batches as a table; nothing else holds them any longer."""
    table = pa.Table.from_batches(waiting)
    waiting.clear()
    return table


# Blobs of one bucket


class Blobs(NamedTuple):
    """The blobs that a step gets for its bucket."""

    streams: tuple[list[bytes], ...]
    rejected: list[bytes]  # rows that were rejected before
    ended: bool  # whether all streams end after this

    @property
    def parcels(self) -> list[bytes]:
        """The blobs of all streams."""
        return [blob for ours in self.streams for blob in ours]


def sort_blobs(n_streams: int, sides: Iterable[int], rejected: Iterable[bool], data: Iterable[bytes | None]) -> Blobs:
    """Sort blobs by stream, apart from those of rejected rows; a row without data is the end of all streams."""
    streams: tuple[list[bytes], ...] = tuple([] for _ in range(n_streams))
    before: list[bytes] = []
    ended = False
    for side, is_rejected, blob in zip(sides, rejected, data, strict=True):
        if blob is None:
            ended = True
        else:
            (before if is_rejected else streams[side]).append(blob)
    return Blobs(streams, before, ended)

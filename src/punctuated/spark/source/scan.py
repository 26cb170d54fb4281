"""Files to blobs: a task reads its share of the files of a batch, and packs their rows.

The rows of a file go through the same pack as rows from Spark. Neighbouring streams of files in a join are read by the
same tasks, so that a large and a small stream are balanced, in as few tasks as possible.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import FileSystem

from punctuated.errors import FileError
from punctuated.spark.pack.pack import Pack
from punctuated.spark.session.task import prefetched
from punctuated.spark.source.parquet import SMALLEST, OpenFile, Span, spans_of
from punctuated.storage.tables.location import locate

PART, STREAM, PATH, LENGTH, STAMP = "part", "stream", "path", "length", "stamp"
_CHUNK = 1 << 20  # bytes
_DAMAGE = (OSError, pa.ArrowException)  # what pyarrow raises if it cannot read; FileError is an OSError, too
Listed = dict[str, Any]  # a file as Spark lists it: the columns above, and those in its path
Damage = tuple[str, str]  # a path, and what is wrong


class FileShare(NamedTuple):
    """The part of a file that a task must read."""

    listed: Listed
    span: Span

    @property
    def reports_damage(self) -> bool:
        """Whether this task reports what is wrong with the whole file."""
        return self.span.begin == 0


def path_column(stream: int, number: int) -> str:
    """The column of a list of files that holds this column in the paths of a stream."""
    return f"path_column_{stream}_{number}"


@dataclass(frozen=True)
class FileScan:
    """Reads the files of one stream; `in_paths` are the columns in their paths."""

    schema: pa.Schema
    in_paths: tuple[str, ...] = ()
    where: pc.Expression | None = None
    rejects: bool = False  # whether what cannot be read is rejected, rather than a failure
    filesystem: FileSystem | None = None

    def read(self, stream: int, shares: Iterable[FileShare], damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        """The rows of these shares; what cannot be read raises, or goes into `damages` if it is to be rejected."""
        for share in shares:
            yield from self._read(stream, share, damages)

    def _read(self, stream: int, share: FileShare, damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        listed = share.listed
        constants = {name: listed[path_column(stream, number)] for number, name in enumerate(self.in_paths)}
        source = locate(listed[PATH], self.filesystem)
        try:
            file = OpenFile(source, listed[LENGTH], self.schema, constants)
            row_groups = file.row_groups(share.span, self.where)
        except _DAMAGE as error:
            damages += self._damage(source, listed[PATH], error)[: share.reports_damage]
            return
        for number in row_groups:
            rows = file.read(number, self.where)
            try:
                yield from list(rows) if self.rejects else rows
            except _DAMAGE as error:
                damages += self._damage(source, listed[PATH], error, f"row group {number}: ")
        file.close()

    def _damage(self, source: tuple[FileSystem, str], path: str, error: Exception, where: str = "") -> list[Damage]:
        """The damage of a file, if it is to be rejected; otherwise, or if the file is not the cause, raises."""
        why = f"{where}{' '.join(str(error).split()).rstrip('.')}"
        if self.rejects and (isinstance(error, FileNotFoundError | FileError) or _can_be_fetched(source)):
            return [(path, why)]
        remedy = "" if self.rejects else ", or let pt.files reject what cannot be read, with on_damage='reject'"
        again = f"Repair or restore the file, and start the query again{remedy}"
        raise FileError(f"cannot read {path}: {why}. {again}") from error


def _can_be_fetched(source: tuple[FileSystem, str]) -> bool:
    """Whether all bytes of a file can be read: if not, the file is not the cause, and another attempt may succeed."""
    system, path = source
    try:
        with system.open_input_stream(path) as stream:
            while stream.read(_CHUNK):
                pass
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _stamped(batches: Iterable[pa.RecordBatch], stamp: int) -> Iterator[pa.RecordBatch]:
    """The rows with the engine's time of the batch as a last column."""
    for batch in batches:
        yield batch.append_column("", pa.repeat(pa.scalar(stamp, pa.int64()), batch.num_rows))


@dataclass(frozen=True)
class PackFiles:
    """The function for `mapInArrow` over lists of files; the lists name streams by their index in `streams`."""

    streams: tuple[tuple[FileScan, Pack], ...]
    n_parts: int
    smallest: int = SMALLEST  # bytes of a file that is cut

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [file for batch in batches for file in batch.to_pylist()]
        shares = shares_of(listed, self.n_parts, self.smallest)
        for stream, ours in groupby(shares, key=lambda share: share.listed[STREAM]):
            scan, pack = self.streams[stream]
            damages: list[Damage] = []
            rows = prefetched(scan.read(stream, ours, damages))
            yield from pack(_stamped(rows, listed[0][STAMP]) if pack.stamped else rows)
            if damages:
                yield pack.damaged(damages)


def shares_of(listed: Sequence[Listed], n_parts: int, smallest: int = SMALLEST) -> list[FileShare]:
    """The shares of the task that has got this list, stream by stream; the list may come in any order.

    Each part has a list of its own; a task may have got several lists.
    """
    shares = []
    for part in sorted({file[PART] for file in listed}):
        files = sorted((file for file in listed if file[PART] == part), key=lambda file: (file[STREAM], file[PATH]))
        spans = spans_of([file[LENGTH] for file in files], part, n_parts, smallest)
        shares += [FileShare(files[span.file], span) for span in spans]
    return sorted(shares, key=lambda share: share.listed[STREAM])

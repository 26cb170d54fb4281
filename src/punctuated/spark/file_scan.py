"""From paths to rows: a task reads its share of the files of a batch, and packs their rows.

The rows of a file go through the same pack as rows from Spark. Neighbouring streams of files in a join are read by the
same tasks: so a large and a small stream are balanced, in as few tasks as possible.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.fs import FileSystem

from punctuated.errors import FileError
from punctuated.spark.file_share import SMALLEST, Span, spans_of
from punctuated.spark.overlap import overlapped
from punctuated.spark.pack import Pack
from punctuated.spark.parquet_file import OpenFile
from punctuated.tables.file_systems import locate

PART, STREAM, PATH, LENGTH, STAMP = "part", "stream", "path", "length", "stamp"
_CHUNK = 1 << 20
_DAMAGE = (OSError, pa.ArrowException)  # what pyarrow raises if it cannot read; ours is an OSError, too

Listed = dict[str, Any]  # a file as Spark lists it: the columns above, and those in its path
Damage = tuple[str, str]  # a path, and what is wrong


class Piece(NamedTuple):
    """What a task must read of a file."""

    listed: Listed
    span: Span

    @property
    def speaks(self) -> bool:
        """Whether this task reports what is wrong with the whole file."""
        return self.span.begin == 0


def path_column(stream: int, place: int) -> str:
    """In a list of files, the column for this column of a stream's paths."""
    return f"path_column_{stream}_{place}"


@dataclass(frozen=True)
class FileScan:
    """How the files of one stream are read; `in_paths` are the columns in their paths."""

    schema: pa.Schema
    in_paths: tuple[str, ...] = ()
    where: pc.Expression | None = None
    rejects: bool = False  # what cannot be read, rather than fail
    filesystem: FileSystem | None = None

    def read(self, stream: int, pieces: Iterable[Piece], damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        """The rows of these pieces; what cannot be read raises, or goes into `damages`, if that is wanted."""
        for piece in pieces:
            yield from self._read(stream, piece, damages)

    def _read(self, stream: int, piece: Piece, damages: list[Damage]) -> Iterator[pa.RecordBatch]:
        listed = piece.listed
        constants = {name: listed[path_column(stream, place)] for place, name in enumerate(self.in_paths)}
        source = locate(listed[PATH], self.filesystem)
        try:
            file = OpenFile(source, listed[LENGTH], self.schema, constants)
            row_groups = file.row_groups(piece.span, self.where)
        except _DAMAGE as error:
            damages += self._damage(source, listed[PATH], error)[: piece.speaks]
            return
        for number in row_groups:
            rows = file.read(number, self.where)
            try:
                yield from list(rows) if self.rejects else rows
            except _DAMAGE as error:
                damages += self._damage(source, listed[PATH], error, f"row group {number}: ")
        file.close()

    def _damage(self, source: tuple[FileSystem, str], path: str, error: Exception, where: str = "") -> list[Damage]:
        """What is wrong with a file, if that is to be reported; else, or if it is not the file's fault, raises."""
        why = f"{where}{' '.join(str(error).split()).rstrip('.')}"
        if self.rejects and (isinstance(error, FileNotFoundError | FileError) or _can_be_fetched(source)):
            return [(path, why)]
        remedy = "" if self.rejects else ", or let pt.files reject what cannot be read, with on_damage='reject'"
        again = f"Repair or restore the file, and start the query again{remedy}"
        raise FileError(f"cannot read {path}: {why}. {again}") from error


def _can_be_fetched(source: tuple[FileSystem, str]) -> bool:
    """Whether all bytes of a file can be read at all: if not, another attempt may succeed."""
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
    """Rows with the engine's time of the batch as a last column."""
    for batch in batches:
        yield batch.append_column("", pa.repeat(pa.scalar(stamp, pa.int64()), batch.num_rows))


@dataclass(frozen=True)
class PackFiles:
    """The function for `mapInArrow` over lists of files; streams are known by their places."""

    streams: tuple[tuple[FileScan, Pack], ...]
    n_parts: int
    smallest: int = SMALLEST  # bytes of a file that is cut

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [file for batch in batches for file in batch.to_pylist()]
        pieces = share(listed, self.n_parts, self.smallest)
        for stream, ours in groupby(pieces, key=lambda piece: piece.listed[STREAM]):
            scan, pack = self.streams[stream]
            damages: list[Damage] = []
            rows = overlapped(scan.read(stream, ours, damages))
            yield from pack(_stamped(rows, listed[0][STAMP]) if pack.stamped else rows)
            if damages:
                yield pack.damaged(damages)


def share(listed: Sequence[Listed], n_parts: int, smallest: int = SMALLEST) -> list[Piece]:
    """What the task with this list must read, stream by stream; the list may come in any order.

    Each part has a list of its own; a task may have got several.
    """
    pieces = []
    for part in sorted({file[PART] for file in listed}):
        files = sorted((file for file in listed if file[PART] == part), key=lambda file: (file[STREAM], file[PATH]))
        spans = spans_of([file[LENGTH] for file in files], part, n_parts, smallest)
        pieces += [Piece(files[span.place], span) for span in spans]
    return sorted(pieces, key=lambda piece: piece.listed[STREAM])

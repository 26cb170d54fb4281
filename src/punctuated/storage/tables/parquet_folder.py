"""A folder of Parquet files with a folder for each batch, which exists with all its files or not at all.

    path/batch_id=7/[day=2020-01-01/]part-0003-000.parquet     files of bucket 3; a plain column for readers
    path/batch_id=7/_SUCCESS                                   the batch is complete
    path/_staged/TOKEN-8-0003-000-ATTEMPT                      written by a worker, seen by no reader

The files of a batch are gathered in a folder below `_staged`, which is then renamed: that is one step on a local file
system and on HDFS. A visible batch is never touched again, so a repeated batch changes nothing, and the driver may stop
between any two steps. Object stores do not rename: files are copied one by one, `_SUCCESS` comes last, and a folder
without it is begun anew.
"""

import re
import uuid
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from punctuated.errors import SinkError
from punctuated.storage.tables.location import TableLocation
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.written_file import STAGED, OutputTable, WrittenFile, batch_of, partition_folder

BATCH_ID = "batch_id"  # the name of the folders of batches, unless a column has it
COMPLETE = "_SUCCESS"
_BATCH = re.compile(rf"{BATCH_ID}_*=(?P<batch>\d+)")
_AT_ONCE = 16  # files that are moved


class ParquetFolder:
    """The folder of one table as the driver sees it."""

    def __init__(self, path: str, batches: str = BATCH_ID, *, renames: bool | None = None) -> None:
        """`batches` names the folders of batches; `renames` overrides whether the file system can rename a folder."""
        self.location, self._batches = TableLocation(path), batches
        self._renames = self.location.renames if renames is None else renames

    def publish(self, batch: int, files: Sequence[WrittenFile], table: OutputTable) -> None:
        """Make the files of a batch visible, all at once, unless the batch is visible already."""
        folder = f"{self._batches}={batch}"
        if not self.location.exists(folder, COMPLETE):
            if self.location.exists(folder):  # begun and not completed, by a copy or by Spark's writer
                self.location.files.delete_dir(self.location.to(folder))
            if files or batch == 0:
                self._show(folder, batch, files, table)
                files = [] if self._renames else files
        self.remove(self.location.to(STAGED, file.name) for file in files)

    def _show(self, folder: str, batch: int, files: Sequence[WrittenFile], table: OutputTable) -> None:
        gathered = (STAGED, f"{table.token}-{batch}-{uuid.uuid4().hex[:12]}") if self._renames else (folder,)
        folders = {"/".join([*gathered, *_partition_folders(file)]) for file in files} or {"/".join(gathered)}
        for each in sorted(folders):
            self.location.files.create_dir(self.location.to(each), recursive=True)
        with ThreadPoolExecutor(_AT_ONCE) as several:
            list(several.map(lambda file: self._move_or_copy(file, gathered), files))
        if not files:
            self._write_empty(gathered, table)
        self.location.touch(*gathered, COMPLETE)
        if self._renames:
            self.location.files.move(self.location.to(*gathered), self.location.to(folder))

    def _move_or_copy(self, file: WrittenFile, gathered: tuple[str, ...]) -> None:
        name = f"part-{file.bucket:04}-{file.number:03}.parquet"
        source, target = (
            self.location.to(STAGED, file.name),
            self.location.to(*gathered, *_partition_folders(file), name),
        )
        try:
            (self.location.files.move if self._renames else self.location.files.copy_file)(source, target)
        except FileNotFoundError as trouble:
            raise SinkError(
                f"{source} was written by a worker and is not there for the driver: give a path that all hosts share, "
                "or pt.parquet(…, writer='spark')"
            ) from trouble

    def _write_empty(self, gathered: tuple[str, ...], table: OutputTable) -> None:
        """The first batch shows the columns even if it has no rows."""
        parted = set(table.sink.partition_by)
        columns = [field for field in stored_schema(table.schema) if field.name not in parted]
        schema = pa.schema(columns, metadata={**table.metadata})
        path = self.location.to(*gathered, "part-0000-000.parquet")
        pq.write_table(schema.empty_table(), path, filesystem=self.location.files)

    def left_over(self, *, stopped: bool = False) -> list[str]:
        """Files that failed attempts have left: staged for a batch that is complete, or for an earlier one.

        Files that are staged for a later batch may be in use, unless the query has `stopped`.
        """
        last = self._last_complete()
        found = [(entry.path, batch_of(entry.base_name)) for entry in self.location.entries(STAGED)]
        return sorted(path for path, batch in found if batch is not None and (stopped or batch <= last))

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files and folders, if they exist."""
        for path in paths:
            with suppress(FileNotFoundError):
                if self.location.files.get_file_info(path).type == fs.FileType.Directory:
                    self.location.files.delete_dir(path)
                else:
                    self.location.files.delete_file(path)

    def _last_complete(self) -> int:
        """The last batch that is complete; -1 if none is."""
        names = [entry.base_name for entry in self.location.entries() if entry.type == fs.FileType.Directory]
        batches = {int(found["batch"]): name for name in names if (found := _BATCH.fullmatch(name))}
        latest_first = sorted(batches, reverse=True)
        return next((batch for batch in latest_first if self.location.exists(batches[batch], COMPLETE)), -1)


def _partition_folders(file: WrittenFile) -> list[str]:
    return [partition_folder(column, value) for column, value in file.partition]

"""A folder of Parquet files: a folder per batch, which is there with all its files or not at all.

    path/batch_id=7/[day=2020-01-01/]part-0003-000.parquet     files of bucket 3; a plain column for readers
    path/batch_id=7/_SUCCESS                                   the batch is complete
    path/_staged/TOKEN-8-0003-000-ATTEMPT                      written by a worker, seen by no reader

The files of a batch are gathered in a folder below `_staged`, which is then renamed: that is one step on a local file
system and on HDFS. A batch that is there is never touched again, so one that is repeated changes nothing, and the
driver may stop between any two steps. Object stores do not rename: files are copied one by one, `_SUCCESS` comes last,
and a folder without it is begun anew.
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
from punctuated.storage.tables.location import Place
from punctuated.storage.tables.names import STAGED, batch_of, partition_folder
from punctuated.storage.tables.types import stored_schema
from punctuated.storage.tables.writer import Written, WrittenFile

BATCH_ID = "batch_id"  # of the folders of batches, unless a column has that name
COMPLETE = "_SUCCESS"
_BATCH = re.compile(rf"{BATCH_ID}_*=(?P<batch>\d+)")
_AT_A_TIME = 16  # files that are moved


class ParquetFolder:
    """The folder of one table, as the driver sees it."""

    def __init__(self, path: str, batches: str = BATCH_ID, *, renames: bool | None = None) -> None:
        """`batches`: how the folders of batches are called; `renames`: as if the place could, or could not."""
        self.place, self._batches = Place(path), batches
        self._renames = self.place.renames if renames is None else renames

    def publish(self, batch: int, files: Sequence[WrittenFile], table: Written) -> None:
        """Show the files of a batch, all at once, unless the batch is there already."""
        folder = f"{self._batches}={batch}"
        if not self.place.exists(folder, COMPLETE):
            if self.place.exists(folder):  # begun and not completed, by a copy or by Spark's writer
                self.place.files.delete_dir(self.place.to(folder))
            if files or batch == 0:
                self._show(folder, batch, files, table)
                files = [] if self._renames else files
        self.remove(self.place.to(STAGED, file.name) for file in files)

    def _show(self, folder: str, batch: int, files: Sequence[WrittenFile], table: Written) -> None:
        gathered = (STAGED, f"{table.token}-{batch}-{uuid.uuid4().hex[:12]}") if self._renames else (folder,)
        homes = {"/".join([*gathered, *_folders(file)]) for file in files} or {"/".join(gathered)}
        for home in sorted(homes):
            self.place.files.create_dir(self.place.to(home), recursive=True)
        with ThreadPoolExecutor(_AT_A_TIME) as several:
            list(several.map(lambda file: self._bring(file, gathered), files))
        if not files:
            self._write_empty(gathered, table)
        self.place.touch(*gathered, COMPLETE)
        if self._renames:
            self.place.files.move(self.place.to(*gathered), self.place.to(folder))

    def _bring(self, file: WrittenFile, gathered: tuple[str, ...]) -> None:
        name = f"part-{file.bucket:04}-{file.number:03}.parquet"
        source, target = self.place.to(STAGED, file.name), self.place.to(*gathered, *_folders(file), name)
        try:
            (self.place.files.move if self._renames else self.place.files.copy_file)(source, target)
        except FileNotFoundError as trouble:
            raise SinkError(
                f"{source} was written by a worker and is not there for the driver: give a path that all hosts share, "
                "or pt.parquet(…, writer='spark')"
            ) from trouble

    def _write_empty(self, gathered: tuple[str, ...], table: Written) -> None:
        """The first batch shows the columns even if it has no rows."""
        parted = set(table.sink.partition_by)
        columns = [field for field in stored_schema(table.schema) if field.name not in parted]
        schema = pa.schema(columns, metadata={**table.metadata})
        path = self.place.to(*gathered, "part-0000-000.parquet")
        pq.write_table(schema.empty_table(), path, filesystem=self.place.files)

    def left_over(self, *, stopped: bool = False) -> list[str]:
        """What failed attempts have left: all that was staged for a batch that is complete, or for one before it.

        What is staged for a later one may be in use, unless the query has `stopped`.
        """
        last = self._last_complete()
        found = [(entry.path, batch_of(entry.base_name)) for entry in self.place.entries(STAGED)]
        return sorted(path for path, batch in found if batch is not None and (stopped or batch <= last))

    def remove(self, paths: Iterable[str]) -> None:
        """Take away files and folders, as far as they are there."""
        for path in paths:
            with suppress(FileNotFoundError):
                if self.place.files.get_file_info(path).type == fs.FileType.Directory:
                    self.place.files.delete_dir(path)
                else:
                    self.place.files.delete_file(path)

    def _last_complete(self) -> int:
        """The last batch that is complete; -1 if none is."""
        names = [entry.base_name for entry in self.place.entries() if entry.type == fs.FileType.Directory]
        batches = {int(found["batch"]): name for name in names if (found := _BATCH.fullmatch(name))}
        latest_first = sorted(batches, reverse=True)
        return next((batch for batch in latest_first if self.place.exists(batches[batch], COMPLETE)), -1)


def _folders(file: WrittenFile) -> list[str]:
    return [partition_folder(column, value) for column, value in file.partition]

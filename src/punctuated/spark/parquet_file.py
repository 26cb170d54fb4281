"""One Parquet file of a stream: its row groups as rows in the columns of the stream.

As in Spark's reader, columns are found by their names, ignoring case; a column that the file does not have is null.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, LocalFileSystem

from punctuated.errors import FileError
from punctuated.join.intake.recast import recast
from punctuated.spark.file_share import Span
from punctuated.spark.parquet_types import file_types, nullable, takes

_ROWS = 1 << 17  # that are decoded at a time
_SPARK_VERSION = b"org.apache.spark.version"
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


class OpenFile:
    """A file whose footer has been read, and whose columns fit.

    Args:
        source: The file system, and the path in it.
        schema: The columns of the stream.
        constants: The columns in the path, with their values.
    """

    def __init__(
        self, source: tuple[FileSystem, str], length: int, schema: pa.Schema, constants: Mapping[str, Any]
    ) -> None:
        self._source, self._schema, self._constants = source, schema, constants
        system, path = source
        is_local = isinstance(system, LocalFileSystem)
        opened = system.open_input_file(path)
        if opened.size() != length:
            raise FileError(f"it had {length:,} bytes when Spark listed it, but has {opened.size():,} now")
        self._length = length
        self._file = pq.ParquetFile(
            opened,
            pre_buffer=not is_local,
            coerce_int96_timestamp_unit="us",
            page_checksum_verification=True,
            arrow_extensions_enabled=False,
        )
        self._check_calendar()
        self._names = self._find_columns()

    def _check_calendar(self) -> None:
        """Raise if Spark's reader would shift days: files of Spark 2 count days before 1582 differently."""
        told = self._file.metadata.metadata or {}
        major = int(told.get(_SPARK_VERSION, b"3").split(b".")[0])
        if (major < 3 or any(key in told for key in _OLD_CALENDAR)) and any(map(_has_days, self._schema.types)):
            raise FileError("its days are in the old calendar, which only Spark's reader knows: use spark.readStream")

    def close(self) -> None:
        """Close the file."""
        self._file.close(force=True)

    def _find_columns(self) -> dict[str, str]:
        """The names of the stream's columns in the file; raises if one does not fit."""
        types = {field.name: field.type for field in file_types(self._file)}
        found: dict[str, str] = {}
        for field in self._schema:
            name = None if field.name in self._constants else _spelled(field.name, types)
            if name is not None:
                found[field.name] = name
                if not takes(field.type, types[name]):
                    raise FileError(
                        f"its column {name!r} is of type {types[name]}, which does not fit into {field.type}"
                    )
        return found

    def row_groups(self, span: Span, where: pc.Expression | None) -> list[int]:
        """The row groups whose middle is in a span, without those in which a filter finds nothing."""
        footer = self._file.metadata
        begins = [_begin(footer.row_group(number)) for number in range(footer.num_row_groups)]
        middles = [sum(each) // 2 for each in pairwise([*begins, self._length])]
        held = [number for number, byte in enumerate(middles) if span.holds(min(max(byte, 0), self._length - 1))]
        return held if where is None or not held else self._promising(held, where)

    def _promising(self, held: Sequence[int], where: pc.Expression) -> list[int]:
        """Row groups that may have rows for a filter, by the smallest and largest values in the footer."""
        if any(name in self._file.schema_arrow.names for name in self._constants):
            return list(held)  # the footer has values of a column that the path overrides
        system, path = self._source
        whole = ds.ParquetFileFormat().make_fragment(path, system, row_groups=list(held))
        try:
            return [group.id for group in whole.subset(where).row_groups]
        except (pa.ArrowException, ValueError, TypeError):  # columns of other types or names: the rows will show it
            return list(held)

    def read(self, row_group: int, where: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        """The rows of a row group that a filter takes, part by part."""
        columns = list(dict.fromkeys(self._names.values()))
        for batch in self._file.iter_batches(_ROWS, row_groups=[row_group], columns=columns):
            ours = pa.table([self._column(batch, field) for field in self._schema], self._schema.names)
            rows = recast(ours, self._schema)
            yield from (rows if where is None else rows.filter(where)).to_batches()

    def _column(self, batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
        if field.name in self._names:
            column = batch.column(batch.schema.get_field_index(self._names[field.name]))
            return column.cast(nullable(field.type)) if pa.types.is_nested(field.type) else column
        return pa.repeat(pa.scalar(self._constants.get(field.name), field.type), batch.num_rows)


def _has_days(dtype: pa.DataType) -> bool:
    return any(kind in str(dtype) for kind in ("date", "timestamp"))


def _spelled(name: str, there: Mapping[str, Any]) -> str | None:
    """How a file spells the name of a column, if it has it."""
    if name in there:
        return name
    alike = [each for each in there if each.lower() == name.lower()]
    if len(alike) > 1:
        raise FileError(f"it has the columns {' and '.join(map(repr, alike))}, and each of them could be {name!r}")
    return alike[0] if alike else None


def _begin(row_group: Any) -> int:
    first = row_group.column(0)
    begin: int = min(first.data_page_offset, first.dictionary_page_offset or first.data_page_offset)
    return begin

"""Parquet files of a stream: which task reads which bytes, which types fit, and their row groups as rows.

All files of a batch in a row are cut into parts of equal size, one for each task:

    files   |─────── a ───────|─ b ─|──── c ────|
    tasks   |────── 0 ──────|────── 1 ─────|─ … |

Every task knows all files and finds the same cuts, so that no planning is needed. As in Hadoop, a row group belongs to
the part that holds its middle: it has only one, and parts do not overlap. Small files are not cut.

Spark's own reader sets the rules for types and names, so that both readers give the same rows. Whole numbers go into
wider ones, unsigned ones into the next wider signed type (64 bits into DECIMAL(20,0)), decimals into those with room
for their digits. Timestamps stay timestamps and local times local times; the old INT96 are timestamps. Nanoseconds,
which Spark's reader refuses, go into timestamps if all are whole microseconds, and into BIGINT as a number. Columns are
found by their names, ignoring case; a column that a file does not have is null.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow.fs import FileSystem, LocalFileSystem

from punctuated.arrow.types import recast
from punctuated.errors import FileError

SMALLEST = 1 << 20  # bytes: opening a smaller file twice costs more than it gains
_OLD_TIMESTAMP = "INT96"
_DIGITS = {8: 3, 16: 5, 32: 10, 64: 19}  # of whole numbers with this many bits
_UNSIGNED_DIGITS = 20  # of 64 bits without a sign
_ROWS = 1 << 17  # that are decoded at a time
_SPARK_VERSION = b"org.apache.spark.version"
_OLD_CALENDAR = (b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96")


class Span(NamedTuple):
    """Bytes of a file, given by its index in a list: from `begin` to `end`, without `end`."""

    file: int
    begin: int
    end: int

    def holds(self, byte: int) -> bool:
        """Whether the span contains this byte of the file."""
        return self.begin <= byte < self.end


def spans_of(lengths: Sequence[int], part: int, n_parts: int, smallest: int) -> list[Span]:
    """The spans of one part, in the order of the files.

    >>> spans_of([6, 2], 0, 2, smallest=1), spans_of([6, 2], 1, 2, smallest=1)
    ([Span(file=0, begin=0, end=4)], [Span(file=0, begin=4, end=6), Span(file=1, begin=0, end=2)])
    """
    sizes = [max(1, length) for length in lengths]  # an empty file must belong to some part
    starts = [0, *accumulate(sizes)]
    cuts = [_cut(starts, starts[-1] * number // n_parts, smallest) for number in (part, part + 1)]
    files = enumerate(pairwise(starts))
    return [
        Span(index, max(cuts[0], start) - start, min(cuts[1], stop) - start)
        for index, (start, stop) in files
        if start < cuts[1] and cuts[0] < stop
    ]


def _cut(starts: Sequence[int], byte: int, smallest: int) -> int:
    """A cut at this byte, or at the nearer end of the file that contains it, if the file is small."""
    if byte >= starts[-1]:
        return starts[-1]
    index = bisect_right(starts, byte) - 1
    start, stop = starts[index], starts[index + 1]
    if stop - start >= smallest:
        return byte
    return start if byte - start <= stop - byte else stop


# Types that a column of a stream takes: those whose every value it can hold unchanged


def file_types(file: pq.ParquetFile) -> pa.Schema:
    """The columns of a file as Arrow reads them, old timestamps with their time zone."""
    leaves = iter([file.schema.column(index).physical_type for index in range(len(file.schema))])
    return pa.schema([pa.field(field.name, _with_old_timestamps(field.type, leaves)) for field in file.schema_arrow])


def _with_old_timestamps(dtype: pa.DataType, leaves: Iterator[str]) -> pa.DataType:
    """A type whose leaves, which Parquet numbers in order, are UTC timestamps where Parquet has INT96."""
    plain = _plain(dtype)
    if pa.types.is_struct(plain):
        return pa.struct([pa.field(field.name, _with_old_timestamps(field.type, leaves)) for field in plain])
    if pa.types.is_map(plain):
        return pa.map_(_with_old_timestamps(plain.key_type, leaves), _with_old_timestamps(plain.item_type, leaves))
    if pa.types.is_list(plain):
        return pa.list_(_with_old_timestamps(plain.value_type, leaves))
    return pa.timestamp("us", "UTC") if next(leaves) == _OLD_TIMESTAMP else plain


def takes(wanted: pa.DataType, found: pa.DataType) -> bool:
    """Whether a column of one type can hold every value of another one.

    >>> takes(pa.int64(), pa.uint32()), takes(pa.int64(), pa.uint64())
    (True, False)
    """
    found = _plain(found)
    if wanted == found or pa.types.is_null(found):
        return True
    if pa.types.is_nested(wanted):
        return _takes_nested(wanted, found)
    if pa.types.is_integer(found):
        return _takes_integer(wanted, found)
    if pa.types.is_decimal(wanted) and pa.types.is_decimal(found):
        room = (wanted.precision - wanted.scale) - (found.precision - found.scale)
        return bool(room >= 0 and wanted.scale >= found.scale)
    if pa.types.is_timestamp(found):
        is_number = wanted == pa.int64() and found.unit == "ns"
        return is_number or (pa.types.is_timestamp(wanted) and (wanted.tz is None) == (found.tz is None))
    return any(wanted_is(wanted) and found_is(found) for wanted_is, found_is in _ALIKE)


_ALIKE = (
    (pa.types.is_floating, lambda found: pa.types.is_float16(found) or pa.types.is_float32(found)),
    (pa.types.is_date, pa.types.is_date),
    (pa.types.is_time, pa.types.is_time),
    (lambda wanted: wanted == pa.int64(), pa.types.is_duration),  # the file holds a number
    (lambda wanted: wanted in (pa.string(), pa.binary()), lambda found: found in (pa.string(), pa.binary())),
)


def _takes_integer(wanted: pa.DataType, found: pa.DataType) -> bool:
    is_unsigned, bits = pa.types.is_unsigned_integer(found), found.bit_width
    if pa.types.is_integer(wanted):
        return bool(wanted.bit_width >= bits + is_unsigned)
    if pa.types.is_decimal(wanted):
        digits = _UNSIGNED_DIGITS if is_unsigned and bits == 64 else _DIGITS[bits]
        return bool(wanted.precision - wanted.scale >= digits)
    return bool(wanted == pa.duration("us") and found == pa.int64())  # how Spark writes intervals


def _takes_nested(wanted: pa.DataType, found: pa.DataType) -> bool:
    if pa.types.is_struct(wanted) and pa.types.is_struct(found):
        there = {field.name: field.type for field in found}
        if any(not field.nullable for field in wanted) and len(there) != len(list(wanted)):
            return False  # a variant that was shredded: its values are in fields that only Spark's reader puts together
        return all(_takes_field(field, there) for field in wanted)
    if pa.types.is_map(wanted) and pa.types.is_map(found):
        return takes(wanted.key_type, found.key_type) and takes(wanted.item_type, found.item_type)
    return bool(pa.types.is_list(wanted) and pa.types.is_list(found) and takes(wanted.value_type, found.value_type))


def _takes_field(wanted: pa.Field, there: dict[str, pa.DataType]) -> bool:
    """Whether a struct's field fits: a missing field is null, but a field that is spelled differently does not fit."""
    if wanted.name in there:
        return takes(wanted.type, there[wanted.name])
    return wanted.name.lower() not in {name.lower() for name in there}


def nullable(dtype: pa.DataType) -> pa.DataType:
    """A type whose nested fields may be null, as those of a null struct are for Arrow's cast."""
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(field.name, nullable(field.type)) for field in dtype])
    if pa.types.is_map(dtype):
        return pa.map_(nullable(dtype.key_type), nullable(dtype.item_type))
    return pa.list_(nullable(dtype.value_type)) if pa.types.is_list(dtype) else dtype


def _plain(dtype: pa.DataType) -> pa.DataType:
    """A type without its encoding, which is the reader's choice and not a property of the column."""
    if isinstance(dtype, pa.BaseExtensionType):
        return _plain(dtype.storage_type)
    if pa.types.is_dictionary(dtype):
        return _plain(dtype.value_type)
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return pa.string()
    if pa.types.is_large_binary(dtype) or pa.types.is_binary_view(dtype) or pa.types.is_fixed_size_binary(dtype):
        return pa.binary()
    if pa.types.is_large_list(dtype) or pa.types.is_fixed_size_list(dtype):
        return pa.list_(dtype.value_type)
    return dtype


# Files


class OpenFile:
    """A file whose footer has been read, and whose columns fit those of the stream.

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
        metadata = self._file.metadata.metadata or {}
        major = int(metadata.get(_SPARK_VERSION, b"3").split(b".")[0])
        if (major < 3 or any(key in metadata for key in _OLD_CALENDAR)) and any(map(_has_days, self._schema.types)):
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
        """The row groups whose middle is in a span, without those that hold no row for a filter."""
        footer = self._file.metadata
        begins = [_begin(footer.row_group(number)) for number in range(footer.num_row_groups)]
        middles = [sum(each) // 2 for each in pairwise([*begins, self._length])]
        held = [number for number, byte in enumerate(middles) if span.holds(min(max(byte, 0), self._length - 1))]
        return held if where is None or not held else self._promising(held, where)

    def _promising(self, held: Sequence[int], where: pc.Expression) -> list[int]:
        """The row groups that may have rows for a filter, by the smallest and largest values in the footer."""
        if any(name in self._file.schema_arrow.names for name in self._constants):
            return list(held)  # the footer has values of a column that the path overrides
        system, path = self._source
        whole = ds.ParquetFileFormat().make_fragment(path, system, row_groups=list(held))
        try:
            return [group.id for group in whole.subset(where).row_groups]
        except (pa.ArrowException, ValueError, TypeError):  # columns of other types or names: the rows will show it
            return list(held)

    def read(self, row_group: int, where: pc.Expression | None) -> Iterator[pa.RecordBatch]:
        """The rows of a row group that a filter keeps, in batches."""
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
    """The name of a column as a file spells it; None if the file does not have it."""
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

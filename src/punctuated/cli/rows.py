"""Rows of results as text: aligned columns under one header, as long as the same query goes on printing."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

_NUMBER = 8  # characters that a column of numbers has at least
_WIDEST = 40  # characters of a column of text; a longer value is shown in full, and moves the rest of its line


class RowLines:
    """Makes lines of tables that come one after the other; a header is repeated only after rows of another query."""

    def __init__(self, most: int | None) -> None:
        self._most = most  # rows of one micro-batch that are shown; None: all
        self._widths: dict[str, list[int]] = {}
        self._last: str | None = None

    def of(self, query: str, table: pa.Table) -> Iterator[str]:
        """The lines of one table of a query."""
        shown = table if self._most is None else table.slice(0, self._most)
        cells = [[shown_value(value) for value in column.to_pylist()] for column in shown.columns]
        to_right = [_is_number(field.type) for field in table.schema]
        if query not in self._widths:
            columns = zip(table.column_names, cells, to_right, strict=True)
            self._widths[query] = [_width(*column) for column in columns]
        widths = self._widths[query]
        if self._last != query:
            yield from _header(table.column_names, widths, to_right)
            self._last = query
        for row in zip(*cells, strict=True):
            yield _line(row, widths, to_right)
        if len(table) > len(shown):
            yield f"… {len(table) - len(shown):,} more rows of this micro-batch (--rows 0 shows all)"


def shown_value(value: Any) -> str:
    """A value as text.

    >>> shown_value(None), shown_value(True), shown_value(2.5), shown_value(datetime(2003, 11, 10, 9, 3))
    ('null', 'true', '2.5', '2003-11-10 09:03:00')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    return value.isoformat() if isinstance(value, date) else str(value)


def json_value(value: Any) -> Any:
    """A value that JSON has no type for, as text."""
    return value.isoformat() if isinstance(value, date) else value.hex() if isinstance(value, bytes) else str(value)


def _header(names: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> Iterator[str]:
    yield _line(names, widths, to_right)
    yield "─┼─".join("─" * width for width in widths)


def _line(cells: Sequence[str], widths: Sequence[int], to_right: Sequence[bool]) -> str:
    columns = zip(cells, widths, to_right, strict=True)
    return " │ ".join(cell.rjust(width) if right else cell.ljust(width) for cell, width, right in columns).rstrip()


def _width(name: str, cells: Sequence[str], is_number: bool) -> int:
    """The width that the first rows of a column need; numbers get some more."""
    return max(len(name), _NUMBER if is_number else 0, min(_WIDEST, max(map(len, cells), default=0)))


def _is_number(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype))

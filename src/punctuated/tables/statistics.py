"""What a Delta table says of a file: its rows, and the least, the greatest and the nulls of its plain columns."""

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow.parquet as pq

_MILLISECOND = timedelta(milliseconds=1)


def delta_statistics(metadata: pq.FileMetaData) -> str:
    """As JSON, from the footer of the file. Times are rounded outwards to milliseconds, which is all that Delta reads.

    Texts and floating point numbers have no bounds: Parquet may cut texts, and NaN is in no order.
    """
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place in range(metadata.num_columns):
        name = metadata.schema.column(place).path
        found = list(_of_column(metadata, place))
        if "." in name or None in found:
            continue
        nulls[name] = sum(each[2] for each in found if each is not None)
        bounds = [each[:2] for each in found if each is not None and each[0] is not None]
        if bounds:
            least[name] = _shown(min(low for low, _ in bounds), up=False)
            greatest[name] = _shown(max(high for _, high in bounds), up=True)
    statistics = {"numRecords": metadata.num_rows, "minValues": least, "maxValues": greatest, "nullCount": nulls}
    return json.dumps(statistics)


def _of_column(metadata: pq.FileMetaData, place: int) -> Iterator[tuple[Any, Any, int] | None]:
    """Of each row group the bounds, if it has any, and the nulls; None if they are not known."""
    for number in range(metadata.num_row_groups):
        column = metadata.row_group(number).column(place)
        found = column.statistics if column.is_stats_set else None
        if found is None or not found.has_null_count:
            yield None
        elif found.has_min_max and found.physical_type in ("INT32", "INT64"):
            yield _bounds(found)
        elif found.null_count == column.num_values or found.physical_type in ("INT32", "INT64"):
            yield None, None, found.null_count
        else:
            yield None


def _bounds(found: Any) -> tuple[Any, Any, int] | None:
    try:
        low, high = found.min, found.max
    except (OverflowError, ValueError):  # a time that Python does not have
        return None
    known = isinstance(low, int | date | datetime) and not isinstance(low, bool)
    return (low, high, found.null_count) if known else None


def _shown(value: Any, *, up: bool) -> Any:
    if not isinstance(value, datetime):
        return value.isoformat() if isinstance(value, date) else value
    floor = value.replace(microsecond=value.microsecond // 1000 * 1000)
    rounded = floor + _MILLISECOND if up and floor < value else floor
    text = rounded.replace(tzinfo=None).isoformat(timespec="milliseconds")
    return text if value.tzinfo is None else f"{text}Z"

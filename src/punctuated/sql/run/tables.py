"""Sinks without Spark. A run reads all rows that there are, so it writes all results anew."""

import json
from base64 import b64encode
from collections.abc import Callable, Collection
from datetime import date, time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from punctuated.errors import SinkError
from punctuated.sql.run.sinks import CONSOLE, Target
from punctuated.sql.sources.options import PATH, local_path

_FILE = "part-0000"


def write_results(query: Any, target: Target) -> int:
    """Write the results of a query over tables, its punctuations and rejected rows; returns the number of results."""
    _write(target.format, _path_of(target), query.results)
    for part, sink in target.beside.items():
        _write(target.format, sink.path, getattr(query, part))
    return len(query.results)


def is_written_here(format: str) -> bool:
    """Whether a sink of this format needs no Spark."""
    return format in (*_WRITERS, CONSOLE)


def check_written_here(target: Target, written: Collection[str]) -> None:
    """Raise if a sink needs Spark, or if its rows would replace those of another statement."""
    if not is_written_here(target.format):
        raise SinkError(
            f"{target.format!r} needs Spark; without it there are {', '.join((*_WRITERS, CONSOLE))}: leave out --tables"
        )
    if target.format != CONSOLE and target.shown in written:
        raise SinkError(f"another statement writes to {target.shown}, too: without Spark give each a place of its own")


def _path_of(target: Target) -> str:
    path = target.table.path if target.table is not None else target.options.get(PATH)
    if path is None:
        raise SinkError(f"{target.format!r} writes files: give OPTIONS (path '…')")
    return path


def _write(format: str, path: str, table: pa.Table) -> None:
    folder = local_path(path)
    if folder is None:
        raise SinkError(f"{path} is not on this host: leave out --tables")
    if format == "delta":
        _write_delta(table, folder)
        return
    file = folder / f"{_FILE}.{format}"
    aside = file.with_name(f".{file.name}.aside")
    try:
        _refuse_others(folder, file)
        folder.mkdir(parents=True, exist_ok=True)
        _WRITERS[format](table, aside)
        aside.replace(file)
    except (OSError, pa.ArrowException) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error).splitlines()[0]
        raise SinkError(f"cannot write {format!r} to {folder}: {reason}") from error


def _refuse_others(folder: Path, own: Path) -> None:
    others = [each for each in folder.iterdir() if each != own] if folder.exists() else []
    if others:
        raise SinkError(
            f"{folder} holds {others[0].name}, which a run on tables has not written: give a folder that is new or "
            "empty, or move what is there away"
        )


def _write_delta(table: pa.Table, folder: Path) -> None:
    try:
        from deltalake import write_deltalake
    except ModuleNotFoundError as error:
        raise SinkError('Delta tables need the package deltalake: pip install "punctuated[delta]"') from error
    write_deltalake(str(folder), table, mode="overwrite")


def _write_json(table: pa.Table, file: Path) -> None:
    with file.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(row, default=_json_value, ensure_ascii=False) + "\n" for row in table.to_pylist())


def _json_value(value: Any) -> str:
    """A value that JSON has no type for: bytes as Spark writes them, times in ISO 8601, all else as text."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, date | time) else str(value)


_WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": pq.write_table,
    "csv": pa_csv.write_csv,
    "json": _write_json,
    "delta": _write_delta,
}

"""The sinks of INSERT INTO, from their options, which are read and checked before anything starts.

Tables (`parquet`, `delta`) are written by `write_to`, exactly once, with punctuations and rejected rows beside the
results if options name paths for them. `console` prints. Every other name is a format of Spark's own writer.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from punctuated.errors import SinkError
from punctuated.sql.parse.errors import at
from punctuated.sql.parse.syntax import Insert
from punctuated.sql.sources.options import PATH, from_folder, option_named, take_option
from punctuated.storage.tables.sink import TableSink, delta, parquet

CONSOLE = "console"
_TABLES: dict[str, Callable[..., TableSink]] = {"parquet": parquet, "delta": delta}
_BESIDE = ("punctuations", "rejected")
_LISTS, _TEXTS = ("sort_by", "partition_by"), ("file_size", "compression")
_DIGITS = 8  # of a digest, by which sinks of one name differ


@dataclass(frozen=True)
class Target:
    """The sink of one statement: where the results of its query go."""

    name: str  # of the query, as people see it
    format: str
    checkpoint: Path | str
    table: TableSink | None = None
    beside: dict[str, TableSink] = field(default_factory=dict)  # punctuations and rejected rows
    options: dict[str, str] = field(default_factory=dict)  # of Spark's writer

    @property
    def shown(self) -> str:
        """The format and the path, as people see them."""
        path = self.table.path if self.table is not None else self.options.get(PATH, "")
        return f"{self.format} {path}".strip()


def target_of(insert: Insert, script: Path) -> Target:
    """The sink of a statement; relative paths start at the folder of the script."""
    with at(insert.position):
        options = dict(insert.options)
        _refuse_empty(options)
        checkpoint = take_option("checkpoint", options)
        path = _path(options, script.parent)
        name = Path(path).name if path else insert.sink
        folder = checkpoint_of(script, insert) if checkpoint is None else from_folder(checkpoint, script.parent)
        if insert.sink in _TABLES:
            return _table_target(insert.sink, name, folder, options, path, script.parent)
        _refuse_beside(insert.sink, options)
        if insert.sink == CONSOLE and (options or path):
            listed = ", ".join([*options, *([PATH] if path else [])])
            raise SinkError(f"'console' takes no option but checkpoint, and this has {listed}")
        return Target(name, insert.sink, folder, options=options | ({PATH: path} if path else {}))


def checkpoint_of(script: Path, insert: Insert) -> Path:
    """The checkpoint of a statement that names none: beside the script, by the sink of the statement.

    So statements may be reordered in the script, and others may come in between.
    """
    path = insert.options.get(option_named(PATH, insert.options) or PATH, "")
    written = f"{insert.sink} {path}"
    digest = hashlib.sha256(written.encode()).hexdigest()[:_DIGITS]
    return checkpoints_of(script) / f"{Path(path).name or insert.sink}-{digest}"


def checkpoints_of(script: Path) -> Path:
    """The folder of the checkpoints that a script does not name: `auctions.checkpoints` beside `auctions.sql`."""
    return script.absolute().with_suffix(".checkpoints")


def _path(options: dict[str, str], folder: Path) -> str | None:
    path = take_option(PATH, options)
    return None if path is None else from_folder(path, folder)


def _table_target(
    kind: str, name: str, checkpoint: Path | str, options: dict[str, str], path: str | None, folder: Path
) -> Target:
    if path is None:
        raise SinkError(f"{kind!r} writes files: give OPTIONS (path '…')")
    make, beside = _TABLES[kind], {}
    for part in _BESIDE:
        other_path = take_option(part, options)
        if other_path is not None:
            beside[part] = make(from_folder(other_path, folder))
    table_options: dict[str, Any] = dict(_table_options(options))
    if options and kind == "delta":
        table_options["storage_options"] = dict(options)
    elif options:
        known = ", ".join((PATH, "checkpoint", *_BESIDE, *_LISTS, *_TEXTS))
        raise SinkError(f"{kind!r} has no option {', '.join(options)}; there are {known}")
    target = Target(name, kind, checkpoint, make(path, **table_options), beside)
    _check_paths(target)
    return target


def _check_paths(target: Target) -> None:
    """Raise if two of the things that a query writes have the same path."""
    tables = {"path": target.table, **target.beside}
    seen = {str(target.checkpoint).rstrip("/"): "checkpoint"}
    for option, table in tables.items():
        path = table.path if table is not None else ""
        if path in seen:
            raise SinkError(f"{seen[path]} and {option} are the same place, {path}: give each one of its own")
        seen[path] = option


def _refuse_empty(options: dict[str, str]) -> None:
    for name in (PATH, "checkpoint", *_BESIDE):
        if option_named(name, options) is not None and not options[option_named(name, options) or ""].strip():
            raise SinkError(f"the option {name} is empty")


def _table_options(options: dict[str, str]) -> Iterator[tuple[str, str | list[str]]]:
    for name in _LISTS:
        text = take_option(name, options)
        if text is not None:
            yield name, [each.strip() for each in text.split(",")]
    for name in _TEXTS:
        text = take_option(name, options)
        if text is not None:
            yield name, text


def _refuse_beside(sink: str, options: dict[str, str]) -> None:
    for part in _BESIDE:
        if option_named(part, options) is not None:
            raise SinkError(
                f"{sink!r} gets results alone: {part} are written beside those of 'parquet' and 'delta'. Leave out the "
                f"option {part}, or write to one of these"
            )

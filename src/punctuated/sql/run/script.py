"""A script as a whole: its statements, and the check that comes before anything runs.

The check needs neither Spark nor Java: it binds every query to streams that have columns and no rows. So each mistake
that can be seen in the text, the options and the columns is found before the first row is read, and plans can be shown.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from punctuated.errors import PunctuatedError, StreamError
from punctuated.sql.bind.binder import bind_select
from punctuated.sql.bind.catalog import Catalog
from punctuated.sql.bind.query import SqlQuery
from punctuated.sql.parse.errors import SourceSpan, at
from punctuated.sql.parse.statements import parse_script
from punctuated.sql.parse.syntax import CreateStream, Explain, Insert, Select, Statement
from punctuated.sql.run.sinks import Target, target_of
from punctuated.sql.sources.schemas import OutlineSources, SqlSources, is_endless

Task = Insert | Explain | Select


@dataclass(frozen=True)
class Script:
    """The statements of a file."""

    path: Path
    statements: tuple[Statement, ...]

    @property
    def folder(self) -> Path:
        """The folder of the file; relative paths in the script start here."""
        return self.path.parent

    @property
    def created(self) -> tuple[CreateStream, ...]:
        """The CREATE STREAM statements, in the order of the file."""
        return tuple(each for each in self.statements if isinstance(each, CreateStream))

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The other statements, in the order of the file."""
        return tuple(each for each in self.statements if not isinstance(each, CreateStream))

    def catalog(self, sources: SqlSources) -> Catalog:
        """The streams of the script, opened by these sources."""
        return Catalog(self.created, sources)


@dataclass(frozen=True)
class CheckedStatement:
    """A statement that has passed the check."""

    task: Task
    plan: str
    target: Target | None  # of an INSERT
    warnings: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The kind of the statement: "insert", "explain" or "select"."""
        return {Insert: "insert", Explain: "explain", Select: "select"}[type(self.task)]


def read_script(path: Path) -> Script:
    """The script in a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark before the text
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise PunctuatedError(f"cannot read {path}: {reason}") from error
    script = Script(path, parse_script(text))
    if not script.tasks:
        raise PunctuatedError(f"{path} has no query to run: write SELECT …, INSERT INTO … SELECT … or EXPLAIN SELECT …")
    return script


def check_script(script: Script) -> list[CheckedStatement]:
    """Check every statement; raises at the first that is wrong."""
    catalog = script.catalog(OutlineSources(script.folder))
    checked = [_checked(task, script, catalog) for task in script.tasks]
    for name in catalog.names:
        catalog.stream(name)  # a stream that no query reads may be wrong, too
    _check_checkpoints(checked)
    return checked


def check_ends(script: Script) -> None:
    """Raise if a stream never ends: the script could not run to the end."""
    for stream in script.created:
        with at(stream.positions.get("source", stream.position)):
            if is_endless(stream, script.folder):
                limit = "give it an end with OPTIONS (rows …), or " if stream.source == "generator" else ""
                raise StreamError(f"stream {stream.name!r} never ends: {limit}run the script with --follow")


def bound(task: Task, catalog: Catalog) -> SqlQuery:
    """The query of a statement over the streams of a catalog."""
    query = task if isinstance(task, Select) else task.query
    return SqlQuery(bind_select(query, catalog.of(query)))


def _checked(task: Task, script: Script, catalog: Catalog) -> CheckedStatement:
    target = target_of(task, script.path) if isinstance(task, Insert) else None
    with at(task.position), recorded_warnings() as caught:
        query = bound(task, catalog)
        schema = query.schema  # aggregates are checked when groups are made
        if target is not None and target.table is not None:
            target.table.check(schema, "the results")
    return CheckedStatement(task, query.explain(), target, tuple(dict.fromkeys(caught)))


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """The texts of all warnings of the code inside, which are not shown; the list is filled when that is done."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    texts += [str(each.message) for each in caught]


def _check_checkpoints(checked: list[CheckedStatement]) -> None:
    """Raise if two queries share a checkpoint."""
    known: dict[str, SourceSpan] = {}
    for each in checked:
        if each.target is None:
            continue
        position, checkpoint = each.task.position, str(each.target.checkpoint)
        with at(position):
            if checkpoint in known:
                raise StreamError(
                    f"the statement in line {known[checkpoint].line} writes to the same sink with the same checkpoint: "
                    "give this one another path, or OPTIONS (checkpoint '…')"
                )
        known[checkpoint] = position

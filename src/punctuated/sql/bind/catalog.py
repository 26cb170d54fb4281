"""CREATE STREAM statements as declared streams, by their names.

A stream is opened when a query first asks for it: so it may read what an earlier statement writes, and one that no
query uses is not read at all.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from operator import or_
from typing import Any

from sqlglot import exp

from punctuated.api.stream import stream
from punctuated.bind.sources import Source, clustered, endings, rows_with, unique, when
from punctuated.bind.streams import Stream
from punctuated.errors import StreamError
from punctuated.expressions.nodes import Expression
from punctuated.model.arguments import free_names
from punctuated.sql.bind.expressions import Translator
from punctuated.sql.bind.inputs import plain_column
from punctuated.sql.bind.names import CreatedStream, is_quoted
from punctuated.sql.bind.windows import stream_window
from punctuated.sql.parse.dialect import position_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unknown
from punctuated.sql.parse.syntax import CreateStream, Name, PunctuatedBy, Select, match
from punctuated.sql.parse.token_parser import parse_value
from punctuated.sql.sources.schemas import SqlSources

_FLAG = "is_last"  # the column that an expression behind WHEN becomes


class Catalog:
    """The streams that a script creates."""

    def __init__(self, statements: Iterable[CreateStream], sources: SqlSources) -> None:
        self._sources = sources
        self._statements: dict[str, CreateStream] = {}
        self._opened: dict[str, Any] = {}
        self._streams: dict[str, Stream] = {}
        self._hidden: dict[str, frozenset[str]] = {}
        for statement in statements:
            self._add(statement)

    @property
    def names(self) -> list[str]:
        """The names of all streams, opened or not."""
        return list(self._statements)

    def stream(self, name: str) -> Stream:
        """The stream of this name; it is opened if it is not open yet."""
        if name not in self._streams:
            statement = self._statements[name]
            with at(statement.position):
                self._streams[name] = self._declared(statement)
        return self._streams[name]

    def declared(self, name: str) -> CreatedStream:
        """The stream of this name and its columns that no query sees."""
        stream = self.stream(name)
        return CreatedStream(stream, self._hidden[name])

    def of(self, query: Select) -> dict[str, CreatedStream | None]:
        """The streams that a query asks for, by their names; all other names have None."""
        asked = {name.lower() for name in _names_in_from(query)}
        return {name: self.declared(name) if name.lower() in asked else None for name in self._statements}

    def _add(self, statement: CreateStream) -> None:
        if match(statement.name, self._statements) is not None:
            position = statement.positions.get("name", statement.position)
            raise SqlError(f"there is a stream {statement.name!r} already: give this one another name", position)
        self._statements[statement.name] = statement

    def _data(self, statement: CreateStream) -> Any:
        if statement.name not in self._opened:
            with at(statement.positions.get("source", statement.position)):
                self._opened[statement.name] = self._sources.open(statement)
        return self._opened[statement.name]

    def _declared(self, statement: CreateStream) -> Stream:
        _check_declared(statement)
        data = self._data(statement)
        columns = _names(data)
        computed: dict[str, Expression] = {}
        sources = [self._source(each, statement.name, columns, computed) for each in statement.punctuated]
        self._hidden[statement.name] = frozenset(computed)
        select = {name: plain_column(name) for name in columns} | computed if computed else None
        key = tuple(_column(name, columns, "KEY", statement) for name in statement.key)
        time = None if statement.time is None else _column(statement.time, columns, "TIME", statement)
        window = None if statement.window is None else stream_window(statement.window, columns, key, {})
        declared: Stream = stream(
            data,
            name=statement.name,
            key=key or None,
            time=time,
            window=window,
            lateness=statement.lateness or 0,
            punctuations=reduce(or_, sources) if sources else None,
            select=select,
        )
        return declared

    def _source(
        self, declared: PunctuatedBy, stream: str, columns: list[str], computed: dict[str, Expression]
    ) -> Source:
        """The punctuations of a PUNCTUATED BY; a flag that must be computed is added to `computed`."""
        with at(declared.position):
            if declared.kind == "unique":
                return unique()
            if declared.kind == "clustered":
                return clustered()
            if declared.kind == "endings":
                return self._endings(declared)
            argument = declared.argument or ""
            found = match(argument, columns)
            if declared.kind == "patterns":
                return rows_with(_known(found, argument, columns, declared.position))
            plain = found or match(_unquoted(argument), columns, quoted=True)
            return when(plain or _flag(declared, stream, columns, computed))

    def _endings(self, declared: PunctuatedBy) -> Source:
        """Punctuations from another stream of the script: each of its rows ends its key, at its time."""
        name = match(declared.argument or "", self._statements)
        if name is None:
            raise unknown("stream", declared.argument or "", self._statements, declared.position)
        announced = self._statements[name]
        if not announced.key or announced.time is None:
            raise StreamError(f"stream {name!r} needs a KEY and a TIME: its rows say which key ends, and when")
        return endings(self._data(announced), key=announced.key, time=announced.time)


def _check_declared(statement: CreateStream) -> None:
    """Raise if a stream has no time, or punctuations and no key."""
    if statement.time is None:
        instead = "name the column of event time, as in TIME bid_at"
        raise SqlError(f"stream {statement.name!r} has no TIME: {instead}", statement.position, expected="TIME")
    if statement.punctuated and not statement.key:
        position = statement.punctuated[0].position
        raise SqlError(f"stream {statement.name!r} has no KEY that could end: name it, as in KEY item_id", position)


def _unquoted(name: str) -> str:
    """A name without its quotes; a text that is no single name in quotes stays as it is."""
    mark = name[:1]
    return name[1:-1].replace(mark * 2, mark) if mark in ('"', "`") and name.endswith(mark) else name


def _flag(declared: PunctuatedBy, stream: str, columns: list[str], computed: dict[str, Expression]) -> str:
    """The name of a new column with the value of the expression behind WHEN."""
    flag = free_names([_FLAG], [*columns, *computed])[0]
    computed[flag] = flag_expression(declared.argument or "", declared.position, stream, columns)
    return flag


def flag_expression(text: str, clause: SourceSpan, stream: str, columns: Sequence[str]) -> Expression:
    """The expression `text` that ends a PUNCTUATED BY clause, over the columns of its stream."""
    span = SourceSpan(clause.text, clause.end - len(text), clause.end)
    tree = parse_value(span, "an expression that is true on the last row of a key")

    def column(node: exp.Column) -> Expression:
        if node.table and match(node.table, [stream]) is None:
            raise unknown("stream", node.table, [stream], position_of(node, clause.text))
        found = match(node.name, columns, quoted=is_quoted(node))
        if found is None:
            raise unknown("column", node.name, columns, position_of(node, clause.text))
        return plain_column(found)

    return Translator(clause.text, column).translate(tree)


def _column(name: str, columns: list[str], clause: str, statement: CreateStream) -> str:
    return _known(match(name, columns), name, columns, statement.positions.get(clause, statement.position))


def _known(found: str | None, name: str, columns: list[str], position: SourceSpan) -> str:
    if found is None:
        raise unknown("column", name, columns, position)
    return found


def _names(data: Any) -> list[str]:
    """The names of the columns of a table, a DataFrame or files."""
    return list(data.schema.names)


def _names_in_from(query: Select) -> Iterator[str]:
    """The names of streams in FROM, those of the queries inside of it too."""
    for _, named in query.named:
        yield from _names_in_from(named)
    for block in query.blocks:
        for source in block.sources:
            if isinstance(source.what, Name):
                yield source.what.text
            else:
                yield from _names_in_from(source.what)

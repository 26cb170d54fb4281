"""Reads the statements of a script: CREATE STREAM, INSERT INTO, EXPLAIN and SELECT, each up to its semicolon."""

from collections.abc import Callable
from typing import Any

from sqlglot.tokenizer_core import Token

from punctuated.model.window import parse_duration
from punctuated.sql.parse.clauses import SelectParser
from punctuated.sql.parse.dialect import Language, position_of, statements_of, tokens_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import CreateStream, Explain, Insert, Name, PunctuatedBy, Select, Statement

_PUNCTUATED_BY = ("UNIQUE", "CLUSTERED", "WHEN", "PATTERNS", "ENDINGS")
_STATEMENTS = ("SELECT", "CREATE STREAM", "INSERT INTO", "EXPLAIN")


class CreateStreamParser(SelectParser):
    """Reads CREATE STREAM: columns, what is declared of the stream, its source and options."""

    def create_stream(self, start: SourceSpan) -> CreateStream:
        """Read what stands behind CREATE."""
        for word in ("TABLE", "VIEW"):
            if self.is_word(word):
                raise unsupported(f"CREATE {word}", self.position(), "write CREATE STREAM")
        self.need("STREAM")
        name = self.name("a name for the stream")
        elements = _StreamElements(name)
        self.need("(")
        elements.add(*self._element())
        while self.take(","):
            elements.add(*self._element())
        self.need(")")
        self.need("FROM")
        source = self.text("a source in quotes, such as 'parquet'")
        elements.positions["source"] = source.position
        return elements.stream(source.text, self.options(), start.to(name.position))

    def _element(self) -> tuple[str, Any, SourceSpan]:
        start = self.position()
        readers: dict[str, Callable[[], Any]] = {
            "TIME": lambda: self.name("the column of times").text,
            "KEY": self._key,
            "LATENESS": self._lateness,
            "WINDOW": self._window_element,
            "PUNCTUATED": lambda: self._punctuated(start),
        }
        for word, read in readers.items():
            if self.is_word(word) and not self.is_type_next():  # else it is the name of a column
                self.skip()
                return word.lower(), read(), start.to(self.last_position())
        name = self.name("a column and its type, or TIME, KEY, PUNCTUATED BY, LATENESS or WINDOW")
        return "column", (name.text, self.type_text()), name.position

    def _key(self) -> tuple[str, ...]:
        names = self._name_list() if self.is_word("(") else (self.name("a key column"),)
        return tuple(name.text for name in names)

    def _lateness(self) -> str:
        length = self.length()
        if length.is_name:
            raise SqlError(f"{length.value!r} is no length of time: write one such as 5 MINUTES", length.position)
        with at(length.position):
            parse_duration(length.value)
        return str(length.value) if isinstance(length.value, str) else f"{length.value} us"

    def _window_element(self) -> Any:
        window = self.window_in_brackets()
        if window is None:
            raise self.unexpected("a window in brackets, such as [RANGE 12 HOURS]")
        return window

    def _punctuated(self, start: SourceSpan) -> PunctuatedBy:
        self.need("BY")
        for word in _PUNCTUATED_BY:
            if self.take(word):
                return PunctuatedBy(word.lower(), self._argument(word), start.to(self.last_position()))
        raise self.unexpected(*_PUNCTUATED_BY)

    def _argument(self, kind: str) -> str | None:
        if kind == "WHEN":
            first = self.position()
            value = self.value("a column or an expression that is true on the last row of a key")
            return first.to(position_of(value, self.sql)).to(self.last_position()).quoted
        if kind == "PATTERNS":
            return self.name("the column of patterns").text
        return self.name("the stream of endings").text if kind == "ENDINGS" else None

    def options(self) -> dict[str, str]:
        """Read `OPTIONS (name value, …)`; there are none if the word is not at hand."""
        found = dict[str, str]()
        if not self.take("OPTIONS"):
            return found
        self.need("(")
        self._option(found)
        while self.take(","):
            self._option(found)
        self.need(")")
        return found

    def _option(self, found: dict[str, str]) -> None:
        position = self.position()
        name = self._option_name()
        if name.lower() in map(str.lower, found):
            raise SqlError(f"option {name!r} is given twice", position)
        self.take("=")
        found[name] = self._option_value()

    def _option_name(self) -> str:
        if self.is_text():
            return self.text("an option").text
        parts = [self._any_word()]
        while self.take("."):
            parts.append(self._any_word())
        return ".".join(parts)

    def _any_word(self) -> str:
        """Read any word: options have whatever names their sources gave them."""
        first = self.token_text[:1]
        if not first.isalpha() and first != "_":
            raise self.unexpected("the name of an option")
        return self.skip()

    def _option_value(self) -> str:
        sign = "-" if self.take("-") else ""
        if self.is_number():
            return sign + self.skip()
        if not sign and self.is_text():
            return self.skip()
        if not sign and (self.is_word("TRUE") or self.is_word("FALSE")):
            return self.skip().lower()
        raise self.unexpected("a value: a text in quotes, a number, TRUE or FALSE")


class _StreamElements:
    """The elements in the parentheses of CREATE STREAM, collected one by one."""

    def __init__(self, name: Name) -> None:
        self.name, self.positions = name, {"name": name.position}
        self.columns = list[tuple[str, str]]()
        self.punctuated = list[PunctuatedBy]()
        self.once = dict[str, Any]()

    def add(self, kind: str, value: Any, position: SourceSpan) -> None:
        """Add one element; raises if there can be only one of its kind and there is one already."""
        if kind == "column":
            if value[0] in dict(self.columns):
                raise SqlError(f"there are two columns {value[0]!r}", position)
            self.columns.append(value)
            self.positions[value[0]] = position
        elif kind == "punctuated":
            self.punctuated.append(value)
        elif kind in self.once:
            raise SqlError(f"{kind.upper()} is given twice", position)
        else:
            self.once[kind] = value
            self.positions[kind.upper()] = position

    def stream(self, source: str, options: dict[str, str], position: SourceSpan) -> CreateStream:
        return CreateStream(
            name=self.name.text,
            columns=tuple(self.columns),
            time=self.once.get("time"),
            key=self.once.get("key", ()),
            punctuated=tuple(self.punctuated),
            lateness=self.once.get("lateness"),
            window=self.once.get("window"),
            source=source,
            options=options,
            position=position,
            positions=self.positions,
        )


# Scripts


def parse_script(text: str) -> tuple[Statement, ...]:
    """The statements of a text.

    Raises:
        SqlError: With the line and the column of what cannot be read.

    Example:
        >>> [type(each).__name__ for each in parse_script("EXPLAIN SELECT a FROM s; SELECT a FROM s [NOW];")]
        ['Explain', 'Select']
    """
    return tuple(_parse(tokens, text) for tokens in statements_of(tokens_of(text)))


def parse_query(text: str) -> tuple[Select | Explain, tuple[CreateStream, ...]]:
    """The one query of a text, and the streams that it creates before."""
    statements = parse_script(text)
    queries = [each for each in statements if isinstance(each, Select | Explain)]
    for each in statements:
        if isinstance(each, Insert):
            raise SqlError("INSERT INTO is for scripts, which `punctuated run` runs: give a SELECT", each.position)
    if not queries:
        raise SqlError("there is no query: write SELECT … FROM …", _end_of(text), expected="SELECT")
    if len(queries) > 1:
        raise SqlError("there is more than one query: give one SELECT", queries[1].position)
    return queries[0], tuple(each for each in statements if isinstance(each, CreateStream))


def _end_of(text: str) -> SourceSpan:
    return SourceSpan(text, len(text.rstrip()), len(text.rstrip()))


def _parse(tokens: list[Token], text: str) -> Statement:
    parser = StatementParser(dialect=Language)
    try:
        return parser.statement(tokens, text)
    except RecursionError:
        raise SqlError("this is nested too deeply", SourceSpan(text, tokens[0].start, tokens[0].end + 1)) from None


class StatementParser(CreateStreamParser):
    """Reads one statement of any kind."""

    def statement(self, tokens: list[Token], text: str) -> Statement:
        """The statement that these tokens are; raises if it ends before they do."""
        self.begin(tokens, text)
        found = self._statement()
        if not self.at_end:
            raise self._not_the_end(found)
        return found

    def _statement(self) -> Statement:
        start = self.position()
        if self.is_word("SELECT") or self.is_word("WITH") or self.is_word("("):
            return self.select()
        if self.take("EXPLAIN"):
            return Explain(self.select(), start)
        if self.take("CREATE"):
            return self.create_stream(start)
        if self.take("INSERT"):
            return self._insert(start)
        raise self.unexpected(*_STATEMENTS)

    def _insert(self, start: SourceSpan) -> Insert:
        self.need("INTO")
        sink = self.text("a sink in quotes, such as 'parquet'")
        options = self.options()
        return Insert(sink.text, options, self.select(), start)

    def _not_the_end(self, found: Statement) -> SqlError:
        if not isinstance(found, CreateStream) and self.is_word("["):
            return self.failure("a window stands behind a stream in FROM")
        return self.unexpected("the end of the statement" if isinstance(found, CreateStream) else "a clause or the end")

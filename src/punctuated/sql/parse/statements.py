"""CREATE STREAM: columns, what is declared of the stream, its source and options."""

from collections.abc import Callable, Iterator
from typing import Any

from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from punctuated.errors import PunctuatedError
from punctuated.model.window import parse_duration
from punctuated.sql.parse.clauses import SelectParser
from punctuated.sql.parse.dialect import Language, position_of, tokens_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, at, unsupported
from punctuated.sql.parse.syntax import CreateStream, Explain, Insert, Name, PunctuatedBy, Select, Statement

_SOURCES = ("UNIQUE", "CLUSTERED", "WHEN", "PATTERNS", "ENDINGS")
__all__ = ["CreateStream", "Explain", "Insert", "PunctuatedBy", "Select", "Statement", "parse_query", "parse_script"]
_STATEMENTS = ("SELECT", "CREATE STREAM", "INSERT INTO", "EXPLAIN")


class CreateStreamParser(SelectParser):
    """Reads the declaration of a stream."""

    def create_stream(self, start: SourceSpan) -> CreateStream:
        """What stands behind CREATE."""
        for word in ("TABLE", "VIEW"):
            if self.is_word(word):
                raise unsupported(f"CREATE {word}", self.place(), "write CREATE STREAM")
        self.need("STREAM")
        name = self.name("a name for the stream")
        declaration = _StreamElements(name)
        self.need("(")
        declaration.take(*self._element(declaration))
        while self.take(","):
            declaration.take(*self._element(declaration))
        self.need(")")
        self.need("FROM")
        source = self.text("a source in quotes, such as 'parquet'")
        declaration.places["source"] = source.position
        return declaration.stream(source.text, self.options(), start.to(name.position))

    def _element(self, declaration: "_StreamElements") -> tuple[str, Any, SourceSpan]:
        start = self.place()
        readers: dict[str, Callable[[], Any]] = {
            "TIME": lambda: self.name("the column of times").text,
            "KEY": self._key,
            "LATENESS": self._lateness,
            "WINDOW": self._window_element,
            "PUNCTUATED": lambda: self._punctuated(start),
        }
        for word, read in readers.items():
            if self.is_word(word) and not self._is_column_named_so():
                self._advance()
                return word.lower(), read(), start.to(self.place_before())
        name = self.name("a column and its type, or TIME, KEY, PUNCTUATED BY, LATENESS or WINDOW")
        return "column", (name.text, self._type(declaration)), name.position

    def _is_column_named_so(self) -> bool:
        """Whether a word that begins an element is the name of a column: a type comes behind it."""
        following = self._next
        is_type = bool(following) and following.token_type in self.TYPE_TOKENS
        return is_type and following.token_type != TokenType.INTERVAL

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
        for word in _SOURCES:
            if self.take(word):
                return PunctuatedBy(word.lower(), self._argument(word), start.to(self.place_before()))
        raise self.unexpected(*_SOURCES)

    def _argument(self, kind: str) -> str | None:
        if kind == "WHEN":
            first = self.place()
            value = self.value("a column or an expression that is true on the last row of a key")
            return first.to(position_of(value, self.sql)).to(self.place_before()).quoted
        if kind == "PATTERNS":
            return self.name("the column of patterns").text
        return self.name("the stream of endings").text if kind == "ENDINGS" else None

    def _type(self, declaration: "_StreamElements") -> str:
        start = self.place()
        try:
            found = self._parse_types(allow_identifiers=False)
        except (ParseError, PunctuatedError, AttributeError, TypeError, ValueError):
            found = None
        if found is None:
            raise SqlError(
                f"expected a type such as BIGINT or TIMESTAMP, not {start.quoted!r}", start, expected="a type"
            )
        return start.to(self.place_before()).quoted

    def options(self) -> dict[str, str]:
        """OPTIONS (name value, …), if they stand here."""
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
        place = self.place()
        name = self._option_name()
        if name.lower() in map(str.lower, found):
            raise SqlError(f"option {name!r} is given twice", place)
        self.take("=")
        found[name] = self._option_value()

    def _option_name(self) -> str:
        if self._curr and self._curr.token_type == TokenType.STRING:
            return self.text("an option").text
        parts = [self._any_word()]
        while self.take("."):
            parts.append(self._any_word())
        return ".".join(parts)

    def _any_word(self) -> str:
        """Options have whatever names their sources gave them."""
        if not self._curr or not (self._curr.text[:1].isalpha() or self._curr.text[:1] == "_"):
            raise self.unexpected("the name of an option")
        self._advance()
        return self._prev.text

    def _option_value(self) -> str:
        sign = "-" if self.take("-") else ""
        kinds = (TokenType.NUMBER,) if sign else (TokenType.STRING, TokenType.NUMBER, TokenType.TRUE, TokenType.FALSE)
        if not self._curr or self._curr.token_type not in kinds:
            raise self.unexpected("a value: a text in quotes, a number, TRUE or FALSE")
        self._advance()
        is_word = self._prev.token_type in (TokenType.TRUE, TokenType.FALSE)
        return sign + (self._prev.text.lower() if is_word else self._prev.text)


class _StreamElements:
    """The elements of a declaration, gathered."""

    def __init__(self, name: Name) -> None:
        self.name, self.places = name, {"name": name.position}
        self.columns = list[tuple[str, str]]()
        self.punctuated = list[PunctuatedBy]()
        self.once = dict[str, Any]()

    def take(self, kind: str, value: Any, place: SourceSpan) -> None:
        if kind == "column":
            if value[0] in dict(self.columns):
                raise SqlError(f"there are two columns {value[0]!r}", place)
            self.columns.append(value)
            self.places[value[0]] = place
        elif kind == "punctuated":
            self.punctuated.append(value)
        elif kind in self.once:
            raise SqlError(f"{kind.upper()} is given twice", place)
        else:
            self.once[kind] = value
            self.places[kind.upper()] = place

    def stream(self, source: str, options: dict[str, str], place: SourceSpan) -> CreateStream:
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
            position=place,
            places=self.places,
        )


# Scripts: CREATE STREAM, INSERT INTO, EXPLAIN and SELECT, each up to its semicolon.


def parse_script(text: str) -> tuple[Statement, ...]:
    """The statements of a text.

    Raises:
        SqlError: With the line and the column of what cannot be read.

    Example:
        >>> [type(each).__name__ for each in parse_script("EXPLAIN SELECT a FROM s; SELECT a FROM s [NOW];")]
        ['Explain', 'Select']
    """
    return tuple(_parse(tokens, text) for tokens in _statements(tokens_of(text)))


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


def _statements(tokens: list[Token]) -> Iterator[list[Token]]:
    statement = list[Token]()
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def _parse(tokens: list[Token], text: str) -> Statement:
    parser = StatementParser(dialect=Language)
    try:
        return parser.statement(tokens, text)
    except RecursionError:
        raise SqlError("this is nested too deeply", SourceSpan(text, tokens[0].start, tokens[0].end + 1)) from None


class StatementParser(CreateStreamParser):
    """Reads one statement."""

    def statement(self, tokens: list[Token], text: str) -> Statement:
        """All of these tokens."""
        self.begin(tokens, text)
        found = self._statement()
        if self._curr:
            raise self._not_the_end(found)
        return found

    def _statement(self) -> Statement:
        start = self.place()
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

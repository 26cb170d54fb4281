"""Scripts: CREATE STREAM, INSERT INTO, EXPLAIN and SELECT, each up to its semicolon."""

from collections.abc import Iterator

from sqlglot.tokenizer_core import Token, TokenType

from punctuated.sql.create import CreateClauses
from punctuated.sql.dialect import Language, tokens_of
from punctuated.sql.errors import SqlError
from punctuated.sql.place import Place
from punctuated.sql.syntax import CreateStream, Explain, Insert, Punctuated, Select, Statement

__all__ = ["CreateStream", "Explain", "Insert", "Punctuated", "Select", "Statement", "parse_query", "parse_script"]

_STATEMENTS = ("SELECT", "CREATE STREAM", "INSERT INTO", "EXPLAIN")


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


def _end_of(text: str) -> Place:
    return Place(text, len(text.rstrip()), len(text.rstrip()))


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
    parser = ScriptParser(dialect=Language)
    try:
        return parser.statement(tokens, text)
    except RecursionError:
        raise SqlError("this is nested too deeply", Place(text, tokens[0].start, tokens[0].end + 1)) from None


class ScriptParser(CreateClauses):
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

    def _insert(self, start: Place) -> Insert:
        self.need("INTO")
        sink = self.text("a sink in quotes, such as 'parquet'")
        options = self.options()
        return Insert(sink.text, options, self.select(), start)

    def _not_the_end(self, found: Statement) -> SqlError:
        if not isinstance(found, CreateStream) and self.is_word("["):
            return self.failure("a window stands behind a stream in FROM")
        return self.unexpected("the end of the statement" if isinstance(found, CreateStream) else "a clause or the end")

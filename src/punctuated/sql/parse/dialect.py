"""The query language as a dialect of sqlglot: its tokens, and its parser of expressions.

Every node of an expression carries its position in the text. Functions mean nothing here: every call keeps the name
that the user wrote, and `bind.expressions` decides what it means.
"""

import re
from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from punctuated.model.arguments import closest_name
from punctuated.sql.parse.errors import SourceSpan, SqlError, unsupported

_WHOLE_STATEMENTS = {"CALL", "EXPLAIN", "OPTIMIZE", "PREPARE", "VACUUM", "EXECUTE", "FETCH", "SHOW", "RENAME"}
_SPECIAL_CALLS = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING"}  # those with words inside their parentheses
_QUERY_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.VALUES}
_EXPECTED = {  # beginnings of sqlglot's messages, and what was expected in our words
    "Expecting )": "a closing parenthesis",
    "Expected ]": "a closing bracket",
    "Expected TYPE": "a type",
    "Expected END": "END of the CASE",
    "Expected AS": "AS",
}
_QUOTES = re.compile(r"--[^\n]*|/\*|\*/|['\"`]")
_CLOSES = {"/*": "*/"}

Node = TypeVar("Node", bound=exp.Expr)


# Tokens


class SqlTokenizer(Tokenizer):
    """The tokens of SQL, `DWINDOW`, and names in backticks too."""

    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        word: kind
        for word, kind in Tokenizer.KEYWORDS.items()
        if word not in _WHOLE_STATEMENTS and word[0] not in "{%-+}/"
    } | {"DWINDOW": TokenType.WINDOW, "->": TokenType.ARROW}


def tokens_of(sql: str) -> list[Token]:
    """The tokens of a text; raises if a quote or a comment is never closed."""
    try:
        return list(SqlTokenizer(dialect=Language).tokenize(sql))
    except TokenError as error:
        start = _last_open(sql)
        raise SqlError(_unclosed(sql, start, error), SourceSpan(sql, start, start + 1)) from None


def statements_of(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement, without the semicolons that end them."""
    statement = list[Token]()
    for token in tokens:
        if token.token_type != TokenType.SEMICOLON:
            statement.append(token)
        elif statement:
            yield statement
            statement = []
    if statement:
        yield statement


def end_of(token: Token) -> int:
    """The index of the character after a token; 0 if there is no token."""
    return token.end + 1 if token else 0


def _unclosed(sql: str, start: int, error: TokenError) -> str:
    if "Missing" in f"{error} {error.__cause__ or ''}" or sql.startswith("/*", start):
        return f"{'/*' if sql[start] == '/' else sql[start]} opens here and is never closed"
    return "this cannot be read"


def _last_open(sql: str) -> int:
    """The index of the quote or the comment that is never closed."""
    opened, last = None, max(len(sql) - 1, 0)
    for found in _QUOTES.finditer(sql):
        mark = found[0]
        if opened is None and not mark.startswith("--"):
            opened = found
        elif opened is not None and _CLOSES.get(opened[0], opened[0]) == mark:
            opened = None
    return last if opened is None or opened[0] == "*/" else opened.start()


# Expressions


class ExpressionParser(Parser):
    """sqlglot's parser of expressions with our errors; classes that build on it read clauses."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parse for name, parse in Parser.FUNCTION_PARSERS.items() if name in _SPECIAL_CALLS
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CASE": Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

    def begin(self, tokens: list[Token], sql: str) -> None:
        """Go to the first of these tokens."""
        self.reset()
        self.sql = sql
        self._chunks = [tokens]
        self._advance_chunk()

    def expression(self, instance: Node, token: Token | None = None, comments: list[str] | None = None) -> Node:
        """Called by sqlglot for each node: one without a position gets that of the last token."""
        made = super().expression(instance, token, comments)
        if "start" not in made.meta and self._prev:
            made.update_positions(self._prev)
        return made

    def value(self, what: str) -> exp.Expr:
        """Read an expression, as long as it can go on; `what` says what is expected here."""
        try:
            found = self._parse_disjunction()
        except ParseError as error:
            raise self._error_of(error) from None
        except (SqlglotError, AttributeError, TypeError, ValueError, IndexError, KeyError) as error:
            if isinstance(error, SqlError):
                raise
            raise self.failure("this cannot be read") from None
        if found is None:
            raise self.unexpected(what)
        self._check_number()
        return found

    def position(self) -> SourceSpan:
        """The position of the token at hand; at the end, the position after the last token."""
        if self._curr:
            return SourceSpan(self.sql, self._curr.start, self._curr.end + 1)
        return SourceSpan(self.sql, end_of(self._prev), end_of(self._prev))

    def last_position(self) -> SourceSpan:
        """The position of the token that was read last."""
        return SourceSpan(self.sql, self._prev.start, end_of(self._prev))

    def failure(self, message: str) -> SqlError:
        """An error at the token at hand."""
        return SqlError(message, self.position())

    def unexpected(self, *wanted: str) -> SqlError:
        """The error for a token that cannot stand here; it suggests the nearest of the wanted words."""
        listed = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if len(wanted) > 1 else wanted)
        if not self._curr:
            return SqlError(f"expected {listed}, but the query ends here", self.position(), expected=listed)
        found = self.position().quoted
        nearest = closest_name(found, [word for word in wanted if word.isupper()])
        return SqlError(f"expected {listed}, not {found!r}", self.position(), expected=listed, nearest=nearest)

    def _check_number(self) -> None:
        """Raise for `1_000`, which would be read as the number 1 with the alias _000."""
        number, word = self._prev, self._curr
        kinds = [token.token_type for token in (number, word) if token]
        if kinds == [TokenType.NUMBER, TokenType.VAR] and word.start == number.end + 1:
            position = self.last_position().to(self.position())
            raise SqlError(f"{position.quoted!r} is no number; write one such as 1000", position)

    def _error_of(self, error: ParseError) -> SqlError:
        description = str(error.errors[0].get("description") or "this cannot be read") if error.errors else str(error)
        if description.startswith("Required "):
            return self.unexpected("a value")
        for beginning, expected in _EXPECTED.items():
            if description.startswith(beginning):
                return self.unexpected(expected)
        return self.failure(description[0].lower() + description[1:])

    def _parse_select(self, *arguments: Any, **options: Any) -> exp.Expr | None:
        """Called by sqlglot where a query could stand inside an expression: here queries stand only in FROM."""
        if self._curr and self._curr.token_type in _QUERY_STARTS:
            raise unsupported("a query inside an expression", self.position(), "write it in FROM and join it")
        return None


class Language(Dialect):
    """The tokenizer and the parser, together as sqlglot wants them."""

    Tokenizer = SqlTokenizer
    Parser = ExpressionParser


def position_of(node: exp.Expr, sql: str) -> SourceSpan:
    """The position of an expression: from the first to the last character of its parts that know their own."""
    metas = [each.meta for each in node.walk() if "start" in each.meta]
    if not metas:
        return SourceSpan(sql, 0, 0)
    return SourceSpan(sql, min(meta["start"] for meta in metas), max(meta["end"] for meta in metas) + 1)

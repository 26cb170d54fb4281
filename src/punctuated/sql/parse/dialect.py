"""Words and expressions of the query language, on sqlglot: its tokens, and its parser of expressions.

Functions are no concern of the parser here: every call keeps the name that the user wrote, and what it means is decided
by `translate`. Every node carries its place in the text.
"""

import re
from typing import Any, ClassVar, TypeVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError, TokenError
from sqlglot.parser import Parser
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from punctuated.model.arguments import nearest_of
from punctuated.sql.parse.errors import SourceSpan, SqlError, unsupported

_WHOLE_STATEMENTS = {"CALL", "EXPLAIN", "OPTIMIZE", "PREPARE", "VACUUM", "EXECUTE", "FETCH", "SHOW", "RENAME"}
_SPECIAL_CALLS = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING"}  # those with words inside their parentheses
_QUERY_STARTS = {TokenType.SELECT, TokenType.WITH, TokenType.VALUES}
_THEIR_WORDS = {  # what sqlglot says, as we would
    "Expecting )": "a closing parenthesis",
    "Expected ]": "a closing bracket",
    "Expected TYPE": "a type",
    "Expected END": "END of the CASE",
    "Expected AS": "AS",
}

_QUOTES = re.compile(r"--[^\n]*|/\*|\*/|['\"`]")
_CLOSES = {"/*": "*/"}

Node = TypeVar("Node", bound=exp.Expr)


class SqlTokenizer(Tokenizer):
    """Tokens: those of SQL, `DWINDOW`, and names in backticks too."""

    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        word: kind
        for word, kind in Tokenizer.KEYWORDS.items()
        if word not in _WHOLE_STATEMENTS and word[0] not in "{%-+}/"
    } | {"DWINDOW": TokenType.WINDOW, "->": TokenType.ARROW}


class ExpressionParser(Parser):
    """sqlglot's parser of expressions, with our errors; clauses are read by those who build on it."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parse for name, parse in Parser.FUNCTION_PARSERS.items() if name in _SPECIAL_CALLS
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CASE": Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]}

    def begin(self, tokens: list[Token], sql: str) -> None:
        """Stand before the first of these tokens."""
        self.reset()
        self.sql = sql
        self._chunks = [tokens]
        self._advance_chunk()

    def expression(self, instance: Node, token: Token | None = None, comments: list[str] | None = None) -> Node:
        """A node; one that has no place is where the parser is."""
        made = super().expression(instance, token, comments)
        if "start" not in made.meta and self._prev:
            made.update_positions(self._prev)
        return made

    def value(self, what: str) -> exp.Expr:
        """An expression, up to where none can go on."""
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

    def _check_number(self) -> None:
        """`1_000` is not 1 by the name of _000."""
        number, word = self._prev, self._curr
        kinds = [token.token_type for token in (number, word) if token]
        if kinds == [TokenType.NUMBER, TokenType.VAR] and word.start == number.end + 1:
            place = self.place_before().to(self.place())
            raise SqlError(f"{place.quoted!r} is no number; write one such as 1000", place)

    # Places and errors

    def place(self) -> SourceSpan:
        """Of the token at hand; behind the last one at the end."""
        if self._curr:
            return SourceSpan(self.sql, self._curr.start, self._curr.end + 1)
        return SourceSpan(self.sql, behind(self._prev), behind(self._prev))

    def place_before(self) -> SourceSpan:
        """Of the token that was read last."""
        return SourceSpan(self.sql, self._prev.start, behind(self._prev))

    def failure(self, message: str) -> SqlError:
        """An error at the token at hand."""
        return SqlError(message, self.place())

    def unexpected(self, *wanted: str) -> SqlError:
        """The error for a token that cannot stand here; the nearest of the wanted words is suggested."""
        listed = " or ".join([", ".join(wanted[:-1]), wanted[-1]] if len(wanted) > 1 else wanted)
        if not self._curr:
            return SqlError(f"expected {listed}, but the query ends here", self.place(), expected=listed)
        found = self.place().quoted
        near = nearest_of(found, [word for word in wanted if word.isupper()])
        return SqlError(f"expected {listed}, not {found!r}", self.place(), expected=listed, nearest=near)

    def _error_of(self, error: ParseError) -> SqlError:
        description = str(error.errors[0].get("description") or "this cannot be read") if error.errors else str(error)
        if description.startswith("Required "):
            return self.unexpected("a value")
        for theirs, ours in _THEIR_WORDS.items():
            if description.startswith(theirs):
                return self.unexpected(ours)
        return self.failure(description[0].lower() + description[1:])

    def _parse_select(self, *given: Any, **options: Any) -> exp.Expr | None:
        """Queries stand in FROM alone."""
        if self._curr and self._curr.token_type in _QUERY_STARTS:
            raise unsupported("a query inside an expression", self.place(), "write it in FROM and join it")
        return None


class Language(Dialect):
    """What sqlglot calls a dialect."""

    Tokenizer = SqlTokenizer
    Parser = ExpressionParser


def behind(token: Token) -> int:
    """The character after a token; of none, the first one."""
    return token.end + 1 if token else 0


def tokens_of(sql: str) -> list[Token]:
    """The words of a text."""
    try:
        return list(SqlTokenizer(dialect=Language).tokenize(sql))
    except TokenError as error:
        start = _last_open(sql)
        raise SqlError(_unclosed(sql, start, error), SourceSpan(sql, start, start + 1)) from None


def position_of(node: exp.Expr, sql: str) -> SourceSpan:
    """Where an expression stands: all characters of its parts that know their own."""
    metas = [each.meta for each in node.walk() if "start" in each.meta]
    if not metas:
        return SourceSpan(sql, 0, 0)
    return SourceSpan(sql, min(meta["start"] for meta in metas), max(meta["end"] for meta in metas) + 1)


def _unclosed(sql: str, start: int, error: TokenError) -> str:
    if "Missing" in f"{error} {error.__cause__ or ''}" or sql.startswith("/*", start):
        return f"{'/*' if sql[start] == '/' else sql[start]} opens here and is never closed"
    return "this cannot be read"


def _last_open(sql: str) -> int:
    """Where the quoted text or the comment begins that has no end."""
    opened, last = None, max(len(sql) - 1, 0)
    for found in _QUOTES.finditer(sql):
        mark = found[0]
        if opened is None and not mark.startswith("--"):
            opened = found
        elif opened is not None and _CLOSES.get(opened[0], opened[0]) == mark:
            opened = None
    return last if opened is None or opened[0] == "*/" else opened.start()

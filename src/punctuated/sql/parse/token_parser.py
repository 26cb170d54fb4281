"""Reads words, names, numbers and texts, one after the other.

The classes that read clauses and statements ask for tokens here and never touch those of sqlglot themselves.
"""

from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import TokenType

from punctuated.errors import PunctuatedError
from punctuated.sql.parse.dialect import ExpressionParser, Language, tokens_of
from punctuated.sql.parse.errors import SourceSpan, SqlError
from punctuated.sql.parse.syntax import Name

# Words that go on with the query: none of them is an alias without quotes.
_RESERVED = frozenset(
    (
        *("ALL", "AND", "ANTI", "AS", "BETWEEN", "BOTH", "CASE", "CROSS", "DISTINCT", "DWINDOW", "ELSE", "END"),
        *("EXCEPT", "FETCH", "FROM", "FULL", "GROUP", "HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTO", "IS"),
        *("JOIN", "LATERAL", "LEFT", "LIKE", "LIMIT", "MINUS", "NATURAL", "NOT", "OFFSET", "ON", "OPTIONS", "OR"),
        *("ORDER", "OUTER", "PIVOT", "QUALIFY", "RIGHT", "SELECT", "SEMI", "THEN", "UNION", "USING", "WHEN", "WHERE"),
        *("WINDOW", "WITH"),
    )
)
_QUOTED = {TokenType.STRING, TokenType.IDENTIFIER}


class TokenParser(ExpressionParser):
    """Reads tokens; the token at hand is the next one to be read."""

    @property
    def at_end(self) -> bool:
        """Whether all tokens were read."""
        return not self._curr

    @property
    def token_text(self) -> str:
        """The text of the token at hand, without its quotes; empty at the end."""
        return self._curr.text if self._curr else ""

    def skip(self) -> str:
        """Read the token at hand, whatever it is; returns its text."""
        text = self.token_text
        self._advance()
        return text

    # Words and signs

    def is_word(self, word: str) -> bool:
        """Whether this word or sign is at hand; its case does not matter."""
        return bool(self._curr) and self._curr.token_type not in _QUOTED and self._is_text(word)

    def _is_text(self, word: str) -> bool:
        return " ".join(self._curr.text.upper().split()) == word

    def take(self, word: str) -> bool:
        """Read this word if it is at hand; returns whether it was."""
        found = self.is_word(word)
        if found:
            self._advance()
        return found

    def need(self, word: str, *others: str) -> None:
        """Read this word; if another token is at hand, the error names `others` as well."""
        if not self.take(word):
            raise self.unexpected(word, *others)

    # Names

    def is_name(self) -> bool:
        """Whether a name is at hand: no word that says how a query goes on."""
        if not self._curr:
            return False
        kind = self._curr.token_type
        if kind == TokenType.IDENTIFIER:
            return True
        return (kind == TokenType.VAR or kind in self.ID_VAR_TOKENS) and self._curr.text.upper() not in _RESERVED

    def name(self, what: str) -> Name:
        """Read a name; `what` says what is expected here."""
        if not self.is_name():
            raise self._no_name(what)
        quoted = self._curr.token_type == TokenType.IDENTIFIER
        return Name(position=self.position(), text=self.skip(), quoted=quoted)

    def _no_name(self, what: str) -> SqlError:
        """The error for a token that is no name; a word of SQL can be one in double quotes."""
        error = self.unexpected(what)
        if not self.token_text.isidentifier():
            return error
        quoted = f'"{self.token_text}"'
        message = f"{error.message}; if that is its name, write {quoted}"
        return SqlError(message, error.position, expected=error.expected)

    def column_name(self) -> Name:
        """Read the name of a column; the name of its stream may stand before it."""
        name = self.name("a column")
        return replace(self.name("a column"), stream=name.text) if self.take(".") else name

    # Texts, numbers and types

    def is_text(self) -> bool:
        """Whether a text in quotes is at hand."""
        return bool(self._curr) and self._curr.token_type == TokenType.STRING

    def text(self, what: str) -> Name:
        """Read a text in quotes; `what` says what is expected here."""
        if not self.is_text():
            raise self.unexpected(what)
        return Name(position=self.position(), text=self.skip(), quoted=True)

    def is_number(self) -> bool:
        """Whether a number is at hand."""
        return bool(self._curr) and self._curr.token_type == TokenType.NUMBER

    def is_type_next(self) -> bool:
        """Whether the token after the one at hand is a type of a column."""
        following = self._next
        is_type = bool(following) and following.token_type in self.TYPE_TOKENS
        return is_type and following.token_type != TokenType.INTERVAL

    def type_text(self) -> str:
        """Read a type of a column; returns it as it was written."""
        start = self.position()
        try:
            found = self._parse_types(allow_identifiers=False)
        except (ParseError, PunctuatedError, AttributeError, TypeError, ValueError):
            found = None
        if found is None:
            raise SqlError(
                f"expected a type such as BIGINT or TIMESTAMP, not {start.quoted!r}", start, expected="a type"
            )
        return start.to(self.last_position()).quoted


def parse_value(span: SourceSpan, what: str) -> exp.Expr:
    """The expression in a span of a text; `what` says what is expected there."""
    parser = TokenParser(dialect=Language)
    parser.begin([token for token in tokens_of(span.text) if span.start <= token.start < span.end], span.text)
    return parser.value(what)

"""Words, names and signs, one after the other."""

from dataclasses import replace

from sqlglot.tokenizer_core import TokenType

from punctuated.sql.parse.dialect import ExpressionParser
from punctuated.sql.parse.errors import SqlError
from punctuated.sql.parse.syntax import Name

# Words that end a name's place: nobody means an alias by them.
_RESERVED = frozenset(
    (
        *("ALL", "AND", "ANTI", "AS", "BETWEEN", "BOTH", "CASE", "CROSS", "DISTINCT", "DWINDOW", "ELSE", "END"),
        *("EXCEPT", "FETCH", "FROM", "FULL", "GROUP", "HAVING", "IN", "INNER", "INSERT", "INTERSECT", "INTO", "IS"),
        *(
            "JOIN",
            "LATERAL",
            "LEFT",
            "LIKE",
            "LIMIT",
            "MINUS",
            "NATURAL",
            "NOT",
            "OFFSET",
            "ON",
            "OPTIONS",
            "OR",
            "ORDER",
        ),
        *("OUTER", "PIVOT", "QUALIFY", "RIGHT", "SELECT", "SEMI", "THEN", "UNION", "USING", "WHEN", "WHERE"),
        *("WINDOW", "WITH"),
    )
)
_QUOTED = {TokenType.STRING, TokenType.IDENTIFIER}


class TokenParser(ExpressionParser):
    """Reads words."""

    def is_word(self, word: str) -> bool:
        """Whether this word or sign is at hand; its case does not matter."""
        return bool(self._curr) and self._curr.token_type not in _QUOTED and self._is_text(word)

    def _is_text(self, word: str) -> bool:
        return " ".join(self._curr.text.upper().split()) == word

    def take(self, word: str) -> bool:
        """Go on behind this word, if it is at hand."""
        found = self.is_word(word)
        if found:
            self._advance()
        return found

    def need(self, word: str, *others: str) -> None:
        """Go on behind this word; the others would have been right, too."""
        if not self.take(word):
            raise self.unexpected(word, *others)

    def is_name(self) -> bool:
        """Whether a name is at hand: no word that says how a query goes on."""
        if not self._curr:
            return False
        kind = self._curr.token_type
        if kind == TokenType.IDENTIFIER:
            return True
        return (kind == TokenType.VAR or kind in self.ID_VAR_TOKENS) and self._curr.text.upper() not in _RESERVED

    def name(self, what: str) -> Name:
        """A name."""
        if not self.is_name():
            raise self._no_name(what)
        quoted = self._curr.token_type == TokenType.IDENTIFIER
        place, text = self.place(), self._curr.text
        self._advance()
        return Name(text, place, quoted)

    def _no_name(self, what: str) -> SqlError:
        """The error for what is no name; a word of SQL can be one, in double quotes."""
        error = self.unexpected(what)
        if not self._curr or not self._curr.text.isidentifier():
            return error
        quoted = f'"{self._curr.text}"'
        return SqlError(f"{error.message}; if that is its name, write {quoted}", error.place, expected=error.expected)

    def column_name(self) -> Name:
        """The name of a column; that of its stream may stand before it."""
        name = self.name("a column")
        return replace(self.name("a column"), stream=name.text) if self.take(".") else name

    def text(self, what: str) -> Name:
        """A text in quotes."""
        if not self._curr or self._curr.token_type != TokenType.STRING:
            raise self.unexpected(what)
        place, text = self.place(), self._curr.text
        self._advance()
        return Name(text, place, quoted=True)

"""Windows: in brackets behind a stream as in CQL, and W-join's WINDOW and DWINDOW between FROM and WHERE."""

from collections.abc import Callable

from sqlglot.tokenizer_core import TokenType

from punctuated.sql.parse.errors import SourceSpan, SqlError
from punctuated.sql.parse.syntax import Length, Name, WindowClause, WithinClause
from punctuated.sql.parse.token_parser import TokenParser

_KINDS = ("RANGE", "ROWS", "PARTITION BY", "NOW", "UNBOUNDED", "UNTIL")


class WindowParser(TokenParser):
    """Reads windows."""

    def window_in_brackets(self) -> WindowClause | None:
        """`[RANGE 12 HOURS]` and the like, if one stands here."""
        start = self.place()
        if not self.take("["):
            return None
        window = self._window(start)
        self.need("]")
        return window

    def _window(self, start: SourceSpan) -> WindowClause:
        readers: dict[str, Callable[[SourceSpan], WindowClause]] = {
            "RANGE": self._range,
            "ROWS": self._rows,
            "PARTITION BY": self._partitioned_rows,
            "NOW": lambda place: WindowClause("now", place),
            "UNBOUNDED": lambda place: WindowClause("unbounded", place),
            "UNTIL": self._until,
        }
        for word, read in readers.items():
            if self.take(word):
                found = read(start)
                return WindowClause(
                    found.kind, start.to(self.place()), lengths=found.lengths, n=found.n, columns=found.columns
                )
        raise self.unexpected(*_KINDS)

    def _range(self, start: SourceSpan) -> WindowClause:
        if self.take("UNBOUNDED"):
            return WindowClause("unbounded", start)
        if not self.take("BETWEEN"):
            return WindowClause("range", start, lengths=(self.length(),))
        lower = self.length()
        self.need("AND")
        return WindowClause("between", start, lengths=(lower, self.length()))

    def _rows(self, start: SourceSpan) -> WindowClause:
        if self.take("UNBOUNDED"):
            return WindowClause("unbounded", start)
        n = self._count()
        columns = self._key_columns() if self.take("PARTITION BY") else ()
        return WindowClause("rows", start, n=n, columns=columns)

    def _partitioned_rows(self, start: SourceSpan) -> WindowClause:
        columns = self._key_columns()
        self.need("ROWS")
        return WindowClause("rows", start, n=self._count(), columns=columns)

    def _key_columns(self) -> tuple[Name, ...]:
        names = [self.column_name()]
        while self.take(","):
            names.append(self.column_name())
        return tuple(names)

    def _until(self, start: SourceSpan) -> WindowClause:
        return WindowClause("until", start, columns=(self.column_name(),))

    def _count(self) -> int:
        if not self._curr or self._curr.token_type != TokenType.NUMBER or not self._curr.text.isdigit():
            raise self.unexpected("a number of rows")
        self._advance()
        return int(self._prev.text)

    # Lengths of time

    def length(self) -> Length:
        """`12 HOURS`, `1 HOUR 30 MINUTES`, `'12 hours'`, `INTERVAL '12' HOUR`, microseconds, or a name for one."""
        start = self.place()
        has_interval = self.take("INTERVAL")
        if not has_interval and self.is_name():
            name = self.name("a length of time")
            return Length(name.text, name.position, is_name=True)
        terms = list[str]()
        while self._curr and self._curr.token_type in (TokenType.NUMBER, TokenType.STRING):
            terms.append(self._term())
        if not terms:
            raise self.unexpected("a length of time such as 12 HOURS")
        place = start.to(self.place_before())
        whole = " ".join(terms)
        return Length(int(whole) if whole.isdigit() else whole, place)

    def _term(self) -> str:
        amount = self._curr.text
        self._advance()
        if not self.is_name():
            return amount
        unit = self.name("a unit of time").text.lower()
        return f"{amount} {unit}"

    # WINDOW and DWINDOW

    def near_clause(self) -> tuple[tuple[WithinClause, ...], bool]:
        """`WINDOW = w`, `WINDOW (A,B) = w AND WINDOW (B,C) = v`, `DWINDOW …`; and whether the way back counts."""
        if not self.is_near():
            return (), False
        parts = [self._near()]
        while self.is_word("AND") or self.is_near():
            self.take("AND")
            if not self.is_near():
                raise self.unexpected("WINDOW", "DWINDOW")
            parts.append(self._near())
        self._check_alike(parts)
        return tuple(parts), self._both_directions(parts)

    def is_near(self) -> bool:
        """Whether WINDOW or DWINDOW is the word at hand."""
        return self.is_word("WINDOW") or self.is_word("DWINDOW")

    def _near(self) -> WithinClause:
        start, directed = self.place(), self.is_word("DWINDOW")
        self._advance()
        streams = self._pair() if self.is_word("(") else ()
        if directed and not streams:
            raise self.unexpected("( and two streams, as in DWINDOW (A, B) = 5 MINUTES")
        self.need("=")
        length = self.length()
        return WithinClause(length, start.to(self.place_before()), streams, directed)

    def _pair(self) -> tuple[Name, Name]:
        self.need("(")
        first = self.name("a stream")
        self.need(",")
        second = self.name("a stream")
        self.need(")")
        return first, second

    def _check_alike(self, parts: list[WithinClause]) -> None:
        first = parts[0]
        for part in parts[1:]:
            if part.directed != first.directed:
                raise SqlError("WINDOW and DWINDOW cannot stand in one query: write one of them for all", part.position)
            if not part.streams or not first.streams:
                raise SqlError("WINDOW = … speaks of all streams: leave the others out", part.position)

    def _both_directions(self, parts: list[WithinClause]) -> bool:
        start = self.place()
        if not self.take("BOTH"):
            return False
        self.need("DIRECTIONS")
        if not parts[0].directed:
            raise SqlError("BOTH DIRECTIONS is for DWINDOW; WINDOW has no direction", start)
        return True

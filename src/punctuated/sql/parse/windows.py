"""Reads windows: in brackets behind a stream as in CQL, and W-join's WINDOW and DWINDOW between FROM and WHERE."""

from collections.abc import Callable
from dataclasses import replace

from punctuated.sql.parse.errors import SourceSpan, SqlError
from punctuated.sql.parse.syntax import Length, Name, WindowClause, WithinClause
from punctuated.sql.parse.token_parser import TokenParser

_KINDS = ("RANGE", "ROWS", "PARTITION BY", "NOW", "UNBOUNDED", "UNTIL")


class WindowParser(TokenParser):
    """Reads windows and lengths of time."""

    def window_in_brackets(self) -> WindowClause | None:
        """Read `[RANGE 12 HOURS]` and the like; None if no bracket is at hand."""
        start = self.position()
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
            "NOW": lambda position: WindowClause("now", position),
            "UNBOUNDED": lambda position: WindowClause("unbounded", position),
            "UNTIL": self._until,
        }
        for word, read in readers.items():
            if self.take(word):
                return replace(read(start), position=start.to(self.position()))
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
        if not self.is_number() or not self.token_text.isdigit():
            raise self.unexpected("a number of rows")
        return int(self.skip())

    # Lengths of time

    def length(self) -> Length:
        """Read `12 HOURS`, `1 HOUR 30 MINUTES`, `'12 hours'`, `INTERVAL '12' HOUR`, microseconds, or a name."""
        start = self.position()
        has_interval = self.take("INTERVAL")
        if not has_interval and self.is_name():
            name = self.name("a length of time")
            return Length(name.text, name.position, is_name=True)
        terms = list[str]()
        while self.is_number() or self.is_text():
            terms.append(self._term())
        if not terms:
            raise self.unexpected("a length of time such as 12 HOURS")
        position = start.to(self.last_position())
        whole = " ".join(terms)
        return Length(int(whole) if whole.isdigit() else whole, position)

    def _term(self) -> str:
        amount = self.skip()
        if not self.is_name():
            return amount
        unit = self.name("a unit of time").text.lower()
        return f"{amount} {unit}"

    # WINDOW and DWINDOW

    def within_clauses(self) -> tuple[tuple[WithinClause, ...], bool]:
        """Read `WINDOW = w`, `WINDOW (A, B) = w AND WINDOW (B, C) = v`, `DWINDOW …`.

        The second value says whether BOTH DIRECTIONS stands behind them. If neither word is at hand there are none.
        """
        if not self._is_within():
            return (), False
        clauses = [self._within()]
        while self.is_word("AND") or self._is_within():
            self.take("AND")
            if not self._is_within():
                raise self.unexpected("WINDOW", "DWINDOW")
            clauses.append(self._within())
        _check_alike(clauses)
        return tuple(clauses), self._both_directions(clauses)

    def _is_within(self) -> bool:
        return self.is_word("WINDOW") or self.is_word("DWINDOW")

    def _within(self) -> WithinClause:
        start, directed = self.position(), self.is_word("DWINDOW")
        self.skip()
        streams = self._pair() if self.is_word("(") else ()
        if directed and not streams:
            raise self.unexpected("( and two streams, as in DWINDOW (A, B) = 5 MINUTES")
        self.need("=")
        length = self.length()
        return WithinClause(length, start.to(self.last_position()), streams, directed)

    def _pair(self) -> tuple[Name, Name]:
        self.need("(")
        first = self.name("a stream")
        self.need(",")
        second = self.name("a stream")
        self.need(")")
        return first, second

    def _both_directions(self, clauses: list[WithinClause]) -> bool:
        start = self.position()
        if not self.take("BOTH"):
            return False
        self.need("DIRECTIONS")
        if not clauses[0].directed:
            raise SqlError("BOTH DIRECTIONS is for DWINDOW; WINDOW has no direction", start)
        return True


def _check_alike(clauses: list[WithinClause]) -> None:
    first = clauses[0]
    for each in clauses[1:]:
        if each.directed != first.directed:
            raise SqlError("WINDOW and DWINDOW cannot stand in one query: write one of them for all", each.position)
        if not each.streams or not first.streams:
            raise SqlError("WINDOW = … speaks of all streams: leave the others out", each.position)

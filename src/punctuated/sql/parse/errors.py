"""A place in the text of a query: what an error points at."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from punctuated.errors import PunctuatedError
from punctuated.model.arguments import nearest_of

_SHOWN = 100  # characters before and after the place: a query may be one long line


@dataclass(frozen=True)
class SourceSpan:
    """Some characters of a text, from `start` up to `end`; lines and columns count from 1."""

    text: str = field(repr=False)
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line on which it begins."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """Its first character in that line."""
        return self.start - self._line_start + 1

    @property
    def quoted(self) -> str:
        """The characters themselves.

        >>> Place("SELECT a", 7, 8).quoted
        'a'
        """
        return self.text[self.start : self.end]

    def excerpt(self) -> str:
        """The line, and carets under the place.

        >>> print(Place("SELECT a", 7, 8).excerpt())
          SELECT a
                 ^
        """
        first = max(self._line_start, self.start - _SHOWN)
        line = self.text[first : self.start + _SHOWN].split("\n", 1)[0]
        length = max(1, min(self.end - self.start, len(line) - (self.start - first)))
        before = "".join("\t" if char == "\t" else " " for char in line[: self.start - first])
        return f"  {line.rstrip()}\n  {before}{'^' * length}"

    def to(self, other: "SourceSpan") -> "SourceSpan":
        """From here up to the end of another one."""
        return SourceSpan(self.text, self.start, max(self.end, other.end))

    @property
    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.start) + 1


# Errors of queries: where, what was expected, and the nearest name.


class SqlError(PunctuatedError, ValueError):
    """A query cannot be read or run. The text of the error shows the line and points at the place.

    >>> print(SqlError("there is no column 'pice'", Place("SELECT pice FROM bids", 7, 11), nearest="price"))
    line 1, column 8: there is no column 'pice'; did you mean 'price'?
      SELECT pice FROM bids
             ^^^^
    """

    def __init__(
        self, message: str, place: SourceSpan, *, expected: str | None = None, nearest: str | None = None
    ) -> None:
        self.message, self.place, self.expected, self.nearest = message, place, expected, nearest
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        super().__init__(f"line {self.line}, column {self.column}: {message}{hint}\n{place.excerpt()}")

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.message, self.place, self.expected, self.nearest)

    @property
    def line(self) -> int:
        """The line of the query, from 1."""
        return self.place.line

    @property
    def column(self) -> int:
        """The character of the line, from 1."""
        return self.place.column


def _restored(message: str, place: SourceSpan, expected: str | None, nearest: str | None) -> SqlError:
    return SqlError(message, place, expected=expected, nearest=nearest)


def unsupported(what: str, place: SourceSpan, instead: str) -> SqlError:
    """The error for something that is SQL, but not ours."""
    return SqlError(f"not supported: {what}; {instead}", place)


def unknown(what: str, name: str, known: Iterable[str], place: SourceSpan, owner: str = "") -> SqlError:
    """The error for a name that stands for nothing, with the nearest one or all that there are."""
    names = sorted(set(known))
    near = nearest_of(name, names)
    listed = f"; there are: {', '.join(names)}" if names and near is None else ""
    missing = f"{owner} has no" if owner else "there is no"
    return SqlError(f"{missing} {what} {name!r}{listed}", place, expected=what, nearest=near)


@contextmanager
def at(place: SourceSpan) -> Iterator[None]:
    """What the API below refuses belongs to this place of the query."""
    try:
        yield
    except SqlError:
        raise
    except PunctuatedError as error:
        raise SqlError(str(error), place) from error

"""What an error of a query says, and the position in the text that it points at."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from punctuated.errors import PunctuatedError
from punctuated.model.arguments import closest_name

_SHOWN = 100  # characters of an excerpt before and after its span: a query may be one long line


@dataclass(frozen=True)
class SourceSpan:
    """Characters of a text, from `start` up to `end`; lines and columns count from 1."""

    text: str = field(repr=False)
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line on which the span begins."""
        return self.text.count("\n", 0, self.start) + 1

    @property
    def column(self) -> int:
        """The number of its first character in the line."""
        return self.start - self._line_start + 1

    @property
    def quoted(self) -> str:
        """The characters themselves.

        >>> SourceSpan("SELECT a", 7, 8).quoted
        'a'
        """
        return self.text[self.start : self.end]

    def excerpt(self) -> str:
        """The line, and carets under the span.

        >>> print(SourceSpan("SELECT a", 7, 8).excerpt())
          SELECT a
                 ^
        """
        first = max(self._line_start, self.start - _SHOWN)
        line = self.text[first : self.start + _SHOWN].split("\n", 1)[0]
        length = max(1, min(self.end - self.start, len(line) - (self.start - first)))
        before = "".join("\t" if char == "\t" else " " for char in line[: self.start - first])
        return f"  {line.rstrip()}\n  {before}{'^' * length}"

    def to(self, other: "SourceSpan") -> "SourceSpan":
        """The span from the start of this one to the end of `other`."""
        return SourceSpan(self.text, self.start, max(self.end, other.end))

    @property
    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.start) + 1


class SqlError(PunctuatedError, ValueError):
    """A query cannot be read or run. The text of the error shows the line and points at the position.

    >>> print(SqlError("there is no column 'pice'", SourceSpan("SELECT pice FROM bids", 7, 11), nearest="price"))
    line 1, column 8: there is no column 'pice'; did you mean 'price'?
      SELECT pice FROM bids
             ^^^^
    """

    def __init__(
        self, message: str, position: SourceSpan, *, expected: str | None = None, nearest: str | None = None
    ) -> None:
        self.message, self.position, self.expected, self.nearest = message, position, expected, nearest
        hint = f"; did you mean {nearest!r}?" if nearest else ""
        super().__init__(f"line {self.line}, column {self.column}: {message}{hint}\n{position.excerpt()}")

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.message, self.position, self.expected, self.nearest)

    @property
    def line(self) -> int:
        """The line of the query, from 1."""
        return self.position.line

    @property
    def column(self) -> int:
        """The character of the line, from 1."""
        return self.position.column


def _restored(message: str, position: SourceSpan, expected: str | None, nearest: str | None) -> SqlError:
    return SqlError(message, position, expected=expected, nearest=nearest)


def unsupported(what: str, position: SourceSpan, instead: str) -> SqlError:
    """The error for something that is SQL but is not supported; `instead` says what to write."""
    return SqlError(f"not supported: {what}; {instead}", position)


def unknown(what: str, name: str, known: Iterable[str], position: SourceSpan, owner: str = "") -> SqlError:
    """The error for a name that means nothing, with the nearest known name, or else with all of them."""
    names = sorted(set(known))
    nearest = closest_name(name, names)
    listed = f"; there are: {', '.join(names)}" if names and nearest is None else ""
    missing = f"{owner} has no" if owner else "there is no"
    return SqlError(f"{missing} {what} {name!r}{listed}", position, expected=what, nearest=nearest)


@contextmanager
def at(position: SourceSpan) -> Iterator[None]:
    """Turn an error of the API, raised by the code inside, into a `SqlError` at this position of the query."""
    try:
        yield
    except SqlError:
        raise
    except PunctuatedError as error:
        raise SqlError(str(error), position) from error

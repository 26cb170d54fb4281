"""A place in the text of a query: what an error points at."""

from dataclasses import dataclass, field

_SHOWN = 100  # characters before and after the place: a query may be one long line


@dataclass(frozen=True)
class Place:
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

    def to(self, other: "Place") -> "Place":
        """From here up to the end of another one."""
        return Place(self.text, self.start, max(self.end, other.end))

    @property
    def _line_start(self) -> int:
        return self.text.rfind("\n", 0, self.start) + 1

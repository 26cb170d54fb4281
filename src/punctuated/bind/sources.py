"""Sources of a stream's punctuations: what `punctuations=` takes.

A constraint on keys, such as that every key comes once, is a source like any other (PW-13).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from punctuated.errors import StreamError
from punctuated.model.arguments import column_names, text


@dataclass(frozen=True)
class Source:
    """A source of punctuations, or several sources joined with `|`."""

    def __or__(self, other: "Source") -> "Source":
        if not isinstance(other, Source):
            raise StreamError(f"{other!r} is not a source of punctuations; use pt.unique(), pt.when(…) and the like")
        return Sources((*single_sources(self), *single_sources(other)))


@dataclass(frozen=True)
class Sources(Source):
    """Several sources of punctuations."""

    each: tuple[Source, ...]


@dataclass(frozen=True)
class Unique(Source):
    """Every key comes once."""


@dataclass(frozen=True)
class Clustered(Source):
    """Tuples of a key come together."""


@dataclass(frozen=True)
class When(Source):
    """A boolean column marks the last tuple of its key."""

    column: str


@dataclass(frozen=True)
class RowsWith(Source):
    """Rows with text in this column are punctuations."""

    column: str


@dataclass(frozen=True)
class Announced(Source):
    """A separate stream says which keys end, and when."""

    data: Any
    key: tuple[str, ...]
    time: str


def single_sources(source: Source | None) -> tuple[Source, ...]:
    """The single sources in a value of `punctuations=`."""
    if source is None:
        return ()
    if not isinstance(source, Source):
        raise StreamError(
            f"punctuations={source!r}: use pt.unique(), pt.clustered(), pt.when(…), pt.rows_with(…) or pt.endings(…)"
        )
    return source.each if isinstance(source, Sources) else (source,)


def unique() -> Source:
    """Every key comes once: a key is over with its first tuple."""
    return Unique()


def clustered() -> Source:
    """All tuples of a key come together: a key is over once the stream has moved on to another key."""
    return Clustered()


def when(column: str) -> Source:
    """A boolean column that is true on the last tuple of each key."""
    return When(text(column, "when", StreamError))


def rows_with(column: str) -> Source:
    """Rows with text in this column are punctuations: one pattern per other column, like `<180,*>` or `<[10,20),*>`."""
    return RowsWith(text(column, "rows_with", StreamError))


def endings(data: Any, *, key: str | list[str] | tuple[str, ...], time: str) -> Source:
    """A separate table or stream that says which keys end, and when.

    The time may lie in the future. A tuple at that very time still counts.
    """
    kept = tuple(data) if isinstance(data, Iterator) else data  # because it is read more than once
    return Announced(kept, column_names(key, "key", StreamError), text(time, "time", StreamError))

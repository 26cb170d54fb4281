"""Where data come from that a join has given out, so that they can go on as a stream.

`agg` gives a plain table or DataFrame. What is known beside it, when each group became final and which values are
over, is found again by the very object; whatever is made of it by others is plain data.
"""

import weakref
from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from punctuated.bind.bound_join import BoundJoin

_ORIGINS: dict[int, "TableOrigin | FrameOrigin"] = {}


class Origin(Protocol):
    """What can go on as a stream: the results of a join, or groups of them."""

    @property
    def bound(self) -> BoundJoin:
        """The join; its views tell the columns, and the key in which it says that values are over."""


@runtime_checkable
class TableOrigin(Origin, Protocol):
    """One of tables."""

    def chain_batches(self) -> Iterator[pa.Table]:
        """All that it says to another join, batch by batch."""


class FrameOrigin(Origin, Protocol):
    """One of DataFrames."""

    def chain_source(self) -> Any:
        """All that it says to another join, as a DataFrame."""

    def with_end(self, now: bool) -> "FrameOrigin":
        """The same where all streams end, in this run or in a later one."""


def remember_origin(data: Any, origin: TableOrigin | FrameOrigin) -> None:
    """Where this very object comes from, as long as it lives."""
    place = id(data)
    _ORIGINS[place] = origin
    weakref.finalize(data, _ORIGINS.pop, place, None)


def origin_of(data: Any) -> TableOrigin | FrameOrigin | None:
    """Where it comes from, if a join gave it out."""
    return _ORIGINS.get(id(data))

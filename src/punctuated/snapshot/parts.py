"""What outlives a batch saves itself: each part of a state gives its content, and goes on from what it gave.

A part tells what it holds in three forms, by the way they change, and the journal writes them accordingly:

    plain      a few bytes, written anew each time
    records    ascending by an integer in front: what is new or different, and the keys of those that are gone
    logs       rows with numbers that never change: those that are new, and the numbers of those that are gone
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import Bundle
from punctuated.kernels.layout import Records

Ints = npt.NDArray[np.int64]
NO_INTS = np.empty(0, np.int64)


@dataclass(frozen=True)
class RowLog:
    """Rows by ascending numbers; a mark, once set, stays. One that was gone may come back under its number."""

    ids: Ints
    next_id: int
    at: Callable[[Ints], pa.Table]  # the rows at these ascending places
    marked: Ints = field(default_factory=lambda: NO_INTS)


@dataclass(frozen=True)
class LoadedRowLog:
    """A log that was read back."""

    ids: Ints
    next_id: int
    rows: pa.Table
    marked: Ints


@dataclass(frozen=True)
class Content:
    """What a part holds now."""

    plain: Bundle = field(default_factory=dict)
    records: dict[str, Records] = field(default_factory=dict)
    logs: dict[str, RowLog] = field(default_factory=dict)


@dataclass(frozen=True)
class Loaded:
    """What a part held when it was saved."""

    plain: Bundle
    records: dict[str, Records]
    logs: dict[str, LoadedRowLog]


class SavedPart(Protocol):
    """A part of a driver's state. One that was just made, and holds nothing, gives the shape of its content too."""

    def save(self) -> Content:
        """What it holds."""

    def load(self, saved: Loaded) -> None:
        """Go on from there, in a part that was just made."""

"""Range endings of one stream that wait for their effect, by time and then by arrival; and how ranges are recorded."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.kernels import layout as lay
from punctuated.kernels.layout import BOTH
from punctuated.model.pattern import Pattern
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.snapshot.parts import Ints, LoadedRowLog, RowLog

_SMALLEST = 16
TEXTS = pa.schema([("pattern", pa.string())])


class GrowingRecords:
    """A sequence of records; changes near its ends cost the same however many there are.

    >>> numbers = GrowingRecords(np.dtype([("n", "i8")]))
    >>> numbers.exchange(0, 0, np.array([(1,), (2,), (5,)], numbers.dtype))
    >>> numbers.exchange(1, 2, np.array([(3,), (4,)], numbers.dtype))
    >>> numbers.view["n"].tolist()
    [1, 3, 4, 5]
    """

    def __init__(self, dtype: np.dtype[np.void]) -> None:
        self.dtype = dtype
        self._room, self._head, self._n = np.zeros(_SMALLEST, dtype), 0, 0

    def __len__(self) -> int:
        return self._n

    @property
    def view(self) -> lay.Records:
        """The records as they are; the next change may show in it or not."""
        return self._room[self._head : self._head + self._n]

    @property
    def nbytes(self) -> int:
        return int(self._room.nbytes)

    def exchange(self, start: int, stop: int, fresh: lay.Records) -> None:
        """Other records in the place of those from `start` to `stop`; taking away the first ones moves nothing."""
        grown = fresh.size - (stop - start)
        if start == 0 and grown < 0:
            self._head, self._n, stop, grown = self._head - grown, self._n + grown, stop + grown, 0
        if self._head + self._n + grown > self._room.size:
            room = np.zeros(2 * (self._n + grown), self.dtype)
            room[: self._n] = self.view
            self._room, self._head = room, 0
        records = self._room[self._head :]
        if grown:
            records[stop + grown : self._n + grown] = records[stop : self._n]
        records[start : start + fresh.size] = fresh
        self._n += grown

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Only the records that are marked, in their order."""
        survivors = self.view[kept]
        self._room[: survivors.size] = survivors
        self._head, self._n = 0, survivors.size


@dataclass(frozen=True)
class OutputRange:
    """A range punctuation for the output."""

    patterns: tuple[Pattern, ...]
    ts: int
    reason: int = BOTH


# Ranges that wait


class PendingRange(NamedTuple):
    """A range ending; `low` and `high` are the codes that it ends, if keys have an order of codes."""

    patterns: tuple[Pattern, ...]
    ts: int
    order: int  # of arrival
    touched: int
    low: int
    high: int
    announced: bool = False  # apart from the stream: in effect only beyond `ts`

    @property
    def effect_ts(self) -> int:
        """The watermark from which it is in effect."""
        return self.ts + self.announced


_LOGGED = pa.schema(
    [
        *((name, pa.int64()) for name in ("ts", "touched", "low", "high")),
        ("announced", pa.bool_()),
        ("pattern", pa.string()),
    ]
)


class PendingRanges:
    """They take effect from the front."""

    def __init__(self) -> None:
        self.records = GrowingRecords(lay.PENDING_RANGE)
        self._patterns: list[tuple[Pattern, ...]] = []
        self._turns: list[tuple[int, int]] = []  # time and order

    def __len__(self) -> int:
        return len(self._turns)

    def __getitem__(self, at: int) -> PendingRange:
        record = self.records.view[at]
        ts, order, touched, low, high = (int(record[name]) for name in ("ts", "order", "touched", "low", "high"))
        return PendingRange(self._patterns[at], ts, order, touched, low, high, announced=self._turns[at][0] > ts)

    def __iter__(self) -> Iterator[PendingRange]:
        return (self[at] for at in range(len(self)))

    @property
    def first_turn(self) -> tuple[int, int]:
        """When the first one takes effect, and its place in the order of arrival."""
        return self._turns[0] if self._turns else (lay.NOT_SET, 0)

    def add(self, each: PendingRange) -> None:
        """Add a range that waits."""
        turn = each.effect_ts, each.order
        at = bisect_right(self._turns, turn)
        self._turns.insert(at, turn)
        self._patterns.insert(at, each.patterns)
        row = (each.order, each.ts, each.touched, each.low, each.high)
        self.records.exchange(at, at, np.array([row], lay.PENDING_RANGE))

    def pop(self) -> PendingRange:
        """Take the range that takes effect first."""
        first = self[0]
        self.forget([0])
        return first

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending positions."""
        for at in reversed(positions):
            del self._turns[at], self._patterns[at]
            self.records.exchange(at, at + 1, np.empty(0, lay.PENDING_RANGE))

    def log(self, types: Sequence[pa.DataType], next_order: int) -> RowLog:
        """The ranges that wait as a log, in the order of arrival, with their patterns as text."""
        orders = np.sort(self.records.view["order"])

        def at(places: Ints) -> pa.Table:
            by_order = sorted(self, key=lambda each: each.order)
            rows = [
                (each.ts, each.touched, each.low, each.high, each.announced, print_patterns(each.patterns, types))
                for each in (by_order[place] for place in places.tolist())
            ]
            return pa.Table.from_pylist([dict(zip(_LOGGED.names, row, strict=True)) for row in rows], schema=_LOGGED)

        return RowLog(orders, next_order, at)

    def load(self, log: LoadedRowLog, types: Sequence[pa.DataType]) -> None:
        """Restore the ranges of a saved log."""
        for order, row in zip(log.ids.tolist(), log.rows.to_pylist(), strict=True):
            patterns = parse_punctuation(row.pop("pattern"), types)
            self.add(PendingRange(patterns=patterns, order=order, **row))

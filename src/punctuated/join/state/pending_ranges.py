"""Range endings of one stream that wait for their effect, by time and then by arrival."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from punctuated.join.state.growing_records import GrowingRecords
from punctuated.join.state.saved import Ints, LoadedLog, Log
from punctuated.kernels import layout as lay
from punctuated.model.pattern import Pattern
from punctuated.model.pattern_text import parse_punctuation, print_patterns


class Pending(NamedTuple):
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

    def __getitem__(self, at: int) -> Pending:
        record = self.records.view[at]
        ts, order, touched, low, high = (int(record[name]) for name in ("ts", "order", "touched", "low", "high"))
        return Pending(self._patterns[at], ts, order, touched, low, high, announced=self._turns[at][0] > ts)

    def __iter__(self) -> Iterator[Pending]:
        return (self[at] for at in range(len(self)))

    @property
    def first_turn(self) -> tuple[int, int]:
        """When the first one takes effect, and its place in the order of arrival."""
        return self._turns[0] if self._turns else (lay.NOT_SET, 0)

    def add(self, each: Pending) -> None:
        """One more that waits."""
        turn = each.effect_ts, each.order
        at = bisect_right(self._turns, turn)
        self._turns.insert(at, turn)
        self._patterns.insert(at, each.patterns)
        row = (each.order, each.ts, each.touched, each.low, each.high)
        self.records.exchange(at, at, np.array([row], lay.PENDING_RANGE))

    def pop(self) -> Pending:
        """The first one; it waits no longer."""
        first = self[0]
        self.forget([0])
        return first

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending positions."""
        for at in reversed(positions):
            del self._turns[at], self._patterns[at]
            self.records.exchange(at, at + 1, np.empty(0, lay.PENDING_RANGE))

    def log(self, types: Sequence[pa.DataType], next_order: int) -> Log:
        """All of them in the order of arrival, patterns as text."""
        orders = np.sort(self.records.view["order"])

        def at(places: Ints) -> pa.Table:
            by_order = sorted(self, key=lambda each: each.order)
            rows = [
                (each.ts, each.touched, each.low, each.high, each.announced, print_patterns(each.patterns, types))
                for each in (by_order[place] for place in places.tolist())
            ]
            return pa.Table.from_pylist([dict(zip(_LOGGED.names, row, strict=True)) for row in rows], schema=_LOGGED)

        return Log(orders, next_order, at)

    def load(self, log: LoadedLog, types: Sequence[pa.DataType]) -> None:
        """Exactly those of a log."""
        for order, row in zip(log.ids.tolist(), log.rows.to_pylist(), strict=True):
            patterns = parse_punctuation(row.pop("pattern"), types)
            self.add(Pending(patterns=patterns, order=order, **row))

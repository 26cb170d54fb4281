"""Range endings of one stream that wait for their effect, by time and then by arrival."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from punctuated.join.state.growing_records import GrowingRecords
from punctuated.kernels import layout as lay
from punctuated.model.pattern import Pattern


class Pending(NamedTuple):
    """A range ending; `low` and `high` are the codes that it ends, if keys have an order of codes."""

    patterns: tuple[Pattern, ...]
    ts: int
    order: int  # of arrival
    touched: int
    low: int
    high: int


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
        numbers = (int(record[name]) for name in ("ts", "order", "touched", "low", "high"))
        return Pending(self._patterns[at], *numbers)

    def __iter__(self) -> Iterator[Pending]:
        return (self[at] for at in range(len(self)))

    @property
    def first_turn(self) -> tuple[int, int]:
        """When the first one takes effect, and its place in the order of arrival."""
        return self._turns[0] if self._turns else (lay.NOT_SET, 0)

    def arrived(self, orders: lay.Ints) -> list[Pending]:
        """Those with these places in the order of arrival."""
        return [self[at] for at in np.flatnonzero(np.isin(self.records.view["order"], orders)).tolist()]

    def add(self, each: Pending) -> None:
        """One more that waits."""
        at = bisect_right(self._turns, (each.ts, each.order))
        self._turns.insert(at, (each.ts, each.order))
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

    def load(self, records: lay.Records, patterns: Mapping[int, tuple[Pattern, ...]]) -> None:
        """Exactly these, with the patterns of each by its order of arrival."""
        self.records.exchange(0, len(self), np.sort(records, order=["ts", "order"]))
        self._turns = [(int(record["ts"]), int(record["order"])) for record in self.records.view]
        self._patterns = [patterns[order] for _, order in self._turns]

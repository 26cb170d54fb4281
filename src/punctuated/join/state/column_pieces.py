"""What ranges in effect have ended where the key is one column of text or the like: segments between its values."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from punctuated.join.state.cuts import ValueLine, value_place
from punctuated.join.state.growing_records import GrowingRecords
from punctuated.join.state.pattern_pieces import Patterns
from punctuated.join.state.segments import Segments
from punctuated.join.state.standing import Standing
from punctuated.kernels import layout as lay


class ColumnPieces:
    """Segments by their patterns; `records` say how each one stands, under a number of its own."""

    def __init__(self, n_streams: int) -> None:
        self._line, self._segments = ValueLine(), Segments(n_streams, coded=False)

    def __len__(self) -> int:
        return len(self._segments)

    @property
    def records(self) -> GrowingRecords:
        return self._segments.records

    def __iter__(self) -> Iterator[tuple[Patterns, Standing]]:
        for at, record in enumerate(self.records.view):
            yield self.patterns(at), Standing.of(record)

    def patterns(self, at: int) -> Patterns:
        """The range of a piece."""
        return self._line.patterns(self._segments.stretch(at))

    def locate(self, keys: pa.Table) -> lay.Records:
        """How these keys stand, as records of `layout.range_type`; flags are 0 where no range covers a key."""
        places = np.array([self._segments.find(value_place(value)) for value in keys.column(0).to_pylist()], np.int64)
        found = np.zeros(len(keys), self.records.dtype)
        found["ts"] = lay.NEVER
        found[places >= 0] = self.records.view[places[places >= 0]]
        return found

    def cover(
        self, side: int, patterns: Patterns, ts: int, touched: int, settled: Sequence[int], *, tells: bool
    ) -> list[tuple[Patterns, int]]:
        """A stream has ended a range; returns what is over in the output by that, with times."""
        stretch = self._line.stretch(patterns)
        if stretch is None:
            return []
        told = self._segments.cover(side, stretch, ts, touched, settled, tells=tells)
        return [(self._line.patterns(each.stretch), each.ts) for each in told]

    def settle(self, watermark: int) -> Iterator[Standing]:
        """Forget the times up to a watermark; gives the standing of each piece with such a time as it was."""
        return iter([segment.standing for segment in self._segments.settle(watermark)])

    def forget(self, positions: Sequence[int]) -> None:
        """Remove these ascending positions."""
        self._segments.forget(positions)

    @property
    def next_number(self) -> int:
        """Of the next segment; numbers are not used again."""
        return self._segments.next_number

    def load(self, records: lay.Records, patterns: Sequence[Patterns], next_number: int) -> None:
        """Exactly these records, each with its range."""
        stretches = [self._line.stretch(each) for each in patterns]
        self._segments.load(records, [each for each in stretches if each is not None], next_number)

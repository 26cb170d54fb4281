"""Sums and means of floating-point numbers, rounded once: they depend neither on order, nor on batches or buckets.

The sum is the double nearest to the true sum, whatever overflows or cancels out on the way. The mean is nearest to the
true sum over the count, so it exists even if the sum is too large. As in IEEE 754, an infinity stays infinite, opposite
infinities make NaN, and so does NaN. A sum of zeros is 0.0, whatever their sign.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.join.output.aggregates.accumulator import Ints, Mask, T, known_values, lengthen
from punctuated.kernels.exact_sums import (
    MOST_VALUES,
    NO_PLACE,
    SCRATCH,
    DigitSums,
    add_values,
    carry_digits,
    round_quotients,
    widen_spans,
)


class ExactSums:
    """The digits of one sum per group, and whether it has any value."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._known = np.zeros(0, np.bool_)
        none = np.zeros(0, np.int64)
        self._sums = DigitSums(np.zeros(0), np.zeros(1, np.int64), none, none)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add these values."""
        assert len(rows) <= MOST_VALUES
        known, groups = known_values(rows[self._column], groups)
        values = _closed(known.astype(np.float64, copy=False))
        groups, bits = _closed(groups), values.view(np.int64)
        self._known = lengthen(self._known, n_groups)
        self._make_room(groups, n_groups, bits)
        add_values(self._sums, groups, values, bits)

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._sums, self._known = _selected(self._sums, kept), self._known[kept]

    def finish(self, final: Mask) -> pa.Array:
        """The sums of these groups; null if all values are null."""
        return self.divide(final, np.ones(final.sum(), np.int64))

    def divide(self, final: Mask, counts: Ints) -> pa.Array:
        """The means of these groups, given how many values they have; null if all values are null."""
        means = np.empty(counts.size)
        divisors = np.maximum(counts, 1)
        round_quotients(_selected(self._sums, final), divisors, np.empty(SCRATCH, np.int64), means)
        return pa.array(means, mask=~self._known[final])

    def save(self) -> pa.Table:
        """Everything as a table."""
        digits = pa.LargeListArray.from_arrays(self._sums.starts, self._sums.digits)
        low = (self._sums.starts[:-1] - self._sums.origins).astype(np.int16)
        return pa.table({"known": self._known, "special": self._sums.special, "low": low, "digits": digits})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        lists = saved["digits"].combine_chunks()
        self._known = np.array(saved["known"])
        starts = _starts(np.asarray(lists.value_lengths()))
        special, digits = saved["special"].to_numpy().copy(), lists.flatten().to_numpy().copy()  # not read-only
        self._sums = DigitSums(special, starts, starts[:-1] - saved["low"].to_numpy(), digits)

    def _make_room(self, groups: Ints, n_groups: int, bits: Ints) -> None:
        before, widths = self._sums, np.diff(self._sums.starts)
        low = before.starts[:-1] - before.origins
        stop = lengthen(np.where(widths > 0, low + widths, 0).astype(np.int16), n_groups)
        low = lengthen(low.astype(np.int16), n_groups, NO_PLACE)
        widen_spans(bits, groups, self._known, low, stop)
        starts = _starts(np.maximum(stop - low, 0))
        digits = np.zeros(starts[-1], np.int64)
        self._sums = DigitSums(lengthen(before.special, n_groups), starts, starts[:-1] - low, digits)
        carry_digits(before, self._sums)


def _selected(sums: DigitSums, chosen: Mask) -> DigitSums:
    widths = np.diff(sums.starts)
    starts = _starts(widths[chosen])
    origins = starts[:-1] - (sums.starts[:-1] - sums.origins)[chosen]
    return DigitSums(sums.special[chosen], starts, origins, sums.digits[np.repeat(chosen, widths)])


def _starts(widths: npt.NDArray[np.integer[Any]]) -> Ints:
    return np.concatenate([[0], np.cumsum(widths, dtype=np.int64)])


def _closed(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """Read-only, as arrays in Arrow memory are, so that kernels are compiled once."""
    view = array.view()
    view.flags.writeable = False
    return view

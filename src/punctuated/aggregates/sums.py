"""Exact sums of numbers, and means from them: they depend neither on the order of values, nor on batches or buckets.

Floating-point numbers are summed without rounding, as digits of a very long number. The sum of a group is the double
nearest to the true sum, whatever overflows or cancels out on the way. The mean is nearest to the true sum over the
count, so it exists even if the sum is too large. As in IEEE 754, an infinity stays infinite, opposite infinities make
NaN, and so does NaN. A sum of zeros is 0.0, whatever their sign.

Integers and decimals are summed as limbs of 32 bits; the highest has the sign, and room for more values than there will
ever be. Results have Spark's types. A sum or a mean that its type cannot hold is null, as with Spark's `try_sum` and
`try_avg`: an error would stop a running query for ever, at the same group after each restart.

    sum of integers          BIGINT; of unsigned ones, which Spark does not have, uint64
    mean of integers         DOUBLE, the one nearest to the true mean
    sum of decimal(p, s)     decimal(p + 10, s), with at most 38 digits
    mean of decimal(p, s)    decimal(p + 4, s + 4), likewise, rounded half up
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.aggregates.accumulator import Ints, Mask, T, known_values, lengthen
from punctuated.kernels.exact_sums import (
    MOST_VALUES,
    NO_DIGIT,
    SCRATCH,
    DigitSums,
    add_values,
    carry_digits,
    round_quotients,
    widen_spans,
)

LIMB = 2**32 - 1
_PLACE_OF_ONE, _SHIFT_OF_ONE = divmod(1074, 32)  # where the kernel, whose unit is 2^-1074, has the number 1
_EXACT = Context(prec=100)
_MOST_DIGITS = {128: 38, 256: 76}
_EXTRA_DIGITS = {"sum": (10, 0), "mean": (4, 4)}  # of the precision and the scale


# Floating-point numbers


class ExactSums:
    """The digits of one sum per group, and whether it has any value."""

    def __init__(self, column: str = "") -> None:
        self._column = column
        self._known = np.zeros(0, np.bool_)
        none = np.zeros(0, np.int64)
        self._sums = DigitSums(np.zeros(0), np.zeros(1, np.int64), none, none)

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add these values."""
        known, groups = known_values(rows[self._column], groups)
        self.add_values(known.astype(np.float64, copy=False), groups, n_groups)

    def add_values(self, numbers: npt.NDArray[np.float64], groups: Ints, n_groups: int) -> None:
        """Add doubles, each to its group."""
        assert numbers.size <= MOST_VALUES
        values = _closed(numbers)
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

    def totals(self, final: Mask) -> list[int | None]:
        """The exact sums of these groups in units of 2^-1074; None for NaN and infinities."""
        sums = _selected(self._sums, final)
        digits, low = sums.digits.tolist(), (sums.starts[:-1] - sums.origins).tolist()
        spans = zip(pairwise(sums.starts.tolist()), low, sums.special.tolist(), strict=True)
        return [
            None if special != 0 else _as_integer(digits[start:stop]) << 32 * low
            for (start, stop), low, special in spans
        ]

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
        low = lengthen(low.astype(np.int16), n_groups, NO_DIGIT)
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


# Integers and decimals


def is_whole(dtype: pa.DataType) -> bool:
    """Whether values of a type are whole numbers of some unit."""
    return bool(pa.types.is_integer(dtype) or pa.types.is_decimal(dtype))


def total_type(function: str, dtype: pa.DataType) -> pa.DataType:
    """The type of a `sum` or `mean` of integers or decimals.

    >>> total_type("sum", pa.int8()), total_type("mean", pa.decimal128(10, 2)), total_type("sum", pa.decimal128(38, 2))
    (DataType(int64), Decimal128Type(decimal128(14, 6)), Decimal128Type(decimal128(38, 2)))
    """
    if pa.types.is_integer(dtype):
        wide = pa.uint64() if pa.types.is_unsigned_integer(dtype) else pa.int64()
        return wide if function == "sum" else pa.float64()
    digits, places = _EXTRA_DIGITS[function]
    most = _MOST_DIGITS[_stored(dtype).bit_width]
    precision, scale = min(most, dtype.precision + digits), min(most, dtype.scale + places)
    return pa.decimal256(precision, scale) if most > 38 else pa.decimal128(precision, scale)


class LimbSums(ABC):
    """The limbs of one sum per group, and whether it has any value."""

    def __init__(self, column: str, dtype: pa.DataType, n_limbs: int) -> None:
        self._column, self._type = column, dtype
        self._limbs = [np.zeros(0, np.int64) for _ in range(n_limbs)]
        self._known = np.zeros(0, np.bool_)

    @abstractmethod
    def _terms(self, limbs: list[Ints]) -> list[Ints]:
        """The limbs of what is summed, given those of the values."""

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add these values."""
        assert len(rows) <= MOST_VALUES  # of less than 2^32 each, and what was carried: below 2^63
        self._known = lengthen(self._known, n_groups)
        self._limbs = [lengthen(limb, n_groups) for limb in self._limbs]
        limbs, groups = self._split(rows[self._column], groups)
        self._known[groups] = True
        for limb, value in zip(self._limbs, self._terms(limbs), strict=True):
            np.add.at(limb, groups, value)
        carry(self._limbs)

    def _split(self, column: pa.ChunkedArray, groups: Ints) -> tuple[list[Ints], Ints]:
        """The limbs of values that are not null, and the groups beside them."""
        if pa.types.is_integer(self._type):
            numbers, groups = known_values(column, groups)
            return _limbs_of_integers(numbers), groups
        if column.null_count:
            groups = groups[np.asarray(column.is_valid())]
        return _limbs_of_decimals(column.drop_null().cast(_stored(self._type)).combine_chunks()), groups

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        self._limbs, self._known = [limb[kept] for limb in self._limbs], self._known[kept]

    def totals(self, final: Mask) -> list[int | None]:
        """The exact sums of these groups in units of the last place; integers are never NaN or infinite."""
        return [_as_integer(limbs) for limbs in zip(*(limb[final].tolist() for limb in self._limbs), strict=True)]

    def save(self) -> pa.Table:
        """Everything as a table."""
        return pa.table({"known": self._known, **{f"limb {i}": limb for i, limb in enumerate(self._limbs)}})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        self._known = np.array(saved["known"])
        self._limbs = [np.array(saved[f"limb {i}"]) for i in range(len(self._limbs))]


class WholeSums(LimbSums):
    """Sums of the values themselves."""

    def __init__(self, column: str, dtype: pa.DataType) -> None:
        super().__init__(column, dtype, n_limbs(dtype))

    def _terms(self, limbs: list[Ints]) -> list[Ints]:
        return limbs

    def finish(self, final: Mask) -> pa.Array:
        """The sums of these groups; null if all values are null, or if the sum does not fit."""
        limbs, dtype = [limb[final] for limb in self._limbs], total_type("sum", self._type)
        if not pa.types.is_integer(self._type):
            return _decimals(limbs, dtype, self._known[final])
        low, high = limbs
        least, most = (0, 2**32 - 1) if dtype == pa.uint64() else (-(2**31), 2**31 - 1)
        fits = (high >= least) & (high <= most) & self._known[final]
        return pa.array((high << 32 | low).view(dtype.to_pandas_dtype()), dtype, mask=~fits)

    def divide(self, final: Mask, counts: Ints) -> pa.Array:
        """The means of these groups, given how many values they have; null if all values are null."""
        limbs, divisors = [limb[final] for limb in self._limbs], np.maximum(counts, 1)
        dtype = total_type("mean", self._type)
        if pa.types.is_integer(self._type):
            return pa.array(_nearest(limbs, divisors), mask=~self._known[final])
        scaled = [limb * 10 ** (dtype.scale - self._type.scale) for limb in _widened(limbs, len(limbs) + 1)]
        return _decimals(_rounded_half_up(scaled, divisors), dtype, self._known[final])


def n_limbs(dtype: pa.DataType) -> int:
    """How many limbs a value of this type has."""
    return 2 if pa.types.is_integer(dtype) else _stored(dtype).bit_width // 32


def _stored(dtype: pa.DataType) -> pa.DataType:
    """The decimals of this many digits as they are summed."""
    return dtype if dtype.bit_width >= 128 else pa.decimal128(38, dtype.scale)


def _limbs_of_integers(numbers: npt.NDArray[Any]) -> list[Ints]:
    wide = numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64)
    limb, shift = wide.dtype.type(LIMB), wide.dtype.type(32)  # of one type: else NumPy makes floats of both
    return [(wide & limb).astype(np.int64), (wide >> shift).astype(np.int64)]


def _limbs_of_decimals(values: pa.Array) -> list[Ints]:
    width = values.type.bit_width // 32
    words = np.frombuffer(values.buffers()[1], np.uint32) if len(values) else np.empty(0, np.uint32)
    limbs = words.reshape(-1, width)[values.offset : values.offset + len(values)]
    highest = np.ascontiguousarray(limbs[:, -1]).view(np.int32)
    return [*(limbs[:, i].astype(np.int64) for i in range(width - 1)), highest.astype(np.int64)]


def carry(limbs: list[Ints]) -> None:
    """Carry over in place, so that all limbs but the highest are in [0, 2^32)."""
    for low, high in pairwise(limbs):
        high += low >> 32
        low &= LIMB


def _widened(limbs: list[Ints], n_limbs: int) -> list[Ints]:
    """Numbers in more limbs, so that the highest is no larger than the others."""
    more = [np.zeros_like(limbs[0]) for _ in range(n_limbs - len(limbs))]
    wide = [limb.copy() for limb in limbs] + more
    carry(wide)
    return wide


def _nearest(limbs: list[Ints], divisors: Ints) -> npt.NDArray[np.float64]:
    """The double nearest to each sum over its divisor."""
    wide = _widened(limbs, len(limbs) + 1)
    starts = np.arange(divisors.size + 1) * len(wide)
    digits = np.stack(wide, axis=1).ravel() << _SHIFT_OF_ONE
    sums = DigitSums(np.zeros(divisors.size), starts, starts[:-1] - _PLACE_OF_ONE, digits)
    means = np.empty(divisors.size)
    round_quotients(sums, divisors, np.empty(SCRATCH, np.int64), means)
    return means


def _rounded_half_up(limbs: list[Ints], divisors: Ints) -> list[Ints]:
    """Sums over their divisors, as limbs; halves are rounded away from zero."""
    carry(limbs)
    negative = limbs[-1] < 0
    limbs = [np.where(negative, -limb, limb) for limb in limbs]
    carry(limbs)
    if divisors.max(initial=0) >= 2**31:  # a remainder and a limb no longer fit into a word
        limbs, divisors = [limb.astype(object) for limb in limbs], divisors.astype(object)
    remainder = np.zeros_like(divisors)
    quotient: list[npt.NDArray[Any]] = []
    for limb in reversed(limbs):
        dividend = (remainder << 32) + limb
        quotient.append(dividend // divisors)
        remainder = dividend % divisors
    quotient[-1] = quotient[-1] + (2 * remainder >= divisors)
    signed = [np.where(negative, -limb, limb).astype(np.int64) for limb in reversed(quotient)]
    carry(signed)
    return signed


def _decimals(limbs: list[Ints], dtype: pa.DataType, known: Mask) -> pa.Array:
    """Limbs as decimals, null where they have too many digits."""
    wide = _widened(limbs, 9)
    words = np.stack([limb.astype(np.uint32) for limb in wide[:8]], axis=1)
    numbers = pa.Array.from_buffers(pa.decimal256(76, dtype.scale), known.size, [None, pa.py_buffer(words)])
    largest = pa.scalar(Decimal(10**dtype.precision - 1).scaleb(-dtype.scale, _EXACT), numbers.type)
    fits = known & (wide[8] == -(wide[7] >> 31))  # else not even 256 bits are enough
    fits &= np.asarray(pc.less_equal(numbers, largest)) & np.asarray(pc.greater_equal(numbers, pc.negate(largest)))
    return pc.if_else(pa.array(fits), numbers, pa.scalar(None, numbers.type)).cast(dtype)


def _as_integer(digits: Sequence[int]) -> int:
    """The number with these digits of 32 bits, the lowest first; any of them may be below zero or too large."""
    total = 0
    for digit in reversed(digits):
        total = (total << 32) + digit
    return total

"""Sums of doubles without rounding, and quotients rounded once: the order of the values does not matter.

A finite double is an integer below 2^53, shifted left by 0 to 2045 bits, in units of 2^-1074, the smallest double. So a
sum is an integer too, whose digits have 32 bits each: a value touches three of them. Only those that a group's values
touch are kept.

    special   of each group: the sum of its infinities and NaNs, 0.0 if it has none
    starts    where its digits begin in `digits`; they go on to where the next group's do
    origins   where its digit number 0 would be, the one that counts units

Invariants:
- Between batches all digits but a group's highest lie in [0, 2^32); the highest has the sign.
- Within a batch a digit is the sum of at most `MOST_VALUES` numbers below 2^33, so it cannot overflow. Of the highest
  digit a value takes at most 2^21: there will never be enough of them.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.kernels.jit import in_place, inlined, subroutine
from punctuated.kernels.layout import Ints

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
DigitIndices = npt.NDArray[np.int16]

MOST_VALUES = 1 << 29  # of a batch
NO_DIGIT = 128  # above every digit
SCRATCH = 80  # digits: those of a sum, those that make a quotient precise, and two for the sign
_DIGIT, _HALF_DIGIT = 2**32 - 1, 2**16 - 1
_FRACTION, _HIDDEN, _INFINITE = 2**52 - 1, 2**52, 2047
_SMALLEST = -1074  # the exponent of the unit
_BELOW = 4  # digits below the unit: a quotient by less than 2^47 has more than 53 bits then


class DigitSums(NamedTuple):
    """One sum per group."""

    special: Floats
    starts: Ints
    origins: Ints
    digits: Ints


@inlined
def _exponent(bits: int) -> int:
    return (bits >> 52) & _INFINITE


@inlined
def _is_zero(bits: int) -> bool:
    return bits << 1 == 0


@in_place
def widen_spans(bits: Ints, groups: Ints, known: Mask, low: DigitIndices, stop: DigitIndices) -> None:
    """Note which groups have values, given as the bits of doubles, and which digits these touch: [`low`, `stop`)."""
    for i in range(bits.size):
        exponent, group = _exponent(bits[i]), groups[i]
        known[group] = True
        if exponent < _INFINITE and not _is_zero(bits[i]):
            lowest = (max(exponent, 1) - 1) >> 5
            low[group] = min(low[group], lowest)
            stop[group] = max(stop[group], lowest + 3)


@in_place
def carry_digits(before: DigitSums, after: DigitSums) -> None:
    """Copy the digits of all groups to wider arrays, and restore the first invariant."""
    for group in range(before.origins.size):
        shift = after.origins[group] - before.origins[group]
        for i in range(before.starts[group], before.starts[group + 1]):
            after.digits[i + shift] = before.digits[i]
        _carry(after.digits, after.starts[group], after.starts[group + 1])


@subroutine
def _carry(digits: Ints, start: int, stop: int) -> None:
    for i in range(start, stop - 1):
        digits[i + 1] += digits[i] >> 32
        digits[i] &= _DIGIT


@in_place
def add_values(sums: DigitSums, groups: Ints, values: Floats, bits: Ints) -> None:
    """Add values, for which there is room; `bits` are the same doubles."""
    for i in range(bits.size):
        exponent, group = _exponent(bits[i]), groups[i]
        if exponent == _INFINITE:
            sums.special[group] += values[i]
        elif not _is_zero(bits[i]):
            integer = bits[i] & _FRACTION
            if exponent > 0:
                integer |= _HIDDEN
            shift = max(exponent, 1) - 1
            lower, upper = (integer & _DIGIT) << (shift & 31), (integer >> 32) << (shift & 31)
            sign = -1 if bits[i] < 0 else 1
            at = sums.origins[group] + (shift >> 5)
            sums.digits[at] += sign * (lower & _DIGIT)
            sums.digits[at + 1] += sign * ((lower >> 32) + (upper & _DIGIT))
            sums.digits[at + 2] += sign * (upper >> 32)


@in_place
def round_quotients(sums: DigitSums, divisors: Ints, scratch: Ints, out: Floats) -> None:
    """Each sum over its divisor (from 1 to below 2^47), rounded to the nearest double, ties to even."""
    for group in range(out.size):
        special = sums.special[group]
        if math.isnan(special):
            out[group] = math.nan  # one of many, whatever became of inf - inf
        elif special != 0.0:
            out[group] = special
        else:
            out[group] = _round_quotient(sums, group, divisors[group], scratch)


@subroutine
def _round_quotient(sums: DigitSums, group: int, divisor: int, scratch: Ints) -> float:
    n_below = 0 if divisor == 1 else _BELOW
    n, is_negative = _take_magnitude(sums, group, n_below, scratch)
    remainder = 0
    if divisor > _DIGIT >> 1:
        remainder = _divide_by_halves(scratch, n, divisor)
    elif divisor > 1:
        remainder = _divide(scratch, n, divisor)
    unit = 32 * (sums.starts[group] - sums.origins[group] - n_below) + _SMALLEST
    magnitude = _round_digits(scratch, n, unit, remainder > 0)
    return -magnitude if is_negative else magnitude


@subroutine
def _take_magnitude(sums: DigitSums, group: int, n_below: int, scratch: Ints) -> tuple[int, bool]:
    """Write the digits of a sum without its sign, above `n_below` zeros; returns how many these are, and the sign."""
    for i in range(n_below):
        scratch[i] = 0
    n = n_below
    for i in range(sums.starts[group], sums.starts[group + 1]):
        scratch[n] = sums.digits[i]
        n += 1
    scratch[n] = scratch[n + 1] = 0
    n += 2
    _carry(scratch, n_below, n)
    is_negative = scratch[n - 1] < 0
    if is_negative:
        for i in range(n_below, n):
            scratch[i] = -scratch[i]
        _carry(scratch, n_below, n)
    while n > 0 and scratch[n - 1] == 0:
        n -= 1
    return n, is_negative


@subroutine
def _divide(digits: Ints, n: int, divisor: int) -> int:
    """Long division in place, by less than 2^31; returns the remainder."""
    remainder = 0
    for i in range(n - 1, -1, -1):
        dividend = (remainder << 32) | digits[i]
        digits[i] = dividend // divisor
        remainder = dividend - digits[i] * divisor
    return remainder


@subroutine
def _divide_by_halves(digits: Ints, n: int, divisor: int) -> int:
    """Long division in place, by less than 2^47: each digit in two steps, so that nothing overflows."""
    remainder = 0
    for i in range(n - 1, -1, -1):
        upper = (remainder << 16) | (digits[i] >> 16)
        quotient = upper // divisor
        lower = ((upper - quotient * divisor) << 16) | (digits[i] & _HALF_DIGIT)
        digits[i] = (quotient << 16) | (lower // divisor)
        remainder = lower % divisor
    return remainder


@subroutine
def _round_digits(digits: Ints, n: int, unit: int, is_more: bool) -> float:
    """The double nearest to the digits in units of 2^`unit`, and a little more than that if `is_more`."""
    while n > 0 and digits[n - 1] == 0:
        n -= 1
    if n == 0:
        return 0.0
    length = 32 * (n - 1) + _bit_length(digits[n - 1])
    cut = max(length - 53, _SMALLEST - unit, 0)  # so many bits are below the last one of the double
    integer = _bits_from(digits, n, cut)
    is_half = cut > 0 and _bits_from(digits, n, cut - 1) & 1 == 1
    if is_half and (is_more or integer & 1 == 1 or _has_bits_below(digits, cut - 1)):
        integer += 1
    return math.ldexp(float(integer), int(cut + unit))


@subroutine
def _bit_length(digit: int) -> int:
    length = 1
    for step in (16, 8, 4, 2, 1):
        if digit >> step > 0:
            digit >>= step
            length += step
    return length


@subroutine
def _bits_from(digits: Ints, n: int, first: int) -> int:
    """The bits from number `first` on as an integer, which has at most 54 of them."""
    number = 0
    for i in range(first >> 5, min((first >> 5) + 3, n)):
        shift = 32 * i - first
        number |= digits[i] << shift if shift >= 0 else digits[i] >> -shift
    return number


@subroutine
def _has_bits_below(digits: Ints, first: int) -> bool:
    whole = first >> 5
    for i in range(whole):
        if digits[i] != 0:
            return True
    return bool(digits[whole] & ((1 << (first & 31)) - 1) != 0)

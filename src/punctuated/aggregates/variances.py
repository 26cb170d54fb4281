"""Sample variances and standard deviations: from the exact sums of a column and of its squares, rounded once.

With n values, their sum S and the sum Q of their squares, the variance is (n·Q - S²) / (n·(n - 1)). Sums of doubles
would lose all digits in that difference; these are integers of any size, so nothing is lost, and the result depends
neither on the order of values nor on batches or buckets. Like Spark's, it is a double, null for fewer than two values,
and NaN if one of them is NaN or infinite.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.aggregates.accumulator import Ints, Mask, known_values
from punctuated.aggregates.sums import LIMB, ExactSums, LimbSums, WholeSums, carry, n_limbs

Floats = npt.NDArray[np.float64]
_UNIT = 1074  # sums of doubles count 2^-1074
_SPLITTER = 2.0**27 + 1  # cuts a double into two halves whose products are exact
_ROOT_BITS = 128  # of a number whose root is taken: more than twice those of a double


class WholeSquares(LimbSums):
    """Sums of the squares of integers or decimals."""

    def __init__(self, column: str, dtype: pa.DataType) -> None:
        super().__init__(column, dtype, 2 * n_limbs(dtype) + 1)  # the highest is empty at first
        self.units_of_one: int = 1 if pa.types.is_integer(dtype) else 10 ** (2 * dtype.scale)

    def _terms(self, limbs: list[Ints]) -> list[Ints]:
        is_negative = limbs[-1] < 0
        limbs = [np.where(is_negative, -limb, limb) for limb in limbs]
        carry(limbs)
        squares = [np.zeros_like(limbs[0]) for _ in self._limbs]
        words = [limb.astype(np.uint64) for limb in limbs]
        for i, ours in enumerate(words):
            for j, other in enumerate(words):
                product = ours * other
                squares[i + j] += (product & np.uint64(LIMB)).astype(np.int64)
                squares[i + j + 1] += (product >> np.uint64(32)).astype(np.int64)
        carry(squares)
        return squares


class _Scale(NamedTuple):
    """Doubles of a range of exponents, whose squares are added up in units of 2^(shift - 1074)."""

    low: int
    high: int
    shift: int


# A square reaches from 2^-2148 to 2^2048, a double from 2^-1074 to 2^1024. Most groups need the middle scale alone.
_SCALES = {"small": _Scale(-1100, -480, -_UNIT), "plain": _Scale(-480, 480, 0), "large": _Scale(480, 1100, _UNIT)}


class FloatSquares:
    """Sums of the squares of finite doubles, by the scales that values came in."""

    units_of_one = 1 << 2 * _UNIT

    def __init__(self, column: str) -> None:
        self._column = column
        self._sums = {name: ExactSums() for name in _SCALES}

    def add(self, groups: Ints, n_groups: int, rows: pa.Table) -> None:
        """Add the squares of these values; the sum of the values themselves knows what is not finite."""
        known, groups = known_values(rows[self._column], groups)
        is_finite = np.isfinite(known)
        fractions, exponents = np.frexp(known[is_finite].astype(np.float64, copy=False))
        groups = groups[is_finite]
        for name, scale in _SCALES.items():
            chosen = (scale.low <= exponents) & (exponents < scale.high)
            squares, shifts = _squares(fractions[chosen]), 2 * exponents[chosen] - scale.shift
            both = np.concatenate([np.ldexp(part, shifts) for part in squares])
            self._sums[name].add_values(both, np.tile(groups[chosen], len(squares)), n_groups)

    def keep(self, kept: Mask) -> None:
        """Forget the other groups."""
        for sums in self._sums.values():
            sums.keep(kept)

    def totals(self, final: Mask) -> list[int | None]:
        """The exact sums of these groups in units of 2^-2148."""
        by_scale = [
            [(total or 0) << scale.shift + _UNIT for total in self._sums[name].totals(final)]
            for name, scale in _SCALES.items()
        ]
        return [sum(each) for each in zip(*by_scale, strict=True)]

    def save(self) -> pa.Table:
        """Everything as a table."""
        saved = {name: sums.save() for name, sums in self._sums.items()}
        return pa.table(
            {f"{name} {column}": part[column] for name, part in saved.items() for column in part.column_names}
        )

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        for name, sums in self._sums.items():
            ours = [column for column in saved.column_names if column.startswith(f"{name} ")]
            sums.load(saved.select(ours).rename_columns([column.removeprefix(f"{name} ") for column in ours]))


def _squares(values: Floats) -> tuple[Floats, Floats]:
    """The squares of values from 0.5 to 1, as doubles, and what these have lost by rounding (Dekker's product).

    >>> [part.tolist() for part in _squares(np.array([0.5 + 2**-52]))]
    [[0.2500000000000002], [4.930380657631324e-32]]
    """
    rounded = values * values
    cut = _SPLITTER * values
    upper = cut - (cut - values)
    lower = values - upper
    return rounded, lower * lower - ((rounded - upper * upper) - 2 * (upper * lower))


# From sums to variances


def variances(sums: ExactSums | WholeSums, squares: FloatSquares | WholeSquares, counts: Ints, final: Mask) -> pa.Array:
    """The variances of these groups, given how many values they have."""
    return _doubles(_ratios(sums, squares, counts, final), _nearest)


def deviations(
    sums: ExactSums | WholeSums, squares: FloatSquares | WholeSquares, counts: Ints, final: Mask
) -> pa.Array:
    """The standard deviations of these groups, given how many values they have."""
    return _doubles(_ratios(sums, squares, counts, final), _nearest_root)


Ratio = tuple[int, int]


def _ratios(
    sums: ExactSums | WholeSums, squares: FloatSquares | WholeSquares, counts: Ints, final: Mask
) -> Iterator[Ratio | None]:
    """The exact variance of each group; None if there is none, with divisor 0 if it is NaN."""
    unit = squares.units_of_one
    for n, total, square in zip(counts.tolist(), sums.totals(final), squares.totals(final), strict=True):
        if n < 2:
            yield None
        elif total is None:
            yield 0, 0
        else:
            assert square is not None
            yield n * square - total * total, n * (n - 1) * unit


def _doubles(ratios: Iterable[Ratio | None], as_double: Callable[[int, int], float]) -> pa.Array:
    def one(ratio: Ratio | None) -> float | None:
        if ratio is None or ratio[1] == 0:
            return None if ratio is None else math.nan
        try:
            return as_double(*ratio)
        except OverflowError:
            return math.inf

    return pa.array([one(ratio) for ratio in ratios], pa.float64(), from_pandas=False)


def _nearest(dividend: int, divisor: int) -> float:
    return dividend / divisor  # of integers, Python's quotient is the nearest double


def _nearest_root(dividend: int, divisor: int) -> float:
    """The double nearest to the root of a quotient.

    >>> _nearest_root(9, 4), _nearest_root(2, 1) == math.sqrt(2)
    (1.5, True)
    """
    shift = max(0, _ROOT_BITS - dividend.bit_length() + divisor.bit_length())
    shift += shift % 2
    quotient, remainder = divmod(dividend << shift, divisor)
    root = math.isqrt(quotient)
    is_more = remainder > 0 or root * root < quotient
    return (2 * root + is_more) / (2 << shift // 2)  # the last bit decides halves

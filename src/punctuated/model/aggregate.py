"""Aggregates over the results of a join, by group: one table says what each is, and all else follows from it.

To add an aggregate, add a row to `AGGREGATES`, a function for users below, and in `aggregates.strategies` how it is
computed. What SQL understands, which columns are refused, what a join that sheds can estimate and which kernels are
loaded follow from the table.
"""

from dataclasses import dataclass
from enum import Enum

from punctuated.errors import AggregateError
from punctuated.model.arguments import hint_of, text


class Takes(Enum):
    """Columns that an aggregate can be asked for; the value says what is wrong with another column's type."""

    ANYTHING = ""
    COMPARABLE = ", which has no order; cast it to another type"
    NUMBERS = ", not a number"


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """What there is to know about an aggregate, apart from how it is computed."""

    name: str  # of the function of `pt`, and in SQL
    synonyms: tuple[str, ...] = ()  # in SQL
    takes: Takes = Takes.ANYTHING
    counts_rows: bool = False  # it can do without a column
    is_ordered: bool = False  # the order of the results matters, so they need their times
    is_estimable: bool = False  # from a random sample of the results, with a known error (KN-33)
    needs_sums: bool = False  # the kernels of exact sums


AGGREGATES = {
    each.name: each
    for each in (
        AggregateFunction("count", counts_rows=True, is_estimable=True),
        AggregateFunction("sum", takes=Takes.NUMBERS, is_estimable=True, needs_sums=True),
        AggregateFunction("min", takes=Takes.COMPARABLE),
        AggregateFunction("max", takes=Takes.COMPARABLE),
        AggregateFunction("mean", ("avg",), takes=Takes.NUMBERS, is_estimable=True, needs_sums=True),
        AggregateFunction("variance", ("var_samp",), takes=Takes.NUMBERS, needs_sums=True),
        AggregateFunction("stddev", ("stddev_samp",), takes=Takes.NUMBERS, needs_sums=True),
        AggregateFunction("first", is_ordered=True),
        AggregateFunction("last", is_ordered=True),
    )
}
SQL_NAMES = {name: each.name for each in AGGREGATES.values() for name in (each.name, *each.synonyms)}


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One function over one result column; `count` without a column counts rows."""

    function: str
    column: str | None = None

    def __post_init__(self) -> None:
        if self.function not in AGGREGATES:
            raise AggregateError(f"unknown aggregate {self.function!r}; {hint_of(self.function, AGGREGATES, 'known')}")
        if self.column is None and not self.kind.counts_rows:
            raise AggregateError(f"{self.function} needs a column of the results")

    @property
    def kind(self) -> AggregateFunction:
        """The function's row of the table."""
        return AGGREGATES[self.function]


def error_name(name: str) -> str:
    """The column with the standard error of an estimate."""
    return f"{name}_error"


# For users


def count(column: str | None = None) -> Aggregate:
    """Number of rows, or of non-null values of a column."""
    return Aggregate("count") if column is None else _of_column("count", column)


def sum(column: str) -> Aggregate:
    """Exact sum of a column, in the type of Spark's sum: null if all values are, or if the type cannot hold it."""
    return _of_column("sum", column)


def min(column: str) -> Aggregate:
    """Smallest value of a column; NaN is greater than every number."""
    return _of_column("min", column)


def max(column: str) -> Aggregate:
    """Largest value of a column; NaN is greater than every number."""
    return _of_column("max", column)


def mean(column: str) -> Aggregate:
    """Mean of a column, from its exact sum: a double; for decimals, a decimal with four more places."""
    return _of_column("mean", column)


def variance(column: str) -> Aggregate:
    """Sample variance of a column, over the number of values less one: the double nearest to the exact variance.

    Null for fewer than two values; NaN if one of them is NaN or infinite.
    """
    return _of_column("variance", column)


def stddev(column: str) -> Aggregate:
    """Sample standard deviation of a column, the root of its variance: the double nearest to the exact root.

    Null for fewer than two values; NaN if one of them is NaN or infinite.
    """
    return _of_column("stddev", column)


def first(column: str) -> Aggregate:
    """Value in the earliest result, by result time, then by the row's columns from left to right."""
    return _of_column("first", column)


def last(column: str) -> Aggregate:
    """Value in the latest result, by result time, then by the row's columns from left to right."""
    return _of_column("last", column)


def _of_column(function: str, column: str) -> Aggregate:
    return Aggregate(function, text(column, f"pt.{function}: column", AggregateError))

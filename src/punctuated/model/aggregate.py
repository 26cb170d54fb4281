"""Aggregates over the results of a join, by group."""

from dataclasses import dataclass
from typing import Literal

from punctuated.errors import AggregateError
from punctuated.model.arguments import text

Function = Literal["count", "sum", "min", "max", "mean", "first", "last"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One function over one result column; `count` without a column counts rows."""

    function: Function
    column: str | None = None

    @property
    def is_ordered(self) -> bool:
        """Whether the order of the results matters."""
        return self.function in ("first", "last")

    @property
    def is_estimable(self) -> bool:
        """Whether it can be estimated from a random sample of the results, with a known error (KN-33)."""
        return self.function in ("count", "sum", "mean")


def error_name(name: str) -> str:
    """The column with the standard error of an estimate."""
    return f"{name}_error"


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


def first(column: str) -> Aggregate:
    """Value in the earliest result, by result time, then by the row's columns from left to right."""
    return _of_column("first", column)


def last(column: str) -> Aggregate:
    """Value in the latest result, by result time, then by the row's columns from left to right."""
    return _of_column("last", column)


def _of_column(function: Function, column: str) -> Aggregate:
    return Aggregate(function, text(column, f"pt.{function}: column", AggregateError))

"""A grouping: its columns and aggregates, and the checks that results can be grouped so, before anything runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from punctuated.aggregates.extremes import is_comparable
from punctuated.errors import AggregateError
from punctuated.expressions.shape import Shape
from punctuated.model.aggregate import AGGREGATES, Aggregate, Takes
from punctuated.model.algorithm import Propagation
from punctuated.model.arguments import column_names, hint_of
from punctuated.model.spec import JoinSpec, JoinType


@dataclass(frozen=True)
class Grouping:
    """The grouping columns, and the aggregates of each group."""

    by: tuple[str, ...]
    aggregates: Mapping[str, Aggregate]
    shape: Shape | None = None  # how groups are changed before they come out, and which of them come out
    is_distinct: bool = False  # no aggregates: each combination of values comes out when it first appears

    def ended_by(self, key: tuple[str, ...]) -> tuple[str, ...]:
        """The join key that ends groups one by one; empty if they do not contain it."""
        return key if contains_key(self.by, key) else ()

    @property
    def is_ordered(self) -> bool:
        """Whether the times of results matter."""
        return any(each.kind.is_ordered for each in self.aggregates.values())


def grouping_columns(given: Sequence[str | Sequence[str]], call: str = "group_by") -> tuple[str, ...]:
    """The arguments of `group_by` or another call: names of columns, or one list of them.

    >>> grouping_columns(("a", "b")), grouping_columns((["a", "b"],))
    (('a', 'b'), ('a', 'b'))
    """
    wanted = given[0] if len(given) == 1 else given
    return column_names(wanted, call, AggregateError)


def contains_key(by: Sequence[str], key: Sequence[str]) -> bool:
    """Whether these columns contain the join key, if there is one, so that its end ends groups."""
    return bool(key) and set(key) <= set(by)


def describe_grouping(by: Sequence[str], aggregates: Mapping[str, Aggregate], *, sheds: bool = False) -> str:
    """A text of all that open groups depend on, for checkpoints; the order of columns does not count."""
    calls = [f"{name} = {each.function}({each.column or ''})" for name, each in sorted(aggregates.items())]
    return f"{'estimates ' if sheds else ''}by {', '.join(sorted(by))}: {', '.join(calls)}"


def check_by(schema: pa.Schema, by: Sequence[str], *, is_distinct: bool = False) -> None:
    """Raise if results with these columns cannot be grouped by those."""
    call, advice = ("distinct", "take") if is_distinct else ("group_by", "group by")
    if not by:
        raise AggregateError(f"{call}() needs at least one column of the results")
    if len(set(by)) < len(by):
        raise AggregateError(f"{call}({', '.join(map(repr, by))}) names a column twice; name it once")
    _check_there(schema, by)
    for name in by:
        if pa.types.is_nested(schema.field(name).type):
            raise AggregateError(
                f"{call}({name!r}): the column is of type {schema.field(name).type}; {advice} a field of it"
            )


def _check_there(schema: pa.Schema, names: Sequence[str]) -> None:
    for name in names:
        if name not in schema.names:
            raise AggregateError(f"the results have no column {name!r}; {hint_of(name, schema.names, 'they have')}")


def check_aggregates(aggregates: Mapping[str, Aggregate]) -> None:
    """Raise if these are not aggregates of this library, or none at all."""
    if not aggregates:
        raise AggregateError("agg() needs at least one aggregate, such as n=pt.count()")
    for name, each in aggregates.items():
        if not isinstance(each, Aggregate):
            raise AggregateError(f"{name}={each!r} is not an aggregate; use pt.count(), pt.sum('column') and the like")


def check_grouping(
    schema: pa.Schema,
    by: Sequence[str],
    aggregates: Mapping[str, Aggregate],
    *,
    sheds: bool = False,
    is_distinct: bool = False,
) -> None:
    """Raise if a grouping or an aggregate names a column that the results lack, or cannot be computed.

    If the join sheds, aggregates that cannot be estimated from a sample are refused.
    """
    check_by(schema, by, is_distinct=is_distinct)
    if not is_distinct:
        check_aggregates(aggregates)
    _check_there(schema, [each.column for each in aggregates.values() if each.column is not None])
    for name, each in aggregates.items():
        if name in by:
            raise AggregateError(f"the aggregate {name!r} has the name of a grouping column; give it another one")
        if each.column is not None:
            _check_aggregate(each, schema.field(each.column).type)
        if sheds:
            _check_estimate(each)


def _check_estimate(aggregate: Aggregate) -> None:
    if not aggregate.kind.is_estimable:
        *most, last = (f"pt.{each.name}" for each in AGGREGATES.values() if each.is_estimable)
        raise AggregateError(
            f"{aggregate.function}({aggregate.column!r}) cannot be estimated, but the join sheds tuples: "
            f"use {', '.join(most)} or {last}, or join without shed="
        )


def _check_aggregate(aggregate: Aggregate, dtype: pa.DataType) -> None:
    takes = aggregate.kind.takes
    if not _TAKEN[takes](dtype):
        raise AggregateError(f"{aggregate.function}({aggregate.column!r}): the column is of type {dtype}{takes.value}")


def _is_number(dtype: pa.DataType) -> bool:
    return bool(pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype))


_TAKEN: Mapping[Takes, Callable[[pa.DataType], bool]] = {
    Takes.ANYTHING: lambda dtype: True,
    Takes.COMPARABLE: is_comparable,
    Takes.NUMBERS: _is_number,
}


def late_groups(spec: JoinSpec, key: Sequence[str], by: Sequence[str], *, is_one_group: bool = False) -> str | None:
    """Why groups are final only at the end of the streams, and what to do about it; None if they are not.

    `key` is the join key as the results have it. `is_one_group`: the columns of `by` are constants that nobody wrote.
    """
    punctuated = any(stream.punctuated for stream in spec.streams)
    if contains_key(by, key) and punctuated and spec.algorithm.propagation is not Propagation.NONE:
        return None
    streams = {1: "the stream has", 2: "both streams have"}.get(len(spec.streams), "all streams have")
    late = "one group of all rows is" if is_one_group else f"groups by {', '.join(by)} are"
    message = f"{late} final only when {streams} ended"
    known = "key" if spec.how is JoinType.UNION else "join key"
    of = "a punctuated stream" if len(spec.streams) == 1 else "punctuated streams"
    remedy = f": group by the {known} ({', '.join(key)}) of {of} to get them earlier" if key else ""
    return message + remedy

"""Groups over the results of a join, each emitted once: when an output punctuation says that it is final (PW-40).

Between batches only accumulators are kept, one row per open group, and where the join sheds those of its estimates.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.errors import AggregateError
from punctuated.join.exchange.bundle import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.join.intake.keys import KeyCodec
from punctuated.join.intake.pattern_match import match_columns
from punctuated.join.intake.take_in import sortable
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.widen import widen
from punctuated.join.shedding.estimates import PAIR_SCHEMA, GroupEstimates
from punctuated.model.aggregate import Aggregate, error_name

_VALID = pc.CountOptions(mode="only_valid")
_STRICT = pc.ScalarAggregateOptions(min_count=1)
_TIME = "\0ts"  # cannot clash with a user's column
Call = tuple[str | list[str], str, pc.FunctionOptions | None]  # columns, function, options


class GroupBy:
    """Accumulates results batch by batch and gives out groups that are final."""

    def __init__(
        self,
        schema: pa.Schema,
        by: Sequence[str],
        key: Sequence[str],
        aggregates: Mapping[str, Aggregate],
        codec: KeyCodec,
        *,
        sheds: bool = False,
    ) -> None:
        """`schema` is that of the results, `key` names the join key's columns among them.

        Where the join sheds, results have the columns of `PAIR_SCHEMA` too, and an aggregate becomes an estimate and
        its standard error.
        """
        self._by, self._key, self._aggregates, self._codec = list(by), list(key), dict(aggregates), codec
        check_grouping(schema, self._by, self._aggregates, sheds=sheds)
        self._exact = {} if sheds else self._aggregates
        self._estimates = GroupEstimates(self._aggregates) if sheds else None
        self._finishes = set(key) <= set(by)
        self._ordered = any(each.is_ordered for each in aggregates.values())
        self._schema = schema.append(pa.field(_TIME, pa.int64()))
        self._totals: pa.Table | None = None
        self._earliest: pa.Table | None = None
        self._latest: pa.Table | None = None

    @property
    def needs_times(self) -> bool:
        return self._ordered

    def process(self, batch: BatchResult) -> pa.Table:
        """Take in what a batch brought; returns the groups that are final now."""
        if batch.results:
            self._accumulate(batch)
        if self._estimates is not None:
            self._estimates.fold(batch.watermark)
        groups = self._finished()
        if self._totals is None:
            return groups
        final = np.ones(len(self._totals), np.bool_) if batch.ended else self._covered(batch)
        if not final.any():
            return groups
        groups = self._finish(final)
        self._keep(~final)
        return groups

    @property
    def schema(self) -> pa.Schema:
        """The columns of the groups."""
        return self._finished().schema

    def save(self) -> bytes:
        """The open groups as bytes."""
        kept = {"totals": self._totals, "earliest": self._earliest, "latest": self._latest}
        if self._estimates is not None and self._totals is not None:
            kept |= self._estimates.save()
        return pack_bundle({name: to_ipc(table) for name, table in kept.items() if table is not None})

    def load(self, saved: bytes) -> None:
        """Go on with the groups of `save`; the results may have gained columns meanwhile."""
        kept = {name: from_ipc(data) for name, data in unpack_bundle(saved).items()}
        self._totals = kept.pop("totals", None)
        if self._estimates is not None and self._totals is not None:
            self._estimates.load(kept)
        rows = {name: widen(kept[name], self._schema) for name in ("earliest", "latest") if name in kept}
        self._earliest, self._latest = rows.get("earliest"), rows.get("latest")

    # Accumulate

    def _accumulate(self, batch: BatchResult) -> None:
        results = pa.concat_tables(batch.results)
        before, self._totals = self._totals, self._merge_totals(self._partial(results))
        if self._estimates is not None:
            moved = np.empty(0, np.int64) if before is None else _places(before, self._totals, self._by)
            self._estimates.move(moved, len(self._totals))
            self._estimates.add(_places(results, self._totals, self._by), results)
        if self._ordered:
            timed = results.append_column(_TIME, pa.array(np.concatenate(batch.result_ts)))
            candidates = [table for table in (self._earliest, self._latest, timed) if table is not None]
            ordered = _by_time(pa.concat_tables([table.select(self._schema.names) for table in candidates]))
            firsts, lasts = _first_and_last(ordered, self._by)
            self._earliest, self._latest = ordered.take(firsts), ordered.take(lasts)

    def _partial(self, results: pa.Table) -> pa.Table:
        calls: list[Call] = [([], "count_all", None)]
        names = ["\0rows"]
        for name, each in self._exact.items():
            for function, suffix in _PARTS[each.function]:
                if each.column is not None:
                    calls.append((each.column, function, _OPTIONS.get(function)))
                    names.append(_part(name, suffix))
        return _aggregate(results, self._by, calls).rename_columns([*self._by, *names])

    def _merge_totals(self, partial: pa.Table) -> pa.Table:
        if self._totals is None:
            return partial
        both = pa.concat_tables([self._totals, partial], promote_options="permissive")
        calls: list[Call] = [(name, _merging(name), _STRICT) for name in partial.column_names[len(self._by) :]]
        return _aggregate(both, self._by, calls).rename_columns(partial.column_names).cast(partial.schema)

    # Finish

    def _covered(self, batch: BatchResult) -> npt.NDArray[np.bool_]:
        """Open groups whose join value an output punctuation of this batch has ended."""
        assert self._totals is not None
        covered = np.zeros(len(self._totals), np.bool_)
        if not self._finishes:
            return covered
        columns = [self._totals[name] for name in self._key]
        if batch.punctuations:
            said = pa.concat_tables([table.select(self._key) for table in batch.punctuations])
            ended, single = self._codec.encode(said.columns)
            codes, valid = self._codec.encode(columns)
            covered |= np.isin(codes, ended[single]) & valid
        for patterns in batch.ranges:
            covered |= match_columns(patterns, columns)
        return covered

    def _finish(self, final: npt.NDArray[np.bool_]) -> pa.Table:
        assert self._totals is not None
        totals = self._totals.filter(pa.array(final))
        columns = {name: totals[name] for name in self._by}
        for name, each in self._exact.items():
            columns[name] = self._value(totals, name, each)
        if self._estimates is not None:
            columns |= self._estimates.finish(final)
        return pa.table(columns)

    def _value(self, totals: pa.Table, name: str, each: Aggregate) -> pa.ChunkedArray:
        if each.column is None:
            return totals["\0rows"]
        if each.is_ordered:
            source = self._earliest if each.function == "first" else self._latest
            assert source is not None
            return _in_order_of(totals, source, self._by, each.column)
        if each.function == "mean":
            total, n = totals[_part(name, "sum")], totals[_part(name, "count")]
            return pc.divide(total.cast(pa.float64()), pc.if_else(pc.greater(n, 0), n, pa.scalar(None, n.type)))
        return totals[_part(name, each.function)]

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        assert self._totals is not None
        self._totals = self._totals.filter(pa.array(kept)).combine_chunks()
        if self._estimates is not None:
            self._estimates.move(np.where(kept, np.cumsum(kept) - 1, -1), len(self._totals))
        for attribute in ("_earliest", "_latest"):
            table = getattr(self, attribute)
            if table is not None:
                places = _places(self._totals, table, self._by)
                setattr(self, attribute, table.take(pa.array(places)).combine_chunks())

    def _finished(self) -> pa.Table:
        """No group at all, with the right columns."""
        nothing = pa.concat_tables([self._schema.empty_table()])
        empty = self._partial(nothing.drop_columns([_TIME]))
        columns = {name: empty[name] for name in self._by}
        for name, each in self._exact.items():
            if each.is_ordered and each.column is not None:
                columns[name] = nothing[each.column]
            else:
                columns[name] = self._value(empty, name, each)
        if self._estimates is not None:
            columns |= GroupEstimates(self._aggregates).finish(np.zeros(0, np.bool_))
        return pa.table(columns)


_PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "count": (("count", "count"),),
    "sum": (("sum", "sum"),),
    "min": (("min", "min"),),
    "max": (("max", "max"),),
    "mean": (("sum", "sum"), ("count", "count")),
    "first": (),
    "last": (),
}
_OPTIONS = {"count": _VALID, "sum": _STRICT, "min": _STRICT, "max": _STRICT}


def _aggregate(table: pa.Table, by: Sequence[str], calls: Sequence[Call]) -> pa.Table:
    """Grouping columns, then a column per call. Arrow takes a name that begins with a dot for a path: hence numbers."""
    places = {name: str(place) for place, name in enumerate(table.column_names)}
    grouped = pa.TableGroupBy(table.rename_columns(list(places.values())), [places[n] for n in by], use_threads=False)
    return grouped.aggregate(
        [(places[target] if isinstance(target, str) else target, *rest) for target, *rest in calls]
    )


def _part(name: str, function: str) -> str:
    return f"{name}\0{function}"


def _merging(name: str) -> str:
    function = name.rpartition("\0")[2]
    return function if function in ("min", "max") else "sum"


def _by_time(table: pa.Table) -> pa.Table:
    """Rows by (result time, columns from left to right)."""
    names = [_TIME, *(name for name in table.column_names if name != _TIME)]
    keyed = pa.table([sortable(table[name]) for name in names], names=[str(i) for i in range(len(names))])
    order = pc.sort_indices(keyed, sort_keys=[(name, "ascending") for name in keyed.column_names])
    return table.take(order)


def _first_and_last(table: pa.Table, by: Sequence[str]) -> list[pa.ChunkedArray]:
    """The first and the last place of each group."""
    numbered = table.select(list(by)).append_column(_TIME, pa.array(np.arange(len(table))))
    return list(_aggregate(numbered, by, [(_TIME, "min", None), (_TIME, "max", None)]).columns[-2:])


def _places(wanted: pa.Table, source: pa.Table, by: list[str]) -> npt.NDArray[np.int64]:
    """Where in `source`, which has each group once, the group of each row of `wanted` is."""
    stacked = pa.concat_tables([source.select(by), wanted.select(by)])
    numbered = stacked.append_column(_TIME, pa.array(np.arange(len(stacked))))
    members = _aggregate(numbered, by, [(_TIME, "list", None)]).column(len(by)).combine_chunks()
    group = np.empty(len(stacked), np.int64)
    group[np.asarray(members.flatten())] = np.asarray(pc.list_parent_indices(members))
    places = np.full(len(members), -1)
    places[group[: len(source)]] = np.arange(len(source))
    return np.asarray(places[group[len(source) :]])


def _in_order_of(totals: pa.Table, source: pa.Table, by: list[str], column: str) -> pa.ChunkedArray:
    return source[column].take(pa.array(_places(totals, source, by)))


def describe_grouping(by: Sequence[str], aggregates: Mapping[str, Aggregate], *, sheds: bool = False) -> str:
    """What open groups depend on, as text; the order of columns does not count."""
    calls = [f"{name} = {each.function}({each.column or ''})" for name, each in sorted(aggregates.items())]
    return f"{'estimates ' if sheds else ''}by {', '.join(sorted(by))}: {', '.join(calls)}"


def check_grouping(
    schema: pa.Schema, by: Sequence[str], aggregates: Mapping[str, Aggregate], *, sheds: bool = False
) -> None:
    """Raise if a grouping or an aggregate names a column that the results lack, or cannot be computed.

    Where the join sheds, an aggregate that a sample does not tell cannot.
    """
    if not by:
        raise AggregateError("group_by() needs at least one column of the results")
    if not aggregates:
        raise AggregateError("agg() needs at least one aggregate, such as n=pt.count()")
    wanted = [*by, *(each.column for each in aggregates.values() if each.column is not None)]
    for name in wanted:
        if name not in schema.names:
            raise AggregateError(f"the results have no column {name!r}; they have: {', '.join(schema.names)}")
    for name in by:
        if pa.types.is_nested(schema.field(name).type):
            raise AggregateError(
                f"group_by({name!r}): the column is of type {schema.field(name).type}; group by a field of it"
            )
    for name, each in aggregates.items():
        if name in by:
            raise AggregateError(f"the aggregate {name!r} has the name of a grouping column; give it another one")
        if each.column is not None:
            _check_aggregate(each, schema.field(each.column).type)
        if sheds:
            _check_estimate(name, each, [*by, *aggregates])
    clash = set(schema.names) & set(PAIR_SCHEMA.names) if sheds else None
    if clash:
        raise AggregateError(f"a join that sheds needs the name {min(clash)!r} for itself; rename the column")


def _check_estimate(name: str, aggregate: Aggregate, taken: Sequence[str]) -> None:
    if not aggregate.is_estimable:
        raise AggregateError(
            f"{aggregate.function}({aggregate.column!r}) cannot be estimated, and the join sheds tuples: "
            "use pt.count, pt.sum or pt.mean, or join without shed="
        )
    if error_name(name) in taken:
        raise AggregateError(
            f"the standard error of {name!r} has the name {error_name(name)!r}, which is taken; rename the other column"
        )


def _check_aggregate(aggregate: Aggregate, dtype: pa.DataType) -> None:
    call = f"{aggregate.function}({aggregate.column!r})"
    if aggregate.function in ("min", "max") and pa.types.is_nested(dtype):
        raise AggregateError(f"{call}: the column is of type {dtype}, which has no order")
    is_number = pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)
    if aggregate.function in ("sum", "mean") and not is_number:
        raise AggregateError(f"{call}: the column is of type {dtype}, not a number")

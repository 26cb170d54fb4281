"""Groups of the results of a join, each emitted once: when an output punctuation says that it is final (PW-40).

Between batches only the open groups are kept, numbered from 0, and what their aggregates or estimates need of them.
Open groups keep their numbers, new groups get the next ones, in the order in which they come.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
import pyarrow as pa

from punctuated.aggregates.accumulator import TIME, Ints, Mask, lengthen
from punctuated.aggregates.strategies import Aggregates
from punctuated.arrow.ipc import from_ipc, pack_bundle, to_ipc, unpack_bundle
from punctuated.arrow.types import canonical_floats
from punctuated.errors import SnapshotError
from punctuated.expressions.shape import Shape
from punctuated.kernels.layout import FOREVER, NEVER
from punctuated.kernels.numbering import first_occurrences, number_codes
from punctuated.keys.codec import OrderedKeys, key_codec
from punctuated.keys.pattern_match import match_columns
from punctuated.model.aggregate import Aggregate
from punctuated.output.batch_result import BatchResult
from punctuated.output.groups.grouping import check_grouping, contains_key
from punctuated.output.punctuations import OutputPunctuations
from punctuated.shedding.estimates import GroupEstimates

_GROUPS, _MOMENTS = "groups", "moments"
_ENOUGH = 16 << 20  # bytes of results that are grouped at a time: each time all open groups are looked at


# Numbers of groups


def number_groups(known: pa.Table, rows: pa.Table) -> tuple[Ints, pa.Table]:
    """The number of each row's group, and all groups by their numbers, the known ones first.

    >>> numbers, groups = number_groups(pa.table({"k": [7, 5]}), pa.table({"k": [5, None, 8, None]}))
    >>> numbers.tolist(), groups.to_pydict()
    ([1, 2, 3, 2], {'k': [7, 5, None, 8]})

    Both zeros are one group, and all NaNs are one group.
    """
    plain = pa.table([canonical_floats(rows[name]) for name in known.column_names], schema=known.schema)
    stacked = pa.concat_tables([known, plain])
    numbers = reduce(_combined, map(_encoded, stacked.columns))[len(known) :]
    fresh = stacked.slice(len(known)).take(pa.array(first_occurrences(numbers, len(known))))
    return numbers, pa.concat_tables([known, fresh]).combine_chunks()


def _encoded(column: pa.ChunkedArray) -> Ints:
    """Equal numbers for equal values, counted from 0 in the order in which they come."""
    if OrderedKeys.fits(column.type) and not column.null_count:
        return number_codes(read_only(OrderedKeys(column.type).encode([column])[0]))
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    chunks = plain.dictionary_encode("encode").chunks  # with one dictionary, which Arrow cannot unify if it has NaN
    return np.concatenate([np.empty(0, np.int64), *(np.asarray(chunk.indices) for chunk in chunks)]).astype(np.int64)


def read_only(codes: Ints) -> Ints:
    """A view that cannot be written, as arrays in Arrow's memory, so that kernels are compiled for one kind only."""
    view = codes.view()
    view.flags.writeable = False
    return view


def _combined(ours: Ints, other: Ints) -> Ints:
    pairs = ours * (other.max(initial=0) + 1) + other
    return number_codes(read_only(pairs))


# Groups as a stream


class FinalMoments:
    """When groups become final: the moment of the punctuation that ended their value.

    A moment is not earlier than any result of its group, nor earlier than the output watermark.
    """

    def __init__(self) -> None:
        self._latest = np.empty(0, np.int64)  # result of each open group
        self._watermark = NEVER

    def add(self, groups: Ints, n_groups: int, ts: Ints) -> None:
        """Add results: the groups that they belong to, and their times."""
        self._latest = lengthen(self._latest, n_groups, NEVER)
        np.maximum.at(self._latest, groups, ts)

    def take(self, ended_at: Ints, watermark: int) -> Ints:
        """The moments of the groups that have ended, which are then forgotten; `watermark` is that after the batch."""
        final = ended_at != FOREVER
        moments: Ints = np.maximum(np.maximum(ended_at, self._latest), self._watermark)[final]
        self._latest = self._latest[~final]
        self._watermark = max(self._watermark, watermark)
        return moments

    def save(self) -> pa.Table:
        """Everything as a table: the watermark, then the latest result of each group."""
        return pa.table({"latest": np.concatenate([[self._watermark], self._latest])})

    def load(self, saved: pa.Table) -> None:
        """Continue from what `save` gave."""
        latest = np.array(saved["latest"])
        self._watermark, self._latest = int(latest[0]), latest[1:]


# Groups


class GroupBy:
    """Accumulates results batch by batch and returns groups that are final."""

    def __init__(
        self,
        schema: pa.Schema,
        by: Sequence[str],
        key: Sequence[str],
        aggregates: Mapping[str, Aggregate],
        *,
        sheds: bool = False,
        timed: bool = False,
        shape: Shape | None = None,
        is_distinct: bool = False,
    ) -> None:
        """`schema` is that of the results, `key` names the join key's columns among them.

        `shape` says how groups are changed before they come out, and which of them come out.

        `timed` asks for the moments at which groups become final (see `as_results`). `is_distinct`: see `Distinct`.

        If the join sheds, results also have the columns of `PAIR_SCHEMA`, and an aggregate becomes an estimate and its
        standard error.
        """
        check_grouping(schema, by, aggregates, sheds=sheds, is_distinct=is_distinct)
        self._key = list(key)
        self._finishes = contains_key(by, key)
        self._ordered = any(each.kind.is_ordered for each in aggregates.values())
        self._groups = pa.schema([schema.field(name) for name in by]).empty_table()
        self._estimates = GroupEstimates(aggregates, by) if sheds else None
        self._values = self._estimates or Aggregates(schema, aggregates)
        self._moments = FinalMoments() if timed else None
        self._waiting: list[pa.Table] = []  # results that are not in their groups yet
        nothing = self._finish(np.zeros(0, np.bool_))
        self._shape, self._nothing = shape, nothing if shape is None else shape.shaped(nothing)

    def process(self, batch: BatchResult) -> pa.Table:
        """Add the results of a batch; returns the groups that are final now."""
        return self._process(batch)[0]

    def as_results(self, batch: BatchResult) -> BatchResult:
        """Add the results of a batch; returns the groups that are final now as if they came out of a join.

        A group's time is the moment when it became final. If the groups contain the join key, its punctuations hold for
        them, too. The watermark always does, because no later group becomes final before it.
        """
        groups, ts = self._process(batch)
        output = batch if self._finishes else replace(batch, punctuations=[], ranges=[])
        has_groups = len(groups) > 0
        return replace(output, results=[groups] if has_groups else [], result_ts=[ts] if has_groups else [])

    def _process(self, batch: BatchResult) -> tuple[pa.Table, Ints]:
        """The groups that are final now, and the moments since when, if these are wanted."""
        self._hold(batch)
        if self._estimates is not None:
            self._estimates.fold(batch.watermark)
        elif self._moments is None and not (batch.punctuations or batch.ranges or batch.ended):
            return self._nothing, np.empty(0, np.int64)
        self._accumulate()
        ended_at = self._ended_at(batch)
        final = ended_at != FOREVER
        ts = ended_at[final] if self._moments is None else self._moments.take(ended_at, batch.watermark)
        if not final.any():
            return self._nothing, ts
        groups = self._finish(final)
        self._groups = self._groups.filter(pa.array(~final)).combine_chunks()
        self._values.keep(~final)
        return (groups, ts) if self._shape is None else _shaped(groups, ts, self._shape)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the groups."""
        return self._nothing.schema

    def save(self) -> bytes:
        """The open groups as bytes."""
        self._accumulate()
        kept = {_GROUPS: self._groups, **self._values.save()}
        if self._moments is not None:
            kept[_MOMENTS] = self._moments.save()
        return pack_bundle({name: to_ipc(table) for name, table in kept.items()})

    def load(self, saved: bytes) -> None:
        """Continue with the groups of `save`; the results may have gained columns meanwhile."""
        kept = {name: from_ipc(data) for name, data in unpack_bundle(saved).items()}
        try:
            self._groups = kept.pop(_GROUPS).select(self._groups.column_names)
            if self._moments is not None:
                self._moments.load(kept.pop(_MOMENTS))
            self._values.load(kept)
        except KeyError:
            raise SnapshotError("the saved groups are of another version; start with a new checkpoint") from None

    def _hold(self, batch: BatchResult) -> None:
        """Keep the results of a batch until they are worth grouping."""
        if batch.results:
            rows = pa.concat_tables(batch.results)
            if self._ordered or self._moments is not None:
                rows = rows.append_column(TIME, pa.array(np.concatenate(batch.result_ts)))
            self._waiting.append(rows)
        if self._estimates is not None or sum(rows.nbytes for rows in self._waiting) >= _ENOUGH:
            self._accumulate()

    def _accumulate(self) -> None:
        """Add all results that wait to their groups."""
        if not self._waiting:
            return
        rows = pa.concat_tables(self._waiting)
        self._waiting = []
        numbers, self._groups = number_groups(self._groups, rows)
        self._values.add(numbers, len(self._groups), rows)
        if self._moments is not None:
            self._moments.add(numbers, len(self._groups), rows[TIME].to_numpy())

    def _ended_at(self, batch: BatchResult) -> Ints:
        """When an output punctuation of this batch, or the end of the streams, has ended each open group's value.

        FOREVER for groups that are still open.
        """
        ended_at = np.full(len(self._groups), NEVER)
        if self._finishes and ended_at.size:
            columns = [self._groups[name] for name in self._key]
            if batch.punctuations:
                ended_at = self._ended_by_name(batch.punctuations, columns)
            for each in batch.ranges:
                hit = match_columns(each.patterns, columns)
                ended_at[hit] = np.maximum(ended_at[hit], each.ts)
        return np.where(ended_at != NEVER, ended_at, batch.latest_ts if batch.ended else FOREVER)

    def _ended_by_name(self, punctuations: Sequence[OutputPunctuations], columns: Sequence[pa.ChunkedArray]) -> Ints:
        """When a punctuation of a single value has ended each open group's value, NEVER if none has."""
        codec = key_codec([column.type for column in columns])
        encoded = [(*codec.encode(each.keys), each.ts) for each in punctuations]
        ended, single, ts = (np.concatenate(each) for each in zip(*encoded, strict=True))
        codes, valid = codec.encode(columns)
        ended, ts = ended[single], ts[single]
        numbers = number_codes(read_only(np.concatenate([ended, codes])))
        at = np.full(numbers.max(initial=0) + 1, NEVER)
        at[numbers[: ended.size]] = ts
        return np.where(valid, at[numbers[ended.size :]], NEVER)

    def _finish(self, final: Mask) -> pa.Table:
        groups = self._groups.filter(pa.array(final))
        return pa.table({**dict(zip(groups.column_names, groups.columns, strict=True)), **self._values.finish(final)})


def _shaped(groups: pa.Table, ts: Ints, shape: Shape) -> tuple[pa.Table, Ints]:
    """Groups of which some are wanted, with the columns that are wanted, and their moments."""
    kept = shape.kept(groups)
    return shape.shaped(groups.filter(pa.array(kept))), ts[kept]


class Distinct(GroupBy):
    """Each combination of values of the results once, when it first appears: groups that come out when they open.

    A combination that came out is kept like an open group, so that it does not come out again. It is forgotten like a
    group when an output punctuation or the end says that it cannot come again.
    """

    def __init__(self, schema: pa.Schema, by: Sequence[str], key: Sequence[str]) -> None:
        """`schema` is that of the results, `key` names the join key's columns among them."""
        super().__init__(schema, by, key, {}, is_distinct=True)

    def _process(self, batch: BatchResult) -> tuple[pa.Table, Ints]:
        """Combinations that are new, and if results have times, when they appeared."""
        n_known, ts = len(self._groups), np.empty(0, np.int64)
        if batch.results:
            numbers, self._groups = number_groups(self._groups, pa.concat_tables(batch.results))
            if batch.result_ts:
                ts = _first_times(numbers, len(self._groups), np.concatenate(batch.result_ts))[n_known:]
        fresh = self._groups.slice(n_known)
        is_open = self._ended_at(batch) == FOREVER
        if not is_open.all():
            self._groups = self._groups.filter(pa.array(is_open)).combine_chunks()
        return fresh, ts


def _first_times(groups: Ints, n_groups: int, ts: Ints) -> Ints:
    """The earliest of the times that belong to each group.

    >>> _first_times(np.array([1, 0, 1]), 2, np.array([5, 4, 3])).tolist()
    [4, 3]
    """
    first = np.full(n_groups, FOREVER)
    np.minimum.at(first, groups, ts)
    return first

"""What a batch brings, as Arrow tables. Row numbers from the kernels become columns here, and `where` decides here."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.output.columns import ResultColumns
from punctuated.join.shedding.chances import Chances
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.range_output import OutputRange
from punctuated.join.state.rows import RowStore, ring_positions
from punctuated.kernels import layout as lay
from punctuated.model.pattern import Constant, Pattern
from punctuated.model.pattern_text import print_patterns
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec, JoinType
from punctuated.model.times import to_microseconds

Where = Callable[[pa.Table, pa.Table], npt.NDArray[np.bool_]]
Ints = npt.NDArray[np.int64]
REASONS = ("both", "early", "own-state")
REJECTIONS = ("late", "ahead", "promise", "after_output")
REJECTED_SCHEMA = pa.schema(
    [("stream", pa.string()), ("reason", pa.string()), ("ts", pa.int64()), ("row", pa.string())]
)


@dataclass
class BatchResult:
    """What one batch brings. Times are microseconds; `result_ts` is the time of each row of `results`, if asked for."""

    results: list[pa.Table] = field(default_factory=list)
    result_ts: list[Ints] = field(default_factory=list)
    punctuations: list[pa.Table] = field(default_factory=list)
    ranges: list[tuple[Pattern, ...]] = field(default_factory=list)  # output ranges, one pattern per key column
    rejected: list[pa.Table] = field(default_factory=list)
    watermark: int = lay.NEVER
    horizon: int = lay.NEVER  # no row so far is later
    ended: bool = False
    structures: tuple[str, str] | None = None  # of the windows, for the next batch

    def then(self, later: "BatchResult") -> "BatchResult":
        """This and what another batch brought after it, as one."""
        return BatchResult(
            self.results + later.results,
            self.result_ts + later.result_ts,
            self.punctuations + later.punctuations,
            self.ranges + later.ranges,
            self.rejected + later.rejected,
            later.watermark,
            later.horizon,
            later.ended,
            later.structures,
        )


def punctuation_schema(names: Sequence[str], types: Sequence[pa.DataType]) -> pa.Schema:
    """Key columns (null for ranges), the time in microseconds, the reason, and the pattern as text."""
    keys = [pa.field(name, dtype) for name, dtype in zip(names, types, strict=True)]
    return pa.schema([*keys, ("ts", pa.int64()), ("reason", pa.string()), ("pattern", pa.string())])


class Collector:
    """Empties the kernels' buffers into tables."""

    def __init__(
        self,
        spec: JoinSpec,
        columns: ResultColumns,
        codec: KeyCodec,
        rows: tuple[RowStore, RowStore],
        where: Where | None,
        with_times: bool,
        lists_ranges: bool,
        repeats: Side | None = None,
    ) -> None:
        """`repeats` is a side whose tuples another bucket has too, and tells of."""
        self._spec, self._columns, self._codec, self._rows, self._where = spec, columns, codec, rows, where
        self._with_times, self._lists_ranges, self._repeats = with_times, lists_ranges, repeats
        self._matched = [np.empty(0, np.bool_), np.empty(0, np.bool_)]
        self._output_watermark = lay.NEVER
        self._punctuation_schema = punctuation_schema(spec.left.key, codec.types)
        self.discards = False  # for measurements
        self.chances: Chances | None = None  # of the batch at hand, where estimates are made
        self.batch = BatchResult()

    @property
    def _settles_late(self) -> bool:
        """Whether a match is only known here, because an extra predicate decides."""
        return self._where is not None and self._spec.how is not JoinType.INNER

    def begin(self, state: JoinState, n_rows: tuple[int, int], output_watermark: int) -> None:
        """A new batch; `n_rows` counts the stored and the new rows per side."""
        self.batch = BatchResult()
        self._output_watermark = output_watermark
        if self._settles_late:
            for side in Side:
                matched = np.zeros(n_rows[side], np.bool_)
                nodes = state.arrays.nodes[ring_positions(state, side)]
                matched[nodes["row"]] = nodes["mark"] & lay.MATCHED != 0
                self._matched[side] = matched

    def drain_pairs(self, state: JoinState) -> None:
        """Take the results in the buffer, the only one that is likely to fill before a batch ends."""
        n_pairs = int(state.common["n_pairs"][0])
        if n_pairs and not self.discards:
            self._take_pairs(state.arrays.pairs[:, :n_pairs])
        state.common["n_pairs"] = 0

    def take_results(self) -> Iterator[BatchResult]:
        """The results so far, if there are any, as a part of the batch."""
        if self.batch.results:
            yield BatchResult(self.batch.results, self.batch.result_ts)
            self.batch.results, self.batch.result_ts = [], []

    def drain(self, state: JoinState) -> None:
        """Take what is in the buffers; pairs first, since they decide which tuples stay unmatched."""
        self.drain_pairs(state)
        common = state.common[0]
        if common["n_unmatched"]:
            self._take_unmatched(state.arrays.unmatched[: int(common["n_unmatched"])])
        if common["n_punctuations"]:
            self._take_punctuations(state.arrays.punctuations[: int(common["n_punctuations"])])
        if common["n_rejected"]:
            entries = state.arrays.rejected[: int(common["n_rejected"])]
            told = entries if self._repeats is None else entries[entries["side"] != self._repeats]
            state.common["rejected"] -= entries.size - told.size
            self._take_rejected(told)
        for cursor in ("n_unmatched", "n_punctuations", "n_rejected"):
            state.common[cursor] = 0

    def finish(self, state: JoinState) -> None:
        """End of the batch: matches found here are marked on the tuples that stay."""
        if self._settles_late:
            for side in Side:
                nodes, positions = state.arrays.nodes, ring_positions(state, side)
                hit = self._matched[side][nodes["row"][positions]]
                nodes["mark"][positions[hit]] |= lay.MATCHED

    # Results

    def _take_pairs(self, pairs: lay.Indices) -> None:
        left, right = pairs[LEFT], pairs[RIGHT]
        if self._where is not None:
            hit = self._where(self._all(LEFT, left), self._all(RIGHT, right))
            left, right = left[hit], right[hit]
        if self._spec.how in (JoinType.SEMI, JoinType.ANTI):
            left = self._first_matches(left)
            self._mark(LEFT, left)
            if self._spec.how is JoinType.SEMI and left.size:
                self._emit(LEFT, left, None)
            return
        self._mark(LEFT, left)
        self._mark(RIGHT, right)
        if left.size:
            self._emit(LEFT, left, right)

    def _all(self, side: Side, rows: lay.Indices) -> pa.Table:
        return self._rows[side].take(rows, list(self._spec.streams[side].columns))

    def _first_matches(self, left: lay.Indices) -> lay.Indices:
        if self._where is None:
            return left
        return np.unique(left[~self._matched[LEFT][left]])

    def _mark(self, side: Side, rows: lay.Indices) -> None:
        if self._settles_late:
            self._matched[side][rows] = True

    def _take_unmatched(self, unmatched: lay.Records) -> None:
        for side in Side:
            ours = unmatched[unmatched["side"] == side]
            if self._settles_late:
                ours = ours[~self._matched[side][ours["row"]]]
            if ours.size:
                self._emit(side, ours["row"], None, np.maximum(ours["ts"], self._output_watermark))

    def _emit(self, side: Side, rows: lay.Indices, other_rows: lay.Indices | None, ts: Ints | None = None) -> None:
        """Rows of one side, beside the matching rows of the other or nulls."""
        columns, n = self._columns, rows.size
        ours = self._rows[side].take(rows, [*columns.keys[side], *columns.payload[side]])
        keys, payload = ours.columns[: columns.n_key], ours.columns[columns.n_key :]
        if other_rows is None:
            schema = columns.schema
            theirs = [pa.nulls(n, schema.field(name).type) for name in columns.shown(side.other)]
        else:
            theirs = self._rows[side.other].take(other_rows, columns.payload[side.other]).columns
        table = pa.table([*keys, *(payload + theirs if side == LEFT else theirs + payload)], schema=columns.schema)
        if self.chances is not None and other_rows is not None:
            table = self.chances.add_to(table, rows, other_rows)  # only inner joins shed, so the side is the left one
        self.batch.results.append(table)
        if self._with_times:
            self.batch.result_ts.append(self._result_ts(side, rows, other_rows) if ts is None else ts.astype(np.int64))

    def _result_ts(self, side: Side, rows: lay.Indices, other_rows: lay.Indices | None) -> Ints:
        ours = self._times(side, rows)
        return ours if other_rows is None else np.maximum(ours, self._times(side.other, other_rows))

    def _times(self, side: Side, rows: lay.Indices) -> Ints:
        name = self._spec.streams[side].time
        return to_microseconds(self._rows[side].take(rows, [name]).column(0), name)

    # Punctuations and rejections

    def _take_punctuations(self, entries: lay.Records) -> None:
        keys = self._codec.decode(np.ascontiguousarray(entries["code"]))
        reasons = pa.array(REASONS).take(pa.array(np.ascontiguousarray(entries["reason"])))
        table = [*keys, pa.array(np.ascontiguousarray(entries["ts"])), reasons, _print_keys(keys)]
        self.batch.punctuations.append(pa.table(table, schema=self._punctuation_schema))

    def add_ranges(self, ranges: Sequence[OutputRange]) -> None:
        """Range punctuations of the output."""
        if not ranges:
            return
        self.batch.ranges += [each.patterns for each in ranges]
        if not self._lists_ranges:
            return
        n = len(ranges)
        keys = [pa.nulls(n, dtype) for dtype in self._codec.types]
        texts = [print_patterns(each.patterns, self._codec.types) for each in ranges]
        columns = [*keys, pa.array([each.ts for each in ranges], pa.int64()), pa.array(["both"] * n), pa.array(texts)]
        self.batch.punctuations.append(pa.table(columns, schema=self._punctuation_schema))

    def _take_rejected(self, entries: lay.Records) -> None:
        for side in Side:
            ours = entries[entries["side"] == side]
            for reason in np.unique(ours["reason"]).tolist():
                rows = ours["row"][ours["reason"] == reason]
                self.add_rejected(side, self._all(side, rows), REJECTIONS[reason])

    def add_rejected(self, side: Side, rows: pa.Table, reason: str) -> None:
        """Tuples that do not take part, each as JSON."""
        stream = self._spec.streams[side]
        ts = to_microseconds(rows[stream.time], stream.time)
        texts = [json.dumps(row, default=json_value, ensure_ascii=False) for row in rows.to_pylist()]
        n = len(texts)
        columns = [pa.array([stream.name] * n), pa.array([reason] * n), pa.array(ts), pa.array(texts, pa.string())]
        self.batch.rejected.append(pa.table(columns, schema=REJECTED_SCHEMA))


def _print_keys(keys: list[pa.Array]) -> pa.Array:
    """Punctuations that name one value, as text; integers, by far the most frequent, all at once."""
    if len(keys) == 1 and pa.types.is_integer(keys[0].type):
        return pc.binary_join_element_wise("<", keys[0].cast(pa.string()), ">", "")
    types = [key.type for key in keys]
    values = zip(*(_python_values(key) for key in keys), strict=True)
    return pa.array([print_patterns([Constant(value) for value in key], types) for key in values], pa.string())


def _python_values(key: pa.Array) -> list[Any]:
    """Values as patterns hold them: times are microseconds."""
    if pa.types.is_timestamp(key.type):
        return list(to_microseconds(pa.chunked_array([key]), "key").tolist())
    return list(key.to_pylist())


def json_value(value: Any) -> Any:
    """What JSON has no form for, as text."""
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)

"""The collector: row numbers from the kernels become columns here, and an extra predicate decides here."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from punctuated.join.intake.keys import KeyCodec
from punctuated.join.intake.take_in import Intake
from punctuated.join.output.batch_result import BatchResult
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.json_rows import render_values
from punctuated.join.output.rejected import RejectedRows
from punctuated.join.output.rejections import Rejections
from punctuated.join.output.views import punctuation_schema
from punctuated.join.setup import DriverSetup
from punctuated.join.shedding.chances import Chances
from punctuated.join.shedding.coins import Shares, turns
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.range_output import OutputRange
from punctuated.join.state.rows import RowStore, ring_positions
from punctuated.kernels import layout as lay
from punctuated.model.pattern import Constant
from punctuated.model.pattern_text import print_patterns
from punctuated.model.rejection import REJECTIONS
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinType
from punctuated.model.times import key_microseconds, to_microseconds

Where = Callable[[pa.Table, pa.Table], npt.NDArray[np.bool_]]
Ints = npt.NDArray[np.int64]
REASONS = ("both", "early", "own-state")
_REJECTIONS = tuple(REJECTIONS)  # by the kernels' codes


@dataclass(frozen=True)
class RowTimes:
    """Times by row number: stored rows come first, those of the batch at hand behind them."""

    stored: RowStore
    time: str
    batch: Ints

    def of(self, rows: lay.Indices) -> Ints:
        """The times of these rows, in microseconds."""
        n_stored = self.stored.n_stored
        is_new = rows >= n_stored
        if is_new.all():
            return self.batch[rows - n_stored]
        times = np.empty(rows.size, np.int64)
        times[is_new] = self.batch[rows[is_new] - n_stored]
        times[~is_new] = to_microseconds(self.stored.take(rows[~is_new], [self.time]).column(0), self.time)
        return times


class Collector:
    """Empties the kernels' buffers into tables."""

    def __init__(
        self,
        setup: DriverSetup,
        columns: ResultColumns,
        codec: KeyCodec,
        rows: tuple[RowStore, RowStore],
        where: Where | None,
    ) -> None:
        """`where` is what of the extra predicate is left to decide on pairs."""
        self._spec, self._setup = setup.spec, setup
        self._columns, self._codec, self._rows, self._where = columns, codec, rows, where
        self._matched = [np.empty(0, np.bool_), np.empty(0, np.bool_)]
        self._output_watermark = lay.NEVER
        self._punctuation_schema = punctuation_schema(setup.spec.left.key, codec.types)
        self._times: Sequence[RowTimes] = ()
        self._chances: Chances | None = None  # of the batch at hand, where estimates are made
        self.rejections = Rejections()
        self.batch = BatchResult()

    @property
    def _settles_late(self) -> bool:
        """Whether a match is only known here, because an extra predicate decides."""
        return self._where is not None and self._spec.how is not JoinType.INNER

    def begin(self, state: JoinState, intakes: Sequence[Intake], output_watermark: int) -> None:
        """A new batch; what intake has rejected comes out first."""
        self.batch = BatchResult()
        self._output_watermark = output_watermark
        self._times = [
            RowTimes(self._rows[side], self._spec.streams[side].time, intakes[side].objects.ts) for side in Side
        ]
        for side in Side:
            if self._settles_late:
                self._matched[side] = np.zeros(self._rows[side].n_stored + len(intakes[side].rows), np.bool_)
                nodes = state.arrays.nodes[ring_positions(state, side)]
                self._matched[side][nodes["row"]] = nodes["mark"] & lay.MATCHED != 0
            for rows, reason in intakes[side].rejected if side != self._setup.repeated else ():
                self._add_rejected(side, rows, reason)
                self.rejections.add(side, reason, len(rows))
                state.common["rejected"] += len(rows)

    def expect(self, order: lay.Indices, intakes: Sequence[Intake], shares: Shares | None) -> None:
        """The order in which tuples come, and which share of them probes, for those who estimate."""
        if self._setup.estimated and shares is not None:
            shares.check_chances((self._spec.left.name, self._spec.right.name))
            when = tuple(turns(order, side, len(intakes[side].rows)) for side in Side)
            self._chances = Chances(self._spec, self._rows, when, shares)

    def drain_pairs(self, state: JoinState) -> None:
        """Take the results in the buffer, the only one that is likely to fill before a batch ends."""
        n_pairs = int(state.common["n_pairs"][0])
        if n_pairs:
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
            told = self.pending_rejections(state)
            state.common["rejected"] -= int(common["n_rejected"]) - told.size
            self.rejections.add_entries(told)
            self._take_rejected(told)
        for cursor in ("n_unmatched", "n_punctuations", "n_rejected"):
            state.common[cursor] = 0

    def pending_rejections(self, state: JoinState) -> lay.Records:
        """What the loop has rejected and nobody has taken yet, but for what another bucket tells."""
        entries = state.arrays.rejected[: int(state.common["n_rejected"][0])]
        repeated = self._setup.repeated
        return entries if repeated is None else entries[entries["side"] != repeated]

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
            left, right = self._first_matches(left, right)
            self._mark(LEFT, left)
            if self._spec.how is JoinType.SEMI and left.size:
                self._emit(LEFT, left, None, self._result_ts(left, right))
            return
        self._mark(LEFT, left)
        self._mark(RIGHT, right)
        if left.size:
            self._emit(LEFT, left, right, self._result_ts(left, right))

    def _all(self, side: Side, rows: lay.Indices) -> pa.Table:
        return self._rows[side].take(rows, list(self._spec.streams[side].columns))

    def _first_matches(self, left: lay.Indices, right: lay.Indices) -> tuple[lay.Indices, lay.Indices]:
        """The first pair of each left row; right rows are numbered in the order in which they come."""
        if self._where is None:
            return left, right
        fresh = ~self._matched[LEFT][left]
        left, right = left[fresh], right[fresh]
        order = np.lexsort((right, left))
        rows, first = np.unique(left[order], return_index=True)
        return rows, right[order][first]

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

    def _emit(self, side: Side, rows: lay.Indices, other_rows: lay.Indices | None, ts: Ints | None) -> None:
        """Rows of one side, beside the matching rows of the other or nulls, and their times."""
        columns, n = self._columns, rows.size
        ours = self._rows[side].take(rows, [*columns.keys[side], *columns.payload[side]])
        keys, payload = ours.columns[: columns.n_key], ours.columns[columns.n_key :]
        if other_rows is None:
            schema = columns.schema
            theirs = [pa.nulls(n, schema.field(name).type) for name in columns.shown(side.other)]
        else:
            theirs = self._rows[side.other].take(other_rows, columns.payload[side.other]).columns
        table = pa.table([*keys, *(payload + theirs if side == LEFT else theirs + payload)], schema=columns.schema)
        if self._chances is not None and other_rows is not None:
            table = self._chances.add_to(table, rows, other_rows)  # only inner joins shed, so the side is the left one
        self.batch.results.append(table)
        if self._setup.timed and ts is not None:
            self.batch.result_ts.append(ts.astype(np.int64))

    def _result_ts(self, left: lay.Indices, right: lay.Indices) -> Ints | None:
        """The moments of matches, the later ones of both times, if they are asked for."""
        if not self._setup.timed:
            return None
        return np.maximum(self._times[LEFT].of(left), self._times[RIGHT].of(right))

    # Punctuations and rejections

    def _take_punctuations(self, entries: lay.Records) -> None:
        keys = self._codec.decode(np.ascontiguousarray(entries["code"]))
        reasons = pa.array(REASONS).take(pa.array(np.ascontiguousarray(entries["reason"])))
        table = [*keys, pa.array(np.ascontiguousarray(entries["ts"])), reasons, _print_keys(keys)]
        self.batch.punctuations.append(pa.table(table, schema=self._punctuation_schema))

    def add_ranges(self, ranges: Sequence[OutputRange]) -> None:
        """Range punctuations of the output."""
        self.batch.ranges += ranges
        if not ranges or not self._setup.place.speaks_for_all:
            return
        n = len(ranges)
        keys = [pa.nulls(n, dtype) for dtype in self._codec.types]
        texts = [print_patterns(each.patterns, self._codec.types) for each in ranges]
        ts, reasons = pa.array([each.ts for each in ranges], pa.int64()), pa.array([REASONS[lay.BOTH]] * n)
        self.batch.punctuations.append(pa.table([*keys, ts, reasons, pa.array(texts)], schema=self._punctuation_schema))

    def _take_rejected(self, entries: lay.Records) -> None:
        for side in Side:
            ours = entries[entries["side"] == side]
            for reason in np.unique(ours["reason"]).tolist():
                rows = ours["row"][ours["reason"] == reason]
                self._add_rejected(side, self._all(side, rows), _REJECTIONS[reason])

    def _add_rejected(self, side: Side, rows: pa.Table, reason: str) -> None:
        stream = self._spec.streams[side]
        self.batch.rejected.append(RejectedRows(stream.name, reason, rows, stream.time))


def _print_keys(keys: list[pa.Array]) -> pa.Array:
    """Punctuations that name one value, as text; integers, by far the most frequent, all at once."""
    if len(keys) == 1 and pa.types.is_integer(keys[0].type):
        return pc.binary_join_element_wise("<", keys[0].cast(pa.string()), ">", "")
    types = [key.type for key in keys]
    values = zip(*(_python_values(key) for key in keys), strict=True)
    return pa.array([print_patterns([Constant(value) for value in key], types) for key in values], pa.string())


def _by_value(key: pa.Array) -> list[Any]:
    try:
        return list(key.to_pylist())
    except (OverflowError, ValueError):  # Python's calendar ends with the year 9999, but dates do not
        return [json.loads(text) for text in render_values(key).to_pylist()]


def _python_values(key: pa.Array) -> list[Any]:
    """Values as patterns hold them, times in microseconds; patterns cannot tell finer ones, but texts can."""
    if not pa.types.is_timestamp(key.type):
        return _by_value(key)
    if key.type.unit == "ns":
        return list(pc.replace_substring(key.cast(pa.string()), " ", "T").to_pylist())
    return key_microseconds(key)

"""Results of a join of two streams: turns pairs of row numbers into columns, and applies an extra predicate."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.expressions.nodes import Expression
from punctuated.intake.prepare import PreparedBatch
from punctuated.kernels import layout as lay
from punctuated.keys.codec import KeyCodec
from punctuated.model.spec import LEFT, RIGHT, JoinType, Side
from punctuated.output.collector import Collector
from punctuated.shedding.coins import PairChances, Shares, turns
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore, ring_positions
from punctuated.state.setup import DriverSetup

Ints = npt.NDArray[np.int64]


class PairCollector(Collector):
    """Makes columns of pairs, and of tuples that have no match."""

    def __init__(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Expression | None = None
    ) -> None:
        super().__init__(setup, codec, rows, where)
        self._matched = [np.empty(0, np.bool_), np.empty(0, np.bool_)]
        self._chances: PairChances | None = None  # of the current batch, if estimates are made

    @property
    def _settles_late(self) -> bool:
        """Whether a match is only known here, because an extra predicate decides."""
        return self._where is not None and self._spec.how is not JoinType.INNER

    def begin(self, state: JoinState, intakes: Sequence[PreparedBatch], output_watermark: int) -> None:
        """Begin a batch; notes which of the stored tuples have found a match."""
        super().begin(state, intakes, output_watermark)
        self.rows_moved(state)

    def rows_moved(self, state: JoinState) -> None:
        """Marks on the stored tuples say which of them have found a match."""
        for side in Side if self._settles_late else ():
            self._matched[side] = np.zeros(self._rows[side].n_rows, np.bool_)
            nodes = state.arrays.nodes[ring_positions(state, side)]
            self._matched[side][nodes["row"]] = nodes["mark"] & lay.MATCHED != 0

    def expect(self, order: lay.Ints, intakes: Sequence[PreparedBatch], shares: Shares | None) -> None:
        """Take note of the order in which tuples come and of the share that probes, if estimates need it."""
        if self._setup.estimated and shares is not None:
            shares.check_chances((self._spec.left.name, self._spec.right.name))
            when = tuple(turns(order, side, len(intakes[side].rows)) for side in Side)
            self._chances = PairChances(self._spec, self._rows, when, shares)

    def finish(self, state: JoinState) -> None:
        """End of the batch: mark matches found here on the tuples that stay."""
        if self._settles_late:
            for side in Side:
                nodes, positions = state.arrays.nodes, ring_positions(state, side)
                hit = self._matched[side][nodes["row"][positions]]
                nodes["mark"][positions[hit]] |= lay.MATCHED

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
        n_key = len(columns.keys[side])
        keys, payload = ours.columns[:n_key], ours.columns[n_key:]
        if other_rows is None:
            schema = columns.schema
            theirs = [pa.nulls(n, schema.field(name).type) for name in columns.shown[side.other]]
        else:
            theirs = self._rows[side.other].take(other_rows, list(columns.payload[side.other])).columns
        table = pa.table([*keys, *(payload + theirs if side == LEFT else theirs + payload)], schema=columns.schema)
        table = self._shaped(table)
        if self._chances is not None and other_rows is not None:
            table = self._chances.add_to(table, rows, other_rows)  # only inner joins shed, so the side is the left one
        self.batch.results.append(table)
        if self._setup.timed and ts is not None:
            self.batch.result_ts.append(ts.astype(np.int64, copy=False))

    def _result_ts(self, left: lay.Indices, right: lay.Indices) -> Ints | None:
        """The times of matches, if wanted: the later of both tuples' times.

        A result that comes later, because a tuple was on disk, has the time at which it comes, so that it is not
        earlier than the output watermark.
        """
        if not self._setup.timed:
            return None
        return np.maximum(np.maximum(self._times[LEFT].of(left), self._times[RIGHT].of(right)), self._output_watermark)

"""The collector: turns the kernels' buffers into tables, for any number of streams.

The form of results depends on that number: a subclass says what the row numbers mean.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.expressions.evaluate import where_predicate
from punctuated.expressions.nodes import Expression
from punctuated.intake.prepare import PreparedBatch
from punctuated.kernels import layout as lay
from punctuated.keys.codec import Decoded, KeyCodec
from punctuated.model.pattern_text import print_patterns
from punctuated.model.rejection import BY_CODE, Rejection
from punctuated.model.times import to_microseconds
from punctuated.output.batch_result import BatchResult, RejectedTuples, Rejections
from punctuated.output.columns import ResultColumns
from punctuated.output.punctuations import OutputPunctuations
from punctuated.output.views import punctuation_schema
from punctuated.punctuations.pending_ranges import OutputRange
from punctuated.shedding.coins import Shares
from punctuated.state.arrays import JoinState
from punctuated.state.rows import RowStore
from punctuated.state.setup import DriverSetup

Ints = npt.NDArray[np.int64]
REASONS = ("both", "early", "own-state")


@dataclass(frozen=True)
class RowTimes:
    """Times by row number: those of the current batch are known, others are looked up."""

    stored: RowStore
    time: str
    batch: Ints

    def of(self, rows: lay.Indices) -> Ints:
        """The times of these rows, in microseconds."""
        n_stored = self.stored.n_stored
        is_new = (rows >= n_stored) & (rows < n_stored + self.batch.size)
        if is_new.all():
            return np.take(self.batch, rows - n_stored, mode="clip")  # without a check, which is five times as fast
        times = np.empty(rows.size, np.int64)
        times[is_new] = self.batch[rows[is_new] - n_stored]
        times[~is_new] = to_microseconds(self.stored.take(rows[~is_new], [self.time]).column(0), self.time)
        return times


class Collector(ABC):
    """Empties the kernels' buffers into tables."""

    def __init__(
        self, setup: DriverSetup, codec: KeyCodec, rows: tuple[RowStore, ...], where: Expression | None = None
    ) -> None:
        """`where` is the part of the extra predicate that is left to decide on results."""
        self._spec, self._setup = setup.spec, setup
        self._codec, self._rows = codec, rows
        self._where = None if where is None else where_predicate(where)
        self._columns = ResultColumns.of(setup.spec, setup.schemas, codec.types)
        self._output_watermark = lay.NEVER
        self._punctuation_schema = punctuation_schema(setup.spec.left.key, codec.types)
        self._times: Sequence[RowTimes] = ()
        self._reasons = pa.array(REASONS if len(setup.spec.streams) == 2 else ("all", *REASONS[1:]))
        self.rejections = Rejections(len(setup.spec.streams))
        self.batch = BatchResult()

    @property
    def schema(self) -> pa.Schema:
        """The columns of the results."""
        return self._columns.schema

    def begin(self, state: JoinState, intakes: Sequence[PreparedBatch], output_watermark: int) -> None:
        """A new batch; rows that the intake has rejected come out first."""
        self.batch = BatchResult()
        self._output_watermark = output_watermark
        named = zip(self._rows, self._spec.streams, intakes, strict=True)
        self._times = [RowTimes(rows, stream.time, intake.objects.ts) for rows, stream, intake in named]
        for side, intake in enumerate(intakes):
            for rows, reason in intake.rejected if side not in self._setup.repeated else ():
                self._add_rejected(side, rows, reason)
                self.rejections.add(side, reason, len(rows))
                state.common["rejected"] += len(rows)

    def expect(self, order: lay.Ints, intakes: Sequence[PreparedBatch], shares: Shares | None) -> None:  # noqa: B027
        """Take note of the order in which tuples come and of the share that probes, if estimates need it."""

    @abstractmethod
    def _take_pairs(self, pairs: lay.Indices) -> None:
        """Results as the kernels write them: one row of row numbers for each side."""

    @abstractmethod
    def _take_unmatched(self, unmatched: lay.Records) -> None:
        """Tuples that come out unmatched (layout.UNMATCHED)."""

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

    def hand_over(self) -> BatchResult:
        """What is left of the batch, at its end. Nothing stays here, since a bucket may rest for long."""
        batch, self.batch, self._times = self.batch, BatchResult(), ()
        return batch

    def drain(self, state: JoinState) -> None:
        """Take what is in the buffers; pairs first, since they decide which tuples stay unmatched."""
        self.drain_pairs(state)
        common = state.common[0]
        if common["n_unmatched"]:
            self._take_unmatched(state.arrays.unmatched[: int(common["n_unmatched"])])
        if common["n_punctuations"]:
            self._take_punctuations(state.arrays.punctuations[: int(common["n_punctuations"])])
        if common["n_rejected"]:
            entries = self.pending_rejections(state)
            state.common["rejected"] -= int(common["n_rejected"]) - entries.size
            self.rejections.add_entries(entries)
            self._take_rejected(entries)
        for cursor in ("n_unmatched", "n_punctuations", "n_rejected"):
            state.common[cursor] = 0

    def pending_rejections(self, state: JoinState) -> lay.Records:
        """What the loop has rejected and nobody has taken yet, except for what another bucket reports."""
        entries = state.arrays.rejected[: int(state.common["n_rejected"][0])]
        repeated = self._setup.repeated
        return entries[~np.isin(entries["side"], repeated)] if repeated else entries

    def finish(self, state: JoinState) -> None:  # noqa: B027
        """At the end of the batch, or within it: mark on stored tuples what was found out here, if anything was."""

    def rows_moved(self, state: JoinState) -> None:  # noqa: B027
        """Rows have new numbers, or there are more; what was found out is marked on their nodes."""

    def _shaped(self, results: pa.Table) -> pa.Table:
        """Results with the wanted columns."""
        return results if self._setup.shape is None else self._setup.shape.shaped(results)

    def _all(self, side: int, rows: lay.Indices) -> pa.Table:
        """All columns of these rows."""
        return self._rows[side].take(rows, list(self._spec.streams[side].columns))

    # Punctuations and rejections

    def _take_punctuations(self, entries: lay.Records) -> None:
        code, ts, reason = (entries[name].copy() for name in ("code", "ts", "reason"))
        self.batch.punctuations.append(self._punctuations(self._codec.decode_later(code), ts, reason))

    def add_ranges(self, ranges: Sequence[OutputRange]) -> None:
        """Range punctuations of the output."""
        self.batch.ranges += ranges
        if not ranges or not self._setup.place.is_primary:
            return
        keys = [pa.nulls(len(ranges), dtype) for dtype in self._codec.types]
        texts = pa.array([print_patterns(each.patterns, self._codec.types) for each in ranges])
        ts, reason = (np.array(each, np.int64) for each in zip(*((one.ts, one.reason) for one in ranges), strict=True))
        self.batch.punctuations.append(self._punctuations(lambda: keys, ts, reason, texts))

    def _punctuations(
        self, keys: Decoded, ts: Ints, reasons: Ints, texts: pa.Array | None = None
    ) -> OutputPunctuations:
        return OutputPunctuations(self._punctuation_schema, keys, ts, reasons, self._reasons, texts)

    def _take_rejected(self, entries: lay.Records) -> None:
        for side in self._spec.sides:
            ours = entries[entries["side"] == side]
            for reason in np.unique(ours["reason"]).tolist():
                rows = ours["row"][ours["reason"] == reason]
                self._add_rejected(side, self._all(side, rows), BY_CODE[reason])

    def _add_rejected(self, side: int, rows: pa.Table, reason: Rejection) -> None:
        stream = self._spec.streams[side]
        self.batch.rejected.append(RejectedTuples(stream.name, reason, rows, stream.time))

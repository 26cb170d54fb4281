"""The driver owns time and batches; the kernels own the work of one object after another.

It hands a batch to the loop, gives room when the loop asks for it, carries out range endings, and keeps in order what
outlives the batch: rows, keys, and the memory of punctuations. It knows nothing of engines: the same driver serves a
table and a bucket of a cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter

import numpy as np
import pyarrow as pa

from punctuated.errors import PromiseBroken
from punctuated.join.exchange.tick import Key, key_rank
from punctuated.join.intake.keys import NumberedKeys, key_codec
from punctuated.join.intake.promises import Promise, broken
from punctuated.join.intake.take_in import Intake, take_in
from punctuated.join.output.collector import BatchResult, Collector, Where
from punctuated.join.output.columns import ResultColumns
from punctuated.join.output.counters import Samples
from punctuated.join.shedding.chances import Chances
from punctuated.join.shedding.coins import Shares, turns
from punctuated.join.shedding.control import HIDDEN, Allocate, ShedControl
from punctuated.join.state.arrays import JoinState
from punctuated.join.state.budget import Budget
from punctuated.join.state.memory import PunctuationMemory
from punctuated.join.state.pending_ranges import Pending
from punctuated.join.state.range_endings import RangeEndings
from punctuated.join.state.range_output import OutputRange
from punctuated.join.state.rows import RowStore, ring_positions
from punctuated.join.tactics.pairing import Pairing
from punctuated.join.tactics.range_predicate import RangePredicate
from punctuated.join.tactics.window_statistics import Chooser, WindowStatistics
from punctuated.kernels import layout as lay
from punctuated.kernels.clock import expect_values, leave_value
from punctuated.kernels.hash_index import inherit_all
from punctuated.kernels.merge import merge_order
from punctuated.kernels.process import finish_batch, process_batch
from punctuated.kernels.process_pairs import process_pairs
from punctuated.model.algorithm import Propagation
from punctuated.model.batch import StreamBatch
from punctuated.model.bucket import BucketPlace
from punctuated.model.pattern import WILDCARD
from punctuated.model.punctuation import Punctuation
from punctuated.model.side import LEFT, RIGHT, Side
from punctuated.model.spec import JoinSpec

ONLY_BUCKET = BucketPlace()
_LARGEST_QUOTA = 1 << 15


class JoinDriver:
    """A two-way join, batch by batch."""

    def __init__(
        self,
        spec: JoinSpec,
        schemas: tuple[pa.Schema, pa.Schema],
        key_types: Sequence[pa.DataType],
        *,
        where: Where | None = None,
        ranged: RangePredicate | None = None,
        chooser: Chooser | None = None,
        allocate: Allocate | None = None,
        with_times: bool = False,
        with_chances: bool = False,
        sample_us: int | None = None,
        hash_bits: int = 64,
        place: BucketPlace = ONLY_BUCKET,
        definition: Mapping[str, str] | None = None,
    ) -> None:
        """`schemas` are those of the tuples, keys already of `key_types`.

        `where` decides on pairs that were found; `ranged` is the part of a predicate that windows' structures serve,
        and `chooser` may change these structures after a batch. `allocate` divides what there is of CPU and memory,
        where the join sheds, and `with_chances` asks for what estimates need to know of each result.
        `with_times` asks for the time of each result, `sample_us` for metrics at this step of event time. `place` says
        which bucket of a join this is; output ranges are the same in all, and only the one that speaks for all lists
        them. `definition` is what a saved state depends on beside `spec`, as text by name.
        """
        self.spec = spec
        self.definition = dict(definition or {})
        self.codec = key_codec(key_types, hash_bits)
        self.columns = ResultColumns.of(spec, schemas, self.codec.types)
        self.schemas = schemas
        assert (spec.shed is None) == (allocate is None)
        self.shedding = ShedControl(spec.shed, spec.streams, allocate) if spec.shed and allocate else None
        hidden = [] if self.shedding is None else list(HIDDEN)
        self.rows = RowStore(pa.schema([*schemas[LEFT], *hidden])), RowStore(pa.schema([*schemas[RIGHT], *hidden]))
        self._with_chances = with_chances
        self._budget = Budget(spec.bucket_bytes, str(place), lambda: self.nbytes)
        self.state = JoinState(spec, self._budget.allow, filtered=where is not None, hash_bits=hash_bits)
        self._chooser, self._statistics = chooser, WindowStatistics()
        self.pairing = None if spec.algorithm.structures is None else Pairing(spec, self.codec, ranged)
        self.memory = PunctuationMemory(spec.max_punctuations, place if self.codec.merges else None)
        self.ranges = RangeEndings(self.codec, spec.algorithm.propagation is not Propagation.NONE)
        self.promises: tuple[list[Promise], list[Promise]] = ([], [])
        self.clusters: list[tuple[int, Key] | None] = [None, None]  # where clustered streams stand
        self.last_seen: list[int | None] = [None, None]  # the engine's time of each stream's last batch
        self.samples = Samples(sample_us)
        self._speaks_for_all = place.speaks_for_all
        self._repeats = None if place.speaks_for_all else spec.everywhere  # a side of which another bucket tells
        self._collector = Collector(
            spec, self.columns, self.codec, self.rows, where, with_times, place.speaks_for_all, self._repeats
        )

    def process(self, left: StreamBatch, right: StreamBatch) -> BatchResult:
        """One batch of both streams."""
        whole = BatchResult()
        for part in self.process_in_parts(left, right):
            whole = whole.then(part)
        return whole

    def process_in_parts(self, left: StreamBatch, right: StreamBatch) -> Iterator[BatchResult]:
        """The same bit by bit: results as they are found, so that memory is used again; all else in the last part."""
        watermark = self.output_watermark
        intakes = self._take_in(LEFT, left), self._take_in(RIGHT, right)
        if self.shedding is not None:
            self.shedding.apply(intakes)
        for intake in intakes:
            intake.close()
        self._begin(intakes, watermark)
        self._budget.allow(sum(intake.rows.nbytes for intake in intakes))
        inputs = intakes[LEFT].objects, intakes[RIGHT].objects
        order = merge_order(*inputs)
        if self._with_chances and self.shedding is not None:
            self._collector.chances = self._chances(order, intakes, self.shedding.shares)
        self.state.quota = min(_LARGEST_QUOTA, max(1, order.size))
        self._note_promises(intakes, order)
        if not self._speaks_for_all:
            self._leave_uncounted(intakes)
        at = 0
        for stop, time in self.samples.stops(inputs, order.size):
            while at < stop:
                at = self._run(order, at, stop, intakes)
                yield from self._collector.take_results()
            self.samples.take(time, self.state, self.memory.forgotten)
        yield self._finish(order.size)

    def end(self) -> BatchResult:
        """A last batch: both streams end, left first, and all that is left comes out."""
        newest = self.state.sides["newest"].tolist()
        ends = []
        for side in Side:
            known = [ts for ts in (newest[side], newest[side.other], 0) if ts != lay.NEVER]
            everything = Punctuation(known[0], (WILDCARD,) * len(self.spec.streams[side].columns))
            ends.append(StreamBatch(self.schemas[side].empty_table(), punctuations=(everything,)))
        return self.process(*ends)

    def count_rejected(self, n: int) -> None:
        """Rows were rejected before they came here."""
        self.state.common["rejected"] += n

    @property
    def output_watermark(self) -> int:
        """No result to come is earlier."""
        return int(self.state.sides["watermark"].min())

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept between batches."""
        parts = (self.state, self.memory, self.ranges, *self.rows)
        return sum(part.nbytes for part in parts) + self.codec.nbytes()

    def refresh_memory(self) -> None:
        """The memory of punctuations was replaced from outside."""
        self._remember()

    def discard_output(self) -> None:
        """Count results without making columns of them, to measure the loop alone."""
        self._collector.discards = True

    # A batch

    def _take_in(self, side: Side, batch: StreamBatch) -> Intake:
        stream, ours = self.spec.streams[side], self.state.sides[side]
        keys_of = None if self.pairing is None else partial(self.pairing.keys, side)
        intake = take_in(stream, batch, self.codec, ours, keys_of)
        fresh = [Promise(stream.columns, each.patterns, each.ts) for each in intake.promises]
        if self.promises[side] or fresh:
            mask = broken(self.promises[side], fresh, intake.rows, intake.objects.ts, int(ours["watermark"]))
            intake.objects.status[mask] |= lay.BROKEN
        if self.ranges or intake.ranges:
            intake.objects.status[self.ranges.broken(side, intake, stream.key)] |= lay.BROKEN
        return intake

    def _begin(self, intakes: tuple[Intake, Intake], watermark: int) -> None:
        for side in Side:
            self.state.sides["base_row"][side] = self.rows[side].begin(intakes[side].rows)
            self.state.sides["appended"][side] = 0
        n_rows = [self.rows[side].n_stored + len(intakes[side].rows) for side in Side]
        self._collector.begin(self.state, (n_rows[LEFT], n_rows[RIGHT]), watermark)
        for side in Side:
            for rows, reason in intakes[side].rejected if side != self._repeats else ():
                self._collector.add_rejected(side, rows, reason)
                self.state.common["rejected"] += len(rows)
        common = self.state.common
        common["first_seq"] = common["seq"]
        common["due"] = lay.NEVER
        if self.ranges:
            self.ranges.show(self.state)
        for side in Side:
            self.state.sides["batch_newest"][side] = intakes[side].times.newest
            if self.spec.streams[side].clustered:
                self._move_cluster(side, intakes[side].times.cluster)
                expect_values(self.state.arrays, int(side), intakes[side].last_codes)

    def _move_cluster(self, side: Side, newest: tuple[int, Key] | None) -> None:
        """Say where a clustered stream stands, and which value it has left."""
        before = self.clusters[side]
        standings = [each for each in (before, newest) if each is not None]
        if not standings:
            return
        now = max(standings, key=lambda each: (each[0], key_rank(each[1])))
        self.clusters[side] = now
        ours = self.state.sides[side : side + 1]
        ours["in_cluster"] = 0
        if None not in now[1]:
            ours["in_cluster"], ours["cluster"] = 1, self._code(now[1])
        if before is not None and before[1] != now[1] and None not in before[1]:
            self._grow()
            leave_value(self.state.arrays, int(side), self._code(before[1]))

    def _code(self, key: Key) -> int:
        columns = [
            pa.chunked_array([pa.array([value], dtype)]) for value, dtype in zip(key, self.codec.types, strict=True)
        ]
        return int(self.codec.encode(columns)[0][0])

    def _note_promises(self, intakes: tuple[Intake, Intake], order: lay.Indices) -> None:
        """Punctuations that end no value are remembered for the check of later batches."""
        first_seq = int(self.state.common["first_seq"][0])
        for side in Side:
            objects = intakes[side].objects
            if not intakes[side].promises or self.state.sides["end_ts"][side] != lay.FOREVER:
                continue
            ends = np.flatnonzero(objects.punctuation_kind == lay.END_STREAM)
            noted = np.flatnonzero(objects.punctuation_kind == lay.PROMISE_ONLY)
            for i in noted[: np.searchsorted(noted, ends[0]) if ends.size else None].tolist():
                said = intakes[side].promises[int(objects.punctuation_code[i])]
                place = int(np.flatnonzero(order == 4 * i + 2 + side)[0])
                self.state.common["timers"] += 1
                number = int(self.state.common["timers"][0])
                columns = self.spec.streams[side].columns
                self.promises[side].append(Promise(columns, said.patterns, said.ts, number, first_seq + place + 1))

    def _chances(self, order: lay.Indices, intakes: tuple[Intake, Intake], shares: Shares) -> Chances:
        shares.check_chances((self.spec.left.name, self.spec.right.name))
        base_rows = self.state.sides["base_row"].tolist()
        when = turns(order, LEFT, len(intakes[LEFT].rows)), turns(order, RIGHT, len(intakes[RIGHT].rows))
        return Chances(self.spec, self.rows, (base_rows[LEFT], base_rows[RIGHT]), when, shares)

    def _leave_uncounted(self, intakes: tuple[Intake, Intake]) -> None:
        """What comes to all buckets is counted where one speaks for all.

        That is tuples of a side that goes everywhere, and punctuations that name no values.
        """
        if self._repeats is not None:
            self.state.sides["tuples"][self._repeats] -= len(intakes[self._repeats].rows)
        for side in Side:
            in_all = intakes[side].objects.punctuation_kind != lay.END_VALUE
            self.state.sides["punctuations"][side] -= np.count_nonzero(in_all)

    def _run(self, order: lay.Indices, at: int, stop: int, intakes: tuple[Intake, Intake]) -> int:
        """Let the loop run towards `stop`, and do what it asks for when it comes back."""
        at = self._loop(order, at, stop, intakes[LEFT].objects, intakes[RIGHT].objects)
        why = self.state.common[0]["stopped_by"]
        if why == lay.NEEDS_ROOM:
            self._make_room()
        elif why == lay.NEEDS_TIMERS:
            self._grow()
        elif why == lay.RANGE_DUE:
            self._fire_range()
        elif why == lay.MET_RANGE:
            self._meet_range(order[at], intakes)
            at += 1
        elif why == lay.BROKE_PROMISE:
            self._fail(order[at], intakes)
        return at

    def _loop(self, order: lay.Indices, at: int, stop: int, left: lay.Objects, right: lay.Objects) -> int:
        state = self.state
        if self.pairing is None:
            return int(process_batch(order, at, stop, left, right, state.arrays))
        return int(process_pairs(order, at, stop, left, right, state.arrays, state.indexes.arrays, state.found))

    def _grow(self) -> bool:
        if self.state.lacks_values:
            self._archive()
        return self.state.make_room()

    def _make_room(self) -> None:
        """The loop could not go on: some buffer is full, if no other then that of the pairs."""
        grown = self._grow()
        n_pairs = int(self.state.common["n_pairs"][0])
        if n_pairs and (not grown or 2 * n_pairs > self.state.arrays.pairs.shape[1]):
            self._collector.drain_pairs(self.state)
        elif not grown:
            self.state.grow_pairs()

    def _fail(self, reference: int, intakes: tuple[Intake, Intake]) -> None:
        side = Side(int(reference) & 1)
        row = intakes[side].rows.slice(int(reference) >> 2, 1).to_pylist()[0]
        stream = self.spec.streams[side].name
        raise PromiseBroken(
            f"stream {stream!r} brought {row} after a punctuation had ended its value; "
            "correct the stream, or declare it with on_violation='reject' or 'accept'"
        )

    # Range endings

    def _meet_range(self, reference: int, intakes: tuple[Intake, Intake]) -> None:
        side = Side(int(reference) & 1)
        intake = intakes[side]
        place = int(intake.objects.punctuation_code[int(reference) >> 2])
        self._grow()
        self._put_out(self.ranges.meet(side, intake.ranges[place], self.state))

    def _fire_range(self) -> None:
        self._grow()
        self._put_out(self.ranges.fire(self.state))

    def _put_out(self, ranges: Sequence[OutputRange]) -> None:
        self._collector.add_ranges(ranges)
        self.state.common["punctuations_out"] += len(ranges) if self._speaks_for_all else 0

    # What outlives the batch

    def _archive(self) -> None:
        if self.state.punctuated and self.state.common[0]["n_done"]:
            self.memory.archive(self.state)
            self._remember()

    def _remember(self) -> None:
        """Let the loop see the memory of punctuations as it is now."""
        self.ranges.show(self.state)
        self.state.show_runs(self.memory.runs.records())

    def _remember_anew(self) -> None:
        """The memory has changed for values that are known already."""
        self._remember()
        inherit_all(self.state.arrays)

    def _finish(self, n_objects: int) -> BatchResult:
        state = self.state
        state.common["seq"] = state.common["first_seq"] + n_objects + 1
        while (why := finish_batch(state.arrays)) != lay.DONE:
            if why == lay.NEEDS_ROOM:
                self._make_room()
            else:
                self._fire_range()
        self._collector.drain(state)
        self._collector.finish(state)
        self._archive()
        self.ranges.settle(state, self.output_watermark)
        self._enforce_cap()
        for side in Side:
            self.rows[side].commit(state, side)
        self._forget_keys()
        if self._chooser is not None:
            self._adapt(self._chooser)
        batch = self._collector.batch
        batch.watermark = self.output_watermark
        times = [*state.sides["newest"].tolist(), *state.sides["watermark"].tolist()]
        batch.horizon = max(time for time in times if time < lay.FOREVER)
        batch.structures = None if self.pairing is None else self.structures
        batch.ended = bool((state.sides["end_ts"] != lay.FOREVER).all())
        return batch

    def _enforce_cap(self) -> None:
        if not self.state.punctuated:
            return
        if self.memory.fits(self.state, len(self.ranges) + sum(map(len, self.promises))):
            return
        covered, waiting = self.ranges.ages()
        arrived: list[Pending | Promise] = [*waiting, *self.promises[LEFT], *self.promises[RIGHT]]
        arrived.sort(key=attrgetter("order"))
        before = self.memory.forgotten
        gone = self.memory.enforce(self.state, [*covered.tolist(), *(each.touched for each in arrived)])
        if self.memory.forgotten > before:
            orders = {arrived[at - covered.size].order for at in gone if at >= covered.size}
            for promises in self.promises:
                promises[:] = [each for each in promises if each.order not in orders]
            self.ranges.forget(sorted(at for at in gone if at < covered.size), orders, self.state)
            self._remember_anew()

    def node_codes(self, side: Side, rows: pa.Table) -> lay.Ints:
        """The values that hold these tuples."""
        if self.pairing is not None:
            return np.zeros(len(rows), np.int64)
        return self.codec.encode([rows[name] for name in self.spec.streams[side].key])[0]

    def reindex(self) -> None:
        """The state was restored: stored tuples enter the structures of their windows anew."""
        if self.pairing is None:
            return
        positions = [ring_positions(self.state, side) for side in Side]
        keys = []
        for side in Side:
            rows = self.state.arrays.nodes["row"][positions[side]]
            stored = self.rows[side].take(rows, list(self.spec.streams[side].columns))
            keys.append(self.pairing.keys(side, stored)[:3])
        group, low, high = (np.concatenate(both) for both in zip(*keys, strict=True))
        self.state.index_nodes((positions[LEFT], positions[RIGHT]), group, low, high)

    @property
    def structures(self) -> tuple[str, str]:
        """Of the windows, at present."""
        return self.state.indexes.structures

    def restructure(self, structures: tuple[str, str]) -> None:
        """Other structures for the windows; what is stored stays."""
        self.state.restructure(structures)

    def _adapt(self, choose: Chooser) -> None:
        """Rates may have shifted: the windows get the structures that are cheapest now (KN-32)."""
        seen = self._statistics.observe(self.state)
        if seen is not None and (chosen := choose(seen, self.structures)) != self.structures:
            self.restructure(chosen)

    def _forget_keys(self) -> None:
        """Numbered keys that neither a value nor the memory of punctuations needs any more go."""
        if not isinstance(self.codec, NumberedKeys):
            return
        if self.pairing is not None:
            moved = self.codec.keep_only(np.unique(self.state.groups()))
            if moved is not None:
                self.state.regroup(moved)
            return
        known = self.state.arrays.values["code"][: self.state.n_values]
        codes = np.unique(np.concatenate([known, self.memory.runs.low]))
        self.ranges.note_keys()
        moved = self.codec.keep_only(codes)
        if moved is None:
            return
        known[:] = moved[known]
        self.memory.renumber(moved)
        self.ranges.renumber(moved)
        self.state.collect_values()
        self._remember()

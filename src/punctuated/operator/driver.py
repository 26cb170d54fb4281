"""The driver owns time, batches and output; its tactic owns the work of one object after another.

It takes in a batch, lets the tactic run through it, makes room when the tactic asks for it, and handles the output
and what outlives the batch. It knows nothing of engines: the same driver serves a table and a bucket of a cluster.
"""

from collections.abc import Iterator, Sequence, Set
from functools import cached_property

import numpy as np
import pyarrow as pa

from punctuated.errors import PromiseBroken
from punctuated.intake.idle import IdleStreams
from punctuated.intake.prepare import PreparedBatch, merge_order, prepare_batch
from punctuated.kernels import layout as lay
from punctuated.kernels.batch import finish_batch
from punctuated.kernels.order import unpack_object
from punctuated.keys.codec import NumberedKeys, key_codec
from punctuated.model.batch import StreamBatch
from punctuated.model.pattern import WILDCARD
from punctuated.model.punctuation import Punctuation
from punctuated.model.rejection import Rejection
from punctuated.operator.family import family_of
from punctuated.output.batch_result import BatchResult
from punctuated.output.metrics import Samples, current_counts
from punctuated.punctuations.memory import PunctuationState
from punctuated.punctuations.pending_ranges import OutputRange
from punctuated.shedding.coins import HIDDEN
from punctuated.shedding.control import ShedControl
from punctuated.snapshot.fingerprint import Fingerprint
from punctuated.snapshot.parts import SavedPart
from punctuated.spill.policy import Stored
from punctuated.state.budget import Budget
from punctuated.state.fingerprint import fingerprint_of
from punctuated.state.rows import RowStore
from punctuated.state.saved_arrays import SavedArrays
from punctuated.state.setup import DriverSetup
from punctuated.storage.scratch import Scratch

_LARGEST_QUOTA = 1 << 15  # objects that buffers of punctuations have room for at a time


class JoinDriver:
    """A join, batch by batch. `tactic`, `collector` and `shedding` may be replaced before the first batch, as a
    calibration does.

    It does not know how many streams there are: only its tactic, its state and its collector depend on that.
    """

    def __init__(self, setup: DriverSetup) -> None:
        self.setup, self.spec, self.schemas = setup, setup.spec, setup.schemas
        self.codec = key_codec(setup.key_types, setup.hash_bits)
        self.shedding = _shed_control(setup)
        hidden = [] if self.shedding is None else list(HIDDEN)
        self.rows = tuple(RowStore(pa.schema([*schema, *hidden])) for schema in setup.schemas)
        self._allow = _allow_all if setup.largest is None else self._budget(setup.largest).allow
        family = family_of(setup.spec)
        self.tactic, self.collector = family.build(setup, self.codec, self.rows, self._allow)
        self.state = self.tactic.state
        self.punctuations = PunctuationState(setup.spec, setup.schemas, self.codec, self.state, setup.place)
        self.idle = IdleStreams(setup.spec.streams) if setup.spec.follows_others else None
        self.samples = Samples(setup.sample_us, len(setup.spec.streams), setup.sample_from_us)
        self.spill = family.spill(self._stored, setup.tables or Scratch()) if setup.spec.may_spill else None

    def _budget(self, largest: int) -> Budget:
        return Budget(largest, str(self.setup.place), lambda: self.nbytes)

    @property
    def _stored(self) -> Stored:
        parts = self.codec, self.state, self.rows, self.punctuations, self.collector
        return Stored(self.setup, *parts, self.tactic.node_codes)

    @property
    def parts(self) -> dict[str, SavedPart]:
        """Everything that is saved after a batch, in the order in which it is loaded."""
        parts: dict[str, SavedPart] = {"keys": self.codec} if isinstance(self.codec, NumberedKeys) else {}
        parts["arrays"] = self._arrays
        parts |= {**self.punctuations.parts, **self.tactic.parts}
        parts |= {} if self.idle is None else {"idle": self.idle}
        parts["rejections"] = self.collector.rejections
        parts |= {} if self.spill is None else self.spill.parts
        return parts if self.shedding is None else {**parts, "shedding": self.shedding}

    @cached_property
    def _arrays(self) -> SavedArrays:
        return SavedArrays(self.spec, self.state, self.rows, self.tactic.node_codes)

    def expect(self, saved: Set[str]) -> None:
        """Make the parts that are otherwise made when they are first needed, if a saved state has them."""
        self.punctuations.expect(saved)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What a saved state and this join must have in common."""
        return {**fingerprint_of(self.spec, self.schemas, self.codec.types), **self.setup.definition}

    def resume(self) -> None:
        """Go on from the parts that were loaded: rebuild what is not saved."""
        self.punctuations.resume()
        self.tactic.resume(self.rows)

    def process(self, *batches: StreamBatch, now_us: int | None = None) -> BatchResult:
        """One batch of all streams; `now_us` is the engine's clock when the batch began."""
        whole = BatchResult()
        for part in self.process_in_parts(*batches, now_us=now_us):
            whole = whole.then(part)
        return whole

    def process_in_parts(self, *batches: StreamBatch, now_us: int | None = None) -> Iterator[BatchResult]:
        """Process one batch of all streams, and give what it brings in parts."""
        watermark = self.output_watermark
        if now_us is not None and self.idle is not None:
            batches = tuple(self.idle.release(batches, self.state.sides, now_us))
        intakes = tuple(self._take_in(side, batch) for side, batch in enumerate(batches))
        if self.shedding is not None:
            self.shedding.apply(intakes, now_us)
        for intake in intakes:
            intake.close()
        self._begin(intakes, watermark)
        self._allow(sum(intake.rows.nbytes for intake in intakes))
        inputs = tuple(intake.objects for intake in intakes)
        self.tactic.expect(inputs)
        order = merge_order(inputs)
        self.collector.expect(order, intakes, None if self.shedding is None else self.shedding.shares)
        self.state.quota = min(_LARGEST_QUOTA, max(1, order.size))
        self.punctuations.note_promises(intakes, order)
        if not self.setup.place.is_primary:
            self._leave_uncounted(intakes)
        if self.spill is not None:
            self.spill.begin(order, inputs)
        at = 0
        # Metrics are sampled at fixed steps of event time, also within a batch.
        for stop, time in self.samples.stops(inputs, order.size):
            while at < stop:
                ready = stop if self.spill is None else self.spill.before(at, stop)
                while at < ready:
                    at = self._run(order, at, ready, intakes)
                    yield from self.collector.take_results()
                if self.spill is not None:
                    self.spill.after(at)
                    yield from self.collector.take_results()
            self.state.sweep()
            self.samples.take(time, int(self.state.sides["newest"].max()), self.counts(inputs, time))
        yield self._finish(order.size)

    def end(self) -> BatchResult:
        """A last batch: all streams end, the left one first, and everything that is left comes out."""
        newest = self.state.sides["newest"].tolist()
        latest = max((ts for ts in newest if ts != lay.NEVER), default=0)
        ends = []
        for stream, schema, ts in zip(self.spec.streams, self.schemas, newest, strict=True):
            everything = Punctuation(latest if ts == lay.NEVER else ts, (WILDCARD,) * len(stream.columns))
            ends.append(StreamBatch(schema.empty_table(), punctuations=(everything,)))
        return self.process(*ends)

    def counts(self, inputs: Sequence[lay.Objects] = (), before_us: int | None = None) -> dict[str, int]:
        """The counters now; within a batch, the time up to which its `inputs` have been processed is given."""
        pending = self.collector.pending_rejections(self.state)
        elsewhere = {"punctuations_forgotten": [self.forgotten], **self.collector.rejections.counts(pending)}
        if self.shedding is not None:
            ahead = [] if before_us is None else [each.status[np.searchsorted(each.ts, before_us) :] for each in inputs]
            elsewhere |= self.shedding.left_out(ahead, except_of=self.setup.repeated)
        return current_counts(self.state, elsewhere)

    def count_corrupt(self, side: int, n_rows: int) -> None:
        """Count rows that were rejected before they came here."""
        self.state.common["rejected"] += n_rows
        self.collector.rejections.add(side, Rejection.CORRUPT, n_rows)

    @property
    def output_watermark(self) -> int:
        """No later result has an earlier time."""
        return int(self.state.sides["watermark"].min())

    @property
    def forgotten(self) -> int:
        """How many entries the memory of punctuations had no room for."""
        return self.punctuations.memory.forgotten

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept between batches."""
        rows = sum(each.nbytes for each in self.rows)
        spilled = 0 if self.spill is None else self.spill.nbytes
        return self.state.nbytes + self.punctuations.nbytes + rows + self.codec.nbytes() + spilled

    # A batch

    def _take_in(self, side: int, batch: StreamBatch) -> PreparedBatch:
        stream, ours = self.spec.streams[side], self.state.sides[side]
        own_windows = self.spec.own_windows
        intake = prepare_batch(
            stream, batch, self.codec, ours, lambda rows: self.tactic.encode(side, rows), own_windows
        )
        self.punctuations.mark_broken(side, intake)
        return intake

    def _begin(self, intakes: Sequence[PreparedBatch], watermark: int) -> None:
        sides, common = self.state.sides, self.state.common
        for side in self.spec.sides:
            sides["base_row"][side] = self.rows[side].begin(intakes[side].rows)
            sides["appended"][side] = 0
            sides["batch_newest"][side] = intakes[side].times.newest
        self.collector.begin(self.state, intakes, watermark)
        common["first_seq"], common["due"] = common["seq"], lay.NEVER
        self.punctuations.begin()
        for side in self.spec.sides:
            if self.spec.streams[side].clustered:
                self.state.add_boundaries(side, intakes[side].boundaries)

    def _leave_uncounted(self, intakes: Sequence[PreparedBatch]) -> None:
        """Objects that come to all buckets are counted in one of them.

        These are tuples of sides that go everywhere, and punctuations that name no values.
        """
        sides = self.state.sides
        for side in self.setup.repeated:
            sides["tuples"][side] -= len(intakes[side].rows)
        for side in self.spec.sides:
            in_all = intakes[side].objects.punctuation_kind > lay.ANNOUNCE_VALUE
            sides["punctuations"][side] -= in_all.sum()

    def _run(self, order: lay.Ints, at: int, stop: int, intakes: Sequence[PreparedBatch]) -> int:
        """Let the tactic run towards `stop`, and do what it asks for when it comes back."""
        at = self.tactic.run(order, at, stop, [intake.objects for intake in intakes])
        why = self.state.common[0]["stopped_by"]
        if why == lay.NEEDS_ROOM:
            self._make_room()
        elif why == lay.NEEDS_TIMERS:
            self._grow()
        elif why == lay.PAIRS_FULL:  # in the middle of a tuple's results: nothing else may move
            self.collector.drain_pairs(self.state)
        elif why == lay.RANGE_DUE:
            self._fire_range()
        elif why == lay.MET_RANGE:
            self._meet_range(order[at], intakes)
            at += 1
        elif why == lay.BROKE_PROMISE:
            self._fail(order[at], intakes)
        return at

    def _grow(self) -> bool:
        if self.state.lacks_values:
            self.punctuations.archive()
        return self.state.make_room()

    def _make_room(self) -> None:
        """The tactic could not go on because a buffer is full: if no other one, then that of the pairs."""
        grown = self._grow()
        n_pairs = int(self.state.common["n_pairs"][0])
        if n_pairs and (not grown or 2 * n_pairs > self.state.arrays.pairs.shape[1]):
            self.collector.drain_pairs(self.state)
        elif not grown:
            self.state.grow_pairs()

    def _fail(self, reference: int, intakes: Sequence[PreparedBatch]) -> None:
        position, _, side = unpack_object(int(reference))
        row = intakes[side].rows.slice(position, 1).to_pylist()[0]
        stream = self.spec.streams[side].name
        raise PromiseBroken(
            f"stream {stream!r} brought {row} after a punctuation had ended its value; "
            "correct the stream, or declare it with on_violation='reject' or 'accept'"
        )

    # Range endings

    def _meet_range(self, reference: int, intakes: Sequence[PreparedBatch]) -> None:
        position, _, side = unpack_object(int(reference))
        place = int(intakes[side].objects.punctuation_code[position])
        self._grow()
        self._put_out(self.punctuations.meet_range(side, intakes[side].ranges[place], self.spill))

    def _fire_range(self) -> None:
        self._grow()
        self._put_out(self.punctuations.fire_range(self.spill))

    def _put_out(self, ranges: Sequence[OutputRange]) -> None:
        self.collector.add_ranges(ranges)
        self.state.common["punctuations_out"] += len(ranges) if self.setup.place.is_primary else 0

    # The end of a batch

    def _finish(self, n_objects: int) -> BatchResult:
        state = self.state
        state.common["seq"] = state.common["first_seq"] + n_objects + 1
        while (why := finish_batch(state.arrays)) != lay.DONE:
            if why == lay.NEEDS_ROOM:
                self._make_room()
            else:
                self._fire_range()
        if self.spill is not None:
            self.spill.finish()
        self.collector.drain(state)
        self.collector.finish(state)
        self.punctuations.archive()
        self.punctuations.settle(self.output_watermark)
        self.punctuations.enforce_cap()
        for side in self.spec.sides:
            self.rows[side].commit(state, side)
        self.tactic.forget_keys(self.punctuations)
        self.tactic.adapt()
        return self._close(self.collector.hand_over())

    def _close(self, batch: BatchResult) -> BatchResult:
        sides = self.state.sides
        batch.watermark = self.output_watermark
        # A chained stream may end with its first batch: then only the time of its end says how late its rows were.
        times = [*sides["newest"].tolist(), *sides["watermark"].tolist(), *sides["end_ts"].tolist()]
        batch.latest_ts = max(time for time in times if time < lay.FOREVER)
        batch.structures = self.tactic.structures
        batch.ended = bool((sides["end_ts"] != lay.FOREVER).all())
        return batch


def _allow_all(more: int) -> None:
    """Without a limit, any amount of memory may be taken."""


def _shed_control(setup: DriverSetup) -> ShedControl | None:
    assert (setup.spec.shed is None) == (setup.allocate is None)
    if setup.spec.shed is None or setup.allocate is None:
        return None
    return ShedControl(setup.spec.shed, setup.spec.streams, setup.allocate)

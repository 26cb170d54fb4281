"""What the streams have said beyond single values in the index: finished runs, range endings, promises.

Together they are the memory of punctuations, which is bounded. The loop looks values up in it when it meets them first;
range endings are carried out here, since they are rare.
"""

from collections.abc import Sequence, Set
from itertools import chain
from operator import attrgetter

import numpy as np
import pyarrow as pa

from punctuated.intake.prepare import Intake, RangeEnding
from punctuated.kernels import layout as lay
from punctuated.kernels.order import pack_object
from punctuated.kernels.value_index import inherit_all
from punctuated.keys.codec import KeyCodec
from punctuated.model.algorithm import Propagation
from punctuated.model.batch import BucketPlace
from punctuated.model.spec import JoinSpec
from punctuated.punctuations.memory import PunctuationMemory
from punctuated.punctuations.pending_ranges import OutputRange, Pending
from punctuated.punctuations.promises import Promise, PromiseMemory, broken
from punctuated.punctuations.ranges import RangeEndings, RangeListener
from punctuated.snapshot.parts import Part
from punctuated.state.arrays import JoinState


class Statements:
    """The memory of punctuations of one driver."""

    def __init__(
        self, spec: JoinSpec, schemas: tuple[pa.Schema, ...], codec: KeyCodec, state: JoinState, place: BucketPlace
    ) -> None:
        self._spec, self._schemas, self._codec, self._state = spec, schemas, codec, state
        self.memory = PunctuationMemory(spec.max_punctuations, place if codec.merges else None)
        self._ranges: RangeEndings | None = None  # most joins never meet a range, and many never a promise
        self._promises: PromiseMemory | None = None

    @property
    def ranges(self) -> RangeEndings:
        """The range endings of all streams, made when the first one comes."""
        if self._ranges is None:
            propagates = self._spec.algorithm.propagation is not Propagation.NONE and not self._spec.is_staged
            self._ranges = RangeEndings(self._codec, len(self._spec.streams), propagates)
        return self._ranges

    @property
    def promises(self) -> PromiseMemory:
        """Punctuations that end no value, made when the first one comes."""
        if self._promises is None:
            self._promises = PromiseMemory(self._schemas)
        return self._promises

    @property
    def parts(self) -> dict[str, Part]:
        """What outlives a batch, as far as it has come about."""
        optional = {"ranges": self._ranges, "promises": self._promises}
        return {"runs": self.memory, **{name: part for name, part in optional.items() if part is not None}}

    def expect(self, saved: Set[str]) -> None:
        """A saved state has parts of these names: those that are made only when needed must be there."""
        _ = self.ranges if "ranges" in saved else None
        _ = self.promises if "promises" in saved else None

    @property
    def nbytes(self) -> int:
        """Bytes beside what the loop sees."""
        return 0 if self._ranges is None else self._ranges.nbytes

    # A batch

    def mark_broken(self, side: int, intake: Intake) -> None:
        """Which tuples break a promise that speaks of ranges, or of more than the key."""
        stream, ours = self._spec.streams[side], self._state.sides[side]
        fresh = [Promise(stream.columns, each.patterns, each.ts) for each in intake.promises]
        known = [] if self._promises is None else self._promises[side]
        if known or fresh:
            mask = broken(known, fresh, intake.rows, intake.objects.ts, int(ours["watermark"]))
            intake.objects.status[mask] |= lay.BROKEN
        if self._ranges or intake.ranges:
            intake.objects.status[self.ranges.broken(side, intake, stream.key)] |= lay.BROKEN

    def begin(self) -> None:
        """A batch begins; new keys may fall under old ranges."""
        if self._ranges:
            self._ranges.show(self._state)

    def note_promises(self, intakes: Sequence[Intake], order: lay.Ints) -> None:
        """Punctuations that end no value are remembered for the check of later batches."""
        common = self._state.common
        first_seq = int(common["first_seq"][0])
        for side in self._spec.sides:
            objects = intakes[side].objects
            if not intakes[side].promises or self._state.sides["end_ts"][side] != lay.FOREVER:
                continue
            ends = np.flatnonzero(objects.punctuation_kind == lay.END_STREAM)
            noted = np.flatnonzero(objects.punctuation_kind == lay.PROMISE_ONLY)
            for i in noted[: np.searchsorted(noted, ends[0]) if ends.size else None].tolist():
                told = intakes[side].promises[int(objects.punctuation_code[i])]
                place = int(np.flatnonzero(order == pack_object(i, True, side))[0])
                common["timers"] += 1
                number = int(common["timers"][0])
                columns, touched = self._spec.streams[side].columns, first_seq + place + 1
                announced = not told.in_band
                self.promises[side].append(Promise(columns, told.patterns, told.ts, number, touched, announced))

    def meet_range(self, side: int, ending: RangeEnding, spill: RangeListener | None) -> list[OutputRange]:
        """A range ending has arrived; returns what the output is told."""
        return self.ranges.meet(side, ending, self._state, spill)

    def fire_range(self, spill: RangeListener | None) -> list[OutputRange]:
        """A range ending is due; returns what the output is told."""
        return self.ranges.fire(self._state, spill)

    # What outlives the batch

    def archive(self) -> None:
        """Values that are over in the output leave the index for the memory."""
        if self._state.punctuated and self._state.common[0]["n_done"]:
            self.memory.archive(self._state)
            self._state.show_runs(self.memory.runs)

    def remember(self) -> None:
        """Let the loop see the memory of punctuations as it is now."""
        if self._ranges is not None:
            self._ranges.show(self._state)
        self._state.show_runs(self.memory.runs)

    def note_keys(self) -> None:
        """Keys may have come: they fall under the ranges that are known."""
        if self._ranges is not None:
            self._ranges.note_keys()

    def renumber(self, moved: lay.Ints) -> None:
        """Keys were numbered anew; all had been noted."""
        self.memory.renumber(moved)
        if self._ranges is not None:
            self._ranges.renumber(moved)

    def settle(self, watermark: int) -> None:
        """The batch is over: times of ranges that the output watermark has reached no longer matter."""
        if self._ranges is not None:
            self._ranges.settle(self._state, watermark)
        self.memory.rest()
        self._state.show_runs(self.memory.runs)

    def enforce_cap(self) -> None:
        """Forget the oldest entries beyond what may be remembered."""
        state, promises = self._state, () if self._promises is None else self._promises.kept
        n_ranges = 0 if self._ranges is None else len(self._ranges)
        if not state.punctuated or self.memory.fits(state, n_ranges + sum(map(len, promises))):
            return
        covered, waiting = self.ranges.ages()
        arrived: list[Pending | Promise] = [*waiting, *chain.from_iterable(promises)]
        arrived.sort(key=attrgetter("order"))
        before = self.memory.forgotten
        gone = self.memory.enforce(state, [*covered.tolist(), *(each.touched for each in arrived)])
        if self.memory.forgotten > before:
            orders = {arrived[at - covered.size].order for at in gone if at >= covered.size}
            self.promises.forget(orders)
            self.ranges.forget(sorted(at for at in gone if at < covered.size), orders, state)
            self.remember()
            inherit_all(state.arrays)

    def resume(self) -> None:
        """The memory was loaded: the loop must see it."""
        if self._ranges is not None:
            self._ranges.resume(self._state)
        self.remember()

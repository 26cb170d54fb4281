"""What the streams have said beyond single values in the index: finished runs, range endings, promises.

Together they are the memory of punctuations, which is bounded. The loop looks values up in it when it meets them first;
range endings are carried out here, since they are rare.
"""

from collections.abc import Sequence
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
from punctuated.model.batch import BucketId
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
        self, spec: JoinSpec, schemas: tuple[pa.Schema, ...], codec: KeyCodec, state: JoinState, place: BucketId
    ) -> None:
        self._spec, self._state = spec, state
        self.memory = PunctuationMemory(spec.max_punctuations, place if codec.merges else None)
        propagates = spec.algorithm.propagation is not Propagation.NONE and not spec.is_staged
        self.ranges = RangeEndings(codec, len(spec.streams), propagates)
        self.promises = PromiseMemory(schemas)
        self.parts: dict[str, Part] = {"runs": self.memory, "ranges": self.ranges, "promises": self.promises}

    @property
    def nbytes(self) -> int:
        """Bytes beside what the loop sees."""
        return self.ranges.nbytes

    # A batch

    def mark_broken(self, side: int, intake: Intake) -> None:
        """Which tuples break a promise that speaks of ranges, or of more than the key."""
        stream, ours = self._spec.streams[side], self._state.sides[side]
        fresh = [Promise(stream.columns, each.patterns, each.ts) for each in intake.promises]
        if self.promises[side] or fresh:
            mask = broken(self.promises[side], fresh, intake.rows, intake.objects.ts, int(ours["watermark"]))
            intake.objects.status[mask] |= lay.BROKEN
        if self.ranges or intake.ranges:
            intake.objects.status[self.ranges.broken(side, intake, stream.key)] |= lay.BROKEN

    def begin(self) -> None:
        """A batch begins; new keys may fall under old ranges."""
        if self.ranges:
            self.ranges.show(self._state)

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
        self.ranges.show(self._state)
        self._state.show_runs(self.memory.runs)

    def settle(self, watermark: int) -> None:
        """The batch is over: times of ranges that the output watermark has reached no longer matter."""
        self.ranges.settle(self._state, watermark)
        self.memory.rest()
        self._state.show_runs(self.memory.runs)

    def enforce_cap(self) -> None:
        """Forget the oldest entries beyond what may be remembered."""
        state, promises = self._state, self.promises.kept
        if not state.punctuated or self.memory.fits(state, len(self.ranges) + sum(map(len, promises))):
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
        self.ranges.resume(self._state)
        self.remember()

"""The memory of punctuations (XD-12): what the streams have ended, as far as it is remembered.

Values that are over in the output leave the I-Nodes for runs of consecutive codes. Range endings are kept, and promises
over ranges or over attributes outside the key; both are made when the first one comes. The loop looks a value up in
this memory when it meets it first. The memory is bounded: entries beyond a cap are forgotten at the end of a batch, the
least recently touched first. That never changes the results of streams that keep their promises.

Objects of a batch are processed in the order of time, so a punctuation takes effect within a batch only before later
times. A tuple therefore breaks a promise iff its time is later, or the punctuation was in effect before the batch. That
needs no loop.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from punctuated.arrow.ipc import from_json, to_json
from punctuated.intake.prepare import PreparedBatch, RangeEnding
from punctuated.kernels import layout as lay
from punctuated.kernels.archive import archive_values
from punctuated.kernels.order import pack_object
from punctuated.kernels.value_index import inherit_all
from punctuated.keys.codec import KeyCodec
from punctuated.keys.pattern_match import match_columns
from punctuated.model.algorithm import Propagation
from punctuated.model.batch import BucketId
from punctuated.model.pattern import Pattern, Wildcard
from punctuated.model.pattern_text import parse_punctuation, print_patterns
from punctuated.model.spec import JoinSpec
from punctuated.punctuations.pending_ranges import OutputRange, PendingRange
from punctuated.punctuations.ranges import RangeEndings, RangeListener
from punctuated.punctuations.segments import named_by
from punctuated.snapshot.parts import Content, Loaded, SavedPart
from punctuated.state.arrays import JoinState

Ints = npt.NDArray[np.int64]
_SLACK = 9 / 8  # room per run in a batch that adds to them again and again: new memory takes longer than to fill it

# Promises


@dataclass(frozen=True)
class Promise:
    """No tuple of the stream matches these patterns after `ts`."""

    columns: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    ts: int
    order: int = 0  # order of arrival
    touched: int = 0
    announced: bool = False  # it came apart from the stream: in effect only beyond `ts`


def broken(
    promises: Sequence[Promise], fresh: Sequence[Promise], rows: pa.Table, ts: npt.NDArray[np.int64], watermark: int
) -> npt.NDArray[np.bool_]:
    """Rows that break an earlier promise, or one of this batch; `watermark` is the one before the batch."""
    mask = np.zeros(ts.size, np.bool_)
    for known, promise in [*((True, p) for p in promises), *((False, p) for p in fresh)]:
        in_effect = known and watermark >= promise.ts + promise.announced
        suspects = np.ones(ts.size, np.bool_) if in_effect else ts > promise.ts
        if suspects.any():
            mask |= suspects & match_columns(promise.patterns, [rows[name] for name in promise.columns])
    return mask


# Promises that are remembered


class PromiseMemory:
    """The promises of all streams."""

    def __init__(self, schemas: tuple[pa.Schema, ...]) -> None:
        self._schemas = schemas
        self.kept: tuple[list[Promise], ...] = tuple([] for _ in schemas)

    def __getitem__(self, side: int) -> list[Promise]:
        return self.kept[side]

    def forget(self, orders: Set[int]) -> None:
        """Forget those with these places in the order of arrival."""
        for promises in self.kept:
            promises[:] = [each for each in promises if each.order not in orders]

    def save(self) -> Content:
        """Each with the names of the columns that it restricts: the stream may gain others."""
        both = zip(self.kept, self._schemas, strict=True)
        return Content({"kept": to_json([[_write(each, schema) for each in promises] for promises, schema in both])})

    def load(self, saved: Loaded) -> None:
        """Go on with the promises of `save`."""
        for promises, schema, written in zip(self.kept, self._schemas, from_json(saved.plain["kept"]), strict=True):
            promises[:] = [_read(each, schema) for each in written]


def _write(promise: Promise, schema: pa.Schema) -> list[Any]:
    restricted = {n: p for n, p in zip(promise.columns, promise.patterns, strict=True) if not isinstance(p, Wildcard)}
    text = print_patterns(list(restricted.values()), [schema.field(name).type for name in restricted])
    return [list(restricted), text, promise.ts, promise.order, promise.touched, promise.announced]


def _read(written: list[Any], schema: pa.Schema) -> Promise:
    names, text, *rest = written
    return Promise(tuple(names), parse_punctuation(text, [schema.field(name).type for name in names]), *rest)


# Values that are over


class PunctuationMemory:
    """Collects finished values from the I-Nodes, and forgets the oldest entries beyond a cap."""

    def __init__(self, cap: int, place: BucketId | None) -> None:
        """`place` is the bucket, if its codes are numbers; codes of other kinds have no neighbours."""
        self._cap, self._place = cap, (0, 0) if place is None else (place.number, place.n)
        self.runs = np.empty(0, lay.FINISHED)
        self._whole = self._spare = self.runs  # of a batch: the array that begins with the runs, and the one before
        self.forgotten = 0

    def archive(self, state: JoinState) -> None:
        """Move values that are over in the output from the I-Nodes to runs."""
        arrays, runs = state.arrays, self.runs
        done = arrays.done[: int(state.common[0]["n_done"])]
        # Codes often ascend or descend: a stable sort notices, and takes an eighth of the time, else two thirds of it.
        done = done[np.argsort(arrays.values["code"][done], kind="stable")]
        needed = runs.size + 2 * done.size  # each value may cut a run in two
        fresh = self._spare if self._spare.size >= needed else np.empty(int(_SLACK * needed), lay.FINISHED)
        n, n_waiting = archive_values(arrays.values, arrays.endings, done, runs, fresh, self._place)
        if n_waiting:
            arrays.done[:n_waiting] = done[:n_waiting]
        state.common["n_done"] = n_waiting
        self._spare, self._whole, self.runs = self._whole, fresh, fresh[:n]

    def rest(self) -> None:
        """A batch is over: keep no more than the runs."""
        if self._whole.size:
            self.runs = self.runs.view(np.uint8).copy().view(lay.FINISHED)  # else record by record, field by field
            self._whole = self._spare = self.runs[:0].copy()

    def fits(self, state: JoinState, n_others: int) -> bool:
        """Whether it is certain that there are not too many entries, so many of them kept elsewhere."""
        return state.n_values + len(self.runs) + n_others <= self._cap

    def enforce(self, state: JoinState, others: Sequence[int]) -> set[int]:
        """Forget the least recently touched entries beyond the cap.

        `others` are the ages of entries kept elsewhere; returns the positions among them of those to be forgotten.
        """
        n_values = state.n_values
        flags = state.arrays.values["flags"][:n_values]
        waiting = np.flatnonzero(named_by(flags))
        ages = [state.arrays.endings["touched"][waiting], self.runs["touched"], np.array(others, np.int64)]
        codes = [state.arrays.values["code"][waiting], self.runs["low"], np.arange(len(others))]
        is_other = np.repeat([0, 0, 1], [array.size for array in ages])
        surplus = is_other.size - self._cap
        if surplus <= 0:
            return set()
        oldest = _smallest(np.concatenate(ages), is_other, np.concatenate(codes), surplus)
        self.forgotten += surplus
        n_waiting, n_runs = waiting.size, len(self.runs)
        self._forget_values(state, waiting[oldest[oldest < n_waiting]])
        gone = oldest[(oldest >= n_waiting) & (oldest < n_waiting + n_runs)] - n_waiting
        self._forget_runs(state, gone)
        return set((oldest[oldest >= n_waiting + n_runs] - n_waiting - n_runs).tolist())

    def _forget_values(self, state: JoinState, indices: Ints) -> None:
        finished = state.arrays.values["flags"][indices] & lay.OUT != 0
        state.arrays.values["flags"][indices] &= lay.OPEN_ANY
        state.arrays.endings["last_ts"][indices[finished]] = lay.NEVER

    def _forget_runs(self, state: JoinState, which: Ints) -> None:
        gone = self.runs[np.sort(which)]
        self.runs = np.delete(self.runs, which)
        n_values = state.n_values
        codes = state.arrays.values["code"][:n_values]
        place = np.searchsorted(gone["low"], codes, side="right") - 1
        hit = place >= 0
        hit[hit] = codes[hit] <= gone["high"][place[hit]]
        affected = np.flatnonzero(hit & (state.arrays.values["flags"][:n_values] & lay.ARCHIVED != 0))
        state.arrays.values["flags"][affected] &= lay.OPEN_ANY
        state.arrays.endings["last_ts"][affected] = lay.NEVER

    def renumber(self, moved: Ints) -> None:
        """Codes have changed; runs of numbered keys hold one code each."""
        runs = self.runs.copy()
        runs["low"] = runs["high"] = moved[runs["low"]]
        self.runs = runs[np.argsort(runs["low"])]

    def save(self) -> Content:
        """The runs, and how many entries were forgotten."""
        return Content({"forgotten": to_json(self.forgotten)}, {"runs": self.runs})

    def load(self, saved: Loaded) -> None:
        """Go on from `save`."""
        self.runs = saved.records["runs"].astype(lay.FINISHED)
        self.forgotten = from_json(saved.plain["forgotten"])


def _smallest(ages: Ints, is_other: Ints, codes: Ints, n: int) -> Ints:
    """Positions of the `n` smallest by age, then kind, then code; only those that may be among them are sorted."""
    candidates = np.flatnonzero(ages <= np.partition(ages, n - 1)[n - 1])
    order = np.lexsort((codes[candidates], is_other[candidates], ages[candidates]))
    return candidates[order[:n]]


# All that is remembered


class PunctuationState:
    """The memory of punctuations of one driver."""

    def __init__(
        self, spec: JoinSpec, schemas: tuple[pa.Schema, ...], codec: KeyCodec, state: JoinState, place: BucketId
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
    def parts(self) -> dict[str, SavedPart]:
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

    def mark_broken(self, side: int, intake: PreparedBatch) -> None:
        """Mark the tuples that break a promise over ranges, or over more than the key."""
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

    def note_promises(self, intakes: Sequence[PreparedBatch], order: lay.Ints) -> None:
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
                promise = intakes[side].promises[int(objects.punctuation_code[i])]
                place = int(np.flatnonzero(order == pack_object(i, True, side))[0])
                common["timers"] += 1
                number = int(common["timers"][0])
                columns, touched = self._spec.streams[side].columns, first_seq + place + 1
                announced = not promise.in_band
                self.promises[side].append(Promise(columns, promise.patterns, promise.ts, number, touched, announced))

    def meet_range(self, side: int, ending: RangeEnding, spill: RangeListener | None) -> list[OutputRange]:
        """A range ending has arrived; returns the ranges that are over in the output because of it."""
        return self.ranges.meet(side, ending, self._state, spill)

    def fire_range(self, spill: RangeListener | None) -> list[OutputRange]:
        """A range ending is due; returns the ranges that are over in the output because of it."""
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
        arrived: list[PendingRange | Promise] = [*waiting, *chain.from_iterable(promises)]
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

"""Spilled values: a join keeps in memory what it touches, and what nothing has touched for long is on disk.

Invariant: the output is that of the same join in memory. Before objects are processed, everything that they may touch
is loaded: the values that they name, those whose timers may go off, and eager ones with tuples that may leave their
windows. A range has its values loaded when it takes effect. The end of a stream touches all values: it is processed on
those in memory, and afterwards applied to those on disk, block by block. So kernels need not know of any of this.

Between batches nothing is remembered of what was touched: what stays in memory follows from the saved state and the
batch alone, so a query that was restarted has the state of one that was not.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from punctuated.errors import AlgorithmError
from punctuated.kernels import layout as lay
from punctuated.kernels.spilled import end_stream_for_values
from punctuated.keys.codec import NumberedKeys
from punctuated.keys.pattern_match import match_columns
from punctuated.model.memory import Allowance, Memory
from punctuated.model.pattern import Pattern
from punctuated.model.spec import JoinSpec
from punctuated.model.window import CountWindow
from punctuated.punctuations.pending_ranges import PendingRange
from punctuated.snapshot.parts import NO_INTS, Content, Ints, Loaded, SavedPart
from punctuated.spill.clean_values import CleanValues, TakenValues
from punctuated.spill.detached import DetachedValues
from punctuated.spill.index import position_of
from punctuated.spill.lookahead import BatchSlice, due_timers, is_forgotten_before, may_end_before, watermarks_at
from punctuated.spill.moves import attach, detach, is_eager, least_recent_values, outlasts_its_tuples
from punctuated.spill.policy import Stored
from punctuated.spill.value_blocks import ValueBlocks
from punctuated.state.budget import tuples_within
from punctuated.state.multiway import MultiwayState
from punctuated.storage.scratch import TableStore

Mask = npt.NDArray[np.bool_]
_KEPT = 0.6  # of the memory: so much is in use after values were spilled
_SLICES = 3  # objects are looked at, and values loaded for them, in such parts of the memory


class _StreamEnd(NamedTuple):
    side: int
    ts: int
    watermark: int  # of the stream, before it ended


class SpilledValues:
    """The policy that spills the values that were not touched for longest."""

    def __init__(self, stored: Stored, allowed: Allowance, store: TableStore) -> None:
        self._stored, self._allowed, self._state, self.store = stored, allowed, stored.state, store
        arrays, width = stored.state.arrays, stored.state.width
        widths = width if arrays.endings.size else 0, width if arrays.last_ends.size else 0
        self.blocks = ValueBlocks(store, [rows.schema for rows in stored.rows], widths)
        self.parts: dict[str, SavedPart] = {"cold": self}
        self._order, self._inputs = NO_INTS, list[lay.Objects]()
        self._recent = [NO_INTS]  # codes that this batch has touched since values were last spilled
        self._clean = CleanValues()
        self._ending: _StreamEnd | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in memory that describe what is on disk."""
        return self.blocks.nbytes

    # A batch

    def begin(self, order: Ints, inputs: Sequence[lay.Objects]) -> None:
        """A batch begins; one without objects may still let time go on."""
        self._order, self._inputs = order, list(inputs)
        if not order.size:
            self._load_for(BatchSlice.of(order, inputs), NO_INTS, is_last=True)

    def before(self, at: int, stop: int) -> int:
        """Load what the next objects may touch; it decides how many objects these are."""
        objects, positions = BatchSlice.of(self._order[at : min(stop, at + self._slice)], self._inputs), NO_INTS
        if self.blocks:
            objects = objects.until_stream_ends()
            touched_by, positions = self._touched(objects)
            n = self._fitting(objects, touched_by, positions)
            objects, positions = objects.first(n), positions[touched_by < n]
        ready = at + len(objects)
        self._load_for(objects, positions, is_last=ready == self._order.size)
        return ready

    def after(self, at: int) -> None:
        """Apply the end of a stream to values on disk, and spill what is too much.

        After the last object the clock runs to the end of the batch: what that needs has to stay until `finish`.
        """
        is_last = at == self._order.size
        if self._ending is not None:
            ending, self._ending = self._ending, None
            self._end_stream(ending)
            if is_last:
                self._load_for(BatchSlice.of(self._order[at:], self._inputs), NO_INTS, is_last=True)
        if not is_last:
            self._make_room(self._allowed.working)

    def finish(self) -> None:
        """The batch is over: spill what is too much for the time between batches, and forget what was touched."""
        self._make_room(self._allowed.resting, is_last=True)
        self._recent = [NO_INTS]
        self._order, self._inputs = NO_INTS, []

    # What is needed

    def _n_tuples(self, memory: Memory) -> int:
        return tuples_within(memory, self._state, max(rows.bytes_per_row for rows in self._stored.rows))

    @property
    def _slice(self) -> int:
        """The most objects that are looked at, and the most tuples that are loaded for them."""
        return max(1, self._n_tuples(self._allowed.working) // _SLICES)

    def _touched(self, objects: BatchSlice) -> tuple[Ints, Ints]:
        """The first object that touches each position on disk, and these positions."""
        codes, first = np.unique(objects.codes, return_index=True)
        which, positions = self.blocks.find(self._stored.codec.addresses(codes))
        return objects.touches[first[which]], positions

    def _fitting(self, objects: BatchSlice, touched_by: Ints, positions: Ints) -> int:
        """How many of the objects touch no more tuples on disk than may be loaded for them, at least one."""
        volume = np.bincount(touched_by, self.blocks.volume(positions), minlength=len(objects))
        return max(1, int(np.searchsorted(np.cumsum(volume), self._slice, side="right")))

    def _load_for(self, objects: BatchSlice, touched: Ints, *, is_last: bool) -> None:
        """Load what these objects touch, by its positions, and what falls due before they are done."""
        state = self._state
        self._recent.append(objects.codes)
        if not self.blocks:
            return
        moment = max([*objects.ts[-1:].tolist(), *(state.sides["batch_newest"].tolist() if is_last else ())])
        watermarks = watermarks_at(state, moment, objects.floors(state.n_streams))
        timed = [due_timers(state, watermarks)]
        if objects.ends_stream:
            timed += self._expect_end(int(objects.side[0]), int(objects.ts[0]))
        codes = np.unique(state.arrays.values["code"][np.concatenate(timed)])
        _, positions = self.blocks.find(self._stored.codec.addresses(codes))
        due = self.blocks.due(may_end_before(state, watermarks))
        due = self.blocks.whole(due) if due.size else due
        self._load(_distinct(np.concatenate([touched, positions, due])))

    def _expect_end(self, side: int, ts: int) -> list[Ints]:
        """A stream is about to end. Returns the values of its pending endings, which take effect by that."""
        state = self._state
        if state.sides["end_ts"][side] != lay.FOREVER:
            return []
        before = watermarks_at(state, ts, [lay.NEVER] * state.n_streams)
        self._ending = _StreamEnd(side, ts, before[side])
        return [state.arrays.pending[side]["value"][: int(state.sides["n_pending"][side])]]

    def before_range(self, patterns: tuple[Pattern, ...]) -> None:
        """A range is about to take effect: its values are loaded."""
        codec = self._stored.codec
        if not self.blocks:
            return
        if isinstance(codec, NumberedKeys):
            found = [self._matching(number, patterns) for number in self.blocks.numbers()]
        else:
            found = [self.blocks.between(low, high) for low, high in codec.intervals(patterns)]
        self._load(np.unique(np.concatenate([NO_INTS, *found])))

    def after_range(self, side: int, ending: PendingRange) -> None:
        """Its values are in memory, so kernels have done all that there was to do."""

    def _matching(self, number: int, patterns: Sequence[Pattern]) -> Ints:
        """The positions of a block's values whose keys match."""
        entries = [NO_INTS]
        for stream, tuples in zip(self._stored.setup.spec.streams, self.blocks.rows(number), strict=True):
            if len(tuples):
                entries.append(tuples.owner[match_columns(patterns, [tuples.rows[name] for name in stream.key])])
        positions = position_of(number, np.unique(np.concatenate(entries)))
        return positions[np.isin(positions, self.blocks.positions(number))]

    # Load

    def _load(self, positions: Ints) -> lay.Indices:
        """Load the values at these positions; returns their I-Nodes."""
        if not positions.size:
            return np.empty(0, np.int32)
        taken = self.blocks.take(positions)
        values = [self._in_window(each.values, each.eager) for each in taken]
        with self._moving_rows():
            indices = attach(self._state, self._stored.rows, self._stored.node_codes, DetachedValues.joined(values))
            self._remember_clean(taken, values, self._state.arrays.values["code"][indices])
        return indices

    def _remember_clean(self, taken: Sequence[TakenValues], loaded: Sequence[DetachedValues], codes: Ints) -> None:
        """Note which values were loaded as they were on disk.

        Times of last tuples are not compared, so where they are kept no value is clean.
        """
        if self._state.sides["tracks_last"].any():
            return
        stops = np.cumsum([values.addresses.size for values in loaded])
        for each, values, ours in zip(taken, loaded, np.split(codes, stops[:-1]), strict=True):
            if values is each.values:
                self._clean.remember(each, ours)
            else:
                self._clean.mark_changed(self._state.n_streams, ours)

    def _in_window(self, values: DetachedValues, eager: bool) -> DetachedValues:
        """The values without tuples that have left their windows while they were on disk."""
        if eager:
            return values
        limits = is_forgotten_before(self._state, self._state.sides["watermark"].tolist())
        needed = self._last_is_needed(values, limits)
        stay = [(each.ends >= limit) | needed[each.owner] for each, limit in zip(values.tuples, limits, strict=True)]
        if all(each.all() for each in stay):
            return values
        self._count_gone("invalidated", np.array([np.count_nonzero(~each) for each in stay]))
        both = zip(values.tuples, stay, strict=True)
        tuples = [each.select(stays, each.owner[stays]) for each, stays in both]
        kept = DetachedValues(values.addresses, values.last_ts, values.last_ends, tuple(tuples))
        return kept.select(np.unique(np.concatenate([each.owner for each in tuples])))

    def _last_is_needed(self, values: DetachedValues, limits: Sequence[int]) -> Mask:
        """Whether the time of a value's last tuple is still needed; a tuple carries its key, so the tuples stay."""
        needed = np.zeros(values.addresses.size, np.bool_)
        for side in np.flatnonzero(self._state.sides["tracks_last"]).tolist():
            last = values.last_end(side)
            needed |= (last != lay.NEVER) & (last >= limits[side])
        return needed

    def _count_gone(self, why: str, n_tuples: Ints) -> None:
        self._state.spilled -= n_tuples
        self._state.common[why] += n_tuples.sum()

    @contextmanager
    def _moving_rows(self) -> Iterator[None]:
        """While rows move nothing but nodes may know their numbers: pairs leave the buffers, matches are marked."""
        collector, state = self._stored.collector, self._state
        collector.drain(state)
        collector.finish(state)
        yield
        collector.rows_moved(state)

    # Spill

    def _make_room(self, memory: Memory, *, is_last: bool = False) -> None:
        """Spill what is too much, and compact what is on disk, unless clean values may still return there."""
        state, limit = self._state, self._n_tuples(memory)
        if state.sides["live"].sum() > limit:
            self._spill(limit)
        if is_last:
            self._clean.forget()
        if self.blocks and not self._clean:
            ended = is_forgotten_before(state, state.sides["watermark"].tolist())
            self._count_gone("invalidated", self.blocks.drop_ended(ended))
            self.blocks.compact()

    def _spill(self, limit: int) -> None:
        """Spill the values that were touched longest ago, until there is some room below the limit."""
        state, stored = self._state, self._stored
        state.sweep()
        with self._moving_rows():
            surplus = int(state.sides["live"].sum()) - int(_KEPT * limit)
            if surplus > 0:
                self._write(least_recent_values(state, surplus, np.concatenate(self._recent)))
                self._recent = [NO_INTS]
            for side, rows in enumerate(stored.rows):
                rows.gather(state, side)
            self._clean.forget()

    def _write(self, values: Ints) -> None:
        state, stored = self._state, self._stored
        addresses = stored.codec.addresses(np.ascontiguousarray(state.arrays.values["code"][values]))
        eager = is_eager(state, values)
        order = np.argsort(addresses)
        order = order[np.argsort(eager[order], kind="stable")]
        detached, eager, returning = detach(
            state, stored.rows, values[order], addresses[order], eager[order], self._clean
        )
        self.blocks.give_back(returning)
        outlasting = outlasts_its_tuples(detached, np.flatnonzero(state.sides["tracks_last"]).tolist())
        if (outlasting & ~eager).any():
            eager = eager | outlasting
            order = np.argsort(eager, kind="stable")
            detached, eager = detached.select(order), eager[order]
        n_lazy = int(np.count_nonzero(~eager))
        for start, stop, are_eager in ((0, n_lazy, False), (n_lazy, eager.size, True)):
            if stop > start:
                self.blocks.put(detached.slice(start, stop), eager=are_eager)

    # The end of a stream

    def _end_stream(self, ending: _StreamEnd) -> None:
        """Apply the end of a stream to all values on disk, block by block."""
        state, limit = self._state, self._n_tuples(self._allowed.working)
        waiting = None if isinstance(state, MultiwayState) else 1 - ending.side  # of two, the tuples of the other one
        self._clean.forget()  # blocks go
        if waiting is not None:
            self._count_gone("purged", self.blocks.drop_all_of(waiting))
        for number in self.blocks.numbers(having=waiting):
            indices = np.unique(self._load(self.blocks.whole(self.blocks.positions(number))))
            self._clean.forget()  # in a block that comes later, the end would be applied to them again
            state.make_room()
            end_stream_for_values(state.arrays, ending.side, indices, ending.ts, ending.watermark)
            if state.sides["live"].sum() > limit:
                self._spill(limit)

    # What outlives a batch

    def save(self) -> Content:
        """What is on disk."""
        return self.blocks.save()

    def load(self, saved: Loaded) -> None:
        """Put on disk what was there."""
        self.blocks.load(saved)
        self._state.spilled[:] = self.blocks.n_tuples


def _distinct(positions: Ints) -> Ints:
    """Ascending, each once: `np.unique` takes longer for many numbers."""
    positions = np.sort(positions)
    return np.asarray(positions[np.diff(positions, prepend=-1) != 0])


# Which joins can do it


def check_spilling(spec: JoinSpec, *, looks_through_windows: bool = False) -> None:
    """Raise if a join is given `memory=` but cannot work with a part of its tuples on disk.

    `looks_through_windows`: the algorithm scans whole windows for partners, so they must be in memory.
    """
    if spec.memory is None:
        return
    if not spec.left.key:
        raise AlgorithmError(
            "memory= is for joins with a key: without one, every tuple is compared with all others; give pt.stream "
            "key=, or use bucket_memory= in place of memory="
        )
    if looks_through_windows:
        raise AlgorithmError(
            f"algorithm={spec.algorithm.name!r} looks through whole windows for partners, so they must be in memory; "
            "use memory= with 'auto', or leave it out"
        )
    if spec.shed is not None:
        raise AlgorithmError(
            "shed= leaves tuples out if memory does not suffice, memory= puts them on disk: give only one of them"
        )
    for stream in spec.streams:
        if isinstance(stream.window, CountWindow) and not stream.window.per_key:
            raise AlgorithmError(
                f"the window of stream {stream.name!r} always holds {stream.window.n:,} tuples, whatever memory= "
                "says; make it smaller, or use a window per key (pt.rows(n, per='key')), or leave out memory="
            )


def spill_values(stored: Stored, store: TableStore) -> SpilledValues:
    """The policy for a join that finds tuples by their values; its buckets share the memory."""
    memory, bucket = stored.setup.spec.memory, stored.setup.place
    assert memory is not None
    return SpilledValues(stored, memory.allow(bucket.n, bucket.at_once), store)
